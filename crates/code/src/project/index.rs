//! Who defines a name: every function and class of the project by its bare name, kept up to date file by file.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use super::{FileId, Place};
use crate::facts::{DefKind, Facts};
use crate::language::Language;
use crate::quick::Quick;

/// Definitions by family of languages and bare name.
#[derive(Clone, Default)]
pub(crate) struct Index {
    names: HashMap<(Family, Box<str>), Vec<Place>>,
}

/// Languages that call each other by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Family(Language);

impl Family {
    pub(crate) fn of(language: Language) -> Self {
        Self(match language {
            Language::TypeScript => Language::JavaScript,
            Language::Cpp => Language::C,
            Language::Kotlin | Language::Scala => Language::Java,
            Language::Luau => Language::Lua,
            other => other,
        })
    }
}

impl Index {
    pub(super) fn add(&mut self, file: FileId, facts: &Facts) {
        let family = Family::of(facts.language);
        for (def, one) in facts.each_def() {
            if is_listed(one.kind) {
                let places = self.names.entry((family, facts.text(one.name).into())).or_default();
                let place = Place { file, def };
                // In order, so that the index does not tell in which order files came.
                let at = places.partition_point(|other| *other < place);
                places.insert(at, place);
            }
        }
    }

    pub(super) fn remove(&mut self, file: FileId, facts: &Facts) {
        let family = Family::of(facts.language);
        for (_, one) in facts.each_def() {
            if is_listed(one.kind) {
                let key = (family, Box::from(facts.text(one.name)));
                if let Some(places) = self.names.get_mut(&key) {
                    places.retain(|place| place.file != file);
                    if places.is_empty() {
                        self.names.remove(&key);
                    }
                }
            }
        }
    }

    pub(crate) fn named(&self, family: Family, name: &str) -> &[Place] {
        self.names.get(&(family, Box::from(name))).map_or(&[], Vec::as_slice)
    }

    /// A number for who defines a name.
    pub(crate) fn digest(&self, family: Family, name: &str) -> u64 {
        let mut hash = Quick::default();
        self.named(family, name).hash(&mut hash);
        hash.finish()
    }
}

fn is_listed(kind: DefKind) -> bool {
    matches!(kind, DefKind::Function | DefKind::Method | DefKind::Property | DefKind::Class | DefKind::Object)
}
