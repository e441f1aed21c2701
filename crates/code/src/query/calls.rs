//! All edges.

use std::fmt;

use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::budget::{self, counted, list_answer};
use super::{Cut, Part};
use crate::graph::Call;
use crate::memo::Snapshot;
use crate::project::{FileId, Files, Place};
use crate::resolve::{Confidence, Edge, EdgeKind};

#[derive(Clone, Debug, Serialize)]
pub struct Calls<'s> {
    pub edges: Vec<Link<'s>>,
    /// Call sites whose target is not known.
    pub unresolved: usize,
    /// Edges of low confidence: no list of facts is the place for them, `impact` shows them as what they are.
    pub possible: usize,
    #[serde(flatten)]
    pub cut: Cut,
}

/// An edge that is put into words when it is told: of a large project's few are.
#[derive(Clone, Copy)]
pub struct Link<'s> {
    files: &'s Files,
    edge: &'s Edge,
}

impl<'s> Link<'s> {
    pub fn call(&self) -> Call<'s> {
        Call::of(self.files, self.edge)
    }

    /// Whether both say the same: of several definitions with one name in a file, each is somebody's target.
    fn says_the_same(&self, other: &Self) -> bool {
        let (one, two) = (self.edge, other.edge);
        let alike =
            (one.from, one.line, one.to.file, one.kind) == (two.from, two.line, two.to.file, two.kind);
        alike && self.call() == other.call()
    }
}

impl Serialize for Link<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.call().serialize(serializer)
    }
}

impl fmt::Debug for Link<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call().fmt(formatter)
    }
}

/// The edges that start in a part, in the order of files and of the text.
pub fn calls<'s>(snapshot: &'s Snapshot, part: &Part) -> Calls<'s> {
    let ranks = ranks(&snapshot.files);
    // File by file, in the order of their paths: next to nothing is left to sort.
    let files: Vec<FileId> = part.files(snapshot).map(|(id, _)| id).collect();
    let found: Vec<_> = files.par_iter().map(|id| of_file(snapshot, &ranks, *id)).collect();
    let (mut edges, mut count) = (Vec::new(), Count::default());
    for (links, of_file) in found {
        edges.extend(links);
        count = count + of_file;
    }
    let cut = Cut { total: count.edges, ..Cut::default() };
    Calls { edges, unresolved: count.unresolved, possible: count.possible, cut }
}

/// What is told of the edges that start somewhere, in numbers.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) edges: usize,
    pub(super) possible: usize,
    pub(super) unresolved: usize,
}

impl std::ops::Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            edges: self.edges + other.edges,
            possible: self.possible + other.possible,
            unresolved: self.unresolved + other.unresolved,
        }
    }
}

/// The edges that start in one file.
pub(super) fn of_file<'s>(snapshot: &'s Snapshot, ranks: &[u32], id: FileId) -> (Vec<Link<'s>>, Count) {
    let resolution = snapshot.graph.part(id);
    let own = resolution.iter().flat_map(|part| &part.edges).filter(|edge| edge.from.file == id);
    let all = own.chain(snapshot.graph.strays(id));
    let (mut sure, low): (Vec<&Edge>, Vec<&Edge>) = all.partition(|edge| edge.confidence > Confidence::Low);
    let rank = |place: Place| (ranks[place.file.0 as usize], place.def);
    sure.sort_by_key(|edge| (edge.from.def, edge.line, rank(edge.to), edge.kind, edge.confidence));
    let mut links: Vec<Link<'s>> =
        sure.into_iter().map(|edge| Link { files: &snapshot.files, edge }).collect();
    links.dedup_by(|one, other| one.says_the_same(other));
    let unresolved = resolution.map_or(0, |part| part.unresolved.len());
    let count = Count { edges: links.len(), possible: low.len(), unresolved };
    (links, count)
}

/// The place of each file among all by path, so that no text is compared.
pub(super) fn ranks(files: &Files) -> Vec<u32> {
    let most = files.each().map(|(id, _)| id.0 as usize + 1).max().unwrap_or(0);
    let mut ranks = vec![0; most];
    for (rank, (id, _)) in (0..).zip(files.each()) {
        ranks[id.0 as usize] = rank;
    }
    ranks
}

list_answer!(Calls<'_>, edges, |answer| {
    let mut out = String::new();
    for edge in answer.edges.iter().map(Link::call) {
        out.push_str(&format!(
            "{}:{} {} -> {}:{}{}\n",
            edge.from_file,
            edge.line,
            edge.from_func,
            edge.to_file,
            edge.to_func,
            marks(&edge)
        ));
    }
    out.push_str(&counted(answer.cut.total, "edge"));
    if answer.possible > 0 {
        let possible = kit::text::thousands(answer.possible as u64);
        out.push_str(&format!(", {possible} more of low confidence"));
    }
    out.push_str(&format!(", {} unresolved\n", counted(answer.unresolved, "call")));
    out + &budget::tail(&answer.cut)
});

/// What is not the ordinary about an edge.
pub(crate) fn marks(edge: &Call<'_>) -> String {
    if edge.kind == EdgeKind::Call {
        return String::new();
    }
    format!(" ({:?})", edge.kind).to_lowercase()
}
