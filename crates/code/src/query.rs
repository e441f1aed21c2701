//! Questions about a program, each a pure function of a snapshot with a typed answer. An answer has one JSON form, by
//! serde, and one form for people, [`Answer::text`]; both say what was left out.

pub mod arch;
pub mod budget;
pub mod calls;
pub mod change;
pub mod context;
pub mod dead;
pub mod diagnostics;
pub mod extract;
pub mod find;
pub mod impact;
pub mod imports;
mod open;
pub mod search;
pub mod semantic;
pub mod structure;
pub mod tree;
pub mod whole;

pub use budget::{Answer, Cut, Page, counted, fit};
pub use find::{Missing, find};

use crate::language::Language;
use crate::memo::Snapshot;
use crate::project::{Entry, FileId};

/// Which part of a project a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Part {
    /// A folder or file, relative to the root; empty for everything.
    pub path: String,
    pub language: Option<Language>,
}

impl Part {
    pub fn holds(&self, path: &str, language: Language) -> bool {
        let root = self.path.trim_matches('/').trim_start_matches("./");
        let inside = root.is_empty()
            || root == "."
            || path == root
            || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
        inside && self.language.is_none_or(|wanted| wanted == language)
    }

    /// Whether nothing in it is code.
    pub fn is_bare(&self, snapshot: &Snapshot) -> bool {
        self.files(snapshot).next().is_none()
    }

    /// The files of the part, by path.
    pub fn files<'s>(&self, snapshot: &'s Snapshot) -> impl Iterator<Item = (FileId, &'s Entry)> {
        snapshot.files.each().filter(move |(_, entry)| self.holds(&entry.path, entry.facts.language()))
    }
}
