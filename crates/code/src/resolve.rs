//! From names to definitions: what a call means, given the facts of all files. One file at a time, as a pure function
//! of a snapshot, and it says what it has looked at, so that an answer can be kept until one of those things changes.

mod call;
mod handed;
mod infer;
mod leads;
mod lookup;
mod member;
mod modules;
mod passed;
mod reach;
mod read;
mod shaped;
mod stand_in;
mod trail;
mod typed;
mod unwritten;
mod value;
mod words;
mod wrap;

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use serde::Serialize;

use crate::facts::{Bound, DefId, Expr, ExprId, Facts, Moves, SiteKind, Sym};
use crate::project::{FileId, Files, NameKey, Place, Target};
use crate::quick::{Quick, QuickMap};

use trail::{Trail, View};

pub(crate) use leads::leads;
pub(crate) use trail::Reads;
pub(crate) use value::Value;

/// How a caller uses what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    Call,
    Reference,
    Decorator,
    Super,
    Property,
    Constructor,
}

/// How sure we are that an edge is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Only the name speaks for it, and nobody else has that name; or it fills in what the called one declares.
    Low,
    /// The receiver's type was inferred.
    Medium,
    /// The name is bound to it.
    High,
}

/// One use of a definition by a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub from: Place,
    pub line: u32,
    pub to: Place,
    pub kind: EdgeKind,
    pub confidence: Confidence,
}

/// A call whose target is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unresolved {
    pub name: Box<str>,
    pub from: DefId,
    pub line: u32,
}

/// What one file's uses mean.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// By caller, line and target; none twice.
    pub edges: Vec<Edge>,
    pub unresolved: Vec<Unresolved>,
}

impl Resolution {
    /// Finds the definitions of an edited file where they are now. Those that are gone were looked at, and whoever looked
    /// at them is resolved anew.
    pub(crate) fn follow(&mut self, file: FileId, moves: &Moves) {
        for edge in &mut self.edges {
            let from = edge.from;
            for place in [&mut edge.from, &mut edge.to].into_iter().filter(|place| place.file == file) {
                place.def = moves.of(place.def).unwrap_or(place.def);
            }
            // Edges that start in another file than their own: what a decorator there puts around, and what a function there
            // does with what it is given.
            if from.file == file {
                edge.line = moves.line(from.def, edge.line).unwrap_or(edge.line);
            }
        }
        self.edges.sort_unstable();
    }
}

/// What all uses in a file mean.
pub fn resolve(files: &Files, home: FileId) -> Resolution {
    traced(files, home).0
}

/// What all uses in a file mean, and what was looked at to find it out.
pub(crate) fn traced(files: &Files, home: FileId) -> (Resolution, Reads) {
    let trail = Trail::default();
    let mut resolver = Resolver::new(files, home, &trail);
    let facts = files.facts(home);
    let mut out = Resolution::default();
    for site in &facts.sites {
        resolver.site(*site, &mut out);
    }
    for given in &facts.given {
        resolver.handed(*given, &mut out);
    }
    for (def, one) in facts.each_def() {
        if one.kind.runs() && !one.decorators.is_empty() {
            resolver.wrapped(Place { file: home, def }, &mut out);
        }
    }
    // The surest of several edges between the same two on one line is kept.
    out.edges.sort_unstable_by_key(|edge| {
        (edge.from, edge.line, edge.to, edge.kind, std::cmp::Reverse(edge.confidence))
    });
    out.edges.dedup_by_key(|edge| (edge.from, edge.line, edge.to, edge.kind));
    out.unresolved.sort_unstable();
    out.unresolved.dedup();
    out.edges.shrink_to_fit();
    out.unresolved.shrink_to_fit();
    (out, trail.reads(files))
}

/// Values of expressions are asked for over and over; lists of them are shared.
type Values = Rc<[Value]>;

/// How far a chain of inferences is followed.
const DEPTH: u32 = 36;

pub(crate) struct Resolver<'f> {
    files: &'f Files,
    home: FileId,
    known: QuickMap<(FileId, ExprId), Values>,
    /// Classes with all their parents, nearest first.
    lines: QuickMap<Place, Rc<[Place]>>,
    /// Names of modules, by file and name.
    given: QuickMap<(FileId, Box<str>), Values>,
    /// What names mean that no scope of their file binds.
    unbound: QuickMap<(FileId, Sym), Values>,
    /// Members of a name in the classes below one.
    below: QuickMap<(Place, Box<str>), Rc<[Place]>>,
    /// What imports lead to, by the file they stand in, their module and its level.
    targets: QuickMap<(FileId, Sym, u32), Option<Target>>,
    /// What the resolved file uses of each of its names.
    asked: Option<Rc<shaped::Asked>>,
    trail: &'f Trail,
    none: Values,
    /// How many more inferences this file may cost: a file made to be slow gives fewer edges instead.
    budget: u32,
}

impl<'f> Resolver<'f> {
    fn new(files: &'f Files, home: FileId, trail: &'f Trail) -> Self {
        Self {
            files,
            home,
            known: QuickMap::default(),
            lines: QuickMap::default(),
            given: QuickMap::default(),
            unbound: QuickMap::default(),
            below: QuickMap::default(),
            targets: QuickMap::default(),
            asked: None,
            trail,
            none: Rc::new([]),
            budget: 500_000,
        }
    }

    /// The facts of a file; what is looked at in them is from now on what the answer stands on.
    fn facts(&self, file: FileId) -> View<'f> {
        View::new(self.files.facts(file), file, (file != self.home).then_some(self.trail))
    }

    /// Everything of that name in the project, by path, from now on part of what the answer stands on.
    fn everywhere(&mut self, name: &str) -> Vec<Place> {
        let language = self.files.facts(self.home).language;
        self.trail.name(NameKey::of(language, name));
        let mut places = self.files.index().named(crate::project::family(language), name).to_vec();
        if places.len() > 1 {
            // Numbers of files tell in which order they came; an answer must not.
            places.sort_unstable_by_key(|place| (self.files.path(place.file), place.def));
        }
        places
    }

    fn expr(&mut self, file: FileId, id: ExprId) -> Expr {
        self.facts(file).expr(id)
    }
}

/// A digest of a file's part of the graph, and of where its definitions are.
pub(crate) fn digest(resolution: &Resolution, facts: &Facts) -> u64 {
    let mut hash = Quick::default();
    resolution.edges.hash(&mut hash);
    for site in &resolution.unresolved {
        (&site.name, site.from, site.line).hash(&mut hash);
    }
    for def in &facts.defs {
        (facts.text(def.name), def.kind, def.line, def.end_line).hash(&mut hash);
    }
    // What is read, and what the language asks for, may be left open.
    for site in facts.sites.iter().filter(|site| site.kind != SiteKind::Call) {
        let name = match facts.expr(site.expr) {
            Expr::Member(_, name) | Expr::Name(name) => Some(facts.text(name)),
            _ => None,
        };
        (site.kind as u8, site.scope, name).hash(&mut hash);
    }
    // Whether a name is mentioned decides what is dead.
    facts.mentions.iter().for_each(|sym| facts.text(*sym).hash(&mut hash));
    hash.finish()
}

impl SiteKind {
    fn edge(self) -> EdgeKind {
        match self {
            Self::Read => EdgeKind::Reference,
            Self::Write => EdgeKind::Property,
            Self::Decorator => EdgeKind::Decorator,
            _ => EdgeKind::Call,
        }
    }

    /// The methods that the language calls for such a use, of each few the first that there is.
    pub(crate) fn asks(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Call | Self::New | Self::Read | Self::Write | Self::Decorator => &[],
            Self::Enter => &[&["__enter__"], &["__exit__"]],
            Self::AsyncEnter => &[&["__aenter__"], &["__aexit__"]],
            Self::Iterate => &[&["__iter__"], &["__next__"]],
            Self::AsyncIterate => &[&["__aiter__"], &["__anext__"]],
            Self::Subscript => &[&["__getitem__"]],
            Self::Put => &[&["__setitem__"]],
            Self::Remove => &[&["__delitem__"]],
            Self::Advance => &[&["__next__"]],
            Self::Measure => &[&["__len__"]],
            Self::Tell => &[&["__str__", "__repr__"]],
            Self::Show => &[&["__repr__"]],
            Self::Test => &[&["__bool__", "__len__"]],
            Self::Equal => &[&["__eq__"]],
            Self::Contain => &[&["__contains__", "__iter__"]],
        }
    }
}

/// The methods of a class's parents that one of its own stands in for.
pub(crate) fn overridden(files: &Files, method: Place) -> Vec<Place> {
    let facts = files.facts(method.file);
    let (name, parent) = (facts.text(facts.def(method.def).name), facts.def(method.def).parent);
    let trail = Trail::default();
    let mut resolver = Resolver::new(files, method.file, &trail);
    let Some(class) = resolver.class_at(method.file, parent, DEPTH) else { return Vec::new() };
    let line = resolver.line(class, DEPTH);
    let found = line.iter().skip(1).flat_map(|parent| resolver.own_member(*parent, name));
    let methods = found.filter_map(|one| match one.binding.to {
        Bound::Def(def) => Some(Place { file: one.file, def }),
        _ => None,
    });
    methods.collect()
}

/// Whether a class's parents may call a member of that name: one of them has it, or one of them is not ours to see.
pub(crate) fn may_override(files: &Files, class: Place, name: &str) -> bool {
    let trail = Trail::default();
    let mut resolver = Resolver::new(files, class.file, &trail);
    let line = resolver.line(class, DEPTH);
    let inherits = !resolver.parent_member(class, name, DEPTH).is_empty();
    inherits || line.iter().any(|place| resolver.has_unknown_parent(*place))
}
