//! What all uses mean, as bytes: so that the next process need not find it out again. Files go by their place among all
//! files in order of their paths. Reading is total: bytes that do not fit the files give nothing.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Cell, Memo};
use crate::facts::pack::{Pack, choice, number, record};
use crate::facts::{Facet, Facts, Held};
use crate::project::{FileId, Files, Kind, Lookup, Manifest, NameKey, Place, Scripts};
use crate::resolve::{Confidence, Edge, EdgeKind, Reads, Resolution, Unresolved};

/// The first bytes of a packed memo. It changes whenever what is packed changes, or how a use is understood.
const FORMAT: [u8; 4] = *b"cm26";

impl Memo {
    /// All that was worked out and still holds.
    pub fn pack(&mut self) -> Vec<u8> {
        self.wake();
        let ids: Vec<FileId> = self.files.each().map(|(id, _)| id).collect();
        let mut ranks = vec![FileId(u32::MAX); ids.iter().map(|id| id.0 as usize + 1).max().unwrap_or(0)];
        for (rank, id) in (0..).zip(&ids) {
            ranks[id.0 as usize] = FileId(rank);
        }
        let mut out = FORMAT.to_vec();
        let manifests = self.files.manifests().map(|(path, manifest)| (path.into(), manifest.clone()));
        manifests.collect::<Vec<(Box<str>, Manifest)>>().put(&mut out);
        let mut one = Vec::new();
        for id in ids {
            one.clear();
            if let Some(cell) = self.cells.get(&id).filter(|cell| !cell.stale) {
                Packed::of(cell, |id| ranks[id.0 as usize]).put(&mut one);
            }
            // What is not known has no bytes.
            u32::try_from(one.len()).expect("a file's uses are fewer than 32 bits count").put(&mut out);
            out.extend_from_slice(&one);
        }
        out
    }

    /// The memo that gave `packed` when its files were these, in order of their paths. What their uses mean sleeps until
    /// somebody asks, or one of them changes.
    pub fn unpack(files: &[(Arc<str>, Held)], packed: &[u8]) -> Option<Self> {
        let mut packed = packed.strip_prefix(&FORMAT)?;
        let manifests: Vec<(Box<str>, Manifest)> = Pack::get(&mut packed)?;
        let parts = parts(packed, files.len())?;
        let changes = files.iter().map(|(path, facts)| (Arc::clone(path), Some(facts.clone())));
        let known = Files::default().with(changes.collect());
        let said = manifests.into_iter().map(|(path, manifest)| (path.into(), Some(Arc::new(manifest))));
        let known = Arc::new(known.with_manifests(said.collect()).unwrap_or(known));
        let dirty = parts.iter().any(|part| part.is_empty());
        let asleep = Some(Asleep { files: Arc::clone(&known), packed: packed.into() });
        Some(Self { files: known, facts_revision: 1, dirty, asleep, ..Self::default() })
    }

    /// What sleeps, for whoever has the time to wake it without holding the memo. It is to be given to [`Memo::rise`].
    pub fn asleep(&self) -> Option<Asleep> {
        self.asleep.clone()
    }

    /// Takes what was woken, if it still slept.
    pub fn rise(&mut self, awake: Awake) {
        if self.asleep.take().is_some() {
            // All is found out again where the bytes were not what they said.
            self.dirty |= awake.0.is_none();
            self.cells = awake.0.unwrap_or_default();
            self.gather();
        }
    }

    pub(super) fn wake(&mut self) {
        if let Some(asleep) = self.asleep() {
            self.rise(asleep.wake());
        }
    }
}

/// What uses mean, as bytes, and the files it is true for.
#[derive(Clone)]
pub struct Asleep {
    files: Arc<Files>,
    packed: Arc<[u8]>,
}

/// The same as it is used.
pub struct Awake(Option<HashMap<FileId, Cell>>);

impl Asleep {
    pub fn wake(self) -> Awake {
        let Self { files, packed } = self;
        let facts: Vec<&Held> = files.each().map(|(_, entry)| &entry.facts).collect();
        let defs: Vec<usize> = facts.par_iter().map(|facts| facts.defs.len()).collect();
        let cells = || {
            let cells = parts(&packed, facts.len())?.into_par_iter().zip(&facts).map(|(mut part, facts)| {
                if part.is_empty() {
                    return Some(None);
                }
                let cell = Packed::get(&mut part)?;
                (part.is_empty() && cell.is_sound(&defs, facts)).then(|| Some(cell.cell(facts)))
            });
            let cells: Vec<Option<Cell>> = cells.collect::<Option<_>>()?;
            Some((0..).map(FileId).zip(cells).filter_map(|(id, cell)| Some((id, cell?))).collect())
        };
        // Whoever asks who uses whom needs these as well.
        let (cells, _) = rayon::join(cells, || (files.index(), files.modules()));
        Awake(cells)
    }
}

/// The bytes of each file.
fn parts(mut packed: &[u8], files: usize) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::with_capacity(files);
    for _ in 0..files {
        let length = u32::get(&mut packed)? as usize;
        let (part, rest) = packed.split_at_checked(length)?;
        packed = rest;
        parts.push(part);
    }
    packed.is_empty().then_some(parts)
}

/// A cell with its files by their places.
struct Packed {
    edges: Vec<Edge>,
    unresolved: Vec<Unresolved>,
    facets: Vec<(FileId, Facet)>,
    names: Vec<NameKey>,
    lookups: Vec<Lookup>,
    digest: u64,
}

impl Packed {
    fn of(cell: &Cell, rank: impl Fn(FileId) -> FileId) -> Self {
        let place = |place: Place| Place { file: rank(place.file), def: place.def };
        let edges = cell.resolution.edges.iter();
        let facets = cell.reads.facets.iter().map(|(file, facet)| (rank(*file), *facet));
        Self {
            edges: edges.map(|edge| Edge { from: place(edge.from), to: place(edge.to), ..*edge }).collect(),
            unresolved: cell.resolution.unresolved.clone(),
            facets: facets.collect(),
            names: cell.reads.names.clone(),
            lookups: cell.reads.lookups.clone(),
            digest: cell.digest,
        }
    }

    fn is_sound(&self, defs: &[usize], facts: &Facts) -> bool {
        let place = |place: Place| {
            defs.get(place.file.0 as usize).is_some_and(|count| (place.def.0 as usize) < *count)
        };
        self.edges.iter().all(|edge| place(edge.from) && place(edge.to))
            && self.unresolved.iter().all(|site| (site.from.0 as usize) < facts.defs.len())
            && self.facets.iter().all(|(file, _)| (file.0 as usize) < defs.len())
    }

    fn cell(mut self, facts: &Held) -> Cell {
        // Numbers go by path now, which may be another order than that in which files came before.
        self.edges.sort_unstable();
        self.facets.sort_unstable();
        let reads = Reads { facets: self.facets, names: self.names, lookups: self.lookups };
        let resolution = Resolution { edges: self.edges, unresolved: self.unresolved };
        let (facts, resolution) = (facts.clone(), Arc::new(resolution));
        Cell { facts, resolution, reads, digest: self.digest, stale: false }
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        Some((A::get(rest)?, B::get(rest)?))
    }
}

/// Hashes are as long as they are: a varint would make them longer.
macro_rules! hashes {
    ($($name:ident),*) => {$(
        impl Pack for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.0.to_le_bytes());
            }

            fn get(rest: &mut &[u8]) -> Option<Self> {
                let (bytes, more) = rest.split_first_chunk()?;
                *rest = more;
                Some($name(u32::from_le_bytes(*bytes)))
            }
        }
    )*};
}

hashes!(Facet, NameKey, Lookup);
number!(FileId);
record!(Place { file, def });
record!(Edge { from, line, to, kind, confidence });
record!(Unresolved { name, from, line });
record!(Manifest { kind, name, scripts });
record!(Scripts { extends, base, paths });
choice!(Kind { 0 => Go, 1 => Cargo, 2 => Package, 3 => Scripts });
record!(Packed { edges, unresolved, facets, names, lookups, digest });
choice!(EdgeKind { 0 => Call, 1 => Reference, 2 => Decorator, 3 => Super, 4 => Property, 5 => Constructor });
choice!(Confidence { 0 => Low, 1 => Medium, 2 => High });
