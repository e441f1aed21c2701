//! Who uses whom, over all files.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::project::{FileId, Files, Place};
use crate::quick::{Quick, QuickMap};
use crate::resolve::{Confidence, Edge, EdgeKind, Resolution};

/// What all uses mean.
#[derive(Default)]
pub struct Graph {
    parts: BTreeMap<FileId, Arc<Resolution>>,
    digest: u64,
    /// Changes whenever the graph does.
    pub(crate) revision: u64,
    incoming: OnceLock<QuickMap<Place, Vec<Edge>>>,
    outgoing: OnceLock<QuickMap<Place, Vec<Edge>>>,
}

/// An edge as everybody sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Call {
    pub from_file: String,
    pub from_func: String,
    pub to_file: String,
    pub to_func: String,
    pub line: u32,
    pub kind: EdgeKind,
    pub confidence: Confidence,
}

impl Graph {
    /// The graph of these parts; this one itself if they say the same.
    pub(crate) fn next(
        self: &Arc<Self>,
        parts: impl Iterator<Item = (FileId, Arc<Resolution>, u64)>,
    ) -> Arc<Self> {
        let mut all = BTreeMap::new();
        let mut digests = BTreeMap::new();
        for (id, part, digest) in parts {
            all.insert(id, part);
            digests.insert(id, digest);
        }
        let mut hash = Quick::default();
        digests.hash(&mut hash);
        let digest = hash.finish();
        if digest == self.digest && all.len() == self.parts.len() {
            return Arc::clone(self);
        }
        Arc::new(Self { parts: all, digest, revision: self.revision + 1, ..Self::default() })
    }

    pub fn part(&self, file: FileId) -> Option<&Resolution> {
        self.parts.get(&file).map(AsRef::as_ref)
    }

    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.parts.values().flat_map(|part| &part.edges)
    }

    pub fn len(&self) -> usize {
        self.parts.values().map(|part| part.edges.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The uses of a definition.
    pub fn users(&self, place: Place) -> &[Edge] {
        let incoming = self.incoming.get_or_init(|| {
            let mut map: QuickMap<Place, Vec<_>> = QuickMap::default();
            for edge in self.edges() {
                map.entry(edge.to).or_default().push(*edge);
            }
            map
        });
        incoming.get(&place).map_or(&[], Vec::as_slice)
    }

    /// What a definition uses.
    pub fn uses(&self, place: Place) -> &[Edge] {
        let outgoing = self.outgoing.get_or_init(|| {
            let mut map: QuickMap<Place, Vec<_>> = QuickMap::default();
            for edge in self.edges() {
                map.entry(edge.from).or_default().push(*edge);
            }
            map
        });
        outgoing.get(&place).map_or(&[], Vec::as_slice)
    }

    /// How many calls of that bare name lead nowhere we know.
    pub fn unresolved(&self, name: &str) -> usize {
        self.parts
            .values()
            .flat_map(|part| &part.unresolved)
            .filter(|site| site.name.as_ref() == name)
            .count()
    }
}

impl Call {
    pub(crate) fn of(files: &Files, edge: &Edge) -> Self {
        Self {
            from_file: files.path(edge.from.file).to_owned(),
            from_func: files.facts(edge.from.file).qualified(edge.from.def).into_owned(),
            to_file: files.path(edge.to.file).to_owned(),
            to_func: files.facts(edge.to.file).qualified(edge.to.def).into_owned(),
            line: edge.line,
            kind: edge.kind,
            confidence: edge.confidence,
        }
    }
}
