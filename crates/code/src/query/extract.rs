//! All that one file says.

use serde::Serialize;

use super::Cut;
use super::budget::{self, counted, list_answer};
use super::imports::{Imported, imported};
use super::structure::headline;
use crate::facts::{Def, DefId, DefKind, Facts, Flags};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extract {
    pub file: String,
    pub language: &'static str,
    pub lines: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    pub imports: Vec<Imported>,
    pub definitions: Vec<Detail>,
    #[serde(flatten)]
    pub cut: Cut,
}

/// A definition with everything written at its head.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Detail {
    pub name: String,
    pub kind: &'static str,
    pub line: u32,
    pub end_line: u32,
    pub signature: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_type: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decorators: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_async: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exported: bool,
}

/// What the file at `path` says.
pub fn extract(path: &str, facts: &Facts) -> Extract {
    let doc = facts.def(DefId::FILE).doc.map(|doc| facts.text(doc).to_owned());
    let shown = |(id, def): &(DefId, &Def)| {
        *id != DefId::FILE && !matches!(def.kind, DefKind::Lambda | DefKind::Object)
    };
    let definitions: Vec<_> =
        facts.each_def().filter(shown).map(|(id, def)| detail(facts, id, def)).collect();
    let cut = Cut { total: definitions.len(), ..Cut::default() };
    let (file, language) = (path.to_owned(), facts.language.name());
    Extract { file, language, lines: facts.lines, doc, imports: imported(facts), definitions, cut }
}

fn detail(facts: &Facts, id: DefId, def: &Def) -> Detail {
    let texts = |syms: &[crate::facts::Sym]| syms.iter().map(|sym| facts.text(*sym).to_owned()).collect();
    Detail {
        name: facts.qualified(id).into_owned(),
        kind: def.kind.word(),
        line: def.line,
        end_line: def.end_line,
        signature: facts.text(def.signature).to_owned(),
        params: def.params.iter().map(|param| facts.text(param.text).to_owned()).collect(),
        return_type: def.result_text.map(|text| facts.text(text).to_owned()),
        bases: texts(&def.base_texts),
        decorators: texts(&def.decorator_texts),
        doc: def.doc.map(|doc| facts.text(doc).to_owned()),
        is_async: def.flags.has(Flags::ASYNC),
        exported: def.flags.has(Flags::EXPORTED),
    }
}

list_answer!(Extract, definitions, |answer| {
    let lines = counted(answer.lines as usize, "line");
    let mut out = format!("{} ({}, {lines})\n", answer.file, answer.language);
    if let Some(doc) = &answer.doc {
        out.push_str(&format!("  {}\n", first_line(doc)));
    }
    for import in &answer.imports {
        out.push_str(&format!("  {:>5}  import {}\n", import.line, import.module));
    }
    for one in &answer.definitions {
        let marks: String = one.decorators.iter().map(|mark| format!("@{mark} ")).collect();
        out.push_str(&format!("  {:>5}  {marks}{}\n", one.line, headline(&one.name, &one.signature)));
        if let Some(doc) = &one.doc {
            out.push_str(&format!("         {}\n", first_line(doc)));
        }
    }
    out + &budget::tail(&answer.cut)
});

/// The first line of a documentation.
pub(crate) fn first_line(doc: &str) -> String {
    kit::text::plain(doc.lines().next().unwrap_or_default())
}
