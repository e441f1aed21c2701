//! What an update changed of all that others can have looked at: pieces of files, names of the project, places of modules.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::index::{NameKey, listed};
use super::modules::{Modules, declared_package};
use super::path::{ancestors, split};
use super::{FileId, Files};
use crate::facts::{DefKind, Facet, Facts, Moves, differences};
use crate::language::Language;
use crate::quick::{Quick, QuickMap, QuickSet, fold};

/// A question about where modules are, as a number. Questions with the same number are taken for each other, which makes
/// more stale than has to be and nothing less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lookup(pub(crate) u32);

impl Lookup {
    /// Where do Python's packages start?
    pub(crate) const ROOTS: Lookup = Lookup(0);

    /// Which file or folder is the module with this last name?
    pub(crate) fn module(name: &str) -> Self {
        Self::of(1, name)
    }

    /// Which files are in a folder?
    pub(crate) fn folder(path: &str) -> Self {
        Self::of(2, path)
    }

    /// Is a folder a Python package?
    pub(crate) fn package_of(folder: &str) -> Self {
        Self::of(3, folder)
    }

    /// Does a file declare this package?
    pub(crate) fn package(name: &str) -> Self {
        Self::of(4, name)
    }

    fn of(kind: u8, text: &str) -> Self {
        let mut hash = Quick::default();
        (kind, text).hash(&mut hash);
        Self(fold(hash.finish()) | 1)
    }
}

/// What is no longer what it was.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) facets: Vec<(FileId, QuickSet<Facet>)>,
    /// Files that are gone: whatever was seen of them.
    pub(crate) gone: Vec<FileId>,
    pub(crate) names: QuickSet<NameKey>,
    pub(crate) lookups: QuickSet<Lookup>,
    /// Files whose definitions are at other places now.
    pub(crate) moves: Vec<(FileId, Moves)>,
}

impl Changes {
    /// What is different in `new` about the files at `paths`.
    pub(crate) fn between(old: &Files, new: &Files, paths: &[Arc<str>]) -> Self {
        let mut changes = Self::default();
        for path in paths {
            let facts = |files: &Files| {
                let id = files.find(path)?;
                files.entry(id).map(|entry| (id, entry.facts.clone()))
            };
            match (facts(old), facts(new)) {
                (Some((id, before)), Some((_, after))) => changes.edited(id, path, &before, &after),
                (Some((id, before)), None) => {
                    changes.gone.push(id);
                    changes.came_or_went(old, new, path, &before);
                }
                (None, Some((_, after))) => changes.came_or_went(old, new, path, &after),
                (None, None) => {}
            }
        }
        if old.modules().roots() != new.modules().roots() {
            changes.lookups.insert(Lookup::ROOTS);
        }
        changes
    }

    fn edited(&mut self, id: FileId, path: &str, before: &Facts, after: &Facts) {
        let facets = differences(before, after);
        if !facets.is_empty() {
            self.facets.push((id, facets));
        }
        let (old, new) = (kinds(path, before), kinds(path, after));
        let other = |(name, kinds): &(&NameKey, &Vec<_>)| new.get(name) != Some(kinds);
        self.names.extend(old.iter().filter(other).map(|(name, _)| *name));
        self.names.extend(new.keys().filter(|name| !old.contains_key(name)));
        let packages = [before, after].map(declared_package);
        if packages[0] != packages[1] {
            self.lookups.extend(packages.into_iter().flatten().map(Lookup::package));
        }
        let moves = Moves::between(before, after);
        if !moves.none {
            self.moves.push((id, moves));
        }
    }

    fn came_or_went(&mut self, old: &Files, new: &Files, path: &str, facts: &Facts) {
        self.names.extend(kinds(path, facts).into_keys());
        self.lookups.extend(declared_package(facts).map(Lookup::package));
        let (folder, name) = split(path);
        let base = name.rsplit_once('.').map_or(name, |(base, _)| base);
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        self.lookups.extend([Lookup::module(base), Lookup::module(stem), Lookup::folder(folder)]);
        // Files that stand for their folder.
        if matches!(base, "__init__" | "index" | "init" | "mod" | "lib" | "main") {
            self.lookups.extend([Lookup::module(split(folder).1), Lookup::package_of(folder)]);
        }
        let is_there = |modules: &Modules, folder: &str| modules.has_folder(folder);
        for folder in ancestors(folder) {
            if is_there(old.modules(), folder) == is_there(new.modules(), folder) {
                break;
            }
            self.lookups.extend([Lookup::module(split(folder).1), Lookup::folder(folder)]);
        }
    }
}

/// How a file defines each name that the project lists, and all that begin alike: for whoever looks a method up by the
/// beginning of its name, which ends with an underscore.
fn kinds(path: &str, facts: &Facts) -> QuickMap<NameKey, Vec<(NameKey, DefKind)>> {
    let mut out: QuickMap<_, Vec<_>> = QuickMap::default();
    for (name, id) in listed(path, facts) {
        let kind = facts.def(id).kind;
        let key = NameKey::of(facts.language, &name);
        out.entry(key).or_default().push((key, kind));
        if kind == DefKind::Method && facts.language == Language::Python {
            for (at, _) in name.match_indices('_') {
                let start = NameKey::of(facts.language, &NameKey::begun(&name[..=at]));
                out.entry(start).or_default().push((key, kind));
            }
        }
    }
    out
}
