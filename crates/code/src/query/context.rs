//! A function with what it needs: itself, what it calls, what those call.

use std::collections::{HashSet, VecDeque};

use serde::Serialize;

use super::budget::{self, counted, list_answer};
use super::extract::first_line;
use super::find::{Missing, find};
use super::{Cut, Part};
use crate::memo::Snapshot;
use crate::project::Place;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Context {
    pub entry_point: String,
    pub depth: usize,
    pub functions: Vec<Function>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Function {
    pub name: String,
    pub file: String,
    pub line: u32,
    pub end_line: u32,
    /// How many calls away from the entry.
    pub distance: usize,
    pub signature: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    pub calls: Vec<String>,
}

/// The function called `entry` and everything up to `depth` calls away, the nearest first.
pub fn context(snapshot: &Snapshot, entry: &str, depth: usize) -> Result<Context, Missing> {
    let starts = find(snapshot, entry, &Part::default())?;
    let mut seen: HashSet<Place> = starts.iter().copied().collect();
    let mut left: VecDeque<(Place, usize)> = starts.iter().map(|place| (*place, 0)).collect();
    let mut functions = Vec::new();
    while let Some((place, distance)) = left.pop_front() {
        let mut next: Vec<Place> = snapshot.graph.uses(place).map(|edge| edge.to).collect();
        next.sort_by_key(|place| (snapshot.files.path(place.file), place.def));
        next.dedup();
        functions.push(function(snapshot, place, distance, &next));
        if distance < depth {
            left.extend(
                next.into_iter().filter(|place| seen.insert(*place)).map(|place| (place, distance + 1)),
            );
        }
    }
    let cut = Cut { total: functions.len(), ..Cut::default() };
    Ok(Context { entry_point: entry.to_owned(), depth, functions, cut })
}

fn function(snapshot: &Snapshot, place: Place, distance: usize, calls: &[Place]) -> Function {
    let facts = snapshot.files.facts(place.file);
    let def = facts.def(place.def);
    let name = |place: &Place| snapshot.files.facts(place.file).qualified(place.def).into_owned();
    let mut calls: Vec<String> = calls.iter().map(name).collect();
    calls.sort_unstable();
    calls.dedup();
    Function {
        name: facts.qualified(place.def).into_owned(),
        file: snapshot.files.path(place.file).to_owned(),
        line: def.line,
        end_line: def.end_line,
        distance,
        signature: facts.text(def.signature).to_owned(),
        doc: def.doc.map(|doc| first_line(facts.text(doc))),
        calls,
    }
}

list_answer!(Context, functions, |answer| {
    let mut out = format!("## Code Context: {} (depth={})\n", answer.entry_point, answer.depth);
    for one in &answer.functions {
        out.push_str(&format!(
            "\n{} ({}:{})\n  {}\n",
            one.name,
            one.file,
            one.line,
            kit::text::plain(&one.signature)
        ));
        if let Some(doc) = &one.doc {
            out.push_str(&format!("  # {doc}\n"));
        }
        if !one.calls.is_empty() {
            out.push_str(&format!("  calls: {}\n", one.calls.join(", ")));
        }
    }
    out.push_str(&format!(
        "\n{} | ~{}\n",
        counted(answer.functions.len(), "function"),
        counted(usize::try_from(kit::text::tokens(out.len() as u64)).unwrap_or(usize::MAX), "token")
    ));
    out + &budget::tail(&answer.cut)
});
