//! What is defined in each file.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};

use super::budget::{self, counted, list_answer};
use super::{Cut, Part};
use crate::facts::{DefId, DefKind, Facts, Held};
use crate::memo::Snapshot;
use crate::project::Entry;

#[derive(Clone, Debug, Serialize)]
pub struct Structure<'s> {
    pub languages: Vec<&'static str>,
    pub files: Vec<Outline<'s>>,
    #[serde(flatten)]
    pub cut: Cut,
}

/// A file that is put into words when it is told: of a large project's few are.
#[derive(Clone, Copy)]
pub struct Outline<'s> {
    path: &'s str,
    facts: &'s Held,
}

#[derive(Debug, Serialize)]
pub struct FileStructure<'s> {
    pub path: &'s str,
    pub language: &'static str,
    pub lines: u32,
    pub definitions: Vec<Definition<'s>>,
    /// Modules it imports.
    pub imports: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Definition<'s> {
    pub name: Cow<'s, str>,
    pub kind: &'static str,
    pub line: u32,
    pub end_line: u32,
    pub signature: &'s str,
}

/// The definitions of every file of a part.
pub fn structure<'s>(snapshot: &'s Snapshot, part: &Part) -> Structure<'s> {
    let entries = part.files(snapshot).map(|(_, entry)| entry);
    let files: Vec<Outline<'s>> = entries.map(Outline::of).collect();
    let languages: BTreeSet<_> = files.iter().map(|file| file.facts.language().name()).collect();
    let cut = Cut { total: files.len(), ..Cut::default() };
    Structure { languages: languages.into_iter().collect(), files, cut }
}

impl<'s> Outline<'s> {
    pub(super) fn of(entry: &'s Entry) -> Self {
        Self { path: &entry.path, facts: &entry.facts }
    }

    pub fn told(&self) -> FileStructure<'s> {
        let facts: &Facts = self.facts;
        let mut imports: Vec<String> =
            facts.imports.iter().map(|import| super::imports::module_name(facts, import)).collect();
        imports.sort_unstable();
        imports.dedup();
        FileStructure {
            path: self.path,
            language: facts.language.name(),
            lines: facts.lines,
            definitions: definitions(facts),
            imports,
        }
    }
}

impl Serialize for Outline<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.told().serialize(serializer)
    }
}

impl fmt::Debug for Outline<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.told().fmt(formatter)
    }
}

/// All that has a name, in the order of the text.
fn definitions(facts: &Facts) -> Vec<Definition<'_>> {
    let shown = |(id, def): &(DefId, &crate::facts::Def)| {
        *id != DefId::FILE && def.kind != DefKind::Lambda && def.kind != DefKind::Object
    };
    facts
        .each_def()
        .filter(shown)
        .map(|(id, def)| Definition {
            name: facts.qualified(id),
            kind: def.kind.word(),
            line: def.line,
            end_line: def.end_line,
            signature: facts.text(def.signature),
        })
        .collect()
}

/// A signature for people: with its name where it has none, as a function that a variable holds.
pub(crate) fn headline(name: &str, signature: &str) -> String {
    let bare = name.rsplit('.').next().unwrap_or(name);
    let signature = kit::text::plain(signature);
    if signature.contains(bare) { signature } else { format!("{bare} = {signature}") }
}

list_answer!(Structure<'_>, files, |answer| {
    let mut out = String::new();
    for file in answer.files.iter().map(Outline::told) {
        let lines = counted(file.lines as usize, "line");
        out.push_str(&format!(
            "{} ({}, {lines})
",
            file.path, file.language
        ));
        for definition in &file.definitions {
            let head = headline(&definition.name, definition.signature);
            let indent = if definition.name.contains('.') { "  " } else { "" };
            out.push_str(&format!("  {:>5}  {indent}{head}\n", definition.line));
        }
    }
    out + &budget::tail(&answer.cut)
});
