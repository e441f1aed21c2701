//! A definition by the name that somebody typed.

use serde::Serialize;

use super::Part;
use crate::facts::DefKind;
use crate::memo::Snapshot;
use crate::project::{Entry, Place};

/// Why a name leads to no single definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub name: String,
    /// Definitions that all have the name: one of them has to be named as `file:name`.
    pub candidates: Vec<String>,
    /// Names that look like it.
    pub near: Vec<String>,
}

/// Of more candidates than this people are told how many there are.
const TOLD: usize = 8;

impl Missing {
    /// In words.
    pub fn message(&self) -> String {
        if !self.candidates.is_empty() {
            let more = self.candidates.len().saturating_sub(TOLD);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let told = &self.candidates[..self.candidates.len().min(TOLD)];
            return format!("say which {} is meant: {}{more}", self.name, told.join(", "));
        }
        format!("no function called {}{}", self.name, crate::near::words(&self.near))
    }
}

/// The definitions that a name means: `name`, `Class.name`, or either after `file:`. Several only if they share file
/// and name, as the branches of an `if` do. Of several, those in the part that is asked about are meant.
pub fn find(snapshot: &Snapshot, name: &str, part: &Part) -> Result<Vec<Place>, Missing> {
    let (file, bare) = match name.rsplit_once(':') {
        Some((file, bare)) if !file.ends_with(':') && !bare.is_empty() => (Some(file), bare),
        _ => (None, name),
    };
    let is_whole = file.is_some_and(|file| snapshot.files.each().any(|(_, entry)| *entry.path == *file));
    let mut exact = Vec::new();
    let mut loose = Vec::new();
    for (id, entry) in snapshot.files.each() {
        let is_here =
            |file: &str| *entry.path == *file || !is_whole && entry.path.ends_with(&format!("/{file}"));
        if !file.is_none_or(is_here) {
            continue;
        }
        for (def, one) in entry.facts.each_def() {
            if !one.kind.runs() && one.kind != DefKind::Class {
                continue;
            }
            let place = Place { file: id, def };
            let qualified = entry.facts.qualified(def);
            if qualified == bare {
                exact.push(place);
            } else if entry.facts.text(one.name) == bare && !bare.contains('.') {
                loose.push(place);
            }
        }
    }
    let mut found = if exact.is_empty() { loose } else { exact };
    let is_inside = |place: &Place| {
        let entry = snapshot.files.entry(place.file);
        entry.is_some_and(|entry| part.holds(&entry.path, entry.facts.language))
    };
    if found.iter().any(is_inside) {
        found.retain(is_inside);
    }
    let mut labels: Vec<String> = found.iter().map(|place| label(snapshot, *place)).collect();
    labels.sort();
    labels.dedup();
    match labels.len() {
        1 => Ok(found),
        0 => Err(Missing { name: name.to_owned(), candidates: Vec::new(), near: near(snapshot, bare) }),
        _ => Err(Missing { name: name.to_owned(), candidates: labels, near: Vec::new() }),
    }
}

/// `file:name`, which always means one definition.
pub(crate) fn label(snapshot: &Snapshot, place: Place) -> String {
    format!("{}:{}", snapshot.files.path(place.file), snapshot.files.facts(place.file).qualified(place.def))
}

/// Names that somebody may have meant.
fn near(snapshot: &Snapshot, typed: &str) -> Vec<String> {
    let each = |(_, entry): (_, &'_ Entry)| -> Vec<String> {
        let facts = &entry.facts;
        let running = facts.each_def().filter(|(_, one)| one.kind.runs());
        running.map(|(def, _)| facts.qualified(def).into_owned()).collect()
    };
    let names: Vec<String> = snapshot.files.each().flat_map(each).collect();
    crate::near::near(names.iter().map(String::as_str), typed)
}
