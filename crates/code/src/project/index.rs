//! Who defines a name: every function and class of the project by its bare name, kept up to date file by file.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::path::split;
use super::{FileId, Place};
use crate::facts::{Binding, Bound, DefId, DefKind, Facts};
use crate::language::{Language, Reach};
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

    /// The name that a class's methods of a name are listed under, where they can be in several files.
    pub(crate) fn member(class: &str, name: &str) -> String {
        format!("{class}.{name}")
    }

    /// The name that what a folder's files call so is listed under, where a folder is a package.
    pub(crate) fn near(folder: &str, name: &str) -> String {
        format!("{folder}/{name}")
    }

    /// The name that a C++ namespace is listed under: who has it matters to nobody, only that it is one of ours.
    pub(crate) fn namespace(name: &str) -> String {
        format!("{name}::")
    }

    fn part(self) -> usize {
        self.0 as usize % PARTS
    }
}

impl Index {
    pub(super) fn add(&mut self, file: FileId, path: &str, facts: &Facts) {
        let family = Family::of(facts.language);
        for (name, def) in listed(path, facts) {
            let names = self.part(facts.language, &name).entry(family).or_default();
            let place = Place { file, def };
            let Some(places) = names.get_mut(&*name) else {
                names.insert(name.into(), vec![place]);
                continue;
            };
            // In order, so that the index does not tell in which order files came.
            let at = places.partition_point(|other| *other < place);
            places.insert(at, place);
        }
    }

    /// Whether two states of a file are the same to the index.
    pub(super) fn is_same(path: &str, old: &Facts, new: &Facts) -> bool {
        old.language == new.language && listed(path, old).eq(listed(path, new))
    }

    pub(super) fn remove(&mut self, file: FileId, path: &str, facts: &Facts) {
        let family = Family::of(facts.language);
        for (name, _) in listed(path, facts) {
            let Some(names) = self.part(facts.language, &name).get_mut(&family) else { continue };
            let Some(places) = names.get_mut(&*name) else { continue };
            places.retain(|place| place.file != file);
            if places.is_empty() {
                names.remove(&*name);
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

/// The definitions of a file that can be found from elsewhere, under each name that they are found by. A variable of a
/// package is its file.
pub(super) fn listed<'f>(path: &'f str, facts: &'f Facts) -> impl Iterator<Item = (Cow<'f, str>, DefId)> {
    let apart = facts.language.has_extensions();
    let folder = (facts.language.table().reach == Reach::Folder).then(|| split(path).0);
    let defs = facts.each_def().filter(|(_, def)| is_listed(def.kind)).flat_map(move |(id, def)| {
        let name = facts.text(def.name);
        let class = facts.class_of(id).filter(|_| apart && def.kind.runs());
        let member = class.map(|class| NameKey::member(facts.text(class), name));
        let is_top = def.parent == DefId::FILE && def.owner.is_none();
        let near = folder.filter(|_| is_top).map(|folder| NameKey::near(folder, name));
        let more = [member, near].into_iter().flatten().map(move |name| (Cow::from(name), id));
        std::iter::once((Cow::from(name), id)).chain(more)
    });
    let variables = folder.into_iter().flat_map(|folder| {
        let is_variable = |one: &&Binding| matches!(one.to, Bound::Value(_) | Bound::Typed(_));
        let of_file = facts.bindings.iter().take_while(|one| one.scope == DefId::FILE).filter(is_variable);
        of_file.map(|one| (Cow::from(NameKey::near(folder, facts.text(one.name))), DefId::FILE))
    });
    let is_cpp = facts.language == Language::Cpp;
    let namespaces = facts.each_def().filter(move |(_, def)| is_cpp && def.kind == DefKind::Namespace);
    let namespaces = namespaces.map(|(id, def)| (Cow::from(NameKey::namespace(facts.text(def.name))), id));
    defs.chain(variables).chain(namespaces)
}

fn is_listed(kind: DefKind) -> bool {
    matches!(kind, DefKind::Function | DefKind::Method | DefKind::Property | DefKind::Class | DefKind::Object)
}
