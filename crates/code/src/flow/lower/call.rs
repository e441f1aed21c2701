//! Calls: who is called, what goes in, and what may have changed afterwards.

use tree_sitter::Node;

use super::value::{object, property};
use super::{Lowerer, field, named};
use crate::flow::form::{Access, Step, VarId};
use crate::flow::shape::Shape;
use crate::flow::words::{mutates, only_tells};

impl Lowerer<'_> {
    pub(super) fn call<'t>(
        &mut self,
        node: Node<'t>,
        step: &mut Step,
        todo: &mut Vec<Node<'t>>,
        late: &mut Vec<(VarId, Node<'t>)>,
    ) {
        step.may_raise = true;
        let (receiver, name) = callee(node);
        let name = name.map(|name| self.text(name));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            step.calls.push(name.to_owned());
        }
        let arguments = field(node, &["arguments"]);
        let given = arguments.map(named).unwrap_or_default();
        let for_effect = self.effect == Some(node.id()) && !name.is_some_and(only_tells);
        let on_ours = receiver.is_some_and(|it| self.path(it).is_none_or(|var| self.is_known(var)));
        // A method called for its effect changes its object; a function can only change what it is given.
        if for_effect && !on_ours {
            for &it in &given {
                if matches!(self.shape(it), Shape::Name | Shape::Member) {
                    late.extend(self.path(it).map(|var| (var, it)));
                }
            }
        } else if matches!(name, Some("next" | "heappush" | "heappop" | "copy" | "append" | "delete"))
            && receiver.is_none()
        {
            late.extend(given.first().and_then(|it| Some((self.path(*it)?, *it))));
        }
        todo.extend(field(node, &["block"]));
        match arguments {
            Some(it) if matches!(it.kind(), "generator_expression") => todo.push(it),
            Some(_) => todo.extend(given.into_iter().rev()),
            None if receiver.is_none() && (name.is_none() || node.kind() == "object_creation_expression") => {
                todo.extend(named(node).into_iter().rev());
            }
            None => {}
        }
        todo.extend(field(node, &["initializer"]));
        todo.extend(named(node).into_iter().filter(|it| it.kind() == "class_body"));
        match receiver {
            Some(receiver) => match self.path(receiver) {
                Some(var) if self.is_known(var) => {
                    self.refer(step, var, Access::Use, receiver);
                    if for_effect || name.is_some_and(mutates) {
                        late.push((var, receiver));
                    }
                }
                Some(_) => {}
                None => todo.push(receiver),
            },
            None => todo.extend(self.called(node, name.is_some(), step)),
        }
    }

    /// Reads the variable that a function without a receiver is called by; gives what has to be evaluated first.
    fn called<'t>(&mut self, node: Node<'t>, named: bool, step: &mut Step) -> Option<Node<'t>> {
        let function = field(node, &["function", "name", "constructor"])?;
        match self.shape(function) {
            Shape::Name => {
                let var = self.scopes.find(self.text(function))?;
                self.refer(step, var, Access::Use, function);
                None
            }
            Shape::Member | Shape::Skip => None,
            _ => (!named).then_some(function),
        }
    }

    /// Whether a variable is one of ours rather than a module or a class that a call goes through.
    fn is_known(&self, var: VarId) -> bool {
        let mut root = var;
        while let Some(parent) = self.body.vars[root].parent {
            root = parent;
        }
        let name = &self.body.vars[root].name;
        matches!(name.as_str(), "self" | "this") || name.starts_with(['@', '$']) || self.ours.contains(&root)
    }

    /// A macro: its tokens are an expression as far as we can see.
    pub(super) fn macro_call(&mut self, node: Node<'_>, step: &mut Step) {
        step.may_raise = true;
        let Some(name) = field(node, &["macro"]) else { return };
        step.calls.push(self.text(field(name, &["name"]).unwrap_or(name)).to_owned());
        let mut todo: Vec<Node<'_>> = named(node);
        todo.retain(|it| it.id() != name.id());
        while let Some(at) = todo.pop() {
            if at.kind() == "identifier" {
                if let Some(var) = self.scopes.find(self.text(at)) {
                    self.refer(step, var, Access::Use, at);
                }
            } else if matches!(at.kind(), "string_literal" | "string_content") {
                self.inline_arguments(at, step);
            } else {
                todo.extend(named(at).into_iter().rev());
            }
            if at.kind() == "self" {
                self.read(at, step);
            }
        }
    }

    /// Names inside a format string: `"{count} of {all:?}"`.
    fn inline_arguments(&mut self, node: Node<'_>, step: &mut Step) {
        for piece in self.text(node).split('{').skip(1) {
            let name: String = piece.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if let Some(var) = self.scopes.find(&name) {
                self.refer(step, var, Access::Use, node);
            }
        }
    }
}

/// What a call is made on, and the name it is made by.
pub(super) fn callee(node: Node<'_>) -> (Option<Node<'_>>, Option<Node<'_>>) {
    if let Some(function) = field(node, &["function", "constructor"]) {
        let mut at = function;
        loop {
            match at.kind() {
                "generic_function"
                | "template_function"
                | "parenthesized_expression"
                | "instantiation_expression" => match field(at, &["function", "name"]) {
                    Some(inner) => at = inner,
                    None => return (None, None),
                },
                "scoped_identifier" | "qualified_identifier" | "qualified_name" => {
                    return (None, field(at, &["name"]));
                }
                "generic_name" => return (None, named(at).first().copied()),
                "identifier" | "name" | "super" | "variable_name" => return (None, Some(at)),
                _ => break,
            }
        }
        return match property(at) {
            Some(name) => (object(at), Some(name)),
            None => (None, None),
        };
    }
    if node.kind() == "object_creation_expression" && field(node, &["type"]).is_none() {
        let made = named(node).into_iter().next();
        return (None, made.filter(|it| matches!(it.kind(), "name" | "qualified_name")));
    }
    let receiver = field(node, &["object", "receiver", "scope"]);
    let name = field(node, &["method", "type"]).or_else(|| field(node, &["name"]));
    if let Some(name) = name.filter(|name| receiver.is_none() && property(*name).is_some()) {
        return (object(name), property(name));
    }
    (receiver, name)
}
