//! TOML as people write it: where its values stand, over tables, dotted keys, inline tables and arrays of tables. It
//! never knows what the values mean.

use std::iter;
use std::ops::Range;

use toml_edit::{Document, Item, Key, Table, Value};

use super::lines::newline_of;
use super::list::{Comments, Layout, List, Style, line_start};
use super::tree::{Fault, Kind, Node, Shape, position};

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let document = Document::parse(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        Fault::Malformed { line, column, what: error.message().to_lowercase() }
    })?;
    Ok(table_node(text, document.as_table()))
}

/// What is added within brackets always stands in one line: older TOML knows no other inline table.
pub(super) fn style(text: &str) -> Style {
    Style { newline: newline_of(text), unit: "  ".to_owned(), gap: " ", layout: Layout::Line }
}

/// `name = value` within an inline table.
pub(super) fn render_member((name, shape): (&str, &Shape)) -> String {
    format!("{name} = {}", render(shape))
}

/// A value within brackets. White space behind every opening bracket marks it as ours.
pub(super) fn render(shape: &Shape) -> String {
    match shape {
        Shape::Plain(text) => text.clone(),
        Shape::Map(members) => {
            let members: Vec<_> = members.iter().map(|(name, shape)| render_member((name, shape))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Shape::Seq(items) => format!("[ {} ]", items.iter().map(render).collect::<Vec<_>>().join(", ")),
    }
}

/// A string: between single quotes, where nothing has to be escaped, if it can stand there.
pub(super) fn literal(value: &str) -> String {
    match value.contains(|c: char| c == '\'' || c.is_control()) {
        true => kit::text::json_string(value).replace('\u{7f}', "\\u007F"),
        false => format!("'{value}'"),
    }
}

fn table_node(text: &str, table: &Table) -> Node {
    let header = table.span().filter(|header| !header.is_empty()).map(|header| {
        let end =
            table.get_values().iter().filter_map(|(_, value)| value.span()).map(|value| value.end).max();
        let start = with_remark(text, line_start(text, header.start));
        start..line_end(text, end.unwrap_or(0).max(header.end))
    });
    let mut lines: Vec<_> = header.iter().cloned().collect();
    let mut members = Vec::new();
    for (name, item) in table.iter() {
        let node = item_node(text, table.key(name).and_then(Key::span).unwrap_or_default(), item);
        // The keys under a header are part of its lines already.
        let covered = |line: &&Range<usize>| header.as_ref().is_some_and(|own| own.contains(&line.start));
        lines.extend(node.lines.iter().filter(|line| !covered(line)).cloned());
        members.push((name.to_owned(), node));
    }
    Node { kind: Kind::Map(members), lines, ..Node::other(0..0) }
}

fn item_node(text: &str, key: Range<usize>, item: &Item) -> Node {
    match item {
        Item::Value(value) => {
            let node = value_node(value);
            let line = line_start(text, key.start)..line_end(text, node.range.end);
            Node { lines: iter::once(line).collect(), ..node }
        }
        Item::Table(table) => table_node(text, table),
        Item::ArrayOfTables(tables) => {
            let tables: Vec<_> = tables.iter().map(|table| table_node(text, table)).collect();
            let lines = tables.iter().flat_map(|table| table.lines.clone()).collect();
            Node { kind: Kind::Seq(tables), lines, ..Node::other(0..0) }
        }
        Item::None => Node::other(0..0),
    }
}

fn value_node(value: &Value) -> Node {
    let range = value.span().unwrap_or_default();
    match value {
        Value::String(string) => Node { kind: Kind::Text(string.value().clone()), ..Node::other(range) },
        Value::Array(array) => {
            let elements: Vec<_> = array.iter().map(value_node).collect();
            let items = elements.iter().map(|element| element.range.clone());
            let list = List::within(&range, Comments::Hash, items);
            Node { kind: Kind::Seq(elements), list: Some(list), ..Node::other(range) }
        }
        Value::InlineTable(table) => {
            let mut members = Vec::new();
            let mut items = Vec::new();
            for (path, value) in table.get_values() {
                let start = path.first().and_then(|key| key.span()).map_or(0, |key| key.start);
                let name: Vec<_> = path.iter().map(|key| key.get()).collect();
                let node = value_node(value);
                items.push(start..node.range.end);
                members.push((name.join("."), node));
            }
            let list = List::within(&range, Comments::Hash, items);
            Node { kind: Kind::Map(members), list: Some(list), ..Node::other(range) }
        }
        _ => Node::other(range),
    }
}

/// What stands above each table that we add, so that a reader knows whose it is.
pub(super) const REMARK: &str = "# by drip; `drip uninstall --agent codex` takes it out";

/// The start of the line above `start` if that is our remark.
fn with_remark(text: &str, start: usize) -> usize {
    let above = text[..start].strip_suffix('\n').map(|above| above.strip_suffix('\r').unwrap_or(above));
    match above.and_then(|above| above.strip_suffix(REMARK)) {
        Some(above) if above.is_empty() || above.ends_with('\n') => above.len(),
        _ => start,
    }
}

/// Where the line that holds `at` ends, before its line break.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if text[at..end].ends_with('\r') { end - 1 } else { end }
}
