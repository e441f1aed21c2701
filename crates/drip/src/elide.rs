//! Semantic elision: long function bodies are replaced by one stub line each, and everything else of the file stays as
//! it is. A pure function of the text: it knows no files, no sessions and no parser.
//!
//! The promise is false negatives only. A lexer per language keeps strings, comments and nesting apart; whatever it
//! cannot be sure of leaves that function, or the whole file, as it was. A body that declares something named (a
//! nested function, a local type, a macro) stays open, so that no name is ever hidden in another one's stub.

mod code;
mod cut;
mod declared;
mod definition;
mod indented;
mod introduced;
mod language;
mod lex;
mod script;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use language::Language;

/// From which size on hiding is worth it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Smaller files are never touched.
    pub min_bytes: usize,
    /// The fewest lines a stub may stand for; anything below [`Limits::FLOOR`] counts as that.
    pub min_body: usize,
    /// Whether long doc comments are cut to their first line of words as well.
    pub doc_comments: bool,
}

impl Limits {
    /// Below four lines a stub costs about as much as what it hides.
    pub const FLOOR: usize = 4;
}

impl Default for Limits {
    fn default() -> Self {
        Self { min_bytes: 1024, min_body: 15, doc_comments: true }
    }
}

/// A file with its long bodies left out. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elided {
    pub text: String,
    /// In the order of the file; never overlapping.
    pub stubs: Vec<Stub>,
    pub lines_hidden: usize,
}

/// One line of the output and the original lines it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stub {
    /// The function whose body is hidden, or what the hidden comment describes.
    pub symbol: String,
    pub first_line: usize,
    pub last_line: usize,
    pub line_in_output: usize,
    pub hides: Hides,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hides {
    Body,
    DocComment,
}

/// A definition and the lines from its first attribute or modifier to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub first_line: usize,
    pub last_line: usize,
}

/// The text with its long bodies replaced, or `None` where nothing can be hidden with certainty and gain.
pub fn elide(language: Language, text: &str, limits: &Limits) -> Option<Elided> {
    if text.len() < limits.min_bytes {
        return None;
    }
    let outline = definition::outline(language, text)?;
    cut::cut(text, &outline, language.spec().stub, limits)
}

/// Every named definition with a body that the scan is sure of, in the order of the file. Empty where it is not.
pub fn symbols(language: Language, text: &str) -> Vec<Symbol> {
    let outline = definition::outline(language, text);
    let definitions = outline.map(|outline| outline.definitions).unwrap_or_default();
    definitions.into_iter().map(definition::Definition::into_symbol).collect()
}

impl Elided {
    /// The original lines that a line of the output shows or stands for.
    pub fn original(&self, line_in_output: usize) -> RangeInclusive<usize> {
        let next = self.stubs.partition_point(|stub| stub.line_in_output <= line_in_output);
        match next.checked_sub(1).map(|index| &self.stubs[index]) {
            None => line_in_output..=line_in_output,
            Some(stub) if stub.line_in_output == line_in_output => stub.first_line..=stub.last_line,
            Some(stub) => {
                let line = stub.last_line + (line_in_output - stub.line_in_output);
                line..=line
            }
        }
    }

    /// The line of the output that shows an original line, or stands for it.
    pub fn output(&self, original_line: usize) -> usize {
        let next = self.stubs.partition_point(|stub| stub.first_line <= original_line);
        match next.checked_sub(1).map(|index| &self.stubs[index]) {
            None => original_line,
            Some(stub) => stub.line_in_output + original_line.saturating_sub(stub.last_line),
        }
    }
}
