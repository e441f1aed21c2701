//! Syntax to [`Expr`]: what a value comes from, as far as that can matter to somebody who asks what it is.

use tree_sitter::Node;

use super::Lower;
use crate::facts::{Expr, ExprId, ImportForm, Sym, annotation};
use crate::language::{Language, Role, Shape, named};

/// An expression nested deeper than this is not followed; the walk meets its parts anyway.
const DEPTH: usize = 60;

/// So many elements of a literal are looked at: the rest of a long one is more of the same.
pub(super) const LIKE_THE_REST: usize = 8;

impl<'a> Lower<'a> {
    pub(in crate::facts) fn express(&mut self, node: Node<'_>) -> ExprId {
        self.express_at(node, DEPTH)
    }

    /// The type that a node names; text in it is a type as well.
    pub(in crate::facts) fn express_type(&mut self, node: Node<'_>) -> ExprId {
        self.express_at(node, DEPTH)
    }

    pub(super) fn express_at(&mut self, node: Node<'_>, depth: usize) -> ExprId {
        if depth == 0 {
            return ExprId::UNKNOWN;
        }
        if let Some(known) = self.lowered.get(&node.id()) {
            return *known;
        }
        let id = match self.kinds.shape(node) {
            Some(shape) => self.express_as(node, shape, depth - 1),
            None => self.express_only_child(node, depth - 1),
        };
        // Names are cheap to read again; what is built of several nodes is remembered for when the walk gets there.
        if !matches!(self.exprs[id.0 as usize], Expr::Unknown | Expr::Name(_) | Expr::This | Expr::Super) {
            self.lowered.insert(node.id(), id);
        }
        id
    }

    fn express_as(&mut self, node: Node<'_>, shape: &Shape, depth: usize) -> ExprId {
        let expr = match shape.role {
            Role::Identifier | Role::TypeName => return self.express_name(node),
            Role::SelfWord => Expr::This,
            Role::SuperWord => Expr::Super,
            Role::Text => return self.express_text(node),
            Role::Member => return self.express_member(node, shape, depth),
            Role::Call => return self.express_call(node, shape, depth),
            Role::Invoke => {
                let callee = self.express_member(node, shape, depth);
                Expr::Call(callee)
            }
            Role::New => Expr::Instance(self.part(node, shape.ty, depth)),
            Role::Cast => Expr::Instance(self.part(node, shape.ty, depth)),
            Role::Index => {
                let of = self.part(node, shape.of, depth);
                let arguments = self.express_arguments(node, shape, depth);
                if arguments == ExprId::UNKNOWN && self.language != Language::Python {
                    return of;
                }
                Expr::Index(of, arguments)
            }
            // Who takes one of very many by its key means that one, which we do not know.
            Role::Collection if node.kind() == "dictionary" && node.named_child_count() > LIKE_THE_REST => {
                return ExprId::UNKNOWN;
            }
            Role::Collection => {
                let items: Vec<_> = match shape.of.child(node) {
                    Some(child) => vec![self.express_at(child, depth)],
                    None => named(node)
                        .take(LIKE_THE_REST)
                        // Of what is kept under keys, the values are the elements.
                        .map(|child| child.child_by_field_name("value").unwrap_or(child))
                        .map(|child| self.express_at(child, depth))
                        .collect(),
                };
                if node.kind() == "expression_list" && items.len() == 1 {
                    return items[0];
                }
                return self.items(&items);
            }
            Role::Either => return self.express_either(node, shape, depth),
            Role::Signature => return self.express_signature(node, shape, depth),
            Role::Through | Role::Type | Role::Enter | Role::Return => {
                return self.part(node, shape.of, depth);
            }
            Role::Assign | Role::Variable => return self.part(node, shape.of, depth),
            Role::Special if node.kind() == "match_expression" => return self.express_match(node, depth),
            Role::Decorated | Role::Special => return self.express_only_child(node, depth),
            _ => return ExprId::UNKNOWN,
        };
        self.push(expr)
    }

    fn part(&mut self, node: Node<'_>, slot: crate::language::Slot, depth: usize) -> ExprId {
        slot.child(node).map_or(ExprId::UNKNOWN, |child| self.express_at(child, depth))
    }

    fn express_only_child(&mut self, node: Node<'_>, depth: usize) -> ExprId {
        let mut children = named(node);
        match (children.next(), children.next()) {
            (Some(only), None) => self.express_at(only, depth),
            _ => ExprId::UNKNOWN,
        }
    }

    fn express_name(&mut self, node: Node<'_>) -> ExprId {
        let text = self.text_of(node);
        if self.table.self_names.contains(&text) {
            return self.push(Expr::This);
        }
        if self.table.super_names.contains(&text) {
            return self.push(Expr::Super);
        }
        let name = self.names.add(text);
        if text.starts_with('@') {
            let this = self.push(Expr::This);
            return self.push(Expr::Member(this, name));
        }
        self.push(Expr::Name(name))
    }

    fn express_text(&mut self, node: Node<'_>) -> ExprId {
        let text = self.text_of(node).trim_matches(['"', '\'']);
        // Only a short text of names and brackets can be a type.
        let is_type = self.language == Language::Python
            && text.len() < 120
            && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && (self.in_type(node) || self.in_cast(node));
        if is_type {
            return annotation::read(self, text);
        }
        self.push(Expr::Text)
    }

    /// Whether a node stands in an annotation. Only asked of short texts.
    fn in_type(&self, node: Node<'_>) -> bool {
        let mut around = node;
        for _ in 0..8 {
            match around.parent() {
                Some(parent) if self.role(parent) == Some(Role::Type) => return true,
                Some(parent) => around = parent,
                None => return false,
            }
        }
        false
    }

    /// Whether a text is the type of a cast.
    fn in_cast(&self, node: Node<'_>) -> bool {
        let call = node.parent().and_then(|arguments| arguments.parent());
        let callee = call.and_then(|call| self.kinds.shape(call)?.of.child(call));
        callee.is_some_and(|callee| self.text_of(callee).ends_with("cast"))
    }

    fn express_member(&mut self, node: Node<'_>, shape: &Shape, depth: usize) -> ExprId {
        let Some(name) = shape.name.child(node) else { return ExprId::UNKNOWN };
        let Some(of) = shape.of.child(node) else { return self.express_at(name, depth) };
        let of = self.express_at(of, depth);
        // C++ and C# nest the rest of a path inside the name.
        if self.role(name) == Some(Role::Member) {
            let inner = self.express_at(name, depth);
            return self.rebase(of, inner);
        }
        let name = self.member_name(name);
        self.push(Expr::Member(of, name))
    }

    /// The path `inner`, seen from `outer`.
    fn rebase(&mut self, outer: ExprId, inner: ExprId) -> ExprId {
        match self.exprs[inner.0 as usize] {
            Expr::Name(name) => self.push(Expr::Member(outer, name)),
            Expr::Member(of, name) => {
                let of = self.rebase(outer, of);
                self.push(Expr::Member(of, name))
            }
            _ => inner,
        }
    }

    /// The bare name of a member, without type arguments.
    pub(in crate::facts) fn member_name(&mut self, node: Node<'_>) -> Sym {
        let mut name = node;
        while let Some(shape) = self.kinds.shape(name)
            && matches!(shape.role, Role::Through | Role::Index)
            && let Some(inner) = shape.of.child(name)
        {
            name = inner;
        }
        self.sym_of(name)
    }

    fn express_call(&mut self, node: Node<'_>, shape: &Shape, depth: usize) -> ExprId {
        if let Some(module) = self.loaded_module(node, shape) {
            let import = self.import(node, module, None, None, ImportForm::Module);
            return self.push(Expr::Import(import));
        }
        let Some(callee) = self.callee(node, shape) else { return ExprId::UNKNOWN };
        if let Some(ty) = self.cast_type(node, shape, callee) {
            let ty = self.express_at(ty, depth);
            return self.push(Expr::Instance(ty));
        }
        if self.language == Language::Python
            && let Some(value) = self.express_built_in(node, shape, callee, depth)
        {
            return value;
        }
        let callee = self.express_at(callee, depth);
        if self.language == Language::Python && self.exprs[callee.0 as usize] == Expr::Super {
            return callee;
        }
        self.push(Expr::Call(callee))
    }

    /// Functions of the language that give what they are given, or a part of it.
    fn express_built_in(
        &mut self,
        node: Node<'_>,
        shape: &Shape,
        callee: Node<'_>,
        depth: usize,
    ) -> Option<ExprId> {
        let name = self.text_of(callee);
        let known = [
            "list",
            "sorted",
            "reversed",
            "tuple",
            "set",
            "iter",
            "frozenset",
            "next",
            "type",
            "copy.copy",
            "enumerate",
            "zip",
            "deque",
            "collections.deque",
            "getattr",
        ];
        if !known.contains(&name) {
            return None;
        }
        let arguments: Vec<_> = named(shape.params.child(node)?)
            .take(4)
            .filter(|child| self.role(*child) != Some(Role::Pair))
            .collect();
        let first = self.express_at(*arguments.first()?, depth);
        Some(match name {
            "next" => self.push(Expr::Element(first)),
            "getattr" => return self.express_looked_up(first, *arguments.get(1)?),
            "type" => {
                let class = self.names.add("__class__");
                self.push(Expr::Member(first, class))
            }
            "enumerate" | "zip" => {
                let mut parts = if name == "zip" { Vec::new() } else { vec![ExprId::UNKNOWN] };
                for argument in arguments {
                    let of = self.express_at(argument, depth);
                    parts.push(self.push(Expr::Element(of)));
                }
                let each = self.items(&parts);
                self.items(&[each])
            }
            _ => first,
        })
    }

    /// The type in `cast(Type, value)`.
    fn cast_type<'t>(&self, node: Node<'t>, shape: &Shape, callee: Node<'t>) -> Option<Node<'t>> {
        let is_cast = self.language == Language::Python
            && matches!(self.text_of(callee), "cast" | "t.cast" | "typing.cast");
        if is_cast { named(shape.params.child(node)?).next() } else { None }
    }

    /// The module that `require("…")` loads.
    fn loaded_module(&self, node: Node<'_>, shape: &Shape) -> Option<&'a str> {
        use Language::{JavaScript, Lua, Luau, TypeScript};
        if !matches!(self.language, JavaScript | TypeScript | Lua | Luau) {
            return None;
        }
        let callee = self.text_of(shape.of.child(node)?);
        if !matches!(callee, "require" | "import") {
            return None;
        }
        let argument = named(shape.params.child(node)?).next()?;
        (self.role(argument) == Some(Role::Text)).then(|| self.unquoted(argument))
    }

    /// What is between the quotes of a literal text.
    pub(in crate::facts) fn unquoted(&self, node: Node<'_>) -> &'a str {
        self.text_of(node).trim_matches(['"', '\'', '`', '<', '>'])
    }

    fn express_arguments(&mut self, node: Node<'_>, shape: &Shape, depth: usize) -> ExprId {
        let of = shape.of.child(node).map(|child| child.id());
        let mut all = Vec::new();
        for child in named(node).filter(|child| Some(child.id()) != of) {
            if self.kinds.shape(child).is_some() {
                all.push(self.express_at(child, depth));
            } else {
                all.extend(
                    named(child).take(8).map(|inner| self.express_at(inner, depth)).collect::<Vec<_>>(),
                );
            }
        }
        self.items(&all)
    }

    fn express_either(&mut self, node: Node<'_>, shape: &Shape, depth: usize) -> ExprId {
        let parts: Vec<_> = match (shape.name.child(node), shape.of.child(node)) {
            (None, None) => named(node).take(8).collect(),
            (one, other) => one.into_iter().chain(other).collect(),
        };
        let mut value = ExprId::UNKNOWN;
        for part in parts {
            let other = self.express_at(part, depth);
            value = match (value, other) {
                (known, ExprId::UNKNOWN) => known,
                (ExprId::UNKNOWN, known) => known,
                (one, other) => self.push(Expr::Either(one, other)),
            };
        }
        value
    }

    /// What a function of a type takes and gives. The object it runs on is no parameter.
    fn express_signature(&mut self, node: Node<'_>, shape: &Shape, depth: usize) -> ExprId {
        let params = shape.params.child(node).into_iter().flat_map(named).take(8);
        let params: Vec<_> = params.filter(|param| !self.text_of(*param).starts_with("this:")).collect();
        let mut types = Vec::new();
        for param in params {
            let shape = self.kinds.shape(param).filter(|shape| shape.role == Role::Parameter);
            let ty = shape.map_or(Some(param), |shape| shape.ty.child(param));
            types.push(ty.map_or(ExprId::UNKNOWN, |ty| self.express_at(ty, depth)));
        }
        let (params, result) = (self.items(&types), self.part(node, shape.ty, depth));
        self.push(Expr::Takes(params, result))
    }

    /// A chain of items; one item alone is itself only as a type argument, so a chain always says what it is.
    pub(in crate::facts) fn items(&mut self, all: &[ExprId]) -> ExprId {
        all.iter().rev().fold(ExprId::UNKNOWN, |rest, item| self.push(Expr::Items(*item, rest)))
    }
}
