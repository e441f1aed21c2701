//! What names are bound to: assignments, declarations, loops; and the parts of names that definitions need.

use tree_sitter::Node;

use super::{Lower, Naming};
use crate::facts::{Binding, Bound, DefId, DefKind, Expr, ExprId, SiteKind, Sym};
use crate::language::{Language, Role, Shape, named};
use crate::parse::line;

/// Patterns nested deeper than this bind nothing.
pub(super) const DEPTH: usize = 12;

impl Lower<'_> {
    pub(super) fn assign(&mut self, node: Node<'_>, shape: &Shape) {
        let Some(target) = shape.name.child(node) else { return };
        let value = shape.of.child(node);
        let ty = shape.ty.child(node).map(|ty| self.express_type(ty));
        if let Some(value) = value
            && self.name_literal(target, value)
        {
            return;
        }
        if let Some(value) = value {
            self.export_list(target, value);
        }
        self.bind_pair(target, value, ty, node);
    }

    pub(super) fn variable(&mut self, node: Node<'_>, shape: &Shape) {
        if self.kind(self.scope()) != DefKind::Class {
            self.decorators.clear();
        }
        let ty = shape.ty.child(node);
        let name = match shape.name.child(node) {
            Some(name) => name,
            // A field with a type and no name makes that type a parent.
            None => return self.embed(ty),
        };
        let value = shape.of.child(node).filter(|value| value.id() != name.id());
        let mut ty = ty.map(|ty| self.express_type(ty));
        if let Some((declared, end)) = self.declared
            && node.end_byte() <= end
        {
            ty = ty.or(Some(declared));
        }
        if let Some(value) = value
            && self.name_literal(name, value)
        {
            return;
        }
        self.bind_pair(name, value, ty, node);
    }

    fn embed(&mut self, ty: Option<Node<'_>>) {
        let scope = self.scope();
        if let Some(ty) = ty
            && self.kind(scope) == DefKind::Class
        {
            let expr = self.express_type(ty);
            let name = self.last_part(ty);
            let def = &mut self.defs[scope.0 as usize];
            def.bases.push(expr);
            def.base_texts.push(name);
            self.bind_here(name, Bound::Typed(expr), ty);
        }
    }

    pub(super) fn declaration(&mut self, node: Node<'_>, shape: &Shape) {
        self.decorators.clear();
        if self.language == Language::Kotlin {
            return self.kotlin_declaration(node);
        }
        let ty =
            shape.ty.child(node).filter(|ty| !matches!(self.text_of(*ty), "var" | "auto" | "val" | "let"));
        let expr = ty.map_or(ExprId::UNKNOWN, |ty| self.express_type(ty));
        self.declared = (expr != ExprId::UNKNOWN).then_some((expr, node.end_byte()));
        if !matches!(self.language, Language::C | Language::Cpp) {
            return;
        }
        // C declares plain names and functions right in the declaration.
        let mut cursor = node.walk();
        let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators.into_iter().filter(|declarator| declarator.kind() != "init_declarator")
        {
            let is_function = self.descend(declarator).1.is_some();
            let (name, _, _) = self.declared_name(declarator);
            if !is_function {
                self.bind_here(name, Bound::Typed(expr), node);
            }
        }
    }

    fn kotlin_declaration(&mut self, node: Node<'_>) {
        let mut parts = named(node);
        if let (Some(name), Some(ty)) = (parts.next(), parts.next()) {
            let expr = self.express_type(ty);
            let name = self.sym_of(name);
            self.bind_here(name, Bound::Typed(expr), node);
        }
    }

    /// A parameter outside a list of them: of a `catch`, for one.
    pub(super) fn late_parameter(&mut self, node: Node<'_>, shape: &Shape) {
        if self.taken.contains(&node.id()) {
            return;
        }
        let Some(name) = shape.name.child(node) else { return };
        let ty = shape.ty.child(node).map(|ty| self.express_type(ty));
        self.bind_pair(name, None, ty, node);
    }

    pub(super) fn pair(&mut self, node: Node<'_>, shape: &Shape) {
        let (Some(name), value) = (shape.name.child(node), shape.of.child(node)) else { return };
        self.take(Some(name));
        let Some(value) = value else { return };
        let text = self.unquoted(name);
        let sym = self.names.add(text);
        let in_object = self.kind(self.scope()) == DefKind::Object;
        match self.role(value) {
            Some(Role::Lambda) if !in_object && self.in_function() => {}
            Some(Role::Lambda) if self.language != Language::Python => {
                if !in_object && !self.is_given(node) {
                    self.apart.insert(value.id());
                }
                self.named.insert(value.id(), Naming { name: sym, owner: None });
            }
            Some(Role::Object) if in_object => {
                self.named.insert(value.id(), Naming { name: sym, owner: None });
            }
            _ if in_object => {
                let expr = self.express(value);
                self.bind_here(sym, Bound::Value(expr), node);
            }
            _ => {}
        }
    }

    pub(super) fn each(&mut self, node: Node<'_>, shape: &Shape) {
        let (Some(target), Some(of)) = (shape.name.child(node), shape.of.child(node)) else { return };
        let ty =
            shape.ty.child(node).filter(|ty| !matches!(self.text_of(*ty), "var" | "auto" | "const" | "let"));
        let ty = ty.map(|ty| self.express_type(ty)).filter(|ty| *ty != ExprId::UNKNOWN);
        let of_expr = self.express(of);
        if let Expr::Call(callee) = self.exprs[of_expr.0 as usize]
            && let Expr::Member(map, name) = self.exprs[callee.0 as usize]
            && self.names.text(name) == "items"
            && is_list(target)
        {
            // Keys and values: of the keys nothing is known.
            let value = self.push(Expr::Element(map));
            for (child, value) in named(target).collect::<Vec<_>>().into_iter().zip([ExprId::UNKNOWN, value])
            {
                self.bind_target(child, value, None, node, DEPTH);
            }
            return;
        }
        let element = self.push(Expr::Element(of_expr));
        if self.language == Language::Go
            && let Some(second) = named(target).nth(1)
        {
            // The key or place comes first.
            self.take_all(target);
            return self.bind_target(second, element, None, node, DEPTH);
        }
        self.bind_target(target, element, ty, node, DEPTH);
        if self.language == Language::Python {
            let is_async = self.text_of(node).starts_with("async");
            self.site(of, of_expr, if is_async { SiteKind::AsyncIterate } else { SiteKind::Iterate });
        }
    }

    pub(super) fn enter(&mut self, node: Node<'_>, shape: &Shape) {
        let (Some(target), Some(of)) = (shape.name.child(node), shape.of.child(node)) else { return };
        let of = self.express(of);
        let entered = self.push(Expr::Enter(of));
        self.bind_target(target, entered, None, node, DEPTH);
    }

    pub(super) fn give(&mut self, node: Node<'_>, shape: &Shape) {
        let Some(value) = shape.of.child(node) else { return };
        let scope = self.scope();
        // A declared result says it all, but of a method that is looked up by name; and a very long list of results says
        // nothing.
        let def = &self.defs[scope.0 as usize];
        let declared = def.result.is_some();
        if def.returns.len() < 16 && (!declared || self.text_of(value).starts_with("getattr(")) {
            let expr = self.express(value);
            let says_more = !declared || matches!(self.exprs[expr.0 as usize], Expr::Begun(..));
            if expr != ExprId::UNKNOWN && says_more {
                self.defs[scope.0 as usize].returns.push(expr);
            }
        }
    }

    /// Whether the code being read is that of a function with a name.
    pub(super) fn in_function(&self) -> bool {
        self.scopes.iter().any(|id| self.kind(*id).runs())
    }

    fn bind_pair(&mut self, target: Node<'_>, value: Option<Node<'_>>, ty: Option<ExprId>, node: Node<'_>) {
        // Element by element where both sides are lists of the same length.
        if let Some(value) = value
            && is_list(target)
            && is_list(value)
        {
            let (targets, values): (Vec<_>, Vec<_>) = (named(target).collect(), named(value).collect());
            if targets.len() == values.len() {
                for (target, value) in targets.into_iter().zip(values) {
                    if !self.name_literal(target, value) {
                        let expr = self.express(value);
                        self.bind_target(target, expr, None, node, DEPTH);
                    }
                }
                return;
            }
        }
        let expr = value.map_or(ExprId::UNKNOWN, |value| self.express(value));
        self.bind_target(target, expr, ty, node, DEPTH);
    }

    pub(super) fn bind_target(
        &mut self,
        target: Node<'_>,
        value: ExprId,
        ty: Option<ExprId>,
        node: Node<'_>,
        depth: usize,
    ) {
        if depth == 0 {
            return;
        }
        self.take(Some(target));
        match self.role(target) {
            Some(Role::Identifier | Role::TypeName) => {
                let text = self.text_of(target);
                if text.starts_with('@') {
                    return self.bind_attribute(text, value, ty, node);
                }
                let name = self.names.add(text);
                let name = if self.kind(self.scope()).has_members() { self.bare(name, node) } else { name };
                self.bind_value(self.scope(), name, value, ty, node);
            }
            Some(Role::Member) => self.bind_member(target, value, ty, node),
            Some(Role::Through) => {
                if let Some(inner) = self.kinds.shape(target).and_then(|shape| shape.of.child(target)) {
                    self.bind_target(inner, value, ty, node, depth - 1);
                }
            }
            Some(Role::Index | Role::Call) => {}
            _ if target.kind().contains("shorthand") => {
                let name = self.sym_of(target);
                let member = self.push(Expr::Member(value, name));
                self.bind_value(self.scope(), name, member, None, node);
            }
            _ => self.bind_pattern(target, value, ty, node, depth),
        }
    }

    fn bind_pattern(
        &mut self,
        target: Node<'_>,
        value: ExprId,
        ty: Option<ExprId>,
        node: Node<'_>,
        depth: usize,
    ) {
        let kind = target.kind();
        if kind.contains("declarator") || kind == "variable_declaration" {
            let inner = self.innermost_name(target);
            return self.bind_target(inner, value, ty, node, depth - 1);
        }
        if kind == "pair_pattern" {
            if let (Some(key), Some(inner)) =
                (target.child_by_field_name("key"), target.child_by_field_name("value"))
            {
                let name = self.member_name(key);
                let member = self.push(Expr::Member(value, name));
                self.take(Some(key));
                self.bind_target(inner, member, None, node, depth - 1);
            }
            return;
        }
        if matches!(kind, "tuple_struct_pattern" | "struct_pattern") {
            return self.bind_form(target, value, node, depth);
        }
        // A tuple gives its elements; an object pattern asks its pairs.
        let wraps = kind.contains("object")
            || kind.contains("match")
            || kind.contains("ref")
            || matches!(kind, "or_pattern" | "captured_pattern" | "mut_pattern");
        let children: Vec<_> = named(target).filter(|child| !self.is_constant(*child)).collect();
        let only = children.len() == 1 && !kind.contains("list") && !kind.contains("tuple");
        for (place, child) in (0..).zip(children) {
            let inner = if only || wraps { value } else { self.push(Expr::Nth(value, place)) };
            self.bind_target(child, inner, None, node, depth - 1);
        }
    }

    fn bind_member(&mut self, target: Node<'_>, value: ExprId, ty: Option<ExprId>, node: Node<'_>) {
        let Some(shape) = self.kinds.shape(target) else { return };
        let (Some(of), Some(name)) = (shape.of.child(target), shape.name.child(target)) else { return };
        self.take(Some(name));
        let expr = self.express(target);
        self.site(name, expr, SiteKind::Write);
        if self.is_self(of) {
            let text = self.text_of(name);
            return self.bind_attribute(text, value, ty, node);
        }
        if matches!(self.text_of(of), "exports" | "module.exports") {
            let name = self.sym_of(name);
            self.bind_value(DefId::FILE, name, value, ty, node);
        }
    }

    /// Whether a node is the object the method around runs on.
    fn is_self(&self, node: Node<'_>) -> bool {
        match self.role(node) {
            Some(Role::SelfWord) => true,
            Some(Role::Identifier) => {
                let text = self.text_of(node);
                if self.table.self_names.contains(&text) {
                    return true;
                }
                let method = self.scopes.iter().rev().find(|id| self.kind(**id) != DefKind::Lambda);
                self.language == Language::Python
                    && matches!(text, "self" | "cls")
                    && method.is_some_and(|id| matches!(self.kind(*id), DefKind::Method | DefKind::Property))
            }
            _ => false,
        }
    }

    fn bind_attribute(&mut self, name: &str, value: ExprId, ty: Option<ExprId>, node: Node<'_>) {
        let Some(class) = self.class_scope() else { return };
        let name = self.names.add(name);
        self.bind_value(class, name, value, ty, node);
    }

    pub(super) fn bind_value(
        &mut self,
        scope: DefId,
        name: Sym,
        value: ExprId,
        ty: Option<ExprId>,
        node: Node<'_>,
    ) {
        let within = self.scope();
        let typed = ty.filter(|ty| *ty != ExprId::UNKNOWN);
        let mut bind = |to| self.bindings.push(Binding { scope, name, to, within, line: line(node) });
        if let Some(ty) = typed {
            bind(Bound::Typed(ty));
        }
        if typed.is_none() || value != ExprId::UNKNOWN {
            bind(Bound::Value(value));
        }
    }
}

fn is_list(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "pattern_list" | "tuple_pattern" | "expression_list" | "tuple" | "variable_list" | "list_pattern"
    )
}
