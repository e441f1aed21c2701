//! Answers that are kept until something they stand on changes. Three layers: the facts of a file are the input; what
//! a file's uses mean stands on what those uses were looked up in; the graph stands on all of that. A layer that comes
//! out the same as before stops the wave there. The counters count every cell of the second layer and every answer.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::facts::Facts;
use crate::graph::Graph;
use crate::project::{FileId, Files};
use crate::resolve::{self, Resolution};

/// What the memo did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Cells that were asked for and still held.
    pub hits: u64,
    /// Cells that were asked for and were not there.
    pub misses: u64,
    /// Cells that a change made stale.
    pub invalidations: u64,
    /// Stale cells that were computed again.
    pub recomputations: u64,
}

/// What the memo knows at one moment. Cheap to clone; a question is asked of one snapshot from beginning to end.
#[derive(Clone, Default)]
pub struct Snapshot {
    pub files: Arc<Files>,
    pub graph: Arc<Graph>,
}

/// The memo: facts in, snapshots and kept answers out.
#[derive(Default)]
pub struct Memo {
    files: Arc<Files>,
    cells: HashMap<FileId, Cell>,
    graph: Arc<Graph>,
    answers: HashMap<String, Kept>,
    counters: Counters,
    log: VecDeque<String>,
    /// Counts the states of any file's facts.
    facts_revision: u64,
    /// The count at which each file last changed.
    revisions: HashMap<Arc<str>, u64>,
    dirty: bool,
}

/// What a file's uses mean, and with which facts that was found out.
struct Cell {
    facts: Arc<Facts>,
    resolution: Arc<Resolution>,
    digest: u64,
}

/// An answer and what it was true for.
struct Kept {
    text: Arc<str>,
    stamp: Stamp,
}

/// What an answer stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stamp {
    File(u64),
    Graph(u64),
    All(u64),
}

/// What an answer will be asked again for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis<'a> {
    /// One file's facts.
    File(&'a str),
    /// Who uses whom, and where definitions are.
    Graph,
    /// Everything that any file says, documentation included.
    Facts,
}

/// The log keeps this many of the last events.
const LOG: usize = 4096;

impl Memo {
    /// Takes new facts for files that changed, and forgets those that are gone. Facts equal to the old ones are no
    /// change.
    pub fn update(&mut self, changes: Vec<(Arc<str>, Option<Arc<Facts>>)>) {
        let real: Vec<_> = changes
            .into_iter()
            .filter(|(path, facts)| {
                let old = self.files.find(path).and_then(|id| self.files.entry(id)).map(|entry| &entry.facts);
                old != facts.as_ref()
            })
            .collect();
        if real.is_empty() {
            return;
        }
        self.facts_revision += 1;
        self.dirty = true;
        for (path, _) in &real {
            self.note("changed", path);
            self.revisions.insert(Arc::clone(path), self.facts_revision);
        }
        self.files = Arc::new(self.files.with(real));
    }

    /// The state now, with everything that changed worked out again.
    pub fn snapshot(&mut self) -> Snapshot {
        if self.dirty {
            self.resolve();
            self.dirty = false;
        }
        Snapshot { files: Arc::clone(&self.files), graph: Arc::clone(&self.graph) }
    }

    /// The kept answer under `key`, or the one that `compute` gives, kept from now on.
    pub fn answer(
        &mut self,
        key: &str,
        basis: Basis<'_>,
        compute: impl FnOnce(&Snapshot) -> String,
    ) -> Arc<str> {
        let snapshot = self.snapshot();
        let stamp = self.stamp(basis);
        match self.answers.get(key) {
            Some(kept) if kept.stamp == stamp => {
                self.counters.hits += 1;
                return Arc::clone(&kept.text);
            }
            Some(_) => {
                self.counters.invalidations += 1;
                self.counters.recomputations += 1;
            }
            None => self.counters.misses += 1,
        }
        self.note("computed", key);
        let text: Arc<str> = compute(&snapshot).into();
        self.answers.insert(key.to_owned(), Kept { text: Arc::clone(&text), stamp });
        text
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What was computed or changed since the last time, oldest first.
    pub fn take_log(&mut self) -> Vec<String> {
        self.log.drain(..).collect()
    }

    /// Forgets every answer and every cell; the facts stay.
    pub fn clear(&mut self) {
        self.answers.clear();
        self.cells.clear();
        self.dirty = true;
    }

    fn stamp(&self, basis: Basis<'_>) -> Stamp {
        match basis {
            Basis::File(path) => Stamp::File(self.revisions.get(path).copied().unwrap_or(0)),
            Basis::Graph => Stamp::Graph(self.graph.revision),
            Basis::Facts => Stamp::All(self.facts_revision),
        }
    }

    /// Works out again what the uses of a file mean, where something they stand on changed.
    fn resolve(&mut self) {
        let ids: Vec<FileId> = self.files.each().map(|(id, _)| id).collect();
        self.cells.retain(|id, _| self.files.entry(*id).is_some());
        let mut stale = Vec::new();
        for id in ids {
            let entry = self.files.entry(id).expect("listed");
            match self.cells.get(&id) {
                Some(cell)
                    if Arc::ptr_eq(&cell.facts, &entry.facts)
                        && cell.resolution.reads.hold(&self.files, id) =>
                {
                    self.counters.hits += 1;
                }
                Some(_) => {
                    self.counters.invalidations += 1;
                    self.counters.recomputations += 1;
                    stale.push(id);
                }
                None => {
                    self.counters.misses += 1;
                    stale.push(id);
                }
            }
        }
        let files = &self.files;
        let fresh: Vec<_> = stale.par_iter().map(|id| (*id, resolve::resolve(files, *id))).collect();
        for (id, resolution) in fresh {
            let entry = self.files.entry(id).expect("listed");
            let (facts, path) = (Arc::clone(&entry.facts), Arc::clone(&entry.path));
            self.note("resolved", &path);
            let digest = resolve::digest(&resolution, &facts);
            self.cells.insert(id, Cell { facts, resolution: Arc::new(resolution), digest });
        }
        let parts = self.cells.iter().map(|(id, cell)| (*id, Arc::clone(&cell.resolution), cell.digest));
        self.graph = self.graph.next(parts);
    }

    fn note(&mut self, event: &str, what: &str) {
        if self.log.len() == LOG {
            self.log.pop_front();
        }
        self.log.push_back(format!("{event} {what}"));
    }
}
