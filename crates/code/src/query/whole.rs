//! Whole answers of megabytes, put together from one piece of text for each file. A piece is kept as long as nothing that
//! it says has changed, so that after an edit next to nothing is written anew and nothing is copied. Such an answer is the
//! same, byte for byte, as the one that is written in one go. Knows no budget: who asks for less is told in the usual way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use serde::Serialize;

use super::Cut;
use super::Part;
use super::calls::{self, Calls};
use super::structure::{self, Outline, Structure};
use crate::memo::Snapshot;
use crate::project::{Entry, FileId};
use crate::resolve::Confidence;

/// The pieces of the last answers.
#[derive(Default)]
pub struct Shelf {
    structure: Mutex<Pieces<()>>,
    calls: Mutex<Pieces<calls::Count>>,
}

/// An answer in pieces, and the files that it stands for.
pub struct Whole<'s> {
    pub pieces: Vec<Arc<str>>,
    pub files: Vec<&'s str>,
}

/// One kind of pieces, each true for this state of the files.
struct Pieces<T> {
    of: Snapshot,
    /// By the number of the file.
    all: Vec<Option<Piece<T>>>,
}

/// The items of one file, with commas between them.
#[derive(Clone)]
struct Piece<T> {
    text: Arc<str>,
    count: T,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self { of: Snapshot::default(), all: Vec::new() }
    }
}

impl Shelf {
    /// Lets go of all pieces, and of the files that they were about.
    pub fn forget(&self) {
        *held(&self.structure) = Pieces::default();
        *held(&self.calls) = Pieces::default();
    }

    /// What [`structure::structure`] says.
    pub fn structure<'s>(&self, snapshot: &'s Snapshot, part: &Part) -> Whole<'s> {
        let write = |_: FileId, entry: &Entry| {
            let outline = Outline::of(entry);
            Piece { text: items([&outline]), count: () }
        };
        let pieces = wanted(&self.structure, snapshot, part, |_, _| true, write);
        let files: Vec<&'s str> = part.files(snapshot).map(|(_, entry)| &*entry.path).collect();
        let told = structure::structure(snapshot, part);
        let envelope = Structure { files: Vec::new(), ..told };
        Whole { pieces: put_together(&envelope, "files", pieces.into_iter().map(|piece| piece.text)), files }
    }

    /// What [`calls::calls`] says.
    pub fn calls<'s>(&self, snapshot: &'s Snapshot, part: &Part) -> Whole<'s> {
        let ranks = calls::ranks(&snapshot.files);
        let write = |id: FileId, _: &Entry| {
            let (links, count) = calls::of_file(snapshot, &ranks, id);
            Piece { text: items(&links), count }
        };
        let holds = |old: &Snapshot, id: FileId| says_the_same(old, snapshot, id);
        let pieces = wanted(&self.calls, snapshot, part, holds, write);
        let count = pieces.iter().fold(calls::Count::default(), |sum, piece| sum + piece.count);
        let cut = Cut { total: count.edges, ..Cut::default() };
        let envelope =
            Calls { edges: Vec::new(), unresolved: count.unresolved, possible: count.possible, cut };
        let texts = pieces.into_iter().map(|piece| piece.text);
        Whole { pieces: put_together(&envelope, "edges", texts), files: named(snapshot, part) }
    }
}

/// The pieces of a part, in order: those that still hold, and the others written anew. `holds` is asked about files that
/// say themselves what they said in the state that it is given.
fn wanted<T: Clone + Send + Sync>(
    shelf: &Mutex<Pieces<T>>,
    snapshot: &Snapshot,
    part: &Part,
    holds: impl Fn(&Snapshot, FileId) -> bool,
    write: impl Fn(FileId, &Entry) -> Piece<T> + Sync,
) -> Vec<Piece<T>> {
    let mut shelf = held(shelf);
    let Pieces { of, mut all } = std::mem::take(&mut *shelf);
    all.resize(snapshot.files.numbers(), None);
    for (id, piece) in (0..).map(FileId).zip(&mut all).filter(|(_, piece)| piece.is_some()) {
        if !of.files.is_same(&snapshot.files, id) || !holds(&of, id) {
            *piece = None;
        }
    }
    let files: Vec<(FileId, &Entry)> = part.files(snapshot).collect();
    let missing: Vec<&(FileId, &Entry)> =
        files.iter().filter(|(id, _)| all[id.0 as usize].is_none()).collect();
    let written: Vec<_> = missing.par_iter().map(|(id, entry)| (*id, write(*id, entry))).collect();
    written.into_iter().for_each(|(id, piece)| all[id.0 as usize] = Some(piece));
    let pieces = files.iter().filter_map(|(id, _)| all[id.0 as usize].clone()).collect();
    *shelf = Pieces { of: snapshot.clone(), all };
    pieces
}

/// Whether the edges of a file are the same, and so are the files that they lead to.
fn says_the_same(old: &Snapshot, new: &Snapshot, id: FileId) -> bool {
    let (Some(before), Some(after)) = (old.graph.part(id), new.graph.part(id)) else { return false };
    let strays = new.graph.strays(id);
    let mut edges = after.edges.iter().chain(strays);
    std::ptr::eq(before, after)
        && old.graph.strays(id) == strays
        && edges.all(|edge| old.files.is_same(&new.files, edge.to.file))
}

/// The files that the edges of a part name.
fn named<'s>(snapshot: &'s Snapshot, part: &Part) -> Vec<&'s str> {
    let mut is_named = vec![false; snapshot.files.numbers()];
    for (id, _) in part.files(snapshot) {
        let edges = snapshot.graph.part(id).map_or(&[][..], |part| &part.edges);
        let own = edges.iter().filter(|edge| edge.from.file == id);
        let told = own.chain(snapshot.graph.strays(id)).filter(|edge| edge.confidence > Confidence::Low);
        for edge in told {
            is_named[edge.from.file.0 as usize] = true;
            is_named[edge.to.file.0 as usize] = true;
        }
    }
    let named = snapshot.files.each().filter(|(id, _)| is_named[id.0 as usize]);
    named.map(|(_, entry)| &*entry.path).collect()
}

fn held<T>(shelf: &Mutex<T>) -> MutexGuard<'_, T> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

fn items<'i, T: Serialize + 'i>(all: impl IntoIterator<Item = &'i T>) -> Arc<str> {
    let mut text = Vec::new();
    for (place, item) in all.into_iter().enumerate() {
        if place > 0 {
            text.push(b',');
        }
        serde_json::to_writer(&mut text, item).expect("answers have text for keys");
    }
    String::from_utf8(text).expect("JSON is text").into()
}

/// An answer whose list is empty, with that list filled.
fn put_together<A: Serialize>(
    envelope: &A,
    list: &str,
    texts: impl Iterator<Item = Arc<str>>,
) -> Vec<Arc<str>> {
    let envelope = serde_json::to_string(envelope).expect("answers have text for keys");
    let place =
        envelope.find(&format!("\"{list}\":[]")).expect("the list is empty") + list.len() + "\"\":[".len();
    let (head, tail) = envelope.split_at(place);
    let comma: Arc<str> = ",".into();
    let mut pieces: Vec<Arc<str>> = vec![head.into()];
    for text in texts.filter(|text| !text.is_empty()) {
        if pieces.len() > 1 {
            pieces.push(Arc::clone(&comma));
        }
        pieces.push(text);
    }
    pieces.push(tail.into());
    pieces
}
