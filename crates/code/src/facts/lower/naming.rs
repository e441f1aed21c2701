//! The names inside declarators, paths and patterns.

use tree_sitter::Node;

use super::Lower;
use crate::facts::Sym;
use crate::language::{Role, named};

/// Names nested deeper than this are not looked for.
const DEPTH: usize = 12;

impl Lower<'_> {
    /// The name that a definition declares, its owner if it names one, and its parameters if they hang on the name.
    pub(super) fn declared_name<'t>(&mut self, node: Node<'t>) -> (Sym, Option<Sym>, Option<Node<'t>>) {
        let (mut name, params) = self.descend(node);
        let mut owner = None;
        while let Some(shape) = self.kinds.shape(name)
            && shape.role == Role::Member
            && let (Some(of), Some(inner)) = (shape.of.child(name), shape.name.child(name))
        {
            owner = Some(self.last_part(of));
            self.take(Some(name));
            self.take_all(of);
            name = inner;
        }
        self.take_all(name);
        let text = self.text_of(name);
        let text = text.strip_prefix('#').unwrap_or(text).trim_matches(['"', '\'']);
        (self.names.add(text), owner, params)
    }

    /// Down a C declarator to the name, and the parameter list passed on the way.
    pub(super) fn descend<'t>(&self, node: Node<'t>) -> (Node<'t>, Option<Node<'t>>) {
        let (mut name, mut params) = (node, None);
        while let Some(inner) = name.child_by_field_name("declarator") {
            params = name.child_by_field_name("parameters").or(params);
            name = inner;
        }
        if let Some(inner) = named(name).next().filter(|_| name.kind() == "parenthesized_declarator") {
            return (self.descend(inner).0, params);
        }
        (name, params)
    }

    /// The name inside a pattern, declarator or typed parameter: its first identifier.
    pub(super) fn innermost_name<'t>(&self, node: Node<'t>) -> Node<'t> {
        let mut name = self.descend(node).0;
        for _ in 0..DEPTH {
            if matches!(self.role(name), Some(Role::Identifier)) || name.named_child_count() == 0 {
                return name;
            }
            let Some(inner) = named(name)
                .find(|child| !child.kind().contains("modifier") && !child.kind().contains("annotation"))
            else {
                return name;
            };
            name = inner;
        }
        name
    }

    /// The last name of a path or type, without arguments.
    pub(super) fn last_part(&mut self, node: Node<'_>) -> Sym {
        let text = self.text_of(node);
        let end = text.find(['<', '[', '(']).unwrap_or(text.len());
        let start = text[..end].rfind(['.', ':', '\\', '*', '&', ' ']).map_or(0, |place| place + 1);
        let name = text[start..end].trim();
        let name = if name.is_empty() { text.trim_matches(['*', '&', ' ']) } else { name };
        self.names.add(name)
    }

    /// Marks a node and all names in it as dealt with.
    pub(super) fn take_all(&mut self, node: Node<'_>) {
        let mut left = vec![node];
        while let Some(node) = left.pop() {
            self.taken.insert(node.id());
            if self.role(node).is_none_or(|role| !matches!(role, Role::Call | Role::Function | Role::Lambda))
            {
                left.extend(named(node));
            }
        }
    }
}
