//! What a file gives to others and takes from them.

use tree_sitter::Node;

use super::define::is_expression;
use super::{Lower, Naming, Visit};
use crate::facts::{Bound, Expr, Import, ImportForm, Sym};
use crate::language::{Language, Role, named};
use crate::parse::line;

impl Lower<'_> {
    /// Python's `__all__`, and what CommonJS gives on.
    pub(super) fn export_list(&mut self, target: Node<'_>, value: Node<'_>) {
        match (self.language, self.text_of(target)) {
            (Language::Python, "__all__") => {
                let texts: Vec<&str> = named(value)
                    .filter(|child| self.role(*child) == Some(Role::Text))
                    .map(|child| self.unquoted(child))
                    .collect();
                let syms: Vec<_> = texts.iter().map(|text| self.names.add(text)).collect();
                self.exports.get_or_insert_default().extend(syms);
            }
            (Language::JavaScript | Language::TypeScript, "module.exports" | "exports") => {
                let name = self.names.add("default");
                let expr = self.express(value);
                self.bind_here(name, Bound::Value(expr), target);
                self.given_away.insert(value.id());
            }
            _ => {}
        }
    }

    /// Whether a member is one of the object that a file gives as a whole: then its name is one of the file's.
    pub(super) fn is_given(&self, member: Node<'_>) -> bool {
        self.given_away.contains(&member.id())
    }

    pub(super) fn export(&mut self, node: Node<'_>) -> Visit {
        self.exporting = self.exporting.max(node.end_byte());
        if let Some(source) = node.child_by_field_name("source") {
            super::super::imports::reexport(self, node, source);
            return Visit::Past;
        }
        let default = node.child_by_field_name("value").or_else(|| {
            let mut cursor = node.walk();
            let is_default = node.children(&mut cursor).any(|child| child.kind() == "default");
            if is_default { node.child_by_field_name("declaration") } else { None }
        });
        let name = self.names.add("default");
        if let Some(value) = default {
            self.given_away.insert(value.id());
            if self.role(value) == Some(Role::Lambda) {
                self.named.insert(value.id(), Naming { name, owner: None });
            } else if let Some(declared) = value.child_by_field_name("name") {
                let declared = self.sym_of(declared);
                let expr = self.push(Expr::Name(declared));
                self.bind_here(name, Bound::Value(expr), node);
            } else if self.role(value).is_some_and(is_expression) {
                let expr = self.express(value);
                self.bind_here(name, Bound::Value(expr), node);
            }
        }
        Visit::Into
    }

    /// Adds an import; where it is bound is for the caller to say.
    pub(in crate::facts) fn import(
        &mut self,
        node: Node<'_>,
        module: &str,
        name: Option<Sym>,
        alias: Option<Sym>,
        form: ImportForm,
    ) -> u32 {
        let level = module.bytes().take_while(|byte| *byte == b'.').count();
        let python = self.language == Language::Python;
        let (level, module) = if python { (level, &module[level..]) } else { (0, module) };
        let import = Import {
            module: self.names.add(module),
            level: u32::try_from(level).unwrap_or(0),
            name,
            alias,
            form,
            line: line(node),
            scope: self.scope(),
        };
        self.imports.push(import);
        u32::try_from(self.imports.len() - 1).expect("a file has fewer imports than bytes")
    }
}
