//! Parameters: names, types and defaults, and the object a method runs on.

use tree_sitter::Node;

use super::Lower;
use crate::facts::{Binding, Bound, DefId, DefKind, Expr, Param, Spot, Sym};
use crate::language::{Language, Role, Shape, Slot, named};
use crate::parse::line;

impl Lower<'_> {
    pub(super) fn parameters(&mut self, id: DefId, params: Node<'_>) {
        if self.language == Language::Python {
            self.header = params.end_byte();
        }
        let mut place = 0;
        for child in named(params) {
            // Kotlin's constructor wraps its parameters once more.
            let inner: Vec<_> =
                if child.kind() == "class_parameters" { named(child).collect() } else { vec![child] };
            for param in inner {
                place += self.parameter(id, param, place);
            }
        }
        if self.role(params) == Some(Role::Identifier) {
            self.parameter(id, params, 0);
        }
    }

    /// One parameter node, which may declare several names; says how many.
    fn parameter(&mut self, id: DefId, node: Node<'_>, place: u32) -> u32 {
        let is_parameter = self.role(node) == Some(Role::Parameter);
        let is_name = self.role(node) == Some(Role::Identifier) && node.kind() != "type_identifier";
        let is_pattern = node.kind().contains("pattern")
            || node.kind().contains("splat")
            || node.kind() == "self_parameter";
        let is_variable =
            self.role(node) == Some(Role::Variable) || self.role(node) == Some(Role::Declaration);
        if !is_parameter && !is_name && !is_pattern && !is_variable {
            return 0;
        }
        let mut names = Vec::new();
        match self.kinds.shape(node).filter(|_| is_parameter) {
            Some(shape) => {
                if let Slot::Field(field) = shape.name {
                    let mut cursor = node.walk();
                    names.extend(node.children_by_field_id(field, &mut cursor).filter(Node::is_named));
                    if self.language == Language::Swift {
                        names.truncate(1);
                    }
                } else {
                    names.extend(shape.name.child(node));
                }
            }
            None => names.push(node),
        }
        self.take(Some(node));
        let text = self.text_of(node).split_whitespace().collect::<Vec<_>>().join(" ");
        let text = self.names.add(kit::text::head(&text, 160));
        let mut count = 0;
        for name_node in names {
            let inner = self.innermost_name(name_node);
            self.take_all(name_node);
            let name = self.sym_of(inner);
            self.defs[id.0 as usize].params.push(Param { name, text });
            self.bind_parameter(node, name, place + count);
            count += 1;
        }
        count
    }

    fn bind_parameter(&mut self, node: Node<'_>, name: Sym, place: u32) {
        self.bind_here(name, Bound::Param(place), node);
        let scope = self.scope();
        let is_typed = |shape: &Shape| shape.role == Role::Parameter && shape.ty.child(node).is_some();
        if let Some((callee, argument)) = self.given
            && !self.kinds.shape(node).is_some_and(is_typed)
        {
            let passed = self.push(Expr::Passed(callee, Spot { argument, parameter: place }));
            self.bind_here(name, Bound::Value(passed), node);
        }
        let Some(shape) = self.kinds.shape(node).filter(|shape| shape.role == Role::Parameter) else {
            return;
        };
        let mut bound = Vec::new();
        if let Some(ty) = shape.ty.child(node).filter(|ty| self.innermost_name(*ty).id() != node.id()) {
            let expr = self.express_type(ty);
            let text = self.text_of(node);
            // A starred parameter holds many of its type.
            let many = text.starts_with('*') || text.contains("...");
            let expr = if many { self.items(&[expr]) } else { expr };
            bound.push(if many { Bound::Value(expr) } else { Bound::Typed(expr) });
        }
        if let Some(value) = shape.of.child(node) {
            bound.push(Bound::Value(self.express(value)));
        }
        let class = self.class_of_constructor(node, scope);
        for to in bound {
            self.bind_here(name, to, node);
            if let Some(class) = class {
                let bare = self.bare(name, node);
                self.bindings.push(Binding { scope: class, name: bare, to, within: scope, line: line(node) });
            }
        }
    }

    /// The class whose attribute a parameter becomes by a modifier before it.
    fn class_of_constructor(&self, node: Node<'_>, scope: DefId) -> Option<DefId> {
        let promoted = named(node).next().is_some_and(|first| first.kind().contains("modifier"));
        let parent = self.defs[scope.0 as usize].parent;
        (promoted && self.kind(parent) == DefKind::Class && self.kind(scope) == DefKind::Method)
            .then_some(parent)
    }

    /// What is said to be known of the types that a definition leaves open.
    pub(super) fn type_parameters(&mut self, node: Node<'_>) {
        if !matches!(self.language, Language::Rust | Language::TypeScript) {
            return;
        }
        let of_list = node.child_by_field_name("type_parameters").into_iter().flat_map(named);
        let conditions = named(node).filter(|child| child.kind() == "where_clause").flat_map(named);
        for open in of_list.chain(conditions).collect::<Vec<_>>() {
            let named_by = |field| open.child_by_field_name(field);
            let name = named_by("name").or_else(|| named_by("left"));
            let bounds = named_by("bounds").or_else(|| named_by("constraint"));
            if let (Some(name), Some(bounds)) = (name, bounds) {
                let expr = self.express_type(bounds);
                let name = self.sym_of(name);
                self.bind_here(name, Bound::Value(expr), open);
            }
        }
    }

    /// A PHP property is named without the sign of its variable.
    pub(super) fn bare(&mut self, name: Sym, node: Node<'_>) -> Sym {
        if self.language != Language::Php {
            return name;
        }
        let inner = self.kinds.shape(node).and_then(|shape| shape.name.child(node)).unwrap_or(node);
        let text = self.text_of(inner).trim_start_matches('$');
        self.names.add(text)
    }

    /// A method's receiver names the object inside the method.
    pub(super) fn receiver(&mut self, receiver: Node<'_>) {
        let Some(parameter) = named(receiver).next() else { return };
        self.take(Some(parameter));
        let Some(shape) = self.kinds.shape(parameter) else { return };
        let Some(name) = shape.name.child(parameter) else { return };
        self.take(Some(name));
        let name = self.sym_of(name);
        if let Some(ty) = shape.ty.child(parameter) {
            let expr = self.express_type(ty);
            self.bind_here(name, Bound::Typed(expr), parameter);
        }
    }

    pub(super) fn receiver_type(&mut self, receiver: Node<'_>) -> Option<Sym> {
        let parameter = named(receiver).next()?;
        let ty = self.kinds.shape(parameter)?.ty.child(parameter)?;
        Some(self.last_part(ty))
    }
}
