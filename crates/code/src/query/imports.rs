//! Who imports what.

use serde::Serialize;

use super::budget::{self, list_answer};
use super::{Cut, Part};
use crate::facts::{Facts, Import, ImportForm};
use crate::language::{Language, Reach};
use crate::memo::Snapshot;
use crate::near;
use crate::project::{FileId, is_rust_module, python_name, split};
use crate::resolve::leads;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imports {
    pub file: String,
    pub language: &'static str,
    pub imports: Vec<Imported>,
    #[serde(flatten)]
    pub cut: Cut,
}

/// One import statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imported {
    /// As written, leading dots included.
    pub module: String,
    /// Names taken out of it.
    pub names: Vec<ImportedName>,
    pub is_from: bool,
    /// What the module itself is called here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedName {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importers {
    pub module: String,
    pub importers: Vec<Importer>,
    /// Who may need it and is not in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importer {
    pub file: String,
    #[serde(flatten)]
    pub import: Imported,
}

/// The imports of one file.
pub fn imports(path: &str, facts: &Facts) -> Imports {
    let imports = imported(facts);
    let cut = Cut { total: imports.len(), ..Cut::default() };
    Imports { file: path.to_owned(), language: facts.language.name(), imports, cut }
}

/// The files of a part that import a module, named as the importing language names it, or by its file.
pub fn importers(snapshot: &Snapshot, module: &str, part: &Part) -> Importers {
    let path = module.strip_prefix("./").unwrap_or(module);
    let meant = meant(snapshot, path);
    let mut importers = Vec::new();
    for (id, entry) in part.files(snapshot) {
        let facts = &entry.facts;
        let wanted = |import: &Import| {
            let leads_there =
                || leads(&snapshot.files, id, import).iter().any(|to| *to != id && meant.contains(to));
            is_named(facts, import, module) || (!meant.is_empty() && leads_there())
        };
        importers.extend(
            grouped(facts, wanted)
                .into_iter()
                .map(|import| Importer { file: entry.path.to_string(), import }),
        );
    }
    let file = snapshot.files.find(path).map(|id| snapshot.files.facts(id).language);
    let cut = Cut { total: importers.len(), ..Cut::default() };
    Importers { module: module.to_owned(), importers, note: file.and_then(unwritten), cut }
}

impl Importers {
    /// Why nobody is found, in words, and modules whose names look like the one that was asked for.
    pub fn nobody(&self, snapshot: &Snapshot) -> (String, Vec<String>) {
        let nothing = format!("nothing imports {}", self.module);
        if let Some(note) = self.note {
            return (format!("{nothing}; {note}"), Vec::new());
        }
        let mut names: Vec<String> = Vec::new();
        for (_, entry) in snapshot.files.each() {
            names.extend(entry.facts.imports.iter().map(|import| module_name(&entry.facts, import)));
        }
        let near = near::near(names.iter().map(String::as_str), &self.module);
        (nothing + &near::words(&near), near)
    }
}

/// The files that the name of a module means wherever it is written.
fn meant(snapshot: &Snapshot, module: &str) -> Vec<FileId> {
    let files = &snapshot.files;
    if let Some(id) = files.find(module) {
        return vec![id];
    }
    let is_it = |path: &str, facts: &Facts| match facts.language {
        Language::Python => python_name(files.modules(), path) == module,
        Language::Rust => is_rust_module(files.modules(), files, path, module),
        // A package is a folder.
        Language::Go => split(path).0 == module.trim_end_matches('/'),
        _ => false,
    };
    files.each().filter(|(_, entry)| is_it(&entry.path, &entry.facts)).map(|(id, _)| id).collect()
}

/// Whether an import says just the words that were asked for.
fn is_named(facts: &Facts, import: &Import, module: &str) -> bool {
    let written = module_name(facts, import);
    let rest = module.strip_prefix(written.as_str()).filter(|_| import.level == 0);
    rest.is_some_and(|rest| {
        rest.is_empty()
            || import
                .name
                .is_some_and(|name| rest.strip_prefix(separator(facts.language)) == Some(facts.text(name)))
    })
}

/// Why a file may be used where no import says so, in languages in which that is so.
fn unwritten(language: Language) -> Option<&'static str> {
    Some(match (language, language.table().reach) {
        (Language::Swift, _) => "files of one module use each other without an import",
        (Language::Elixir, _) => "a module that is called by its whole name needs no import",
        (Language::Ruby, _) => "what a loader finds by name needs no `require`",
        (_, Reach::Folder) => "files of one folder use each other without an import",
        (Language::Php, _) => "files of one namespace, and whole names, need no import",
        (_, Reach::Package) => "files of one package use each other without an import",
        (_, Reach::File | Reach::Project) => return None,
    })
}

pub(crate) fn imported(facts: &Facts) -> Vec<Imported> {
    grouped(facts, |_| true)
}

/// The chosen imports, those of one statement together.
fn grouped(facts: &Facts, wanted: impl Fn(&Import) -> bool) -> Vec<Imported> {
    let mut out: Vec<Imported> = Vec::new();
    for import in facts.imports.iter().filter(|import| wanted(import)) {
        let module = module_name(facts, import);
        let text = |sym| facts.text(sym).to_owned();
        let all = matches!(import.form, ImportForm::All | ImportForm::ReexportAll);
        let name = import.name.map(text).or_else(|| all.then(|| "*".to_owned()));
        let alias = import.alias.map(text);
        let same = |last: &&mut Imported| last.line == import.line && last.module == module && last.is_from;
        match (name, out.last_mut().filter(same)) {
            (Some(name), Some(last)) => last.names.push(ImportedName { name, alias }),
            (Some(name), None) => {
                let names = vec![ImportedName { name, alias }];
                out.push(Imported { module, names, is_from: true, alias: None, line: import.line });
            }
            (None, _) => {
                out.push(Imported { module, names: Vec::new(), is_from: false, alias, line: import.line });
            }
        }
    }
    out.sort_by_key(|import| import.line);
    out
}

/// The module as written.
pub(crate) fn module_name(facts: &Facts, import: &Import) -> String {
    let module = facts.text(import.module);
    // Namespaces are kept with dots, as those of other languages; the path of a loaded file has dots of its own.
    if facts.language == Language::Php && import.form != ImportForm::All {
        return module.replace('.', "\\");
    }
    format!("{}{module}", ".".repeat(import.level as usize))
}

fn separator(language: Language) -> &'static str {
    match language {
        Language::Rust => "::",
        Language::Php => "\\",
        Language::JavaScript | Language::TypeScript | Language::Go => "/",
        _ => ".",
    }
}

list_answer!(Imports, imports, |answer| {
    if answer.cut.total == 0 {
        return format!("{} imports nothing\n", answer.file);
    }
    let line = |import: &Imported| format!("{:>5}  {}\n", import.line, words(import));
    answer.imports.iter().map(line).collect::<String>() + &budget::tail(&answer.cut)
});

list_answer!(Importers, importers, |answer| {
    let line = |one: &Importer| format!("{}:{}  {}\n", one.file, one.import.line, words(&one.import));
    let lines: String = answer.importers.iter().map(line).collect();
    let note = answer.note.map_or(String::new(), |note| format!("note: {note}\n"));
    lines + &budget::tail(&answer.cut) + &note
});

fn words(import: &Imported) -> String {
    let alias = |alias: &Option<String>| alias.as_ref().map_or(String::new(), |alias| format!(" as {alias}"));
    let names: Vec<String> =
        import.names.iter().map(|name| format!("{}{}", name.name, alias(&name.alias))).collect();
    let taken = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    format!("{}{}{taken}", import.module, alias(&import.alias))
}
