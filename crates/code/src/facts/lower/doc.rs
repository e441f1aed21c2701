//! Documentation: the first text of a body, or the comment lines right above.

use tree_sitter::Node;

use super::Lower;
use crate::facts::Sym;
use crate::language::{Language, Role, named};
use crate::parse::{last_line, line};

/// A documentation longer than this is cut: answers show its beginning, and search needs no more.
const DOC: usize = 600;

/// Comment lines without a gap.
pub(in crate::facts) struct Run {
    start: usize,
    end: usize,
    last: u32,
}

impl Lower<'_> {
    pub(super) fn note(&mut self, node: Node<'_>) {
        let run = match self.comment.take() {
            Some(run) if line(node) <= run.last + 1 => {
                Run { end: node.end_byte(), last: last_line(node), ..run }
            }
            _ => Run { start: node.start_byte(), end: node.end_byte(), last: last_line(node) },
        };
        self.comment = Some(run);
    }

    pub(super) fn doc(&mut self, node: Node<'_>, body: Option<Node<'_>>) -> Option<Sym> {
        if let Some(doc) = body.and_then(|body| self.inner_doc(body)) {
            return Some(doc);
        }
        let run = self.comment.take()?;
        // Attributes may stand between a comment and what it is about.
        let near = run.last < line(node) && line(node) <= run.last + 3;
        let text = self.source.get(run.start..run.end).filter(|_| near)?;
        let text = text.strip_prefix("@doc ").map_or(text, |text| text.trim_matches(['"', '\n', ' ']));
        self.doc_text(text)
    }

    /// Python's text at the start of a body.
    pub(super) fn inner_doc(&mut self, body: Node<'_>) -> Option<Sym> {
        if self.language != Language::Python {
            return None;
        }
        let first = named(body).next()?;
        let text = named(first)
            .next()
            .filter(|text| self.role(*text) == Some(Role::Text) && first.named_child_count() == 1)?;
        let text = self.text_of(text).trim_start_matches(|c: char| c.is_alphabetic());
        self.doc_text(text.trim_matches(['"', '\'']))
    }

    /// The words of a comment without its marks, as single lines.
    pub(super) fn doc_text(&mut self, text: &str) -> Option<Sym> {
        let marks = ['/', '*', '#', '!', '-', ';', ' ', '\t'];
        let lines =
            text.lines().map(|line| line.trim_start_matches(marks).trim_end_matches(['*', '/', ' ', '\r']));
        let mut out = String::new();
        for line in lines {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(line.trim_end());
            if out.len() > DOC {
                break;
            }
        }
        let text = kit::text::head(out.trim(), DOC);
        (!text.is_empty()).then(|| self.names.add(text))
    }
}
