//! A settings file as values that know where they are written, whatever its language. It never knows what a client
//! or we mean by them.

use std::ops::Range;

use super::json;
use super::lines;
use super::list::{List, Removed};
use super::toml;

/// The languages that clients keep their settings in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Toml,
}

/// Why a file cannot be edited; the file's name comes on top.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("line {line}, column {column}: {what}")]
    Malformed { line: usize, column: usize, what: String },
    #[error("{0}")]
    Unfit(String),
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Where the value is written; empty for what is spread over several places, as tables of TOML are.
    pub(super) range: Range<usize>,
    /// The brackets around the children, if there are any.
    pub(super) list: Option<List>,
    /// The whole lines that this value consists of, without their last line end, where it consists of whole lines.
    pub(super) lines: Vec<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Text(String),
    Map(Vec<(String, Node)>),
    Seq(Vec<Node>),
    Other,
}

/// What we write: texts, numbers and words are rendered already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Plain(String),
    Map(Vec<(String, Shape)>),
    Seq(Vec<Shape>),
}

impl Syntax {
    /// The value of a whole file; none if the file is blank.
    pub(super) fn parse(self, text: &str) -> Result<Option<Node>, Fault> {
        match self {
            Syntax::Json => json::parse(text),
            Syntax::Toml => toml::parse(text).map(Some),
        }
    }

    /// A string as this language writes it.
    pub(super) fn literal(self, value: &str) -> String {
        match self {
            Syntax::Json => kit::text::json_string(value),
            Syntax::Toml => toml::literal(value),
        }
    }
}

/// A list of plain strings in one line, which both languages write alike.
pub(super) fn words(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| kit::text::json_string(word)).collect();
    format!("[{}]", words.join(", "))
}

impl Node {
    /// A value that holds nothing else and is not a string.
    pub(super) fn other(range: Range<usize>) -> Node {
        Node { kind: Kind::Other, range, list: None, lines: Vec::new() }
    }

    pub(super) fn members(&self) -> &[(String, Node)] {
        match &self.kind {
            Kind::Map(members) => members,
            _ => &[],
        }
    }

    pub(super) fn elements(&self) -> &[Node] {
        match &self.kind {
            Kind::Seq(elements) => elements,
            _ => &[],
        }
    }

    /// The member that counts: of several with one name, the last.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.members().iter().rev().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    fn child(&self, index: usize) -> &Node {
        match &self.kind {
            Kind::Map(members) => &members[index].1,
            Kind::Seq(elements) => &elements[index],
            Kind::Text(_) | Kind::Other => unreachable!("a path leads through maps and lists only"),
        }
    }

    fn at(&self, path: &[usize]) -> &Node {
        path.iter().fold(self, |node, index| node.child(*index))
    }
}

/// The text without the value at `path`, and without what we had made around it. None if the file was made for it.
pub(super) fn remove(text: &str, root: &Node, path: &[usize]) -> Option<String> {
    let Some((index, above)) = path.split_last() else { return json::without_root(text, &root.range) };
    let parent = root.at(above);
    match &parent.list {
        Some(list) => match list.remove(text, *index) {
            Removed::Text(text) => Some(text),
            Removed::Whole => remove(text, root, above),
        },
        None => cut_lines(text, parent.child(*index).lines.clone()),
    }
}

/// From the last to the first, so that the places of the others stay right.
fn cut_lines(text: &str, mut ranges: Vec<Range<usize>>) -> Option<String> {
    ranges.sort_by_key(|range| range.start);
    ranges.into_iter().rev().try_fold(text.to_owned(), |text, range| lines::cut(&text, range))
}

/// Line and column of a byte, counted from 1.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}
