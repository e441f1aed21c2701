//! Who defines a name: every function and class of the project by its bare name, kept up to date file by file.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{FileId, Place};
use crate::facts::{Def, DefId, DefKind, Facts};
use crate::language::Language;
use crate::quick::{Quick, QuickMap, fold};

/// Definitions by family of languages and bare name.
#[derive(Clone, Default)]
pub(crate) struct Index {
    /// In parts by the number of the name, so that the index after an edit shares all but the parts it touched.
    parts: [Arc<Names>; PARTS],
}

/// An edit touches some dozens of names at most.
const PARTS: usize = 32;

type Names = QuickMap<Family, QuickMap<Box<str>, Vec<Place>>>;

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

/// A bare name in a family of languages, as a number. Names with the same number are taken for each other, which makes
/// more stale than has to be and nothing less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameKey(pub(crate) u32);

impl NameKey {
    pub(crate) fn of(language: Language, name: &str) -> Self {
        let mut hash = Quick::default();
        (Family::of(language), name).hash(&mut hash);
        Self(fold(hash.finish()))
    }

    /// The name that stands for all that begin so.
    pub(crate) fn begun(start: &str) -> Box<str> {
        format!("{start}*").into()
    }

    fn part(self) -> usize {
        self.0 as usize % PARTS
    }
}

impl Index {
    pub(super) fn add(&mut self, file: FileId, facts: &Facts) {
        let family = Family::of(facts.language);
        for (def, one) in listed(facts) {
            let name = facts.text(one.name);
            let names = self.part(facts.language, name).entry(family).or_default();
            let place = Place { file, def };
            let Some(places) = names.get_mut(name) else {
                names.insert(name.into(), vec![place]);
                continue;
            };
            // In order, so that the index does not tell in which order files came.
            let at = places.partition_point(|other| *other < place);
            places.insert(at, place);
        }
    }

    /// Whether two states of a file are the same to the index.
    pub(super) fn is_same(old: &Facts, new: &Facts) -> bool {
        let names = |facts: &Facts| -> Vec<(DefId, Box<str>)> {
            listed(facts).map(|(id, def)| (id, facts.text(def.name).into())).collect()
        };
        old.language == new.language && names(old) == names(new)
    }

    pub(super) fn remove(&mut self, file: FileId, facts: &Facts) {
        let family = Family::of(facts.language);
        for (_, one) in listed(facts) {
            let name = facts.text(one.name);
            let Some(names) = self.part(facts.language, name).get_mut(&family) else { continue };
            let Some(places) = names.get_mut(name) else { continue };
            places.retain(|place| place.file != file);
            if places.is_empty() {
                names.remove(name);
            }
        }
    }

    pub(crate) fn named(&self, family: Family, name: &str) -> &[Place] {
        let part = &self.parts[NameKey::of(family.0, name).part()];
        part.get(&family).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    /// All whose names begin with a text, in no order.
    pub(crate) fn beginning(&self, family: Family, start: &str) -> Vec<Place> {
        let names = self.parts.iter().filter_map(|part| part.get(&family)).flatten();
        let begun = names.filter(|(name, _)| name.starts_with(start));
        begun.flat_map(|(_, places)| places).copied().collect()
    }

    fn part(&mut self, language: Language, name: &str) -> &mut Names {
        Arc::make_mut(&mut self.parts[NameKey::of(language, name).part()])
    }
}

/// The definitions of a file that can be found by name from elsewhere.
pub(super) fn listed(facts: &Facts) -> impl Iterator<Item = (DefId, &Def)> {
    facts.each_def().filter(|(_, def)| is_listed(def.kind))
}

fn is_listed(kind: DefKind) -> bool {
    matches!(kind, DefKind::Function | DefKind::Method | DefKind::Property | DefKind::Class | DefKind::Object)
}
