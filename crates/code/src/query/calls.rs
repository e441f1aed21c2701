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
use crate::resolve::Edge;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calls {
    pub edges: Vec<Call>,
    /// Call sites whose target is not known.
    pub unresolved: usize,
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
    let mut ours: Vec<&Edge> = ours.collect();
    // By the ranks of paths, so that no text is compared.
    let ranks: QuickMap<FileId, usize> = snapshot.files.each().map(|(id, _)| id).zip(0..).collect();
    let rank = |place: Place| (ranks.get(&place.file), place.def);
    ours.sort_unstable_by_key(|edge| (rank(edge.from), edge.line, rank(edge.to), edge.kind, edge.confidence));
    let mut edges: Vec<Call> = ours.par_iter().map(|edge| Call::of(&snapshot.files, edge)).collect();
    edges.dedup();
    let cut = Cut { total: edges.len(), ..Cut::default() };
    Calls { edges, unresolved, cut }
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
    out.push_str(&format!(
        "{} edges, {} calls unresolved\n",
        kit::text::thousands(answer.cut.total as u64),
        kit::text::thousands(answer.unresolved as u64)
    ));
    out + &budget::tail(&answer.cut)
});

/// What is not the ordinary about an edge.
pub(crate) fn marks(edge: &Call) -> String {
    use crate::resolve::{Confidence, EdgeKind};
    let kind = if edge.kind == EdgeKind::Call {
        String::new()
    } else {
        format!(" ({:?})", edge.kind).to_lowercase()
    };
    let unsure = if edge.confidence == Confidence::Low { " (low confidence)" } else { "" };
    format!("{kind}{unsure}")
}
