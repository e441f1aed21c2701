//! Which function a name means. A function answers to the name that every answer calls it by, and to every dotted ending
//! of its path: `inner`, `Class.method`, `Class.method.inner`.

use tree_sitter::Node;

use super::shape::{Shape, Shapes};
use crate::facts::{self, Def, DefId, DefKind, Facts, Sym};
use crate::language::named;
use crate::parse::{self, Parsed};

/// A function that a name leads to.
#[derive(Debug, Clone)]
pub(crate) struct Found<'t> {
    /// As every answer calls it.
    pub(crate) name: String,
    /// With all that it is defined in, as far as that has names.
    pub(crate) path: String,
    /// Where it begins, with what is put before it.
    pub(crate) head: usize,
    pub(crate) line: usize,
    pub(crate) last_line: usize,
    pub(crate) node: Node<'t>,
    pub(crate) has_body: bool,
    /// Only says to a type checker what the function of this name takes.
    pub(crate) is_overload: bool,
}

impl Found<'_> {
    /// Whether it goes by that name: its path or a dotted ending of it.
    pub(crate) fn answers_to(&self, wanted: &str) -> bool {
        self.path.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

/// All functions of a file, in the order of the text.
pub(crate) fn functions<'t>(file: &'t Parsed<'_>) -> Vec<Found<'t>> {
    let (facts, nodes) = facts::located(file);
    let is_known =
        |def: &Def| def.kind.runs() || def.kind == DefKind::Lambda && !facts.text(def.name).is_empty();
    let is_overload = |mark: &Sym| facts.text(*mark).rsplit('.').next() == Some("overload");
    let mut found = Vec::new();
    for ((id, def), node) in facts.each_def().zip(nodes) {
        let Some(node) = node.filter(|_| is_known(def)) else { continue };
        found.push(Found {
            name: facts.qualified(id).into_owned(),
            path: path(&facts, id),
            head: def.line as usize,
            line: parse::line(node) as usize,
            last_line: def.end_line as usize,
            node,
            has_body: node.child_by_field_name("body").is_some(),
            is_overload: def.decorator_texts.iter().any(is_overload),
        });
    }
    found
}

/// The names of a definition and of what it is in, the outermost first.
fn path(facts: &Facts, mut id: DefId) -> String {
    let mut names = Vec::new();
    while id != DefId::FILE {
        let def = facts.def(id);
        if def.kind != DefKind::Namespace {
            names.push(facts.text(def.name));
            names.extend(def.owner.map(|owner| facts.text(owner)));
        }
        id = def.parent;
    }
    names.retain(|name| !name.is_empty());
    names.reverse();
    names.join(".")
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
