//! `if` in all its spellings, the compiler's included.

use tree_sitter::Node;

use super::scope::ScopeKind;
use super::{Lowerer, children, field, fields, first_line, head, named, span};
use crate::flow::form::{ChoiceArm, Step, Stmt, Test, Truth};
use crate::flow::shape::Shape;

impl Lowerer<'_> {
    pub(super) fn choice(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        self.scopes.enter(ScopeKind::Block);
        for init in fields(node, &["initializer"]) {
            self.statement(init, out);
        }
        let (mut arms, mut otherwise) = (Vec::new(), Vec::new());
        let mut at = node;
        loop {
            let arm = self.arm_of_choice(at);
            arms.push(arm);
            let mut rest = fields(at, &["alternative"]).into_iter();
            let mut chained = None;
            for alternative in rest.by_ref() {
                let inner = self.else_if(alternative);
                match inner {
                    Some(inner)
                        if self.shape(inner) == Shape::ElseIf && field(inner, &["alternative"]).is_none() =>
                    {
                        arms.push(self.arm_of_choice(inner));
                    }
                    Some(inner) => chained = Some(inner),
                    None => self.statement(alternative, &mut otherwise),
                }
            }
            match chained {
                Some(next) => at = next,
                None => break,
            }
        }
        self.scopes.leave();
        if self.shape(node) == Shape::Unless
            && let Some(arm) = arms.first_mut()
        {
            std::mem::swap(&mut arm.body, &mut otherwise);
        }
        out.push(Stmt::Choice { arms, otherwise });
    }

    fn arm_of_choice(&mut self, node: Node<'_>) -> ChoiceArm {
        self.body.decisions += 1;
        let mut lead = Vec::new();
        let test = match field(node, &["condition"]) {
            Some(condition) => self.test(node, condition, &mut lead),
            None => Test { step: self.keep(span(node)), truth: Truth::Unknown, text: String::new() },
        };
        let mut body = Vec::new();
        self.scopes.enter(ScopeKind::Block);
        for consequence in fields(node, &["consequence", "body"]) {
            self.statement(consequence, &mut body);
        }
        self.scopes.leave();
        ChoiceArm { lead, test, body }
    }

    /// The `if` that an `else` consists of: a chain of these is one choice, however long.
    fn else_if<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let inner = match self.shape(node) {
            Shape::ElseIf | Shape::If => node,
            Shape::Else => match named(node).as_slice() {
                [only] if self.shape(*only) == Shape::If => *only,
                _ => return None,
            },
            _ => return None,
        };
        let modifier = inner.kind().ends_with("_modifier");
        (!modifier && field(inner, &["initializer"]).is_none()).then_some(inner)
    }

    /// `let pattern = value else { … }`.
    pub(super) fn let_else(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let Some(alternative) = field(node, &["alternative"]) else { return self.value(node, step, out) };
        let value = field(node, &["value"]);
        let mut test = head(node, value.unwrap_or(node));
        self.value(node, &mut test, out);
        let text = value.map(|it| self.shown(it)).unwrap_or_default();
        self.body.decisions += 1;
        let test = Test { step: self.keep(test), truth: Truth::Unknown, text };
        let mut otherwise = Vec::new();
        self.statement(alternative, &mut otherwise);
        out.push(Stmt::Choice {
            arms: vec![ChoiceArm { lead: Vec::new(), test, body: Vec::new() }],
            otherwise,
        });
    }

    /// Statements that are compiled or not; no decision of the program.
    pub(super) fn compiled_if(&mut self, gate: Node<'_>, body: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
        let line = first_line(gate);
        let step = self.keep(Step { lines: (line, line), covers: line, ..Step::default() });
        let text = self.text(gate).lines().next().unwrap_or_default().trim().to_owned();
        let test = Test { step, truth: Truth::Unknown, text };
        Stmt::Choice { arms: vec![ChoiceArm { lead: Vec::new(), test, body }], otherwise }
    }

    /// `#if` and its alternatives.
    pub(super) fn compiled(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let (mut body, mut otherwise) = (Vec::new(), Vec::new());
        for (child, name) in children(node) {
            match name {
                Some("condition" | "name") => {}
                Some("alternative") => self.statement(child, &mut otherwise),
                _ => self.statement(child, &mut body),
            }
        }
        if node.kind() == "preproc_else" {
            return out.append(&mut body);
        }
        let choice = self.compiled_if(node, body, otherwise);
        out.push(choice);
    }
}
