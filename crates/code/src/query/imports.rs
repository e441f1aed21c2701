//! Who imports what.

use serde::Serialize;

use super::budget::{self, list_answer};
use super::{Cut, Part};
use crate::facts::{Facts, Import, ImportForm};
use crate::language::Language;
use crate::memo::Snapshot;
use crate::project::{FileId, Target, python_name};

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
    let file = snapshot.files.find(module);
    let mut importers = Vec::new();
    for (id, entry) in part.files(snapshot) {
        for import in grouped(&entry.facts, |import| means(snapshot, id, &entry.facts, import, module, file))
        {
            importers.push(Importer { file: entry.path.to_string(), import });
        }
    }
    let cut = Cut { total: importers.len(), ..Cut::default() };
    Importers { module: module.to_owned(), importers, cut }
}

/// Whether an import is of the module that was asked for: by its written name, or because it leads to its file.
fn means(
    snapshot: &Snapshot,
    from: FileId,
    facts: &Facts,
    import: &Import,
    module: &str,
    file: Option<FileId>,
) -> bool {
    let written = facts.text(import.module);
    let whole = import.name.map(|name| format!("{written}{}{}", separator(facts.language), facts.text(name)));
    if import.level == 0 && (written == module || whole.as_deref() == Some(module)) {
        return true;
    }
    let modules = snapshot.files.modules();
    let leads = |id: FileId| {
        Some(id) == file
            || (facts.language == Language::Python && python_name(modules, snapshot.files.path(id)) == module)
    };
    let target = modules.target(&snapshot.files, from, import);
    let submodule = match (&target, import.name) {
        (Some(Target::File(id)), Some(name)) => {
            let folder = modules.package_folder(snapshot.files.path(*id));
            folder.and_then(|folder| modules.inside(folder, facts.text(name)))
        }
        (Some(Target::Folder(folder)), Some(name)) => modules.inside(folder, facts.text(name)),
        _ => None,
    };
    [target, submodule].into_iter().flatten().any(|target| matches!(target, Target::File(id) if leads(id)))
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
    format!("{}{}", ".".repeat(import.level as usize), facts.text(import.module))
}

fn separator(language: Language) -> &'static str {
    match language {
        Language::Rust => "::",
        Language::JavaScript | Language::TypeScript | Language::Go => "/",
        _ => ".",
    }
}

list_answer!(Imports, imports, |answer| {
    let lines: String =
        answer.imports.iter().map(|import| format!("{:>5}  {}\n", import.line, words(import))).collect();
    lines + &budget::tail(&answer.cut)
});

list_answer!(Importers, importers, |answer| {
    let line = |one: &Importer| format!("{}:{}  {}\n", one.file, one.import.line, words(&one.import));
    let lines: String = answer.importers.iter().map(line).collect();
    lines + &budget::tail(&answer.cut)
});

fn words(import: &Imported) -> String {
    let alias = |alias: &Option<String>| alias.as_ref().map_or(String::new(), |alias| format!(" as {alias}"));
    let names: Vec<String> =
        import.names.iter().map(|name| format!("{}{}", name.name, alias(&name.alias))).collect();
    let taken = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    format!("{}{}{taken}", import.module, alias(&import.alias))
}
