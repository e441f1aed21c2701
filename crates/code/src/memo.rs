//! Answers that are kept until something they stand on changes. Three layers: the facts of a file are the input; what
//! a file's uses mean stands on what those uses were looked up in; the graph stands on all of that. A layer that comes
//! out the same as before stops the wave there. The counters count every cell of the second layer and every answer.

mod kept;
mod work;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::facts::Held;
use crate::graph::Graph;
use crate::project::{Changes, FileId, Files, Said};
use crate::resolve::{self, Reads, Resolution};
pub use kept::{Asleep, Awake};
pub use work::{Work, Worked};

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
    answer_bytes: usize,
    counters: Counters,
    log: VecDeque<String>,
    /// Counts the states of any file's facts.
    facts_revision: u64,
    /// The count at which each file last changed.
    revisions: HashMap<Arc<str>, u64>,
    /// The same for what build files say.
    manifests_revision: u64,
    /// The count with which it began, after whatever it has forgotten.
    born: u64,
    dirty: bool,
    /// What an earlier process found out, until it is needed.
    asleep: Option<Asleep>,
}

/// What a file's uses mean, and with which facts that was found out.
struct Cell {
    facts: Held,
    resolution: Arc<Resolution>,
    reads: Reads,
    digest: u64,
    stale: bool,
}

impl Cell {
    fn new(files: &Files, id: FileId) -> Self {
        let (resolution, reads) = resolve::traced(files, id);
        let facts = files.entry(id).expect("it was resolved").facts.clone();
        let digest = resolve::digest(&resolution, &facts);
        Self { facts, resolution: Arc::new(resolution), reads, digest, stale: false }
    }

    /// Is stale from now on if something it stands on changed; else follows those that only went to another place.
    fn meet(&mut self, id: FileId, files: &Files, changes: &Changes) {
        let facts = &files.entry(id).expect("others were dropped").facts;
        self.stale |= !self.facts.is(facts) || self.reads.meet(changes);
        if self.stale {
            return;
        }
        for (file, moves) in changes.moves.iter().filter(|(file, _)| self.reads.know(*file)) {
            let resolution = Arc::make_mut(&mut self.resolution);
            resolution.follow(*file, moves);
            self.digest = resolve::digest(resolution, &self.facts);
        }
    }
}

/// An answer in pieces, which it may share with others: one of megabytes is made of those of its files.
pub type Text = Arc<[Arc<str>]>;

/// An answer and what it was true for.
struct Kept {
    text: Text,
    stamp: Stamp,
}

/// What an answer stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stamp {
    File(u64),
    Graph(u64),
    All(u64),
    Given(u128),
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
    /// What only the caller can see, such as which files there are: a digest of it. Such an answer looks at files and not
    /// at who uses whom, which may be behind in its snapshot: nobody waits for that to be worked out.
    Given(u128),
}

/// What the memo says to a question.
pub enum Asked {
    Kept(Text),
    /// It has to be made, and before it perhaps what it stands on, which both can be done without holding the memo. It is
    /// to be given to [`Memo::keep`].
    Make(Ticket),
}

/// The right to have an answer kept.
pub struct Ticket {
    key: String,
    stamp: Stamp,
    revision: u64,
    /// What the answer has to be about, once [`Ticket::worked`] was asked.
    pub snapshot: Snapshot,
    work: Option<Work>,
}

impl Ticket {
    /// Has that worked out which the answer needs and nobody knew, without holding the memo. It is to be given to
    /// [`Memo::take`].
    pub fn worked(&mut self, run: impl FnOnce(Work) -> Worked) -> Option<Worked> {
        let worked = run(self.work.take()?);
        self.snapshot = worked.snapshot();
        Some(worked)
    }
}

/// More answers than this are not kept, nor more of them than so many bytes: then all are forgotten, which costs each of
/// them once more.
const ANSWERS: usize = 1000;
const ANSWER_BYTES: usize = 64 << 20;

/// The log keeps this many of the last events.
const LOG: usize = 4096;

impl Memo {
    /// Takes new facts for files that changed, and forgets those that are gone. Facts equal to the old ones are no
    /// change.
    pub fn update(&mut self, changes: Vec<(Arc<str>, Option<Held>)>) {
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
        self.wake();
        self.facts_revision += 1;
        self.dirty = true;
        let paths: Vec<Arc<str>> = real.iter().map(|(path, _)| Arc::clone(path)).collect();
        for path in &paths {
            self.note("changed", path);
            self.revisions.insert(Arc::clone(path), self.facts_revision);
        }
        let files = Arc::new(self.files.with(real));
        if !self.cells.is_empty() {
            let changes = Changes::between(&self.files, &files, &paths);
            self.cells.retain(|id, _| files.entry(*id).is_some());
            self.cells.par_iter_mut().for_each(|(id, cell)| cell.meet(*id, &files, &changes));
        }
        self.files = files;
    }

    /// Takes what build files say, and forgets those that are gone. They are few and seldom say anything new: whatever
    /// does makes every cell stale.
    pub fn update_manifests(&mut self, changes: Vec<Said>) {
        if let Some(files) = self.files.with_manifests(changes) {
            self.wake();
            self.files = Arc::new(files);
            self.facts_revision += 1;
            self.manifests_revision = self.facts_revision;
            self.dirty = true;
            self.cells.values_mut().for_each(|cell| cell.stale = true);
        }
    }

    /// The state now, with everything that changed worked out again.
    pub fn snapshot(&mut self) -> Snapshot {
        if let Some(work) = self.work() {
            self.take(work.done());
        }
        self.so_far()
    }

    /// The state of the files now; who uses whom may be behind.
    fn so_far(&self) -> Snapshot {
        Snapshot { files: Arc::clone(&self.files), graph: Arc::clone(&self.graph) }
    }

    /// The kept answer under `key`, or the one that `compute` gives, kept from now on.
    pub fn answer(
        &mut self,
        key: &str,
        basis: Basis<'_>,
        compute: impl FnOnce(&Snapshot) -> String,
    ) -> Arc<str> {
        match self.ask(key, basis) {
            Asked::Kept(text) => Arc::clone(&text[0]),
            Asked::Make(mut ticket) => {
                if let Some(worked) = ticket.worked(Work::done) {
                    self.take(worked);
                }
                let text: Arc<str> = compute(&ticket.snapshot).into();
                self.keep(ticket, [Arc::clone(&text)].into());
                text
            }
        }
    }

    /// The kept answer under `key`, or the right to make it.
    pub fn ask(&mut self, key: &str, basis: Basis<'_>) -> Asked {
        let ticket = self.ticket(key, basis);
        match self.answers.get(key) {
            Some(kept) if kept.stamp == ticket.stamp => {
                self.counters.hits += 1;
                return Asked::Kept(Arc::clone(&kept.text));
            }
            Some(_) => {
                self.counters.invalidations += 1;
                self.counters.recomputations += 1;
            }
            None => self.counters.misses += 1,
        }
        self.note("computed", key);
        Asked::Make(ticket)
    }

    /// The right to make an answer that is not looked for, and need not be kept.
    pub fn ticket(&mut self, key: &str, basis: Basis<'_>) -> Ticket {
        let work = match basis {
            Basis::Given(_) => None,
            Basis::Facts => self.work(),
            // Whether it is another graph is known when it was worked out.
            Basis::File(_) | Basis::Graph => {
                self.snapshot();
                None
            }
        };
        Ticket {
            key: key.to_owned(),
            stamp: self.stamp(basis),
            revision: self.facts_revision,
            snapshot: self.so_far(),
            work,
        }
    }

    /// Whether a question about who uses whom would have to wait for work.
    pub fn is_behind(&self) -> bool {
        self.dirty
    }

    /// Whether it was never told of a file.
    pub fn is_new(&self) -> bool {
        self.facts_revision == 0
    }

    pub fn keep(&mut self, ticket: Ticket, text: Text) {
        // Everything was forgotten meanwhile, and counting began anew.
        if ticket.revision < self.born {
            return;
        }
        let bytes = size(&text);
        self.answer_bytes += bytes;
        if self.answers.len() >= ANSWERS || self.answer_bytes > ANSWER_BYTES {
            self.answers.clear();
            self.answer_bytes = bytes;
        }
        let old = self.answers.insert(ticket.key, Kept { text, stamp: ticket.stamp });
        self.answer_bytes -= old.map_or(0, |old| size(&old.text));
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What was computed or changed since the last time, oldest first.
    pub fn take_log(&mut self) -> Vec<String> {
        self.log.drain(..).collect()
    }

    /// Forgets everything, files and counts too. What was being made meanwhile is about another life.
    pub fn forget(&mut self) {
        let born = self.facts_revision + 1;
        *self = Self { born, facts_revision: born, ..Self::default() };
    }

    fn stamp(&self, basis: Basis<'_>) -> Stamp {
        match basis {
            Basis::File(path) => Stamp::File(self.revisions.get(path).copied().unwrap_or(0)),
            Basis::Graph => Stamp::Graph(self.graph.revision),
            Basis::Facts => Stamp::All(self.facts_revision),
            Basis::Given(digest) => Stamp::Given(digest),
        }
    }

    /// The files whose uses have to be looked at, all counted.
    fn wanted(&mut self) -> Vec<FileId> {
        let mut wanted = Vec::new();
        for (id, _) in self.files.each() {
            match self.cells.get(&id) {
                Some(cell) if !cell.stale => self.counters.hits += 1,
                Some(_) => {
                    self.counters.invalidations += 1;
                    self.counters.recomputations += 1;
                    wanted.push(id);
                }
                None => {
                    self.counters.misses += 1;
                    wanted.push(id);
                }
            }
        }
        wanted
    }

    fn gather(&mut self) {
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

fn size(text: &Text) -> usize {
    text.iter().map(|piece| piece.len()).sum()
}
