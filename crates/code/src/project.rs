//! The files of a project, side by side: who is which module, and who defines which name. A snapshot: questions are
//! asked of one that does not change, and an edit makes another that shares all that stayed the same.

mod aliases;
mod changes;
mod index;
mod manifest;
mod mentions;
mod modules;
mod path;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use crate::facts::{DefId, Facts, Held};
use crate::language::Language;

use aliases::Configurations;
pub(crate) use changes::{Changes, Lookup};
pub(crate) use index::{Family, Index, NameKey};
pub(crate) use manifest::{Kind, Scripts};
pub use manifest::{Manifest, Said};
pub(crate) use mentions::{Mentions, used};
pub(crate) use modules::{Modules, Target, declared_package, is_rust_module, python_name};
pub(crate) use path::split;

pub(crate) fn family(language: Language) -> Family {
    Family::of(language)
}

/// A file of the project, by a number that stays with its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A definition of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: FileId,
    pub def: DefId,
}

/// A file and what it says.
#[derive(Clone)]
pub struct Entry {
    /// Relative to the project's root, with forward slashes.
    pub path: Arc<str>,
    pub facts: Held,
}

/// All files with their facts.
#[derive(Clone, Default)]
pub struct Files {
    /// By number; a file that is gone leaves a gap.
    entries: Vec<Option<Entry>>,
    /// By path, for those that are there.
    order: Vec<FileId>,
    /// Found out when somebody asks who uses whom; the index is from then on kept up to date.
    modules: OnceLock<Arc<Modules>>,
    index: OnceLock<Arc<Index>>,
    /// Build files by path.
    manifests: Arc<BTreeMap<Arc<str>, Arc<Manifest>>>,
    /// Every path that ever was, with its number.
    paths: HashMap<Arc<str>, FileId>,
    /// Counted when somebody asks, and from then on kept up to date.
    mentions: OnceLock<Arc<Mentions>>,
    /// The same in all states that came of one another, and so have the same numbers for the same paths.
    life: Arc<()>,
}

impl Files {
    /// The snapshot after `changes`: facts for files that are new or different, nothing for those that are gone.
    pub fn with(&self, changes: Vec<(Arc<str>, Option<Held>)>) -> Self {
        let mut next = self.clone();
        let mut moved = false;
        for (path, facts) in changes {
            let id = next.number(&path);
            let old = next.entries[id.0 as usize].take();
            let mut mentions = next.mentions.get_mut().map(Arc::make_mut);
            if let (Some(mentions), Some(old)) = (&mut mentions, &old) {
                mentions.went(old);
            }
            let is_same = match (&old, &facts) {
                (Some(old), Some(new)) => Index::is_same(&path, &old.facts, new),
                _ => false,
            };
            let mut index = next.index.get_mut().map(Arc::make_mut).filter(|_| !is_same);
            if let (Some(index), Some(old)) = (&mut index, &old) {
                index.remove(id, &path, &old.facts);
            }
            let package = |facts: &Facts| facts.package.map(|sym| facts.text(sym).to_owned());
            let stays = old.as_ref().is_some_and(|old| {
                facts.as_ref().is_some_and(|new| {
                    package(new) == package(&old.facts) && new.language == old.facts.language
                })
            });
            moved |= !stays;
            if let Some(facts) = facts {
                if let Some(index) = index {
                    index.add(id, &path, &facts);
                }
                let entry = Entry { path, facts };
                if let Some(mentions) = mentions {
                    mentions.came(&entry);
                }
                next.entries[id.0 as usize] = Some(entry);
            }
        }
        if moved {
            next.settle();
        }
        next
    }

    /// The snapshot with build files that are new or different, or gone. Nothing if they say what is known.
    pub(crate) fn with_manifests(&self, changes: Vec<Said>) -> Option<Self> {
        let mut manifests = BTreeMap::clone(&self.manifests);
        for (path, manifest) in changes {
            match manifest {
                Some(manifest) => manifests.insert(path, manifest),
                None => manifests.remove(&path),
            };
        }
        if manifests == *self.manifests {
            return None;
        }
        let mut next = Self { manifests: Arc::new(manifests), ..self.clone() };
        next.settle();
        Some(next)
    }

    fn configurations<'m>(&'m self, packages: &'m HashMap<Box<str>, Box<str>>) -> Configurations<'m> {
        Configurations { manifests: &self.manifests, packages }
    }

    pub(crate) fn manifests(&self) -> impl Iterator<Item = (&str, &Manifest)> {
        self.manifests.iter().map(|(path, manifest)| (&**path, &**manifest))
    }

    pub fn entry(&self, id: FileId) -> Option<&Entry> {
        self.entries.get(id.0 as usize)?.as_ref()
    }

    pub fn facts(&self, id: FileId) -> &Facts {
        &self.entry(id).expect("a file that is there").facts
    }

    pub fn path(&self, id: FileId) -> &str {
        &self.entry(id).expect("a file that is there").path
    }

    pub fn find(&self, path: &str) -> Option<FileId> {
        self.paths.get(path).copied().filter(|id| self.entry(*id).is_some())
    }

    /// All files by path.
    pub fn each(&self) -> impl Iterator<Item = (FileId, &Entry)> {
        self.order.iter().filter_map(|id| self.entry(*id).map(|entry| (*id, entry)))
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// One more than the largest number of a file.
    pub(crate) fn numbers(&self) -> usize {
        self.entries.len()
    }

    /// Whether a number means the same file in both, and it says the same.
    pub(crate) fn is_same(&self, other: &Self, id: FileId) -> bool {
        match (self.entry(id), other.entry(id)) {
            (Some(one), Some(two)) => one.facts.is(&two.facts) && Arc::ptr_eq(&self.life, &other.life),
            _ => false,
        }
    }

    pub fn languages(&self) -> Vec<Language> {
        let mut all: Vec<_> = self.each().map(|(_, entry)| entry.facts.language()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(crate) fn modules(&self) -> &Modules {
        self.modules.get_or_init(|| Arc::new(Modules::build(self)))
    }

    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            self.each().for_each(|(id, entry)| index.add(id, &entry.path, &entry.facts));
            Arc::new(index)
        })
    }

    pub(crate) fn mentions(&self) -> &Mentions {
        self.mentions.get_or_init(|| {
            let mut mentions = Mentions::default();
            self.each().for_each(|(_, entry)| mentions.came(entry));
            Arc::new(mentions)
        })
    }

    fn number(&mut self, path: &Arc<str>) -> FileId {
        if let Some(id) = self.paths.get(path) {
            return *id;
        }
        let id = FileId(u32::try_from(self.entries.len()).expect("fewer files than 32 bits can count"));
        self.entries.push(None);
        self.paths.insert(Arc::clone(path), id);
        id
    }

    fn settle(&mut self) {
        let mut order: Vec<_> = (0..)
            .map(FileId)
            .take(self.entries.len())
            .filter(|id| self.entries[id.0 as usize].is_some())
            .collect();
        order.sort_unstable_by(|one, other| self.path(*one).cmp(self.path(*other)));
        self.order = order;
        self.modules = OnceLock::new();
    }
}
