//! What the uses of changed files mean, worked out while others go on asking and telling the memo of changes. Takes what it
//! needs along, so that nobody waits for it who does not ask for what comes out; knows no answer and no counter.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Cell, Memo, Snapshot};
use crate::graph::Graph;
use crate::project::{Changes, FileId, Files};
use crate::resolve::Resolution;

/// What is not known yet about one state of the files. Done without holding the memo, and given to [`Memo::take`].
pub struct Work {
    files: Arc<Files>,
    revision: u64,
    wanted: Vec<FileId>,
    known: Vec<Part>,
    graph: Arc<Graph>,
}

/// What came out, for the state of the files that the work began with.
pub struct Worked {
    files: Arc<Files>,
    revision: u64,
    fresh: Vec<(FileId, Cell)>,
    graph: Arc<Graph>,
}

type Part = (FileId, Arc<Resolution>, u64);

impl Work {
    pub fn done(self) -> Worked {
        let Self { files, revision, wanted, known, graph } = self;
        let fresh: Vec<_> = wanted.par_iter().map(|id| (*id, Cell::new(&files, *id))).collect();
        let parts = known.into_iter().chain(fresh.iter().map(|(id, cell)| part(*id, cell)));
        Worked { graph: graph.next(parts), files, revision, fresh }
    }
}

impl Worked {
    /// The state that the work began with, whatever has changed since.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { files: Arc::clone(&self.files), graph: Arc::clone(&self.graph) }
    }
}

impl Memo {
    /// What has to be worked out for the state now; nothing if everything is known. Of two works at once the later one
    /// would do the earlier one's once more.
    pub fn work(&mut self) -> Option<Work> {
        self.wake();
        if !self.dirty {
            return None;
        }
        let wanted = self.wanted();
        let known = self.cells.iter().filter(|(_, cell)| !cell.stale).map(|(id, cell)| part(*id, cell));
        Some(Work {
            files: Arc::clone(&self.files),
            revision: self.facts_revision,
            wanted,
            known: known.collect(),
            graph: Arc::clone(&self.graph),
        })
    }

    /// Takes over what was worked out. What does not hold any more, because of changes that came meanwhile, is stale.
    pub fn take(&mut self, worked: Worked) {
        // Everything was forgotten meanwhile: those files had other numbers.
        if worked.revision < self.born {
            return;
        }
        let since =
            |(path, revision): (&Arc<str>, &u64)| (*revision > worked.revision).then(|| Arc::clone(path));
        let paths: Vec<Arc<str>> = self.revisions.iter().filter_map(since).collect();
        let changes = Changes::between(&worked.files, &self.files, &paths);
        for (id, mut cell) in worked.fresh {
            if self.files.entry(id).is_none() {
                continue;
            }
            cell.meet(id, &self.files, &changes);
            cell.stale |= self.manifests_revision > worked.revision;
            self.note("resolved", worked.files.path(id));
            self.cells.insert(id, cell);
        }
        self.graph = worked.graph;
        self.dirty = worked.revision != self.facts_revision;
    }
}

fn part(id: FileId, cell: &Cell) -> Part {
    (id, Arc::clone(&cell.resolution), cell.digest)
}
