//! What is defined in each file.

use rayon::prelude::*;
use serde::Serialize;

use super::budget::{self, counted, list_answer};
use super::{Cut, Part};
use crate::facts::{DefId, DefKind, Facts};
use crate::memo::Snapshot;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Structure {
    pub languages: Vec<&'static str>,
    pub files: Vec<FileStructure>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileStructure {
    pub path: String,
    pub language: &'static str,
    pub lines: u32,
    pub definitions: Vec<Definition>,
    /// Modules it imports.
    pub imports: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Definition {
    pub name: String,
    pub kind: &'static str,
    pub line: u32,
    pub end_line: u32,
    pub signature: String,
}

/// The definitions of every file of a part.
pub fn structure(snapshot: &Snapshot, part: &Part) -> Structure {
    let entries: Vec<_> = part.files(snapshot).map(|(_, entry)| entry).collect();
    let files: Vec<FileStructure> =
        entries.par_iter().map(|entry| of_file(&entry.path, &entry.facts)).collect();
    let mut languages: Vec<_> = files.iter().map(|file| file.language).collect();
    languages.sort_unstable();
    languages.dedup();
    let cut = Cut { total: files.len(), ..Cut::default() };
    Structure { languages, files, cut }
}

fn of_file(path: &str, facts: &Facts) -> FileStructure {
    let mut imports: Vec<String> =
        facts.imports.iter().map(|import| super::imports::module_name(facts, import)).collect();
    imports.sort_unstable();
    imports.dedup();
    FileStructure {
        path: path.to_owned(),
        language: facts.language.name(),
        lines: facts.lines,
        definitions: definitions(facts),
        imports,
    }
}

/// All that has a name, in the order of the text.
pub(crate) fn definitions(facts: &Facts) -> Vec<Definition> {
    let shown = |(id, def): &(DefId, &crate::facts::Def)| {
        *id != DefId::FILE && def.kind != DefKind::Lambda && def.kind != DefKind::Object
    };
    facts
        .each_def()
        .filter(shown)
        .map(|(id, def)| Definition {
            name: facts.qualified(id).into_owned(),
            kind: def.kind.word(),
            line: def.line,
            end_line: def.end_line,
            signature: facts.text(def.signature).to_owned(),
        })
        .collect()
}

/// A signature for people: with its name where it has none, as a function that a variable holds.
pub(crate) fn headline(name: &str, signature: &str) -> String {
    let bare = name.rsplit('.').next().unwrap_or(name);
    let signature = kit::text::plain(signature);
    if signature.contains(bare) { signature } else { format!("{bare} = {signature}") }
}

list_answer!(Structure, files, |answer| {
    let mut out = String::new();
    for file in &answer.files {
        let lines = counted(file.lines as usize, "line");
        out.push_str(&format!("{} ({}, {lines})\n", file.path, file.language));
        for definition in &file.definitions {
            let head = headline(&definition.name, &definition.signature);
            out.push_str(&format!("  {:>5}  {head}\n", definition.line));
        }
    }
    out + &budget::tail(&answer.cut)
});
