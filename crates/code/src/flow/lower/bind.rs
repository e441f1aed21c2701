//! What receives a value: assignments, declarations, patterns and parameters.

use tree_sitter::Node;

use super::scope::Binding;
use super::{Lowerer, children, field, fields, named};
use crate::flow::form::{Access, Step, Stmt, VarId};
use crate::flow::shape::Shape;
use crate::language::Language;

impl Lowerer<'_> {
    pub(super) fn assign(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        match self.shape(node) {
            Shape::Declare => self.declare(node, step, out),
            Shape::Increment => {
                let text = self.text(node);
                let Some(target) =
                    field(node, &["argument", "operand"]).or_else(|| named(node).first().copied())
                else {
                    return;
                };
                if text.ends_with("++")
                    || text.ends_with("--")
                    || text.starts_with("++")
                    || text.starts_with("--")
                {
                    self.change(target, step, out);
                } else {
                    self.value(target, step, out);
                }
            }
            Shape::Delete => {
                for child in named(node) {
                    self.target(child, Binding::Assign, step, out);
                }
                step.may_raise = true;
            }
            Shape::As => {
                let alias = field(node, &["alias"]);
                for child in
                    named(node).into_iter().filter(|it| Some(it.id()) != alias.map(|alias| alias.id()))
                {
                    self.value(child, step, out);
                }
                if let Some(alias) = alias {
                    self.target(alias, Binding::Assign, step, out);
                }
            }
            _ => self.store(node, step, out),
        }
    }

    /// `left = right` and `left += right`.
    fn store(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let mut lefts = fields(node, &["left"]);
        let mut rights = fields(node, &["right"]);
        if lefts.is_empty() {
            let parts = named(node);
            lefts = parts.iter().take(1).copied().collect();
            rights = parts.into_iter().skip(1).collect();
        }
        let plain = node.child_by_field_name("operator").is_none_or(|it| matches!(self.text(it), "=" | ":="));
        if rights.is_empty() {
            // An annotation alone: nothing runs, and the name is not bound.
            return;
        }
        if self.language == Language::Ruby {
            // From here on the name is a variable, on the right side too.
            for left in lefts.iter().filter(|it| it.kind() == "identifier") {
                let name = self.text(*left);
                self.scopes.bind(&mut self.body.vars, name, Binding::Assign);
            }
        }
        for right in &rights {
            self.value(*right, step, out);
        }
        for left in lefts {
            if self.shape(node) == Shape::Augment || !plain {
                self.change(left, step, out);
            } else {
                self.bind_closure(left, &rights, Binding::Assign, step, out);
            }
        }
    }

    /// The target's old value goes into its new one.
    fn change(&mut self, target: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        step.may_raise = true;
        let single = named(target);
        let target = if target.kind().ends_with("_list") && single.len() == 1 { single[0] } else { target };
        match self.shape(target) {
            Shape::Name | Shape::Member => match self.path(target) {
                Some(_) if self.shape(target) == Shape::Name => {
                    self.read(target, step);
                    let name = self.text(target).to_owned();
                    let var = self.scopes.bind(&mut self.body.vars, &name, Binding::Assign);
                    self.ours.insert(var);
                    self.refer(step, var, Access::Redefine, target);
                }
                Some(var) => {
                    self.refer(step, var, Access::Use, target);
                    self.refer(step, var, Access::Redefine, target);
                }
                None => self.value(target, step, out),
            },
            _ => {
                self.value(target, step, out);
                self.target(target, Binding::Assign, step, out);
            }
        }
    }

    fn declare(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        if node.kind() == "using_declaration" {
            return named(node).into_iter().for_each(|it| self.declare(it, step, out));
        }
        if node.kind() == "variable_declaration" {
            return self.local(node, step, out);
        }
        // A name declared inside a C# expression lives on behind the statement.
        let outlives = self.hoist || node.kind() == "declaration_expression";
        let binding = if outlives { Binding::Hoist } else { Binding::Declare };
        let mut names = fields(node, &["name", "pattern", "left", "declarator"]);
        let mut values = fields(node, &["value", "right"]);
        if self.language == Language::CSharp && node.kind() == "variable_declarator" {
            values =
                named(node).into_iter().filter(|it| !names.iter().any(|name| name.id() == it.id())).collect();
        }
        if node.kind() == "init_declarator" || node.kind() == "declaration" {
            names.retain(|it| it.kind() != "function_declarator");
        }
        for value in &values {
            self.value(*value, step, out);
        }
        for name in names {
            if name.kind() == "init_declarator" {
                self.declare(name, step, out);
            } else if node.kind() == "short_var_declaration" {
                self.bind_closure(name, &values, Binding::Declare, step, out);
            } else if node.kind() == "named_expression" {
                self.target(name, Binding::Hoist, step, out);
            } else {
                self.bind_closure(name, &values, binding, step, out);
            }
        }
    }

    /// Lua's `local`.
    fn local(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        let Some(inner) = named(node).first().copied() else { return };
        let parts = if inner.kind() == "assignment_statement" { named(inner) } else { vec![inner] };
        let (names, values) = parts.split_at(1.min(parts.len()));
        for value in values {
            self.value(*value, step, out);
        }
        for name in names {
            self.bind_closure(*name, values, Binding::Declare, step, out);
        }
    }

    /// Binds, and where the value is a function remembers what it captured.
    fn bind_closure(
        &mut self,
        left: Node<'_>,
        rights: &[Node<'_>],
        how: Binding,
        step: &mut Step,
        out: &mut Vec<Stmt>,
    ) {
        self.target(left, how, step, out);
        let mut lone = rights.first().copied().filter(|_| rights.len() == 1);
        if let Some(list) = lone.filter(|it| it.kind() == "expression_list") {
            lone = named(list).first().copied();
        }
        if self.shape(left) != Shape::Name && !matches!(left.kind(), "expression_list" | "variable_list") {
            return;
        }
        if let Some(value) = lone.filter(|it| self.shape(*it) == Shape::Lambda) {
            let mut aside = Step::default();
            let captured = self.closure(value, &mut aside);
            let name =
                named(left).first().copied().filter(|_| left.kind().ends_with("_list")).unwrap_or(left);
            if let Some(var) = self.path(name) {
                self.captures.insert(var, captured);
            }
        }
    }

    /// Gives a value to every name in a pattern.
    pub(super) fn target(&mut self, node: Node<'_>, how: Binding, step: &mut Step, out: &mut Vec<Stmt>) {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            let kind = node.kind();
            match self.shape(node) {
                Shape::Name => self.bind(node, how, step),
                Shape::Member => {
                    step.may_raise = true;
                    if let Some(var) = self.path(node) {
                        let exact = self.is_whole_path(node, var);
                        if let Some(parent) = self.body.vars[var].parent {
                            self.refer(step, parent, Access::Use, node);
                        }
                        self.refer(step, var, if exact { Access::Define } else { Access::Update }, node);
                    } else {
                        self.value(node, step, out);
                    }
                }
                Shape::Index => self.element(node, step, out),
                Shape::Skip => {
                    if matches!(kind, "field_identifier" | "property_identifier") && how != Binding::Assign {
                        self.bind(node, how, step);
                    }
                }
                Shape::Call | Shape::Comprehension | Shape::Lambda => self.value(node, step, out),
                _ if matches!(kind, "pointer_expression" | "unary_expression" | "dereference_expression") => {
                    self.element(node, step, out);
                }
                _ if matches!(kind, "assignment_pattern" | "object_assignment_pattern") => {
                    fields(node, &["right"]).into_iter().for_each(|it| self.value(it, step, out));
                    todo.extend(field(node, &["left"]));
                }
                _ if matches!(kind, "pair_pattern" | "keyword_pattern" | "field_pattern") => {
                    let inner = field(node, &["pattern", "value"]).or_else(|| field(node, &["name", "key"]));
                    todo.extend(inner.or_else(|| named(node).pop()));
                }
                _ if matches!(kind, "class_pattern" | "tuple_struct_pattern" | "struct_pattern") => {
                    let first =
                        field(node, &["type"]).is_none().then(|| named(node).first().map(Node::id)).flatten();
                    todo.extend(named(node).into_iter().rev().filter(|it| Some(it.id()) != first));
                }
                _ => todo.extend(
                    children(node)
                        .into_iter()
                        .rev()
                        .filter(|(_, field)| !matches!(field, Some("default_value" | "size")))
                        .map(|(it, _)| it),
                ),
            }
        }
    }

    /// Whether `var` stands for all of this chain of fields, not only for its beginning.
    fn is_whole_path(&self, node: Node<'_>, var: VarId) -> bool {
        let (mut at, mut var) = (node, Some(var));
        while self.shape(at) == Shape::Member {
            let Some(inner) = super::value::object(at) else { return false };
            at = inner;
            var = var.and_then(|it| self.body.vars[it].parent);
        }
        var.is_some_and(|it| self.body.vars[it].parent.is_none())
    }

    /// `x[i] = …` and `*x = …`: something inside `x` changes.
    fn element(&mut self, node: Node<'_>, step: &mut Step, out: &mut Vec<Stmt>) {
        step.may_raise = true;
        let mut parts = named(node).into_iter();
        let Some(base) = parts.next() else { return };
        self.value(base, step, out);
        for index in parts {
            self.value(index, step, out);
        }
        let mut at = base;
        while self.shape(at) == Shape::Index {
            let Some(inner) = named(at).first().copied() else { break };
            at = inner;
        }
        if let Some(var) = self.path(at) {
            self.refer(step, var, Access::Update, node);
        }
    }

    pub(super) fn bind(&mut self, node: Node<'_>, how: Binding, step: &mut Step) {
        let name = self.text(node).to_owned();
        if name.is_empty() || name == "_" {
            return;
        }
        let var = self.scopes.bind(&mut self.body.vars, &name, how);
        self.ours.insert(var);
        self.refer(step, var, Access::Define, node);
    }

    /// The names that a list of parameters gives to a function; default values belong to whoever defines it.
    pub(super) fn parameters(&mut self, node: Node<'_>, step: &mut Step) {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            match self.shape(node) {
                Shape::Name => self.bind(node, Binding::Declare, step),
                Shape::Skip if node.kind() == "field_identifier" => self.bind(node, Binding::Declare, step),
                Shape::Skip => {}
                _ => {
                    let names = fields(node, &["name", "pattern", "declarator", "left"]);
                    if names.is_empty() {
                        let wanted = |field: &Option<&str>| {
                            !matches!(field, Some("value" | "default_value" | "right"))
                        };
                        let inner = children(node)
                            .into_iter()
                            .rev()
                            .filter(|(_, field)| wanted(field))
                            .map(|(it, _)| it);
                        todo.extend(inner);
                    } else {
                        todo.extend(names.into_iter().rev());
                    }
                }
            }
        }
    }
}
