//! Functions, classes and other scopes.

use tree_sitter::Node;

use super::{Lower, Visit};
use crate::facts::{Binding, Bound, Def, DefId, DefKind, ExprId, Flags, ImportForm, Span, Sym};
use crate::language::{Language, Role, Shape, named};
use crate::parse::{last_line, line};

/// A signature longer than this is cut: it is read by people and models.
const SIGNATURE: usize = 400;

/// What is needed to open a scope.
#[derive(Clone, Copy)]
pub(super) struct Opening<'t> {
    pub(super) node: Node<'t>,
    pub(super) kind: DefKind,
    pub(super) name: Sym,
    pub(super) owner: Option<Sym>,
    pub(super) body: Option<Node<'t>>,
}

impl<'t> Opening<'t> {
    fn new(node: Node<'t>, kind: DefKind, name: Sym, body: Option<Node<'t>>) -> Self {
        Self { node, kind, name, owner: None, body }
    }
}

impl Lower<'_> {
    pub(super) fn open_file(&mut self, root: Node<'_>) {
        let name = self.names.add("");
        self.open(Opening::new(root, DefKind::File, name, Some(root)));
        let doc = self.inner_doc(root);
        self.defs[0].doc = doc;
        self.defs[0].signature = name;
    }

    pub(super) fn function(&mut self, node: Node<'_>, shape: &Shape) -> Visit {
        let Some(name_node) = shape.name.child(node) else {
            return self.function_without_name(node, shape);
        };
        // A method in the type of an object is nobody's.
        if node.kind() == "method_signature" && !self.kind(self.scope()).has_members() {
            return self.skip_type(node);
        }
        let in_literal = node.kind() == "method_definition" && !self.kind(self.scope()).has_members();
        if in_literal && self.in_function() {
            self.take(Some(name_node));
            return self.lambda(node, shape);
        }
        if in_literal && !self.is_given(node) {
            self.apart.insert(node.id());
        }
        let (name, mut owner, params) = self.declared_name(name_node);
        if let Some(receiver) = shape.of.child(node) {
            owner = self.receiver_type(receiver);
        }
        let opening =
            Opening { owner, ..Opening::new(node, DefKind::Function, name, shape.body.child(node)) };
        let id = self.open_function(opening);
        self.type_parameters(node);
        self.result(id, node, shape);
        let params = params.or_else(|| shape.params.child(node));
        match params {
            Some(params) => self.parameters(id, params),
            None => self.parameters(id, node),
        }
        if let Some(receiver) = shape.of.child(node) {
            self.receiver(receiver);
        }
        Visit::Scope
    }

    /// Constructors that go by the name of their class.
    fn function_without_name(&mut self, node: Node<'_>, shape: &Shape) -> Visit {
        let name = self.names.add("constructor");
        let id = self.open_function(Opening::new(node, DefKind::Function, name, shape.body.child(node)));
        self.defs[id.0 as usize].flags.set(Flags::CONSTRUCTOR, true);
        if let Some(params) = shape.params.child(node) {
            self.parameters(id, params);
        }
        Visit::Scope
    }

    pub(super) fn open_function(&mut self, mut opening: Opening<'_>) -> DefId {
        let is_member = opening.owner.is_some() || self.kind(self.scope()).has_members();
        if is_member && opening.kind == DefKind::Function {
            opening.kind = DefKind::Method;
        }
        let (name, node, body) = (opening.name, opening.node, opening.body);
        let owned = opening.owner.is_some();
        let parent = self.scope();
        let id = self.open(opening);
        // A constructor that goes by its class's name must not hide the class.
        let hides = self.kind(parent) == DefKind::Class && self.defs[parent.0 as usize].name == name;
        let is_apart = self.apart.remove(&node.id());
        if !owned && !hides && !is_apart {
            self.bind_def(parent, name, id, node);
        }
        self.function_flags(id, node, body);
        id
    }

    /// The type a function says it gives.
    fn result(&mut self, id: DefId, node: Node<'_>, shape: &Shape) {
        let Some(ty) = shape.ty.child(node) else { return };
        let expr = self.express_type(ty);
        let text = self.text_of(ty).trim_start_matches([':', ' ']);
        let text = self.names.add(kit::text::head(text, SIGNATURE));
        let def = &mut self.defs[id.0 as usize];
        def.result = Some(expr);
        def.result_text = Some(text);
    }

    pub(super) fn lambda(&mut self, node: Node<'_>, shape: &Shape) -> Visit {
        let naming = self.named.remove(&node.id());
        let body = shape.body.child(node);
        let own = shape.name.child(node).filter(|_| node.kind() != "method_definition");
        let id = match naming {
            Some(naming) => {
                let opening = Opening::new(node, DefKind::Function, naming.name, body);
                self.open_function(Opening { owner: naming.owner, ..opening })
            }
            None => {
                let name = self.names.add(own.map_or("", |own| self.text_of(own)));
                // The name that a function has for itself nobody else can use.
                let kind = if own.is_some() { DefKind::Function } else { DefKind::Lambda };
                let id = self.open(Opening::new(node, kind, name, body));
                if own.is_some() {
                    self.bind_here(name, Bound::Def(id), node);
                }
                id
            }
        };
        self.take(own);
        self.result(id, node, shape);
        self.given = self.passed.remove(&node.id());
        if let Some(params) = shape.params.child(node).or_else(|| node.child_by_field_name("parameter")) {
            self.parameters(id, params);
        }
        self.given = None;
        if let Some(body) = body.filter(|body| self.role(*body).is_some_and(is_expression)) {
            let value = self.express(body);
            self.defs[id.0 as usize].returns.push(value);
        }
        Visit::Scope
    }

    /// A scope of names that is no function.
    pub(super) fn open_branch(&mut self, node: Node<'_>) {
        let name = self.names.add("");
        self.open(Opening::new(node, DefKind::Lambda, name, None));
    }

    pub(super) fn property(&mut self, node: Node<'_>, shape: &Shape) -> Visit {
        let Some(name_node) = shape.name.child(node) else { return Visit::Into };
        let name = self.sym_of(name_node);
        self.take(Some(name_node));
        let body = shape.body.child(node).or_else(|| node.child_by_field_name("value"));
        let id = self.open_function(Opening::new(node, DefKind::Property, name, body));
        self.result(id, node, shape);
        Visit::Scope
    }

    pub(super) fn class(&mut self, node: Node<'_>, shape: &Shape) -> Visit {
        let body = shape.body.child(node);
        let Some(name_node) = shape.name.child(node) else { return Visit::Into };
        if matches!(self.language, Language::C | Language::Cpp) && body.is_none() {
            return Visit::Into;
        }
        if self.language == Language::Swift
            && node
                .child_by_field_name("declaration_kind")
                .is_some_and(|kind| self.text_of(kind) == "extension")
        {
            return self.extension(node, shape);
        }
        let name = self.last_part(name_node);
        self.take_all(name_node);
        let parent = self.scope();
        let id = self.open(Opening::new(node, DefKind::Class, name, body));
        self.bind_def(parent, name, id, node);
        self.bases(id, node, shape);
        if let Some(params) = shape.params.child(node) {
            self.parameters(id, params);
        }
        let exported = self.is_exported(id, node);
        self.defs[id.0 as usize].flags.set(Flags::EXPORTED, exported);
        Visit::Scope
    }

    pub(super) fn extension(&mut self, node: Node<'_>, shape: &Shape) -> Visit {
        let Some(name_node) = shape.name.child(node) else { return Visit::Into };
        let name = self.last_part(name_node);
        let id = self.open(Opening::new(node, DefKind::Extension, name, shape.body.child(node)));
        self.type_parameters(node);
        self.bases(id, node, shape);
        Visit::Scope
    }

    fn bases(&mut self, id: DefId, node: Node<'_>, shape: &Shape) {
        let mut parts: Vec<_> = [shape.of, shape.ty].iter().filter_map(|slot| slot.child(node)).collect();
        parts.extend(named(node).filter(|child| child.kind() == "inheritance_specifier"));
        for part in parts {
            self.base(id, part, 4);
        }
    }

    /// Adds the types in a list of parents, whatever nodes are around them.
    fn base(&mut self, id: DefId, node: Node<'_>, depth: usize) {
        let is_type = self.role(node).is_some_and(|role| is_expression(role) || role == Role::TypeName);
        if is_type && self.role(node) != Some(Role::Pair) {
            let expr = match self.express(node) {
                ExprId::UNKNOWN => return,
                expr => match self.exprs[expr.0 as usize] {
                    crate::facts::Expr::Call(callee) if self.language == Language::Kotlin => callee,
                    _ => expr,
                },
            };
            let text = self.sym_of(node);
            let def = &mut self.defs[id.0 as usize];
            def.bases.push(expr);
            def.base_texts.push(text);
        } else if depth > 0 && !node.kind().contains("arguments") && self.role(node) != Some(Role::Pair) {
            for child in named(node) {
                self.base(id, child, depth - 1);
            }
        }
    }

    pub(super) fn namespace(&mut self, node: Node<'_>, shape: &Shape) -> Visit {
        let Some(name_node) = shape.name.child(node) else { return Visit::Into };
        self.take_all(name_node);
        let name = self.last_part(name_node);
        let Some(body) = shape.body.child(node) else {
            // `mod name;` says that the file of that name is part of the program.
            self.decorators.clear();
            let module = format!("self::{}", self.text_of(name_node));
            let import = self.import(node, &module, None, Some(name), ImportForm::Module);
            self.bind_here(name, Bound::Import(import), node);
            return Visit::Past;
        };
        if self.language == Language::CSharp {
            self.package = Some(self.sym_of(name_node));
            return Visit::Into;
        }
        let parent = self.scope();
        let id = self.open(Opening::new(node, DefKind::Namespace, name, Some(body)));
        self.bind_def(parent, name, id, node);
        Visit::Scope
    }

    /// A literal object that was given a name is a scope of named members.
    pub(super) fn object(&mut self, node: Node<'_>) -> Visit {
        if self.given_away.contains(&node.id()) {
            self.given_away.extend(named(node).map(|member| member.id()));
        }
        let Some(naming) = self.named.remove(&node.id()) else { return Visit::Into };
        let parent = self.scope();
        let id = self.open(Opening::new(node, DefKind::Object, naming.name, None));
        self.bind_def(parent, naming.name, id, node);
        Visit::Scope
    }

    pub(super) fn enter_package(&mut self, node: Node<'_>, shape: &Shape) {
        if let Some(name) = shape.name.child(node) {
            self.take_all(name);
            let text = self.text_of(name).replace('\\', ".");
            self.package = Some(self.names.add(&text));
        }
    }

    fn bind_def(&mut self, parent: DefId, name: Sym, id: DefId, node: Node<'_>) {
        let (to, within) = (Bound::Def(id), parent);
        self.bindings.push(Binding { scope: parent, name, to, within, line: line(node) });
    }

    pub(super) fn open(&mut self, opening: Opening<'_>) -> DefId {
        let Opening { node, kind, name, owner, body } = opening;
        let id = DefId(u32::try_from(self.defs.len()).expect("a file has fewer definitions than bytes"));
        let parent = self.scopes.last().copied().unwrap_or(DefId::FILE);
        let first = if self.decorators.is_empty() { node } else { self.with_decorators(node) };
        let doc = if kind == DefKind::Lambda { None } else { self.doc(first, body) };
        let signature =
            if matches!(kind, DefKind::File | DefKind::Lambda) { name } else { self.signature(node, body) };
        let (mut decorators, mut decorator_texts) = (Vec::new(), Vec::new());
        // What stands first in a file is not about the file.
        if !matches!(kind, DefKind::File | DefKind::Lambda) {
            self.inner_decorators(node);
            (decorators, decorator_texts) = std::mem::take(&mut self.decorators).into_iter().unzip();
        }
        self.spans.push(Span::of(node));
        self.defs.push(Def {
            name,
            kind,
            parent,
            owner,
            line: line(first),
            end_line: last_line(node),
            signature,
            doc,
            params: Vec::new(),
            result: None,
            result_text: None,
            returns: Vec::new(),
            bases: Vec::new(),
            base_texts: Vec::new(),
            decorators: std::mem::take(&mut decorators),
            decorator_texts: std::mem::take(&mut decorator_texts),
            wraps: None,
            runs: Vec::new(),
            flags: Flags::default(),
        });
        self.scopes.push(id);
        id
    }

    /// The node that holds a definition and its decorators.
    fn with_decorators<'t>(&self, node: Node<'t>) -> Node<'t> {
        node.parent().filter(|parent| self.role(*parent) == Some(Role::Decorated)).unwrap_or(node)
    }

    /// Annotations that stand inside the node of what they annotate.
    fn inner_decorators(&mut self, node: Node<'_>) {
        for child in named(node).take(4) {
            let inner: Vec<_> = match self.role(child) {
                Some(Role::Decorator) => vec![child],
                None if child.kind().starts_with("modif") || child.kind().starts_with("attribute") => {
                    named(child)
                        .flat_map(|inner| {
                            if self.role(inner).is_some() { vec![inner] } else { named(inner).collect() }
                        })
                        .collect()
                }
                _ => continue,
            };
            let kinds = self.kinds;
            for decorator in inner.into_iter().filter(|inner| kinds.role(*inner) == Some(Role::Decorator)) {
                let of = self.kinds.shape(decorator).and_then(|shape| shape.of.child(decorator));
                if let Some(of) = of {
                    let expr = self.express(of);
                    let text = self.decorator_text(of);
                    self.take(Some(decorator));
                    self.decorators.push((expr, text));
                }
            }
        }
    }

    fn signature(&mut self, node: Node<'_>, body: Option<Node<'_>>) -> Sym {
        let end = body
            .filter(|body| body.start_byte() > node.start_byte())
            .map_or(node.end_byte(), |body| body.start_byte());
        let header = self.uncommented(node, end);
        let header = match body {
            Some(_) => &*header,
            None => header.split(['{', '\n']).next().unwrap_or_default(),
        };
        let words: Vec<&str> = header.split_whitespace().filter(|word| !word.starts_with('@')).collect();
        let line = words.join(" ");
        let line = line.trim_end_matches([':', '{', ';', ',', ' ']);
        let line = line.strip_suffix("=>").or_else(|| line.strip_suffix('=')).unwrap_or(line).trim();
        self.names.add(kit::text::head(line, SIGNATURE))
    }
}

/// Roles that can stand where a value stands.
pub(super) fn is_expression(role: Role) -> bool {
    matches!(
        role,
        Role::Identifier
            | Role::Member
            | Role::Index
            | Role::Call
            | Role::Invoke
            | Role::New
            | Role::Through
            | Role::Either
            | Role::Cast
            | Role::Collection
    )
}
