//! Who uses whom, over all files.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::facts::DefId;
use crate::project::{FileId, Files, Place};
use crate::quick::{Quick, QuickMap};
use crate::resolve::{Confidence, Edge, EdgeKind, Resolution};

/// What all uses mean.
#[derive(Default)]
pub struct Graph {
    /// By the number of the file; a file that is gone leaves a gap.
    parts: Vec<Option<Arc<Resolution>>>,
    digest: u64,
    /// Changes whenever the graph does.
    pub(crate) revision: u64,
    incoming: OnceLock<Incoming>,
    strays: OnceLock<QuickMap<FileId, Vec<Edge>>>,
}

/// Edges by the file and the definition they lead to, sorted. The next graph takes over those files to which nothing
/// changed.
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
        let mut all: Vec<Option<Arc<Resolution>>> = Vec::with_capacity(self.parts.len());
        let mut digest: u64 = 0;
        for (id, part, of_part) in parts {
            let place = id.0 as usize;
            if all.len() <= place {
                all.resize(place + 1, None);
            }
            all[place] = Some(part);
            let mut hash = Quick::default();
            (id, of_part).hash(&mut hash);
            // A sum, since parts come in any order.
            digest = digest.wrapping_add(hash.finish());
        }
        if digest == self.digest && all.iter().flatten().count() == self.parts.iter().flatten().count() {
            return Arc::clone(self);
        }
        let mut next = Self { parts: all, digest, revision: self.revision + 1, ..Self::default() };
        if let Some(known) = self.incoming.get() {
            next.incoming = next.incoming_after(self, known).into();
        }
        Arc::new(next)
    }

    /// Edges by where they lead to: those that were known, but for what changed parts do not say any more or say now.
    fn incoming_after(&self, old: &Self, known: &Incoming) -> Incoming {
        let mut incoming = known.clone();
        let most = self.parts.len().max(old.parts.len());
        for place in 0..most {
            let [before, after] = [old, self].map(|graph| graph.parts.get(place)?.as_ref());
            if before.map(Arc::as_ptr) != after.map(Arc::as_ptr) {
                let [before, after] = [before, after].map(|part| part.map_or(&[][..], |part| &part.edges));
                replace(&mut incoming, before, after);
            }
        }
        incoming
    }

    pub fn part(&self, file: FileId) -> Option<&Resolution> {
        self.parts.get(file.0 as usize)?.as_deref()
    }

    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.parts.iter().flatten().flat_map(|part| &part.edges)
    }

    pub fn len(&self) -> usize {
        self.parts.iter().flatten().map(|part| part.edges.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The uses of a definition.
    pub fn users(&self, place: Place) -> &[Edge] {
        let incoming = self.incoming.get_or_init(|| gather(self.edges()));
        incoming.get(&place.file).and_then(|file| file.get(&place.def)).map_or(&[], Vec::as_slice)
    }

    /// What a definition uses.
    pub fn uses(&self, place: Place) -> impl Iterator<Item = &Edge> {
        let own = self.part(place.file).map_or(&[][..], |part| &part.edges);
        let start = own.partition_point(|edge| edge.from < place);
        let own = own[start..].iter().take_while(move |edge| edge.from == place);
        own.chain(self.strays(place.file).iter().filter(move |edge| edge.from == place))
    }

    /// Edges that start in a file and were found in another, as those of a decorator are where it stands.
    pub(crate) fn strays(&self, file: FileId) -> &[Edge] {
        let strays = self.strays.get_or_init(|| {
            let mut strays: QuickMap<FileId, Vec<Edge>> = QuickMap::default();
            for (id, part) in (0..).map(FileId).zip(&self.parts) {
                let edges = part.as_ref().map_or(&[][..], |part| &part.edges);
                // They are sorted by where they start.
                let is_own = |edge: Option<&Edge>| edge.is_none_or(|edge| edge.from.file == id);
                if !is_own(edges.first()) || !is_own(edges.last()) {
                    let others = edges.iter().filter(|edge| edge.from.file != id);
                    others.for_each(|edge| strays.entry(edge.from.file).or_default().push(*edge));
                }
            }
            strays
        });
        strays.get(&file).map_or(&[], Vec::as_slice)
    }

    /// How many calls of that bare name lead nowhere we know.
    pub fn unresolved(&self, name: &str) -> usize {
        self.parts
            .iter()
            .flatten()
            .flat_map(|part| &part.unresolved)
            .filter(|site| site.name.as_ref() == name)
            .count()
    }
}

fn gather<'e>(edges: impl Iterator<Item = &'e Edge>) -> Incoming {
    let mut files: QuickMap<FileId, QuickMap<DefId, Vec<Edge>>> = QuickMap::default();
    for edge in edges {
        files.entry(edge.to.file).or_default().entry(edge.to.def).or_default().push(*edge);
    }
    let sorted = |mut defs: QuickMap<DefId, Vec<Edge>>| {
        defs.values_mut().for_each(|edges| edges.sort_unstable());
        Arc::new(defs)
    };
    files.into_iter().map(|(file, defs)| (file, sorted(defs))).collect()
}

/// Takes out what is in `old` alone, and puts in what is in `new` alone. Both are sorted.
fn replace(incoming: &mut Incoming, old: &[Edge], new: &[Edge]) {
    let only = |these: &[Edge], those: &[Edge]| -> Vec<Edge> {
        these.iter().filter(|edge| those.binary_search(edge).is_err()).copied().collect()
    };
    for edge in only(old, new) {
        let Some(defs) = incoming.get_mut(&edge.to.file).map(Arc::make_mut) else { continue };
        let Some(edges) = defs.get_mut(&edge.to.def) else { continue };
        if let Ok(at) = edges.binary_search(&edge) {
            edges.remove(at);
        }
        if edges.is_empty() {
            defs.remove(&edge.to.def);
        }
        if defs.is_empty() {
            incoming.remove(&edge.to.file);
        }
    }
    for edge in only(new, old) {
        let edges = Arc::make_mut(incoming.entry(edge.to.file).or_default()).entry(edge.to.def).or_default();
        edges.insert(edges.partition_point(|other| *other < edge), edge);
    }
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
