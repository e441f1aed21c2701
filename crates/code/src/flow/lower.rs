//! From a syntax tree to the form: one walk for all grammars, steered by [`shape`](super::shape). What a tree leaves
//! open (a text that does not parse, nesting beyond any program) is lowered coarsely and noted, never refused.

mod arms;
mod bind;
mod branch;
mod call;
mod closure;
mod guard;
mod repeat;
mod scope;
mod statement;
mod value;

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::form::{Access, Body, Ref, Step, StepId, Stmt, VarId};
use super::shape::{Shape, Shapes};
use crate::language::Language;
use crate::parse::Parsed;
use scope::Scopes;

/// Statements and closures nested deeper than this are read as one flat expression. No program that people wrote goes
/// half as deep, and this much fits the two megabytes of a thread's stack several times.
const DEEPEST: usize = 100;

/// The longest condition shown on an edge.
const CONDITION_CHARS: usize = 80;

/// Lowers the function at `node`, or with [`Unit::Module`] what runs when the file is loaded.
pub(crate) fn lower(file: &Parsed<'_>, node: Node<'_>, unit: Unit) -> Body {
    let language = file.language;
    let mut lowerer = Lowerer {
        language,
        unit,
        source: file.source,
        shapes: Shapes::of(language, file.kinds.grammar()),
        body: Body::default(),
        scopes: Scopes::new(language),
        captures: HashMap::new(),
        ours: HashSet::new(),
        depth: 0,
        effect: None,
        broken_with: (None, None),
        results: Vec::new(),
        hoist: false,
        flattened: None,
    };
    let mut code = Vec::new();
    match unit {
        Unit::Function => lowerer.function(node, &mut code),
        Unit::Module => {
            let step = Step { lines: (1, 1), covers: 0, ..Step::default() };
            lowerer.push(step, &mut code);
            lowerer.statements(node, &mut code);
        }
    }
    let mut body = lowerer.body;
    body.code = code;
    if let Some(line) = lowerer.flattened {
        body.notes.push(format!(
            "line {line} nests deeper than {DEEPEST} levels: read as one expression from there on"
        ));
    }
    if let Some(line) = first_error(node) {
        body.notes.push(format!("the source does not parse at line {line}: the answer is partial"));
    }
    body
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Function,
    Module,
}

struct Lowerer<'s> {
    language: Language,
    unit: Unit,
    source: &'s [u8],
    shapes: Shapes,
    body: Body,
    scopes: Scopes,
    /// What a local function reads and changes outside itself, which happens where it is used.
    captures: HashMap<VarId, Vec<(VarId, Access)>>,
    /// Variables that something in this function gave a value.
    ours: HashSet<VarId>,
    depth: usize,
    /// The call that a statement is made of, whose result nobody takes.
    effect: Option<usize>,
    /// What a `break` with a value gives it to: of the loop around, and of the loop about to be entered.
    broken_with: (Option<VarId>, Option<VarId>),
    /// Named results, which a `return` fills.
    results: Vec<VarId>,
    /// Declarations belong to the function, not to the block (`var`).
    hoist: bool,
    /// The first line that was nested too deep.
    flattened: Option<usize>,
}

impl<'s> Lowerer<'s> {
    fn shape(&self, node: Node<'_>) -> Shape {
        if node.is_error() || node.is_missing() { Shape::Through } else { self.shapes.get(node) }
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        std::str::from_utf8(&self.source[node.byte_range()]).unwrap_or("")
    }

    /// A condition as it is shown: one line, not long.
    fn shown(&self, node: Node<'_>) -> String {
        let text = self.text(node);
        let mut line = String::new();
        for word in text.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            if line.len() > CONDITION_CHARS {
                break;
            }
        }
        if line.chars().count() > CONDITION_CHARS {
            line = line.chars().take(CONDITION_CHARS - 1).chain(['…']).collect();
        }
        strip_parentheses(&line).to_owned()
    }

    fn push(&mut self, step: Step, out: &mut Vec<Stmt>) -> StepId {
        let id = self.keep(step);
        out.push(Stmt::Step(id));
        id
    }

    fn keep(&mut self, step: Step) -> StepId {
        self.body.steps.push(step);
        self.body.steps.len() - 1
    }

    fn refer(&mut self, step: &mut Step, var: VarId, access: Access, at: Node<'_>) {
        let start = at.start_position();
        step.refs.push(Ref { var, access, line: start.row + 1, column: start.column });
        if access == Access::Use {
            self.expand(step, var, at);
        }
    }

    /// Using a local function is using, and perhaps changing, what it captured.
    fn expand(&mut self, step: &mut Step, var: VarId, at: Node<'_>) {
        let mut todo = vec![var];
        let mut seen = vec![var];
        let start = at.start_position();
        while let Some(var) = todo.pop() {
            for &(captured, access) in self.captures.get(&var).into_iter().flatten() {
                step.refs.push(Ref { var: captured, access, line: start.row + 1, column: start.column });
                if !seen.contains(&captured) {
                    seen.push(captured);
                    todo.push(captured);
                }
            }
        }
    }

    /// A name that carries a value from one step to another.
    fn carrier(&mut self) -> VarId {
        self.scopes.hidden(&mut self.body.vars)
    }

    /// Runs `then` one level deeper, or reads `node` flat where that is too deep.
    fn deeper(&mut self, node: Node<'_>, step: &mut Step, then: impl FnOnce(&mut Self, &mut Step)) {
        if self.depth >= DEEPEST {
            return self.flatten(node, step);
        }
        self.depth += 1;
        then(self, step);
        self.depth -= 1;
    }

    /// All names below as uses, without a stack of calls.
    fn flatten(&mut self, node: Node<'_>, step: &mut Step) {
        self.flattened.get_or_insert(first_line(node));
        step.may_raise = true;
        let mut cursor = node.walk();
        loop {
            let at = cursor.node();
            if self.shape(at) == Shape::Name {
                self.read(at, step);
            }
            if cursor.goto_first_child() || cursor.goto_next_sibling() {
                continue;
            }
            loop {
                if !cursor.goto_parent() {
                    return;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
            }
        }
    }
}

/// A text without the parentheses around all of it.
fn strip_parentheses(text: &str) -> &str {
    let Some(inside) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return text };
    let mut open = 0_i32;
    for byte in inside.bytes() {
        open += i32::from(byte == b'(') - i32::from(byte == b')');
        if open < 0 {
            return text;
        }
    }
    if open == 0 { inside } else { text }
}

/// A step over the lines of `node`.
fn span(node: Node<'_>) -> Step {
    head(node, node)
}

/// A step over the lines from the start of `node` to the end of `last`, which is the end of its header.
fn head(node: Node<'_>, last: Node<'_>) -> Step {
    let lines = (first_line(node), last_line(last).max(first_line(node)));
    Step { lines, covers: lines.1, ..Step::default() }
}

fn first_line(node: Node<'_>) -> usize {
    node.start_position().row + 1
}

fn last_line(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row } else { end.row + 1 }
}

/// The first of these fields that the node has.
fn field<'t>(node: Node<'t>, names: &[&str]) -> Option<Node<'t>> {
    names.iter().find_map(|name| node.child_by_field_name(name))
}

/// All children under these fields, in the order of the text.
fn fields<'t>(node: Node<'t>, names: &[&str]) -> Vec<Node<'t>> {
    children(node)
        .into_iter()
        .filter(|(_, field)| field.is_some_and(|it| names.contains(&it)))
        .map(|(it, _)| it)
        .collect()
}

/// The children that a program text is made of, without types.
fn children<'t>(node: Node<'t>) -> Vec<(Node<'t>, Option<&'t str>)> {
    const TYPES: &[&str] =
        &["type", "return_type", "type_parameters", "type_arguments", "returns", "trait", "bounds", "result"];
    let mut found = Vec::new();
    let mut cursor = node.walk();
    if cursor.goto_first_child() {
        loop {
            let field = cursor.field_name();
            if cursor.node().is_named() && !field.is_some_and(|it| TYPES.contains(&it)) {
                found.push((cursor.node(), field));
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    found
}

fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    children(node).into_iter().map(|(child, _)| child).filter(|child| !child.is_extra()).collect()
}

fn first_error(node: Node<'_>) -> Option<usize> {
    if !node.has_error() {
        return None;
    }
    let mut at = node;
    loop {
        if at.is_error() || at.is_missing() {
            return Some(first_line(at));
        }
        let mut cursor = at.walk();
        let next = at
            .children(&mut cursor)
            .find(|child| child.has_error() || child.is_error() || child.is_missing());
        match next {
            Some(child) => at = child,
            None => return Some(first_line(at)),
        }
    }
}
