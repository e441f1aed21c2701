//! What a resolution looks at, noted while it looks. Other files' facts are seen through [`View`] only, which notes each
//! piece; so an answer stands on exactly what it read, what it looked for and did not find included.

use std::cell::RefCell;

use crate::facts::{Binding, Def, DefId, Expr, ExprId, Facet, Facts, Import, Sym};
use crate::language::Language;
use crate::project::{Changes, FileId, Files, Lookup, NameKey};
use crate::quick::QuickSet;

/// What a resolution has looked at: all that can make it another one. Sorted lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads {
    pub(crate) facets: Vec<(FileId, Facet)>,
    /// Names that were looked for in the whole project.
    pub(crate) names: Vec<NameKey>,
    pub(crate) lookups: Vec<Lookup>,
}

impl Reads {
    /// Whether something of a file was looked at.
    pub(crate) fn know(&self, file: FileId) -> bool {
        !self.of_file(file).is_empty()
    }

    /// Whether one of the changes is to something that was looked at.
    pub(crate) fn meet(&self, changes: &Changes) -> bool {
        let facets = changes
            .facets
            .iter()
            .any(|(file, changed)| self.of_file(*file).iter().any(|(_, facet)| changed.contains(facet)));
        facets
            || changes.gone.iter().any(|file| self.know(*file))
            || changes.names.iter().any(|name| self.names.binary_search(name).is_ok())
            || changes.lookups.iter().any(|lookup| self.lookups.binary_search(lookup).is_ok())
    }

    fn of_file(&self, file: FileId) -> &[(FileId, Facet)] {
        let start = self.facets.partition_point(|(other, _)| *other < file);
        let end = start + self.facets[start..].partition_point(|(other, _)| *other == file);
        &self.facets[start..end]
    }
}

/// The notes of one resolution.
#[derive(Default)]
pub(super) struct Trail {
    defs: RefCell<QuickSet<(FileId, DefId)>>,
    bound: RefCell<QuickSet<(FileId, DefId, Sym)>>,
    /// Names that a file does not even mention.
    absent: RefCell<QuickSet<(FileId, Facet)>>,
    names: RefCell<QuickSet<NameKey>>,
    lookups: RefCell<QuickSet<Lookup>>,
}

impl Trail {
    pub(super) fn name(&self, name: NameKey) {
        self.names.borrow_mut().insert(name);
    }

    pub(super) fn lookup(&self, lookup: Lookup) {
        self.lookups.borrow_mut().insert(lookup);
    }

    pub(super) fn reads(&self, files: &Files) -> Reads {
        let defs = self.defs.borrow();
        let bound = self.bound.borrow();
        let of_def = defs.iter().map(|(file, def)| (*file, files.facts(*file).facet(*def)));
        let of_name = bound.iter().map(|(file, scope, name)| {
            let facts = files.facts(*file);
            (*file, facts.facet_of_name(*scope, facts.text(*name)))
        });
        let facets = of_def.chain(of_name).chain(self.absent.borrow().iter().copied()).collect();
        Reads {
            facets: sorted(facets),
            names: sorted(self.names.borrow().iter().copied().collect()),
            lookups: sorted(self.lookups.borrow().iter().copied().collect()),
        }
    }
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all.dedup();
    all.shrink_to_fit();
    all
}

/// The facts of a file, seen by a resolution.
#[derive(Clone, Copy)]
pub(super) struct View<'f> {
    facts: &'f Facts,
    file: FileId,
    /// Nothing for the file that is being resolved: whenever that changes, all is done again.
    trail: Option<&'f Trail>,
    /// A path tells it, and files stay with their paths.
    pub(super) language: Language,
}

impl<'f> View<'f> {
    pub(super) fn new(facts: &'f Facts, file: FileId, trail: Option<&'f Trail>) -> Self {
        Self { facts, file, trail, language: facts.language }
    }

    pub(super) fn text(&self, sym: Sym) -> &'f str {
        self.facts.text(sym)
    }

    /// Expressions are found through definitions and bindings, which were noted.
    pub(super) fn expr(&self, id: ExprId) -> Expr {
        self.facts.expr(id)
    }

    pub(super) fn def(&self, id: DefId) -> &'f Def {
        if let Some(trail) = self.trail {
            trail.defs.borrow_mut().insert((self.file, id));
        }
        self.facts.def(id)
    }

    pub(super) fn bound(&self, scope: DefId, name: Sym) -> &'f [Binding] {
        if let Some(trail) = self.trail {
            trail.bound.borrow_mut().insert((self.file, scope, name));
        }
        self.facts.bound(scope, name)
    }

    /// All that a text is bound to in a scope.
    pub(super) fn bound_text(&self, scope: DefId, name: &str) -> &'f [Binding] {
        match (self.facts.sym(name), self.trail) {
            (Some(sym), _) => self.bound(scope, sym),
            (None, Some(trail)) => {
                let facet = self.facts.facet_of_name(scope, name);
                trail.absent.borrow_mut().insert((self.file, facet));
                &[]
            }
            (None, None) => &[],
        }
    }

    /// An import that a binding or an expression named.
    pub(super) fn import(&self, place: u32) -> &'f Import {
        &self.facts.imports[place as usize]
    }

    /// Imports that bring names without naming them, or all of them where a language looks through all.
    pub(super) fn imports(&self) -> &'f [Import] {
        self.def(DefId::FILE);
        &self.facts.imports
    }

    pub(super) fn package(&self) -> Option<&'f str> {
        self.def(DefId::FILE);
        crate::project::declared_package(self.facts)
    }

    pub(super) fn class_of(&self, id: DefId) -> Option<Sym> {
        self.def(id);
        self.facts.class_of(id)
    }

    pub(super) fn charged(&self, scope: DefId) -> DefId {
        self.facts.charged(scope)
    }

    /// Whether a text occurs in the file that is being resolved.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.facts.sym(text).is_some()
    }

    /// All definitions, to choose from those inside or beside one that was noted: they are of the same piece.
    pub(super) fn each_def(&self) -> impl Iterator<Item = (DefId, &'f Def)> + use<'f> {
        self.facts.each_def()
    }
}
