//! Expressions: what a step reads, calls and changes on the way to its value.

use tree_sitter::Node;

use super::scope::{Binding, ScopeKind};
use super::{Lowerer, children, field, first_line, last_line, named, span};
use crate::flow::form::{Access, ChoiceArm, Jump, Step, Stmt, Test, Truth, VarId};
use crate::flow::shape::Shape;
use crate::language::Language;

impl<'s> Lowerer<'s> {
    /// Adds to `step` what evaluating `node` does; decisions inside become statements of `out` before it.
    pub(super) fn value(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let mut late = Vec::new();
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            match self.shape(node) {
                Shape::Skip => {}
                Shape::Name => self.read(node, step),
                Shape::Member => {
                    step.may_raise = true;
                    match self.path(node) {
                        Some(var) => self.refer(step, var, Access::Use, node),
                        None => todo.extend(object(node)),
                    }
                }
                Shape::Call => self.call(node, step, &mut todo, &mut late),
                Shape::Macro => self.macro_call(node, step),
                Shape::Assign
                | Shape::Augment
                | Shape::Increment
                | Shape::Declare
                | Shape::Delete
                | Shape::As => {
                    self.deeper(node, step, |this, step| this.assign(node, step, out));
                }
                Shape::Lambda | Shape::Function | Shape::Class => {
                    self.deeper(node, step, |this, step| {
                        this.closure(node, step);
                    });
                }
                Shape::Comprehension => {
                    self.deeper(node, step, |this, step| this.comprehension(node, step, out));
                }
                Shape::Question => self.deeper(node, step, |this, step| this.question(node, step, out)),
                Shape::Keyword => todo.extend(field(node, &["value"]).or_else(|| named(node).pop())),
                Shape::Reference => {
                    if let Some(inner) = field(node, &["value"]) {
                        if self.text(node).starts_with("&mut") {
                            late.extend(self.path(inner).map(|var| (var, inner)));
                        }
                        todo.push(inner);
                    }
                }
                Shape::Ternary if !named(node).iter().any(|it| self.jumps(*it)) => {
                    self.body.decisions += 1;
                    todo.extend(named(node).into_iter().rev());
                }
                Shape::Ternary => self.deeper(node, step, |this, step| this.embedded(node, step, out)),
                shape if shape.is_control() => {
                    self.deeper(node, step, |this, step| this.embedded(node, step, out));
                }
                _ => self.through(node, step, &mut todo, out, &mut late),
            }
        }
        for (var, node) in late {
            self.refer(step, var, Access::Update, node);
        }
    }

    fn through<'t>(
        &mut self,
        node: Node<'t>,
        step: &mut Step,
        todo: &mut Vec<Node<'t>>,
        out: &mut Vec<Stmt>,
        late: &mut Vec<(VarId, Node<'t>)>,
    ) {
        let kind = node.kind();
        step.may_raise |= kind.ends_with("operator") || kind.ends_with("_expression") || kind == "binary";
        step.may_raise |=
            matches!(kind, "await" | "yield" | "subscript" | "unary" | "interpolation" | "assert_statement");
        if let Some(right) = field(node, &["right"]).filter(|right| self.jumps(*right))
            && let Some(left) = field(node, &["left"])
        {
            return self.deeper(node, step, |this, step| this.or_jump(left, right, step, out));
        }
        if matches!(kind, "unary_expression" | "pointer_expression")
            && self.text(node).starts_with('&')
            && let Some(inner) = field(node, &["operand", "argument"])
        {
            late.extend(self.path(inner).map(|var| (var, inner)));
        }
        if kind == "argument" && matches!(self.language, Language::CSharp) {
            let text = self.text(node);
            if text.starts_with("ref ") || text.starts_with("out ") {
                late.extend(named(node).pop().and_then(|inner| Some((self.path(inner)?, inner))));
            }
        }
        let tag = kind.starts_with("jsx_");
        let binds = matches!(
            kind,
            "declaration_pattern" | "var_pattern" | "recursive_pattern" | "instanceof_expression"
        );
        for (child, name) in children(node).into_iter().rev() {
            match name {
                Some("name") if tag => {}
                Some("name") if binds => self.bind(child, Binding::Hoist, step),
                _ => todo.push(child),
            }
        }
    }

    /// `left or return`: a decision whose one side leaves.
    fn or_jump(&mut self, left: Node<'_>, right: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let mut test = span(left);
        self.value(left, &mut test, out);
        let carrier = self.carrier();
        self.refer(&mut test, carrier, Access::Define, left);
        let text = self.shown(left);
        let test = Test { step: self.keep(test), truth: Truth::Unknown, text };
        let mut body = Vec::new();
        self.statement(right, &mut body);
        self.body.decisions += 1;
        out.push(Stmt::Choice {
            arms: vec![ChoiceArm { lead: Vec::new(), test, body }],
            otherwise: Vec::new(),
        });
        self.refer(step, carrier, Access::Use, left);
    }

    /// Rust's `?`: the value, or out of the function with the failure.
    fn question(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let Some(inner) = named(node).first().copied() else { return };
        let mut test = span(inner);
        self.value(inner, &mut test, out);
        let carrier = self.carrier();
        self.refer(&mut test, carrier, Access::Define, inner);
        let text = self.shown(node);
        let test = Test { step: self.keep(test), truth: Truth::Unknown, text };
        let line = last_line(node);
        let leave = self.keep(Step { lines: (line, line), covers: line, ..Step::default() });
        self.body.decisions += 1;
        let body = vec![Stmt::Jump(leave, Jump::Return)];
        out.push(Stmt::Choice {
            arms: vec![ChoiceArm { lead: Vec::new(), test, body }],
            otherwise: Vec::new(),
        });
        self.refer(step, carrier, Access::Use, node);
    }

    /// A statement where a value is wanted: it runs before, and hands its value over.
    fn embedded(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let carrier = self.carrier();
        let mut inner = Vec::new();
        self.broken_with.1 = (self.shape(node) == Shape::Forever).then_some(carrier);
        self.statement(node, &mut inner);
        self.hand_over(&inner, carrier, node);
        out.append(&mut inner);
        step.lines.1 = step.lines.1.min(first_line(node).max(step.lines.0));
        self.refer(step, carrier, Access::Use, node);
    }

    /// The last step on every way through `list` defines `carrier`.
    fn hand_over(&mut self, list: &[Stmt], carrier: VarId, node: Node<'_>) {
        match list.last() {
            Some(Stmt::Step(step)) => {
                let mut changed = std::mem::take(&mut self.body.steps[*step]);
                self.refer(&mut changed, carrier, Access::Define, node);
                self.body.steps[*step] = changed;
            }
            Some(Stmt::Choice { arms, otherwise }) => {
                arms.iter().for_each(|arm| self.hand_over(&arm.body, carrier, node));
                self.hand_over(otherwise, carrier, node);
            }
            Some(Stmt::Switch(it)) => it.arms.iter().for_each(|arm| self.hand_over(&arm.body, carrier, node)),
            Some(Stmt::Try(it)) => {
                self.hand_over(&it.body, carrier, node);
                it.handlers.iter().for_each(|handler| self.hand_over(&handler.body, carrier, node));
            }
            Some(Stmt::With { body, .. } | Stmt::Labelled { body, .. }) => {
                self.hand_over(body, carrier, node);
            }
            Some(Stmt::Loop(it)) => self.hand_over(&it.body, carrier, node),
            Some(Stmt::Jump(step, Jump::Break(_))) => {
                let mut changed = std::mem::take(&mut self.body.steps[*step]);
                self.refer(&mut changed, carrier, Access::Define, node);
                self.body.steps[*step] = changed;
            }
            _ => {}
        }
    }

    pub(super) fn read(&mut self, node: Node<'_>, step: &mut Step) {
        let name = self.text(node);
        if name.is_empty() {
            return;
        }
        if self.language == Language::Ruby && node.kind() == "identifier" && self.scopes.find(name).is_none()
        {
            // In Ruby a bare name that nothing was assigned to is a call.
            step.calls.push(name.to_owned());
            step.may_raise = true;
            return;
        }
        let var = self.scopes.read(&mut self.body.vars, name);
        self.refer(step, var, Access::Use, node);
    }

    /// The variable that a chain of names and fields stands for.
    pub(super) fn path(&mut self, node: Node<'_>) -> Option<VarId> {
        let mut names = Vec::new();
        let mut at = node;
        loop {
            match self.shape(at) {
                Shape::Member => {
                    names.push(property(at)?);
                    at = object(at)?;
                }
                Shape::Name => break,
                _ if matches!(at.kind(), "parenthesized_expression" | "non_null_expression") => {
                    at = named(at).first().copied()?;
                }
                _ => return None,
            }
        }
        let name = self.text(at);
        let mut var = self.scopes.read(&mut self.body.vars, name);
        for name in names.into_iter().rev() {
            let name = self.text(name);
            match self.scopes.field(&mut self.body.vars, var, name) {
                Some(longer) => var = longer,
                None => break,
            }
        }
        Some(var)
    }

    fn comprehension(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        self.scopes.enter(ScopeKind::Own);
        let (mut clauses, mut results) = (Vec::new(), Vec::new());
        for child in named(node) {
            if matches!(child.kind(), "for_in_clause" | "if_clause") {
                clauses.push(child);
            } else {
                results.push(child);
            }
        }
        for clause in clauses {
            if let (Some(left), Some(_)) = (field(clause, &["left"]), field(clause, &["right"])) {
                for right in super::fields(clause, &["right"]) {
                    self.value(right, step, out);
                }
                self.target(left, Binding::Declare, step, out);
                self.body.decisions += 1;
                step.may_raise = true;
            } else {
                for child in named(clause) {
                    self.value(child, step, out);
                }
            }
        }
        for result in results {
            self.value(result, step, out);
        }
        self.scopes.leave();
    }

    /// Whether a value is no value: it leaves instead.
    fn jumps(&self, node: Node<'_>) -> bool {
        matches!(self.shape(node), Shape::Return | Shape::Raise | Shape::Break | Shape::Continue)
            || self.exit_call(node).is_some()
    }
}

pub(super) fn object(node: Node<'_>) -> Option<Node<'_>> {
    field(node, &["object", "operand", "value", "expression", "argument", "table"])
}

pub(super) fn property(node: Node<'_>) -> Option<Node<'_>> {
    object(node)?;
    let name = field(node, &["attribute", "property", "field", "name", "method"])?;
    Some(if name.kind() == "generic_name" || name.kind() == "template_method" {
        named(name).first().copied()?
    } else {
        name
    })
}
