//! Statements in order: jumps, resources, labels and everything that is one plain step.

use tree_sitter::Node;

use super::scope::{Binding, ScopeKind};
use super::{Lowerer, Unit, children, field, fields, first_line, head, last_line, named, span};
use crate::flow::form::{Access, Jump, Stmt, Swallows, Truth};
use crate::flow::shape::Shape;
use crate::flow::words::never_returns;
use crate::language::Language;

impl Lowerer<'_> {
    pub(super) fn statements(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut gate: Option<Node<'_>> = None;
        for child in named(node) {
            if child.kind() == "attribute_item" {
                gate = self.text(child).contains("cfg(").then_some(child).or(gate);
                continue;
            }
            let mut list = Vec::new();
            self.statement(child, &mut list);
            match gate.take() {
                Some(gate) => out.push(self.compiled_if(gate, list, Vec::new())),
                None if self.is_hoisted(child) && matches!(out.last(), Some(Stmt::Jump(..))) => {
                    // It is there from the start, wherever it is written.
                    let at = out.len() - 1;
                    out.splice(at..at, list);
                }
                None => out.append(&mut list),
            }
        }
    }

    /// A function that can be used above the place where it is written.
    fn is_hoisted(&self, node: Node<'_>) -> bool {
        self.shape(node) == Shape::Function
            && matches!(self.language, Language::JavaScript | Language::TypeScript)
    }

    pub(super) fn statement(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        self.labelled_statement(node, None, out);
    }

    fn labelled_statement(&mut self, node: Node<'_>, label: Option<String>, out: &mut Vec<Stmt>) {
        if self.depth >= super::DEEPEST {
            let mut step = span(node);
            self.flatten(node, &mut step);
            self.push(step, out);
            return;
        }
        self.depth += 1;
        self.shaped_statement(node, label, out);
        self.depth -= 1;
    }

    fn shaped_statement(&mut self, node: Node<'_>, label: Option<String>, out: &mut Vec<Stmt>) {
        match self.shape(node) {
            Shape::Skip => {}
            Shape::Block => self.block(node, label, out),
            Shape::Group => self.group(node, out),
            Shape::Else | Shape::Finally => self.statements(node, out),
            Shape::If | Shape::Unless | Shape::Ternary => self.choice(node, out),
            Shape::While
            | Shape::Until
            | Shape::DoWhile
            | Shape::DoUntil
            | Shape::For
            | Shape::Each
            | Shape::Forever => {
                self.repeat(node, label, out);
            }
            Shape::Switch => self.switch(node, label, out),
            Shape::Try => self.guarded(node, out),
            Shape::With => self.with(node, out),
            Shape::Labelled => self.labelled(node, out),
            Shape::Return => self.jump(node, Jump::Return, out),
            Shape::Raise => self.jump(node, Jump::Raise, out),
            Shape::Break => self.jump(node, Jump::Break(self.label_of(node)), out),
            Shape::Continue => self.jump(node, Jump::Continue(self.label_of(node)), out),
            Shape::Goto => self.jump(node, Jump::Goto(self.label_of(node).unwrap_or_default()), out),
            Shape::Fall => self.jump(node, Jump::Fall, out),
            Shape::Retry => self.jump(node, Jump::Retry, out),
            Shape::Defer => self.defer(node, out),
            Shape::Compiled => self.compiled(node, out),
            // An item is no statement: nothing runs where it is written, and it captures nothing.
            Shape::Function | Shape::Class
                if self.language == Language::Rust && self.unit == Unit::Function => {}
            Shape::Function | Shape::Class => self.nested(node, out),
            Shape::Import => self.import(node, out),
            Shape::Outer => {
                for name in named(node) {
                    let name = self.text(name).to_owned();
                    self.scopes.borrow(&mut self.body.vars, &name);
                }
                self.push(span(node), out);
            }
            _ if node.kind() == "assert_statement" && self.always_fails(node) => {
                self.jump(node, Jump::Raise, out);
            }
            _ if node.kind() == "yield_statement" && self.text(node).starts_with("yield break") => {
                self.jump(node, Jump::Return, out);
            }
            _ if node.kind() == "yield_statement" && self.language == Language::Java => {
                self.jump(node, Jump::Break(None), out);
            }
            _ => self.plain(node, out),
        }
    }

    fn block(&mut self, node: Node<'_>, label: Option<String>, out: &mut Vec<Stmt>) {
        let own = named(node).into_iter().find(|it| it.kind() == "label");
        let label = label.or(own.map(|it| self.text(it).trim_start_matches('\'').to_owned()));
        self.scopes.enter(ScopeKind::Block);
        let mut body = Vec::new();
        self.statements(node, &mut body);
        self.scopes.leave();
        match label {
            Some(label) => out.push(Stmt::Labelled { label, body }),
            None => out.append(&mut body),
        }
    }

    fn group(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        match node.kind() {
            "expression_statement" => {
                for child in named(node) {
                    let whole = self.shape(child) == Shape::Through || !self.is_statement(child);
                    if whole {
                        self.plain(node, out);
                    } else {
                        self.statement(child, out);
                    }
                    if whole {
                        break;
                    }
                }
            }
            "lexical_declaration"
            | "variable_declaration"
            | "local_variable_declaration"
            | "field_declaration"
            | "local_declaration_statement" => {
                let hoist = node.kind() == "variable_declaration"
                    && matches!(self.language, Language::JavaScript | Language::TypeScript);
                let outer = self.hoist;
                self.hoist |= hoist;
                self.plain(node, out);
                self.hoist = outer;
            }
            "decorated_definition" => self.nested(node, out),
            _ => self.statements(node, out),
        }
    }

    /// Whether a child of an expression statement is a statement in its own right.
    fn is_statement(&self, node: Node<'_>) -> bool {
        let shape = self.shape(node);
        shape.is_control() || matches!(shape, Shape::Function | Shape::Class)
    }

    /// One step.
    fn plain(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let top = peel(node);
        if let Some(block) = field(top, &["block"]).filter(|_| self.language == Language::Ruby) {
            return self.block_call(top, block, out);
        }
        if let Some(jump) = self.exit_call(top) {
            return self.jump(node, jump, out);
        }
        let mut step = span(node);
        // A call at the end of a block without a semicolon is a value.
        let discarded = node.kind() == "expression_statement" || self.language != Language::Rust;
        let effect = std::mem::replace(&mut self.effect, discarded.then_some(top.id()));
        if top.kind() == "let_declaration" {
            self.let_else(top, &mut step, out);
        } else {
            let whole = if matches!(self.shape(node), Shape::Group) { None } else { Some(node) };
            match whole {
                Some(node) => self.value(node, &mut step, out),
                None => named(node).into_iter().for_each(|child| self.value(child, &mut step, out)),
            }
        }
        self.effect = effect;
        if top.kind() != "let_declaration" || field(top, &["alternative"]).is_none() {
            self.push(step, out);
        }
    }

    /// A call that never comes back.
    pub(super) fn exit_call(&self, node: Node<'_>) -> Option<Jump> {
        let name = match self.shape(node) {
            Shape::Call => match super::call::callee(node) {
                (None, Some(name)) => name,
                _ => return None,
            },
            Shape::Macro => field(node, &["macro"])?,
            Shape::Name if self.language == Language::Ruby => node,
            _ if matches!(node.kind(), "exit_statement") => return Some(Jump::Return),
            _ => return None,
        };
        never_returns(self.language, self.text(name)).then_some(Jump::Raise)
    }

    /// An assertion of a constant that is false. Elsewhere than in Python, assertions are left out of what is usually run.
    fn always_fails(&self, assertion: Node<'_>) -> bool {
        let test = named(assertion).first().copied();
        self.language == Language::Python && test.is_some_and(|test| self.truth(test) == Truth::Never)
    }

    fn jump(&mut self, node: Node<'_>, jump: Jump, out: &mut Vec<Stmt>) {
        let mut step = span(node);
        let labelled = matches!(jump, Jump::Break(Some(_)) | Jump::Continue(Some(_)) | Jump::Goto(_));
        match self.shape(node) {
            Shape::Name | Shape::Call | Shape::Macro => self.value(node, &mut step, out),
            _ => {
                for child in named(node) {
                    let is_label = labelled && matches!(self.shape(child), Shape::Name | Shape::Skip);
                    if !is_label {
                        self.value(child, &mut step, out);
                    }
                }
            }
        }
        if jump == Jump::Return {
            let access =
                if step.refs.is_empty() && named(node).is_empty() { Access::Use } else { Access::Define };
            for var in self.results.clone() {
                self.refer(&mut step, var, access, node);
            }
        }
        if let (Jump::Break(_), Some(carrier)) = (&jump, self.broken_with.0) {
            self.refer(&mut step, carrier, Access::Define, node);
        }
        step.may_raise |= jump == Jump::Raise;
        let step = self.keep(step);
        out.push(Stmt::Jump(step, jump));
    }

    fn label_of(&self, node: Node<'_>) -> Option<String> {
        let label = field(node, &["label"]).or_else(|| {
            let first = named(node).into_iter().next()?;
            let takes_value = matches!(self.language, Language::Ruby | Language::Php);
            let is_label = matches!(first.kind(), "label" | "label_name" | "statement_identifier")
                || (first.kind() == "identifier" && !takes_value && self.language != Language::Rust);
            is_label.then_some(first)
        })?;
        Some(self.text(label).trim_start_matches('\'').to_owned())
    }

    fn labelled(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut parts = named(node).into_iter();
        let label = field(node, &["label"]).or_else(|| named(node).first().copied());
        let Some(label) = label else { return };
        let body = parts.by_ref().filter(|it| it.id() != label.id());
        let name = self.text(label).to_owned();
        if named(node).len() == 1 {
            let step = self.keep(span(node));
            return out.push(Stmt::Target(step, name));
        }
        for body in body.collect::<Vec<_>>() {
            match self.shape(body) {
                Shape::Switch | Shape::While | Shape::DoWhile | Shape::For | Shape::Each | Shape::Forever => {
                    self.labelled_statement(body, Some(name.clone()), out);
                }
                _ if matches!(
                    self.language,
                    Language::C | Language::Cpp | Language::Go | Language::CSharp
                ) =>
                {
                    let step = self.keep(head(label, label));
                    out.push(Stmt::Target(step, name.clone()));
                    self.statement(body, out);
                }
                _ => {
                    let mut list = Vec::new();
                    self.statement(body, &mut list);
                    out.push(Stmt::Labelled { label: name.clone(), body: list });
                }
            }
        }
    }

    fn with(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        self.scopes.enter(ScopeKind::Block);
        let body = field(node, &["body"]).or_else(|| named(node).pop());
        let resources: Vec<_> =
            named(node).into_iter().filter(|it| Some(it.id()) != body.map(|it| it.id())).collect();
        let mut step = head(node, resources.last().copied().unwrap_or(node));
        step.may_raise = true;
        for resource in resources {
            self.value(resource, &mut step, out);
        }
        let swallows = match self.language {
            Language::Python if step.calls.iter().any(|name| ends_exceptions(name)) => Swallows::Expected,
            Language::Python => Swallows::Perhaps,
            _ => Swallows::Never,
        };
        let step = self.keep(step);
        let mut inside = Vec::new();
        if let Some(body) = body {
            self.statement(body, &mut inside);
        }
        self.scopes.leave();
        out.push(Stmt::With { head: step, body: inside, swallows });
    }

    fn defer(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let Some(call) = named(node).first().copied() else { return };
        let mut step = span(node);
        let mut body = Vec::new();
        let literal = field(call, &["function"]).filter(|it| self.shape(*it) == Shape::Lambda);
        if let Some(literal) = literal {
            step.lines.1 = step.lines.0;
            for argument in field(call, &["arguments"]).map(named).unwrap_or_default() {
                self.value(argument, &mut step, out);
            }
            self.scopes.enter(ScopeKind::Block);
            let mut header = head(literal, literal);
            header.lines.1 = header.lines.0;
            if let Some(parameters) = field(literal, &["parameters"]) {
                self.parameters(parameters, &mut header);
            }
            self.push(header, &mut body);
            if let Some(inside) = field(literal, &["body"]) {
                self.statements(inside, &mut body);
            }
            self.scopes.leave();
        } else {
            self.value(call, &mut step, out);
            let mut later = span(call);
            self.effect = Some(call.id());
            self.value(call, &mut later, &mut body);
            self.push(later, &mut body);
        }
        let step = self.keep(step);
        out.push(Stmt::Defer { step, body });
    }

    fn import(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut step = span(node);
        step.may_raise = true;
        let mut todo: Vec<Node<'_>> =
            if self.language == Language::Python { fields(node, &["name"]) } else { named(node) };
        while let Some(at) = todo.pop() {
            if let Some(alias) = field(at, &["alias"]) {
                self.bind(alias, Binding::Declare, &mut step);
            } else if self.shape(at) == Shape::Name {
                self.bind(at, Binding::Declare, &mut step);
            } else if at.kind() == "dotted_name" {
                todo.extend(named(at).first().copied());
            } else {
                todo.extend(children(at).into_iter().rev().map(|(it, _)| it));
            }
        }
        step.lines.1 = last_line(node).max(first_line(node));
        self.push(step, out);
    }
}

/// The expression a statement is made of.
fn peel(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    while matches!(
        at.kind(),
        "expression_statement" | "await_expression" | "await" | "parenthesized_expression"
    ) {
        match named(at).as_slice() {
            [inner] => at = *inner,
            _ => break,
        }
    }
    at
}

/// Resources that are there to end an exception.
fn ends_exceptions(name: &str) -> bool {
    matches!(name, "suppress" | "raises" | "assertRaises" | "assertRaisesRegex" | "warns" | "ignored")
}
