//! From names to definitions: what a call means, given the facts of all files. One file at a time, as a pure function
//! of a snapshot, and it says what it has looked at, so that an answer can be kept until one of those things changes.

mod call;
mod infer;
mod lookup;
mod member;
mod reach;
mod read;
mod typed;
mod value;
mod words;
mod wrap;

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use serde::Serialize;

use crate::facts::{DefId, Expr, ExprId, Facts, SiteKind};
use crate::project::{FileId, Files, Place};
use crate::quick::{Quick, QuickMap, QuickSet};

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
#[derive(Debug, Default)]
pub struct Resolution {
    /// By caller, line and target; none twice.
    pub edges: Vec<Edge>,
    pub unresolved: Vec<Unresolved>,
    pub(crate) reads: Reads,
}

/// What a resolution has looked at.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// Files and the digest of what they showed.
    files: Vec<(FileId, u64)>,
    /// Names and the digest of who defined them.
    names: Vec<(Box<str>, u64)>,
    layout: u64,
}

impl Reads {
    /// Whether all of it is still the same.
    pub(crate) fn hold(&self, files: &Files, home: FileId) -> bool {
        let family = files.entry(home).map(|entry| crate::project::family(entry.facts.language));
        self.layout == files.layout()
            && self.files.iter().all(|(id, digest)| {
                files.entry(*id).is_some_and(|entry| entry.facts.exported_digest == *digest)
            })
            && family.is_some_and(|family| {
                self.names.iter().all(|(name, digest)| files.index().digest(family, name) == *digest)
            })
    }
}

/// What all uses in a file mean.
pub fn resolve(files: &Files, home: FileId) -> Resolution {
    let mut resolver = Resolver::new(files, home);
    let facts = files.facts(home);
    let mut out = Resolution::default();
    for site in &facts.sites {
        resolver.site(*site, &mut out);
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
    out.reads = resolver.reads();
    out
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
    touched: QuickSet<FileId>,
    asked: QuickSet<Box<str>>,
    none: Values,
    /// How many more inferences this file may cost: a file made to be slow gives fewer edges instead.
    budget: u32,
}

impl<'f> Resolver<'f> {
    fn new(files: &'f Files, home: FileId) -> Self {
        Self {
            files,
            home,
            known: QuickMap::default(),
            lines: QuickMap::default(),
            given: QuickMap::default(),
            touched: QuickSet::default(),
            asked: QuickSet::default(),
            none: Rc::new([]),
            budget: 500_000,
        }
    }

    /// The facts of a file, from now on one that the answer stands on.
    fn facts(&mut self, file: FileId) -> &'f Facts {
        self.touched.insert(file);
        self.files.facts(file)
    }

    /// Everything of that name in the project, by path, from now on part of what the answer stands on.
    fn everywhere(&mut self, name: &str) -> Vec<Place> {
        let family = crate::project::family(self.files.facts(self.home).language);
        if !self.asked.contains(name) {
            self.asked.insert(name.into());
        }
        let mut places = self.files.index().named(family, name).to_vec();
        if places.len() > 1 {
            // Numbers of files tell in which order they came; an answer must not.
            places.sort_unstable_by_key(|place| (self.files.path(place.file), place.def));
        }
        places
    }

    fn reads(self) -> Reads {
        let family = crate::project::family(self.files.facts(self.home).language);
        let mut files: Vec<_> = self
            .touched
            .into_iter()
            .filter(|file| *file != self.home)
            .map(|file| (file, self.files.facts(file).exported_digest))
            .collect();
        files.sort_unstable();
        let mut names: Vec<_> = self
            .asked
            .into_iter()
            .map(|name| (self.files.index().digest(family, &name), name))
            .map(|(digest, name)| (name, digest))
            .collect();
        names.sort_unstable();
        Reads { files, names, layout: self.files.layout() }
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
}

/// Whether a class's parents may call a member of that name: one of them has it, or one of them is not ours to see.
pub(crate) fn may_override(files: &Files, class: Place, name: &str) -> bool {
    let mut resolver = Resolver::new(files, class.file);
    let line = resolver.line(class, DEPTH);
    let inherits = !resolver.parent_member(class, name, DEPTH).is_empty();
    inherits || line.iter().any(|place| resolver.has_unknown_parent(*place))
}
