//! Which function a name means. A function answers to every dotted ending of its full name: `method`, `Class.method`.

use tree_sitter::Node;

use super::shape::{Shape, Shapes};
use crate::language::named;
use crate::parse::Parsed;

/// A function with a body.
#[derive(Debug, Clone)]
pub(crate) struct Found<'t> {
    pub(crate) name: String,
    /// Where it begins, with what is put before it.
    pub(crate) head: usize,
    pub(crate) line: usize,
    pub(crate) last_line: usize,
    pub(crate) node: Node<'t>,
    /// Only says to a type checker what the function of this name takes.
    pub(crate) is_overload: bool,
}

/// All functions of a file, in the order of the text.
pub(crate) fn functions<'t>(file: &'t Parsed<'_>) -> Vec<Found<'t>> {
    let (shapes, source) = (Shapes::of(file.language, file.kinds.grammar()), file.source);
    let mut found = Vec::new();
    let mut todo: Vec<(Node<'t>, Chain, Option<String>)> = vec![(file.root(), None, None)];
    while let Some((node, chain, given)) = todo.pop() {
        let shape = shapes.get(node);
        let own = match shape {
            Shape::Function => function_name(node, source),
            Shape::Lambda => given.clone(),
            Shape::Class => class_name(node, source),
            _ => None,
        };
        let chain = match own {
            Some(own) => {
                let name = chain.as_deref().map_or(own.clone(), |outer| format!("{outer}.{own}"));
                if shape != Shape::Class && node.child_by_field_name("body").is_some() {
                    let (line, last_line) = (node.start_position().row + 1, node.end_position().row + 1);
                    let whole = node.parent().filter(|it| it.kind() == "decorated_definition");
                    let head = whole.map_or(line, |it| it.start_position().row + 1);
                    let is_overload = whole.is_some_and(|it| has_overload(it, source));
                    found.push(Found { name: name.clone(), head, line, last_line, node, is_overload });
                }
                Some(name.into())
            }
            None => chain,
        };
        let gives = lambda_name(node, source).or(given.filter(|_| node.kind() == "expression_list"));
        let before = todo.len();
        todo.extend(named(node).map(|child| (child, chain.clone(), gives.clone())));
        todo[before..].reverse();
    }
    found
}

/// The functions inside of a node that a line is in, the outermost first: below the line that each begins on, which is
/// also one of what is around it.
pub(crate) fn around<'t>(file: &'t Parsed<'_>, node: Node<'t>, line: usize) -> Vec<Node<'t>> {
    let shapes = Shapes::of(file.language, file.kinds.grammar());
    let holds =
        |node: &Node<'_>| (node.start_position().row + 1..=node.end_position().row + 1).contains(&line);
    let mut found = Vec::new();
    let mut todo: Vec<Node<'t>> = named(node).filter(holds).collect();
    while let Some(node) = todo.pop() {
        let is_function = matches!(shapes.get(node), Shape::Function | Shape::Lambda);
        if is_function && node.start_position().row + 1 < line && node.child_by_field_name("body").is_some() {
            found.push(node);
        }
        todo.extend(named(node).filter(holds));
    }
    found.sort_by_key(Node::start_byte);
    found
}

fn has_overload(decorated: Node<'_>, source: &[u8]) -> bool {
    let marks = named(decorated).filter(|it| it.kind() == "decorator");
    marks.into_iter().any(|it| text(it, source).trim_end().rsplit(['.', '@']).next() == Some("overload"))
}

type Chain = Option<std::rc::Rc<str>>;

/// Whether `wanted` is the full name or a dotted ending of it.
pub(crate) fn answers_to(full: &str, wanted: &str) -> bool {
    full == wanted || full.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'))
}

/// The names most like `wanted`, best first.
pub(crate) fn near<'n>(names: impl Iterator<Item = &'n str>, wanted: &str) -> Vec<String> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let target = last(wanted);
    let mut scored: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let own = last(name);
            let distance = edits(&own, &target);
            let alike = own.contains(&target) || target.contains(&own) || distance * 2 <= target.len().max(3);
            alike.then_some((distance, name))
        })
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(NEAR_NAMES).map(|(_, name)| name.to_owned()).collect()
}

/// As many near names as fit one line.
const NEAR_NAMES: usize = 5;

fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = cost.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn text(node: Node<'_>, source: &[u8]) -> String {
    String::from_utf8_lossy(&source[node.byte_range()]).into_owned()
}

fn function_name(node: Node<'_>, source: &[u8]) -> Option<String> {
    if let Some(mut at) = node.child_by_field_name("declarator") {
        while let Some(inner) = at.child_by_field_name("declarator").or_else(|| lone_declarator(at)) {
            at = inner;
        }
        return Some(text(at, source).replace("::", "."));
    }
    // Lua joins a method to its table with a colon.
    let name = text(node.child_by_field_name("name")?, source).replace(':', ".");
    match node.child_by_field_name("receiver").and_then(|it| receiver_type(it, source)) {
        Some(receiver) => Some(format!("{receiver}.{name}")),
        None => Some(name),
    }
}

/// What a reference declarator holds; the grammar gives it no field.
fn lone_declarator(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() == "reference_declarator" { node.named_child(0) } else { None }
}

/// The type in Go's `(s *Server)`.
fn receiver_type(receiver: Node<'_>, source: &[u8]) -> Option<String> {
    let mut todo = vec![receiver];
    while let Some(at) = todo.pop() {
        if at.kind() == "type_identifier" {
            return Some(text(at, source));
        }
        let before = todo.len();
        todo.extend(named(at));
        todo[before..].reverse();
    }
    None
}

/// The name that a class gives to its members; modules and namespaces give none.
fn class_name(node: Node<'_>, source: &[u8]) -> Option<String> {
    if matches!(node.kind(), "mod_item" | "namespace_declaration" | "internal_module") {
        return None;
    }
    let field = if node.kind() == "impl_item" { "type" } else { "name" };
    let name = text(node.child_by_field_name(field)?, source);
    Some(name.split(['<', '[']).next().unwrap_or_default().trim().replace("::", "."))
}

/// The name under which a function value below this node is known.
fn lambda_name(node: Node<'_>, source: &[u8]) -> Option<String> {
    let field = match node.kind() {
        "variable_declarator" => "name",
        "assignment_expression" => "left",
        "pair" | "field_definition" | "public_field_definition" => {
            if node.child_by_field_name("key").is_some() {
                "key"
            } else if node.child_by_field_name("property").is_some() {
                "property"
            } else {
                "name"
            }
        }
        "assignment_statement" => {
            let left = named(node).next().filter(|it| it.kind() == "variable_list")?;
            return Some(text(left, source))
                .filter(|it| it.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')));
        }
        _ => return None,
    };
    let name = text(node.child_by_field_name(field)?, source);
    let last = name.rsplit('.').next().unwrap_or_default();
    // PHP's variables carry a sign that is no part of the name; in JavaScript `$` alone is a name.
    let last = last.strip_prefix('$').filter(|rest| !rest.is_empty()).unwrap_or(last);
    last.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '#')).then(|| last.to_owned())
}
