//! Which files an import names, for whoever asks who needs a file. Only what the statement says: what a module gives on
//! from elsewhere is not followed, and nothing is noted of what was looked at.

use super::{DEPTH, Resolver, Trail, Value};
use crate::facts::{DefId, DefKind, Import};
use crate::language::Language;
use crate::project::{FileId, Files, Target, family};

/// The files of the project that an import of a file names: its module, or the module that is taken out of it. Several
/// where a package is several files.
pub(crate) fn leads(files: &Files, from: FileId, import: &Import) -> Vec<FileId> {
    let facts = files.facts(from);
    let module = facts.text(import.module);
    let name = import.name.map(|name| facts.text(name));
    let target = || files.modules().target(files, from, import);
    match facts.language {
        Language::Python => python(files, target(), name),
        Language::Go => match target() {
            Some(Target::Folder(folder)) => package_of_folder(files, &folder),
            _ => Vec::new(),
        },
        Language::Rust => rust(files, from, import, name).into_iter().collect(),
        Language::Java | Language::Kotlin | Language::Scala | Language::CSharp => {
            declared(files, facts.language, &dotted(module, name))
        }
        Language::Php => match target() {
            Some(Target::File(id)) => vec![id],
            _ => declared(files, facts.language, &dotted(module, name)),
        },
        Language::Elixir => elixir(files, module),
        Language::Swift => files.modules().swift_module(module).collect(),
        Language::TypeScript
        | Language::JavaScript
        | Language::C
        | Language::Cpp
        | Language::Ruby
        | Language::Lua
        | Language::Luau => target().as_ref().and_then(file).into_iter().collect(),
    }
}

fn python(files: &Files, target: Option<Target>, name: Option<&str>) -> Vec<FileId> {
    let modules = files.modules();
    let inner = match (&target, name) {
        (Some(Target::File(id)), Some(name)) => {
            let folder = modules.package_folder(files.path(*id));
            folder.and_then(|folder| modules.inside(folder, name))
        }
        (Some(Target::Folder(folder)), Some(name)) => modules.inside(folder, name),
        _ => None,
    };
    [target, inner].iter().flatten().filter_map(file).collect()
}

/// A Go package is what its folder holds, tests apart: those nobody imports.
fn package_of_folder(files: &Files, folder: &str) -> Vec<FileId> {
    let is_part =
        |id: &FileId| files.facts(*id).language == Language::Go && !files.path(*id).ends_with("_test.go");
    files.modules().folder(folder).iter().copied().filter(is_part).collect()
}

/// The module that a path ends in; a function or type stands for the module it is taken out of.
fn rust(files: &Files, from: FileId, import: &Import, name: Option<&str>) -> Option<FileId> {
    let trail = Trail::default();
    let mut resolver = Resolver::new(files, from, &trail);
    let path = files.facts(from).text(import.module);
    let module = resolver.rust_module(from, import.scope, path, DEPTH)?;
    let taken = name.map_or_else(Vec::new, |name| resolver.rust_member(module, name, DEPTH));
    let inner = taken.into_iter().find(|value| matches!(value, Value::Module(_)));
    match inner.unwrap_or(module) {
        Value::Module(id) => Some(id),
        // A block or an enum of that file.
        Value::Class(place) => Some(place.file),
        _ => None,
    }
}

/// The files that declare a package, or that have what is named inside of one: `shop.data`, `shop.data.Store`,
/// `shop.data.Store.open`.
fn declared(files: &Files, language: Language, path: &str) -> Vec<FileId> {
    let ours = |id: &FileId| family(files.facts(*id).language) == family(language);
    let whole: Vec<_> = files.modules().package(path).iter().copied().filter(ours).collect();
    if !whole.is_empty() {
        return whole;
    }
    let mut left = path;
    while let Some((outer, name)) = left.rsplit_once('.') {
        let has = |id: &FileId| {
            let facts = files.facts(*id);
            facts.sym(name).is_some_and(|name| !facts.bound(DefId::FILE, name).is_empty())
        };
        let found: Vec<_> = files.modules().package(outer).iter().copied().filter(ours).filter(has).collect();
        if !found.is_empty() {
            return found;
        }
        left = outer;
    }
    Vec::new()
}

/// A module by its whole name, which it was given at once or part by part, one in the other.
fn elixir(files: &Files, module: &str) -> Vec<FileId> {
    let mut found = Vec::new();
    let endings = std::iter::successors(Some(module), |rest| Some(rest.split_once('.')?.1));
    for last in endings {
        for place in files.index().named(family(Language::Elixir), last) {
            let facts = files.facts(place.file);
            let mut whole = last.to_owned();
            let mut outer = facts.def(place.def).parent;
            while outer != DefId::FILE && facts.def(outer).kind == DefKind::Class {
                whole = format!("{}.{whole}", facts.text(facts.def(outer).name));
                outer = facts.def(outer).parent;
            }
            if whole == module && !found.contains(&place.file) {
                found.push(place.file);
            }
        }
    }
    found
}

fn dotted(module: &str, name: Option<&str>) -> String {
    name.map_or(module.to_owned(), |name| format!("{module}.{name}"))
}

fn file(target: &Target) -> Option<FileId> {
    match target {
        Target::File(id) => Some(*id),
        Target::Folder(_) => None,
    }
}
