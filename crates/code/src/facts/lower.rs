//! A syntax tree to facts, in one walk with one cursor. It asks nodes for their role, never for their kind, but for
//! the few hooks that a grammar needs; and it never recurses with the depth of the program.

mod bind;
mod define;
mod doc;
mod elixir;
mod exchange;
mod express;
mod finish;
mod flags;
mod handed;
mod hooks;
mod looked_up;
mod naming;
mod params;
mod rust;
mod uses;

use tree_sitter::Node;

use super::names::Names;
use super::{
    Binding, Bound, Def, DefId, DefKind, Expr, ExprId, Facts, Given, Import, Site, SiteKind, Span, Sym,
};
use crate::language::{Kinds, Language, Role, Shape, Table};
use crate::parse::{self, Parsed};
use crate::quick::{QuickMap, QuickSet};

/// All of a file's facts, and the place of each definition.
pub(super) fn lower(parsed: &Parsed<'_>, source: &str) -> (Facts, Vec<Span>) {
    let mut lower = Lower::new(parsed, source);
    lower.open_file(parsed.root());
    lower.walk(parsed.root());
    let spans = std::mem::take(&mut lower.spans);
    (lower.finish(), spans)
}

/// The facts in the making.
pub(super) struct Lower<'a> {
    pub(super) language: Language,
    pub(super) table: &'static Table,
    pub(super) kinds: &'static Kinds,
    pub(super) source: &'a str,
    pub(super) names: Names,
    pub(super) defs: Vec<Def>,
    pub(super) spans: Vec<Span>,
    pub(super) exprs: Vec<Expr>,
    pub(super) bindings: Vec<Binding>,
    pub(super) imports: Vec<Import>,
    pub(super) sites: Vec<Site>,
    pub(super) handed: Vec<Given>,
    pub(super) mentions: QuickSet<Sym>,
    pub(super) exports: Option<Vec<Sym>>,
    pub(super) package: Option<Sym>,
    /// The scopes around the node being visited, the file first.
    pub(super) scopes: Vec<DefId>,
    /// Expressions that have been read as part of a greater one.
    pub(super) lowered: QuickMap<usize, ExprId>,
    /// Nodes that have been dealt with: they are no reading of a name.
    pub(super) taken: QuickSet<usize>,
    /// Nodes that a statement deletes.
    pub(super) deleted: QuickSet<usize>,
    /// Functions without a name that are given to a call: what is called, and the how manieth argument they are.
    pub(super) passed: QuickMap<usize, (ExprId, u32)>,
    /// The same for the one whose parameters are being read.
    pub(super) given: Option<(ExprId, u32)>,
    /// Functions and objects without a name of their own that were given one.
    pub(super) named: QuickMap<usize, Naming>,
    /// Functions in an object that nobody named: no name leads to them.
    pub(super) apart: QuickSet<usize>,
    /// Objects that the file gives as a whole, and their members: to ask a node for what is around it takes long in a long
    /// list.
    pub(super) given_away: QuickSet<usize>,
    /// Branches of a choice, with the name that it gives to what it is about, and that.
    pub(super) branches: QuickMap<usize, (Option<Sym>, ExprId)>,
    /// Decorators that wait for what they decorate.
    pub(super) decorators: Vec<(ExprId, Sym)>,
    /// The comment lines just above.
    pub(super) comment: Option<doc::Run>,
    /// The type of the declaration being visited, and where that ends.
    pub(super) declared: Option<(ExprId, usize)>,
    /// Where the parameters of the function that was opened last end, if their defaults are read outside of it.
    pub(super) header: usize,
    /// Where the export statement being visited ends.
    pub(super) exporting: usize,
}

/// The name that a literal function or object gets from where it stands.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    pub(super) name: Sym,
    pub(super) owner: Option<Sym>,
}

/// What to do with a node after looking at it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    /// Go on with its children.
    Into,
    /// Go on with its children, which are in a scope of their own.
    Scope,
    /// Leave it alone.
    Past,
}

impl<'a> Lower<'a> {
    fn new(parsed: &'a Parsed<'_>, source: &'a str) -> Self {
        Self {
            language: parsed.language,
            table: parsed.language.table(),
            kinds: parsed.kinds,
            source,
            names: Names::default(),
            defs: Vec::new(),
            spans: Vec::new(),
            exprs: vec![Expr::Unknown],
            bindings: Vec::new(),
            imports: Vec::new(),
            sites: Vec::new(),
            handed: Vec::new(),
            mentions: QuickSet::default(),
            exports: None,
            package: None,
            scopes: Vec::new(),
            lowered: QuickMap::default(),
            taken: QuickSet::default(),
            deleted: QuickSet::default(),
            passed: QuickMap::default(),
            given: None,
            named: QuickMap::default(),
            apart: QuickSet::default(),
            given_away: QuickSet::default(),
            branches: QuickMap::default(),
            decorators: Vec::new(),
            comment: None,
            declared: None,
            header: 0,
            exporting: 0,
        }
    }

    fn walk(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        let mut depth = 0;
        // The depths at which a scope was opened.
        let mut opened = Vec::new();
        loop {
            let visit = self.visit(cursor.node());
            if visit == Visit::Scope {
                opened.push(depth);
            }
            if visit != Visit::Past && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            loop {
                if opened.last() == Some(&depth) {
                    opened.pop();
                    self.scopes.pop();
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }

    /// Takes what a node says. Its children come next, in order.
    fn visit(&mut self, node: Node<'_>) -> Visit {
        let Some(shape) = self.kinds.shape(node) else { return Visit::Into };
        match shape.role {
            Role::Identifier => self.read_name(node),
            Role::TypeName => self.mention_node(node),
            Role::Member => self.read_member(node, shape),
            Role::Call => self.call(node, shape),
            Role::Invoke => self.invoke(node, shape),
            Role::New => self.make(node, shape),
            Role::Function => return self.function(node, shape),
            Role::Lambda => return self.lambda(node, shape),
            Role::Property => return self.property(node, shape),
            Role::Class => return self.class(node, shape),
            Role::Extension => return self.extension(node, shape),
            Role::Namespace => return self.namespace(node, shape),
            Role::Object => return self.object(node),
            Role::Package => self.enter_package(node, shape),
            Role::Assign => self.assign(node, shape),
            Role::Variable => self.variable(node, shape),
            Role::Declaration => self.declaration(node, shape),
            Role::Parameter => self.late_parameter(node, shape),
            Role::Pair => self.pair(node, shape),
            Role::Loop => self.each(node, shape),
            Role::Enter => self.enter(node, shape),
            Role::Return => self.give(node, shape),
            Role::Index => self.subscript(node, shape),
            Role::Decorator => self.decorate(node, shape),
            Role::Comment => self.note(node),
            Role::Text => self.text(node),
            Role::Type => return self.skip_type(node),
            Role::Import => {
                self.decorators.clear();
                super::imports::read(self, node);
                return Visit::Past;
            }
            Role::Export => return self.export(node),
            Role::Special => return hooks::special(self, node),
            Role::Opaque => return Visit::Past,
            Role::Signature
            | Role::Collection
            | Role::Either
            | Role::Through
            | Role::Cast
            | Role::SelfWord
            | Role::Decorated => {}
            Role::SuperWord => {
                if self.language == Language::Ruby {
                    let expr = self.express(node);
                    self.site(node, expr, SiteKind::Read);
                }
            }
        }
        Visit::Into
    }

    /// The scope the walk is in.
    pub(super) fn scope(&self) -> DefId {
        *self.scopes.last().expect("the file is a scope")
    }

    /// The nearest scope around that has members, if nothing but lambdas lies between.
    pub(super) fn class_scope(&self) -> Option<DefId> {
        let around = self.scopes.iter().rev().copied();
        let mut outer =
            around.skip_while(|id| self.kind(*id) != DefKind::Method && self.kind(*id) != DefKind::Property);
        outer.find(|id| self.kind(*id).has_members())
    }

    pub(super) fn kind(&self, id: DefId) -> DefKind {
        self.defs[id.0 as usize].kind
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn sym_of(&mut self, node: Node<'_>) -> Sym {
        let text = self.text_of(node);
        self.names.add(text)
    }

    /// A name that is used here.
    pub(super) fn mention(&mut self, text: &str) -> Sym {
        let sym = self.names.add(text);
        self.mentions.insert(sym);
        sym
    }

    pub(super) fn push(&mut self, expr: Expr) -> ExprId {
        self.exprs.push(expr);
        ExprId(u32::try_from(self.exprs.len() - 1).expect("a file has fewer expressions than bytes"))
    }

    pub(super) fn bind_here(&mut self, name: Sym, to: Bound, node: Node<'_>) {
        let scope = self.scope();
        self.bindings.push(Binding { scope, name, to, within: scope, line: parse::line(node) });
    }

    /// The scope that a node is read in: a Python function's defaults are read where it is defined, and not when it runs.
    pub(super) fn read_in(&self, node: Node<'_>) -> DefId {
        let [.., outer, scope] = self.scopes[..] else { return self.scope() };
        let is_default = node.start_byte() < self.header && self.kind(scope).runs();
        if is_default { outer } else { scope }
    }

    pub(super) fn site(&mut self, node: Node<'_>, expr: ExprId, kind: SiteKind) {
        if expr != ExprId::UNKNOWN {
            self.sites.push(Site { scope: self.read_in(node), line: parse::line(node), expr, kind });
        }
    }

    /// The shape and role of a node, if it has any.
    pub(super) fn role(&self, node: Node<'_>) -> Option<Role> {
        self.kinds.shape(node).map(|shape: &Shape| shape.role)
    }
}
