//! All edges.

use std::collections::HashSet;

use rayon::prelude::*;
use serde::Serialize;

use super::budget::{self, list_answer};
use super::{Cut, Part};
use crate::graph::Call;
use crate::memo::Snapshot;
use crate::project::{FileId, Place};
use crate::quick::QuickMap;
use crate::resolve::{Confidence, Edge, EdgeKind};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calls {
    pub edges: Vec<Call>,
    /// Call sites whose target is not known.
    pub unresolved: usize,
    /// Edges of low confidence: no list of facts is the place for them, `impact` shows them as what they are.
    pub possible: usize,
    #[serde(flatten)]
    pub cut: Cut,
}

/// The edges that start in a part, in the order of files and of the text.
pub fn calls(snapshot: &Snapshot, part: &Part) -> Calls {
    let mut unresolved = 0;
    let mut files = HashSet::new();
    for (id, _) in part.files(snapshot) {
        files.insert(id);
        unresolved += snapshot.graph.part(id).map_or(0, |part| part.unresolved.len());
    }
    let ours = snapshot.graph.edges().filter(|edge| files.contains(&edge.from.file));
    let (mut ours, possible): (Vec<&Edge>, Vec<&Edge>) =
        ours.partition(|edge| edge.confidence > Confidence::Low);
    // By the ranks of paths, so that no text is compared.
    let ranks: QuickMap<FileId, usize> = snapshot.files.each().map(|(id, _)| id).zip(0..).collect();
    let rank = |place: Place| (ranks.get(&place.file), place.def);
    ours.sort_unstable_by_key(|edge| (rank(edge.from), edge.line, rank(edge.to), edge.kind, edge.confidence));
    let mut edges: Vec<Call> = ours.par_iter().map(|edge| Call::of(&snapshot.files, edge)).collect();
    edges.dedup();
    let cut = Cut { total: edges.len(), ..Cut::default() };
    Calls { edges, unresolved, possible: possible.len(), cut }
}

list_answer!(Calls, edges, |answer| {
    let mut out = String::new();
    for edge in &answer.edges {
        out.push_str(&format!(
            "{}:{} {} -> {}:{}{}\n",
            edge.from_file,
            edge.line,
            edge.from_func,
            edge.to_file,
            edge.to_func,
            marks(edge)
        ));
    }
    let count = |number: usize| kit::text::thousands(number as u64);
    out.push_str(&format!("{} edges", count(answer.cut.total)));
    if answer.possible > 0 {
        out.push_str(&format!(", {} more of low confidence", count(answer.possible)));
    }
    out.push_str(&format!(", {} calls unresolved\n", count(answer.unresolved)));
    out + &budget::tail(&answer.cut)
});

/// What is not the ordinary about an edge.
pub(crate) fn marks(edge: &Call) -> String {
    if edge.kind == EdgeKind::Call {
        return String::new();
    }
    format!(" ({:?})", edge.kind).to_lowercase()
}
