//! Guarded bodies: what may raise, who handles it, what runs in any case.

use tree_sitter::Node;

use super::scope::{Binding, ScopeKind};
use super::{Lowerer, field, head, named, span};
use crate::flow::form::{Access, Handler, Step, StepId, Stmt, Swallows, Try};
use crate::flow::shape::Shape;
use crate::language::Language;

impl Lowerer<'_> {
    pub(super) fn guarded(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let parts = named(node);
        let guards = |it: &Node<'_>| matches!(self.shape(*it), Shape::Handler | Shape::Finally);
        if !parts.iter().any(guards) && field(node, &["resources"]).is_none() {
            return self.statements(node, out);
        }
        let mut it = Try::default();
        let line = super::first_line(node);
        if node.kind() != "body_statement" {
            self.push(Step { lines: (line, line), covers: line, ..Step::default() }, &mut it.body);
        }
        self.scopes.enter(ScopeKind::Block);
        let resources = self.resources(node, &mut it.body);
        let mut plain = Vec::new();
        for part in parts {
            match self.shape(part) {
                Shape::Handler => {
                    let handler = self.handler(part);
                    it.handlers.push(handler);
                }
                Shape::Else => self.statement(part, &mut it.otherwise),
                Shape::Finally => self.statement(part, &mut it.finally),
                _ if part.kind() == "resource_specification" => {}
                _ => self.statement(part, &mut plain),
            }
        }
        match resources {
            Some(head) => it.body.push(Stmt::With { head, body: plain, swallows: Swallows::Never }),
            None => it.body.extend(plain),
        }
        self.scopes.leave();
        out.push(Stmt::Try(it));
    }

    /// Java's `try (resource)`: the body runs inside it.
    fn resources(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) -> Option<StepId> {
        let resources = field(node, &["resources"])?;
        let mut step = span(resources);
        step.may_raise = true;
        self.value(resources, &mut step, out);
        Some(self.keep(step))
    }

    fn handler(&mut self, node: Node<'_>) -> Handler {
        self.body.decisions += 1;
        self.scopes.enter(ScopeKind::Block);
        let parts = named(node);
        let body = field(node, &["body"])
            .or_else(|| parts.iter().copied().find(|it| self.shape(*it) == Shape::Block));
        let tests: Vec<_> =
            parts.iter().copied().filter(|it| Some(it.id()) != body.map(|it| it.id())).collect();
        let mut step = match tests.last() {
            Some(last) => head(node, *last),
            None => Step { lines: (super::first_line(node), super::first_line(node)), ..head(node, node) },
        };
        step.covers = step.lines.1;
        let caught = field(node, &["type"]).filter(|_| self.language == Language::Php);
        let text = caught.or(tests.first().copied()).map(|it| self.shown(it)).unwrap_or_default();
        let mut ahead = Vec::new();
        for test in &tests {
            match test.kind() {
                "variable_name" | "catch_formal_parameter" | "catch_declaration" | "parameter_list" => {
                    self.parameters(*test, &mut step);
                }
                "exception_variable" => self.target(*test, Binding::Assign, &mut step, &mut ahead),
                _ if node.child_by_field_name("parameter").is_some() => {
                    self.target(*test, Binding::Declare, &mut step, &mut ahead);
                }
                _ => self.value(*test, &mut step, &mut ahead),
            }
        }
        step.refs.sort_by_key(|it| it.access != Access::Use);
        let head = self.keep(step);
        let mut list = ahead;
        if let Some(body) = body {
            self.statement(body, &mut list);
        }
        self.scopes.leave();
        let total = match self.language {
            Language::JavaScript | Language::TypeScript => true,
            Language::Java | Language::Php => text.contains("Throwable"),
            Language::CSharp => {
                !tests.iter().any(|it| it.kind() == "catch_filter_clause")
                    && (tests.is_empty() || text.starts_with("Exception"))
            }
            Language::Cpp => text.contains("..."),
            Language::Ruby => !tests.iter().any(|it| it.kind() == "exceptions"),
            _ => tests.is_empty(),
        };
        Handler { head, text, catches_all: total, body: list }
    }
}
