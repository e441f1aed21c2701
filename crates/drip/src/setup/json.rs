//! JSON with comments and trailing commas, as people write it: where its values stand, and how a new one is written so
//! that it looks like the rest of the file. It never knows what the values mean.
//!
//! Three beginnings tell what was there before us, see [`without_root`]: a file that was missing becomes an object in
//! lines; a blank file gets `{ … }`, with a space; an empty object gets its first member right behind the brace.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::lines::newline_of;
use super::list::{Comments, Layout, List, Spot, Style, line_start};
use super::tree::{Fault, Kind, Node, Shape};

/// None for a blank file.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Fault> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let what = error.kind().to_string().to_lowercase();
        Fault::Malformed { line: error.line_display(), column: error.column_display(), what }
    })?;
    match parsed.value {
        Some(value) => Ok(Some(node(&value))),
        None => Err(Fault::Unfit("it holds comments and no value".to_owned())),
    }
}

/// A file with `member` and nothing else: one that was missing, or was `blank`.
pub(super) fn with_root(blank: Option<&str>, member: (&str, &Shape)) -> String {
    let style = Style { newline: "\n", unit: "  ".to_owned(), gap: " ", layout: Layout::Lines };
    let spot = |indent: &str| Spot { indent: indent.to_owned(), layout: Layout::Lines };
    match blank {
        None => format!("{{\n  {}\n}}\n", render_member(member, &style, &spot("  "))),
        Some(blank) => format!("{blank}{{ {} }}", render_member(member, &style, &spot(""))),
    }
}

/// What is left when nothing but ours was in the root object. None if the file was made for it.
pub(super) fn without_root(text: &str, root: &Range<usize>) -> Option<String> {
    let (before, behind) = (&text[..root.start], &text[root.end..]);
    let was_blank = text[root.clone()].starts_with("{ ");
    match (before.trim().is_empty() && behind.trim().is_empty(), was_blank) {
        (true, true) => Some([before, behind].concat()),
        (true, false) => None,
        (false, _) => Some([before, "{}", behind].concat()),
    }
}

/// How the file is written.
pub(super) fn style(text: &str, root: &Node) -> Style {
    let newline = newline_of(text);
    let first = root.list.as_ref().and_then(|list| list.items.first());
    let mut style = Style { newline, unit: "  ".to_owned(), gap: " ", layout: Layout::Lines };
    let Some(first) = first else { return style };
    let indent = &text[line_start(text, first.start)..first.start];
    if !indent.is_empty() && indent.trim().is_empty() {
        style.unit = indent.to_owned();
    }
    if !text[root.range.clone()].contains('\n') {
        style.layout = Layout::Line;
    }
    let value = root.members().first().map_or(first.end, |(_, node)| node.range.start);
    if text[..value].ends_with(':') {
        style.gap = "";
    }
    style
}

/// `"name": value` at a spot.
pub(super) fn render_member((name, shape): (&str, &Shape), style: &Style, spot: &Spot) -> String {
    let name = kit::text::json_string(name);
    format!("{name}:{}{}", style.gap, render(shape, style, spot))
}

/// A value at a spot. White space behind every opening bracket marks it as ours.
pub(super) fn render(shape: &Shape, style: &Style, spot: &Spot) -> String {
    let inner = Spot { indent: format!("{}{}", spot.indent, style.unit), layout: spot.layout };
    let (open, items, close) = match shape {
        Shape::Plain(text) => return text.clone(),
        Shape::Map(members) => {
            let member = |(name, shape): &(String, Shape)| render_member((name, shape), style, &inner);
            ('{', members.iter().map(member).collect::<Vec<_>>(), '}')
        }
        Shape::Seq(items) => ('[', items.iter().map(|item| render(item, style, &inner)).collect(), ']'),
    };
    let Style { newline, gap, .. } = style;
    match spot.layout {
        Layout::Line => format!("{open} {}{gap}{close}", items.join(&format!(",{gap}"))),
        Layout::Lines => {
            let separator = format!(",{newline}{}", inner.indent);
            let items = items.join(&separator);
            format!("{open}{newline}{}{items}{newline}{}{close}", inner.indent, spot.indent)
        }
    }
}

fn node(value: &Value<'_>) -> Node {
    let range = value.start()..value.end();
    match value {
        Value::Object(object) => object_node(object, range),
        Value::Array(array) => array_node(array, range),
        Value::StringLit(text) => Node { kind: Kind::Text(text.value.to_string()), ..Node::other(range) },
        _ => Node::other(range),
    }
}

fn object_node(object: &Object<'_>, range: Range<usize>) -> Node {
    let items = object.properties.iter().map(|member| member.start()..member.end());
    let list = List::within(&range, Comments::Slashes, items);
    let members =
        object.properties.iter().map(|member| (member.name.as_str().to_owned(), node(&member.value)));
    Node { kind: Kind::Map(members.collect()), list: Some(list), ..Node::other(range) }
}

fn array_node(array: &Array<'_>, range: Range<usize>) -> Node {
    let items = array.elements.iter().map(|item| item.start()..item.end());
    let list = List::within(&range, Comments::Slashes, items);
    Node {
        kind: Kind::Seq(array.elements.iter().map(node).collect()),
        list: Some(list),
        ..Node::other(range)
    }
}
