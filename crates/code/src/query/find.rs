//! A definition by the name that somebody typed.

use serde::Serialize;

use super::Part;
use crate::facts::DefKind;
use crate::memo::Snapshot;
use crate::project::Place;

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
            return format!("several definitions are called {}: {}{more}", self.name, told.join(", "));
        }
        match self.near.as_slice() {
            [] => format!("no function called {}", self.name),
            near => format!("no function called {}; near are {}", self.name, near.join(", ")),
        }
    }
}

/// The definitions that a name means: `name`, `Class.name`, or either after `file:`. Several only if they share file
/// and name, as the branches of an `if` do. Of several, those in the part that is asked about are meant.
pub fn find(snapshot: &Snapshot, name: &str, part: &Part) -> Result<Vec<Place>, Missing> {
    let (file, bare) = match name.rsplit_once(':') {
        Some((file, bare)) if !file.ends_with(':') && !bare.is_empty() => (Some(file), bare),
        _ => (None, name),
    };
    let mut exact = Vec::new();
    let mut loose = Vec::new();
    for (id, entry) in snapshot.files.each() {
        let here = file.is_none_or(|file| *entry.path == *file || entry.path.ends_with(&format!("/{file}")));
        if !here {
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
    let mut names = Vec::new();
    for (_, entry) in snapshot.files.each() {
        for (def, one) in entry.facts.each_def() {
            if one.kind.runs() {
                names.push(entry.facts.qualified(def).into_owned());
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    let lower = typed.to_lowercase();
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let mut found: Vec<String> =
        kit::text::nearest(typed, names.iter().map(String::as_str)).map(str::to_owned).into_iter().collect();
    let by_last: Vec<String> = names.iter().map(|name| last(name)).collect();
    if let Some(close) = kit::text::nearest(&last(typed), by_last.iter().map(String::as_str)) {
        found.extend(names.iter().filter(|name| last(name) == close).take(2).cloned());
    }
    found.extend(
        names.iter().filter(|name| lower.len() > 2 && name.to_lowercase().contains(&lower)).take(4).cloned(),
    );
    let mut seen = std::collections::HashSet::new();
    found.retain(|name| seen.insert(name.clone()));
    found.truncate(5);
    found
}
