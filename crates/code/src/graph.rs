//! Who uses whom, over all files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::facts::DefId;
use crate::project::{FileId, Files, Place};
use crate::quick::{Quick, QuickMap, QuickSet};
use crate::resolve::{Confidence, Edge, EdgeKind, Resolution};

/// What all uses mean.
#[derive(Default)]
pub struct Graph {
    parts: BTreeMap<FileId, Arc<Resolution>>,
    digest: u64,
    /// Changes whenever the graph does.
    pub(crate) revision: u64,
    incoming: OnceLock<Incoming>,
    outgoing: OnceLock<QuickMap<Place, Vec<Edge>>>,
}

/// Edges by the file and the definition they lead to. The next graph takes over those files to which nothing changed.
type Incoming = QuickMap<FileId, Arc<QuickMap<DefId, Vec<Edge>>>>;

/// An edge as everybody sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Call<'s> {
    pub from_file: &'s str,
    pub from_func: Cow<'s, str>,
    pub to_file: &'s str,
    pub to_func: Cow<'s, str>,
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
        let mut next = Self { parts: all, digest, revision: self.revision + 1, ..Self::default() };
        if let Some(known) = self.incoming.get() {
            next.incoming = next.incoming_after(self, known).into();
        }
        Arc::new(next)
    }

    /// Edges by where they lead to, of which all are known but those that lead where a changed part leads or led.
    fn incoming_after(&self, old: &Self, known: &Incoming) -> Incoming {
        let is_other = |one: &Self, other: &Self, id: &FileId| match (one.parts.get(id), other.parts.get(id))
        {
            (Some(one), Some(other)) => !Arc::ptr_eq(one, other),
            _ => true,
        };
        let mut other: QuickSet<FileId> = QuickSet::default();
        for (one, another) in [(self, old), (old, self)] {
            let parts = one.parts.iter().filter(|(id, _)| is_other(one, another, id));
            other.extend(parts.flat_map(|(_, part)| &part.edges).map(|edge| edge.to.file));
        }
        let mut incoming = known.clone();
        incoming.retain(|file, _| !other.contains(file));
        incoming.extend(gather(self.edges().filter(|edge| other.contains(&edge.to.file))));
        incoming
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
        let incoming = self.incoming.get_or_init(|| gather(self.edges()).collect());
        incoming.get(&place.file).and_then(|file| file.get(&place.def)).map_or(&[], Vec::as_slice)
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

fn gather<'e>(
    edges: impl Iterator<Item = &'e Edge>,
) -> impl Iterator<Item = (FileId, Arc<QuickMap<DefId, Vec<Edge>>>)> {
    let mut files: QuickMap<FileId, QuickMap<DefId, Vec<Edge>>> = QuickMap::default();
    for edge in edges {
        files.entry(edge.to.file).or_default().entry(edge.to.def).or_default().push(*edge);
    }
    files.into_iter().map(|(file, edges)| (file, Arc::new(edges)))
}

impl<'s> Call<'s> {
    pub(crate) fn of(files: &'s Files, edge: &Edge) -> Self {
        Self {
            from_file: files.path(edge.from.file),
            from_func: files.facts(edge.from.file).qualified(edge.from.def),
            to_file: files.path(edge.to.file),
            to_func: files.facts(edge.to.file).qualified(edge.to.def),
            line: edge.line,
            kind: edge.kind,
            confidence: edge.confidence,
        }
    }
}
