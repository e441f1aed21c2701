//! The names inside declarators, paths and patterns, and those that functions without one get from where they stand.

use tree_sitter::Node;

use super::{Lower, Naming};
use crate::facts::Sym;
use crate::language::{Language, Role, named};

/// Names nested deeper than this are not looked for.
const DEPTH: usize = 12;

impl Lower<'_> {
    /// Gives a literal function or object the name it is assigned to.
    pub(super) fn name_literal(&mut self, target: Node<'_>, value: Node<'_>) -> bool {
        let is_object = self.role(value) == Some(Role::Object);
        let is_function = self.role(value) == Some(Role::Lambda) && self.language != Language::Python;
        // A function that only a variable of a function holds is part of that function to the compilers of these two.
        let is_local = matches!(self.language, Language::Go | Language::Rust) && self.in_function();
        if !is_object && !is_function || is_local {
            return false;
        }
        let (name, owner) = match self.role(target) {
            Some(Role::Identifier) => (self.sym_of(target), None),
            Some(Role::Member) => match self.member_target(target, value.end_byte()) {
                Some(naming) => naming,
                None => return false,
            },
            _ if target.kind() == "variable_list" => {
                let Some(only) = named(target).next() else { return false };
                let list = named(value).next().unwrap_or(value);
                return self.name_literal(only, list);
            }
            _ => return false,
        };
        self.take_all(target);
        self.named.insert(value.id(), Naming { name, owner });
        true
    }

    /// The name and owner in `Owner.name = function`.
    fn member_target(&mut self, target: Node<'_>, end: usize) -> Option<(Sym, Option<Sym>)> {
        let shape = self.kinds.shape(target)?;
        let of = shape.of.child(target)?;
        let name = self.member_name(shape.name.child(target)?);
        let owner = match self.text_of(of) {
            "exports" | "module.exports" => {
                self.exporting = self.exporting.max(end);
                None
            }
            "module" => return None,
            "this" | "self" => {
                let class = self.class_scope()?;
                Some(self.defs[class.0 as usize].name)
            }
            path => {
                // What hangs on a variable of a function is called by whoever holds that, under no name of ours.
                let (path, is_class) = path.strip_suffix(".prototype").map_or((path, false), |of| (of, true));
                if !is_class && self.in_function() {
                    return None;
                }
                Some(self.names.add(path.rsplit(['.', ':']).next().unwrap_or(path)))
            }
        };
        Some((name, owner))
    }

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
