//! Functions and classes: the one asked about, and those inside it, which are values that capture.

use std::collections::HashSet;

use tree_sitter::Node;

use super::scope::{Binding, ScopeKind};
use super::{Lowerer, children, field, first_line, head, last_line, named, span};
use crate::flow::form::{Access, Ref, Step, Stmt, VarId};
use crate::flow::shape::Shape;
use crate::language::Language;

impl Lowerer<'_> {
    /// The function asked about: its header defines the parameters, then its body runs.
    pub(super) fn function(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let body = body_of(node);
        let mut step = header(node, body);
        self.all_parameters(node, &mut step);
        self.push(step, out);
        if let Some(body) = body {
            self.body_of_function(body, out);
        }
    }

    fn all_parameters(&mut self, node: Node<'_>, step: &mut Step) {
        for name in ["receiver", "parameters", "parameter", "result"] {
            if let Some(list) = node.child_by_field_name(name) {
                if name == "result" && list.kind() != "parameter_list" {
                    continue;
                }
                let before = step.refs.len();
                self.parameters(list, step);
                if name == "result" {
                    self.results = step.refs[before..].iter().map(|it| it.var).collect();
                }
            }
        }
        let mut declarator = node.child_by_field_name("declarator");
        while let Some(at) = declarator {
            if let Some(list) = at.child_by_field_name("parameters") {
                self.parameters(list, step);
                break;
            }
            declarator = at.child_by_field_name("declarator").or_else(|| named(at).pop());
        }
    }

    fn body_of_function(&mut self, body: Node<'_>, out: &mut Vec<Stmt>) {
        match self.shape(body) {
            Shape::Block | Shape::Group => self.statements(body, out),
            Shape::Try => self.statement(body, out),
            _ if body.kind() == "arrow_expression_clause" => self.statements(body, out),
            _ => self.statement(body, out),
        }
    }

    /// A definition inside a function: binds its name to a value that captured something.
    pub(super) fn nested(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut step = header(node, body_of(node));
        for decorator in named(node).into_iter().filter(|it| it.kind() == "decorator") {
            self.value(decorator, &mut step, out);
        }
        let definition = field(node, &["definition"]).unwrap_or(node);
        if let Some(bases) = field(definition, &["superclasses"]) {
            self.value(bases, &mut step, out);
        }
        self.defaults(definition, &mut step, out);
        let captured = if self.depth >= super::DEEPEST {
            self.flatten(definition, &mut step);
            Vec::new()
        } else {
            self.depth += 1;
            let captured = self.closure(definition, &mut step);
            self.depth -= 1;
            captured
        };
        step.lines.1 = header(node, body_of(definition)).lines.1;
        step.covers = last_line(node);
        step.may_raise = true;
        let name = field(definition, &["name"])
            .filter(|it| !matches!(definition.kind(), "impl_item") && it.is_named());
        if let Some(name) = name {
            let binding = if self.language == Language::Python { Binding::Assign } else { Binding::Declare };
            let text = self.text(name).to_owned();
            let var = self.scopes.bind(&mut self.body.vars, &text, binding);
            self.ours.insert(var);
            self.refer(&mut step, var, Access::Define, name);
            self.captures.insert(var, captured);
        }
        self.push(step, out);
    }

    fn defaults(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let Some(list) = field(node, &["parameters"]).filter(|_| self.language == Language::Python) else {
            return;
        };
        for parameter in named(list) {
            if let Some(value) = field(parameter, &["value"]) {
                self.value(value, step, out);
            }
        }
    }

    /// Adds to `step` what a function value reads and changes outside itself, and says it.
    pub(super) fn closure(&mut self, node: Node<'_>, step: &mut Step) -> Vec<(VarId, Access)> {
        let (steps, decisions) = (self.body.steps.len(), self.body.decisions);
        let (effect, hoist) = (self.effect.take(), std::mem::take(&mut self.hoist));
        let (before, results) = (self.body.vars.len(), std::mem::take(&mut self.results));
        self.scopes.enter(ScopeKind::Function);
        let mut inside = Vec::new();
        self.inside(node, &mut inside);
        self.scopes.leave();
        (self.body.decisions, self.effect, self.hoist, self.results) = (decisions, effect, hoist, results);
        let mut captured: Vec<(VarId, Access)> = Vec::new();
        let mut seen = HashSet::new();
        for it in self.body.steps.drain(steps..).flat_map(|step| step.refs) {
            let access = if it.access == Access::Use { Access::Use } else { Access::Update };
            let mut root = it.var;
            while let Some(parent) = self.body.vars[root].parent {
                root = parent;
            }
            if (root < before || self.scopes.is_outermost(root)) && seen.insert((it.var, access)) {
                captured.push((it.var, access));
            }
        }
        // Reads first: what a closure does inside has no order outside.
        captured.sort_by_key(|(_, access)| std::cmp::Reverse(*access));
        let start = node.start_position();
        let here =
            |&(var, access): &(VarId, Access)| Ref { var, access, line: start.row + 1, column: start.column };
        step.refs.extend(captured.iter().map(here));
        let block = body_of(node).filter(|body| matches!(self.shape(*body), Shape::Block | Shape::Try));
        if block.is_some_and(|body| last_line(body) > first_line(body)) {
            step.lines.1 = step.lines.1.min(first_line(node).max(step.lines.0));
        }
        captured
    }

    /// PHP's `use (&$x)`: the name means the variable outside.
    fn shared(&mut self, node: Node<'_>) {
        let clause = named(node).into_iter().find(|it| it.kind() == "anonymous_function_use_clause");
        for reference in clause.map(named).unwrap_or_default().into_iter().filter(|it| it.kind() == "by_ref")
        {
            if let Some(name) = named(reference).first() {
                let name = self.text(*name);
                self.scopes.borrow(&mut self.body.vars, name);
            }
        }
    }

    fn inside(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut step = span(node);
        self.all_parameters(node, &mut step);
        self.push(step, out);
        self.shared(node);
        match body_of(node) {
            Some(body) if self.shape(node) == Shape::Class => {
                for member in named(body) {
                    self.statement(member, out);
                }
            }
            Some(body) => self.body_of_function(body, out),
            None => {
                for (child, name) in children(node) {
                    if !matches!(name, Some("parameters" | "parameter" | "name")) {
                        self.statement(child, out);
                    }
                }
            }
        }
    }
}

/// The header of a definition: up to where its body begins.
fn header(node: Node<'_>, body: Option<Node<'_>>) -> Step {
    let mut step = head(node, node);
    if let Some(body) = body {
        let brace = matches!(body.kind(), "statement_block" | "compound_statement")
            || (body.kind() == "block" && body.child(0).is_some_and(|it| it.kind() == "{"));
        let named = field(node, &["definition"]).unwrap_or(node);
        let last = if brace { first_line(body) } else { first_line(body).saturating_sub(1) };
        step.lines.1 = last.max(first_line(named)).clamp(step.lines.0, step.lines.1);
        step.covers = step.lines.1;
    }
    step
}

pub(super) fn body_of(node: Node<'_>) -> Option<Node<'_>> {
    field(node, &["body"]).or_else(|| {
        let definition = field(node, &["definition"])?;
        field(definition, &["body"])
    })
}
