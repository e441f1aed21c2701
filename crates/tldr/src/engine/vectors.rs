//! What each function is about, as vectors, where a model was added. Kept by the text of the function, so that an edit costs
//! what it changed. Whoever has time fills them (the daemon, in the background); whoever asks uses what is there and has the
//! words for the rest.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use code::facts::{DefId, DefKind};
use code::project::Place;
use code::query::Part;
use embed::{Encoder, Vector};
use kit::Failure;
use wire::tldr::Embedded;

use super::{Engine, Unable, View, lock};
use crate::cache;
use crate::index::{File, Files, Hash};
use crate::model::Model;

/// So many new vectors are worth writing the file anew: seconds of work, which a kill would cost.
const WORTH_KEEPING: usize = 200;
/// Likeness below the first few hundred says nothing.
const MOST: usize = 300;
/// How soon the rank of a result stops to matter, in both lists. Of 2, 5, 10, 20, 40 and 60 the one that was among the best on
/// each of click, httpx, flask and werkzeug. To weigh one list more helped some of them and cost the others.
const SLOWNESS: f32 = 2.0;

pub(super) struct Vectors {
    model: Model,
    identity: Hash,
    /// Nothing if it cannot be used.
    encoder: OnceLock<Option<Encoder>>,
    known: Mutex<Known>,
    done: AtomicUsize,
    total: AtomicUsize,
}

#[derive(Default)]
struct Known {
    /// By the text of a definition.
    vectors: HashMap<Hash, Arc<Vector>>,
    /// The texts of a file's definitions, by the content of the file.
    texts: HashMap<Hash, Arc<Vec<(DefId, Hash)>>>,
    unwritten: usize,
    /// The state of the files of which nothing is missing.
    complete: Option<u128>,
}

impl Vectors {
    /// With what was kept of this model for a project.
    pub(super) fn new(model: Model, kept: &[u8]) -> Vectors {
        let identity = model.identity();
        let known = Known { vectors: unpack(kept, identity).unwrap_or_default(), ..Known::default() };
        Vectors {
            model,
            identity,
            encoder: OnceLock::new(),
            known: Mutex::new(known),
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
        }
    }

    fn encoder(&self) -> Option<&Encoder> {
        self.encoder.get_or_init(|| self.model.load().ok()).as_ref()
    }
}

impl Engine {
    /// The same with a model for questions about meaning.
    #[must_use]
    pub(crate) fn with_model(mut self, model: Option<Model>) -> Engine {
        let kept = || std::fs::read(self.root.cache().join(cache::VECTORS)).unwrap_or_default();
        self.vectors = model.filter(|_| self.semantic).map(|model| Vectors::new(model, &kept()));
        self
    }

    /// How far the vectors have come.
    pub(crate) fn embedded(&self) -> Option<Embedded> {
        self.vectors.as_ref().map(|vectors| Embedded {
            model: vectors.model.name.clone(),
            done: vectors.done.load(Ordering::Relaxed),
            total: vectors.total.load(Ordering::Relaxed),
        })
    }

    /// Makes the vectors that are missing, one after the other, until `stopping`. Never looks at the files by itself: it is
    /// about the state of the last question.
    pub(crate) fn embed(&self, stopping: &AtomicBool) -> Result<(), Failure> {
        let Some(vectors) = &self.vectors else { return Ok(()) };
        let (files, state) = {
            let index = lock(&self.index);
            (Arc::clone(index.files()), index.digests().contents)
        };
        if lock(&vectors.known).complete == Some(state) {
            return Ok(());
        }
        let programs: Vec<(&String, &File)> = files.iter().filter(|(_, file)| file.facts.is_some()).collect();
        vectors
            .total
            .store(programs.iter().map(|(_, file)| definitions(file).count()).sum(), Ordering::Relaxed);
        let mut done = 0;
        for (path, file) in programs {
            if stopping.load(Ordering::SeqCst) {
                break;
            }
            self.embed_file(vectors, path, file, stopping)?;
            done += definitions(file).count();
            vectors.done.store(done, Ordering::Relaxed);
        }
        if !stopping.load(Ordering::SeqCst) {
            lock(&vectors.known).complete = Some(state);
        }
        self.keep_vectors(vectors, &files, 1)
    }

    fn embed_file(
        &self,
        vectors: &Vectors,
        path: &str,
        file: &File,
        stopping: &AtomicBool,
    ) -> Result<(), Failure> {
        let is_known = |known: &Known| {
            let texts = known.texts.get(&file.hash)?;
            Some(texts.iter().all(|(_, text)| known.vectors.contains_key(text)))
        };
        if is_known(&lock(&vectors.known)) == Some(true) {
            return Ok(());
        }
        // One that changed since is met again with its new content.
        let Some(text) = file.text(self.root.path(), path) else { return Ok(()) };
        let parts = parts(file, &text);
        let Some(encoder) = vectors.encoder() else { return vectors.model.load().map(drop) };
        for (_, hash, part) in &parts {
            if stopping.load(Ordering::SeqCst) {
                return Ok(());
            }
            if !lock(&vectors.known).vectors.contains_key(hash) {
                let vector = Arc::new(encoder.encode(part));
                let mut known = lock(&vectors.known);
                known.vectors.insert(*hash, vector);
                known.unwritten += 1;
            }
        }
        let texts = parts.iter().map(|(def, hash, _)| (*def, *hash)).collect();
        lock(&vectors.known).texts.insert(file.hash, Arc::new(texts));
        let files = Arc::clone(lock(&self.index).files());
        self.keep_vectors(vectors, &files, WORTH_KEEPING)
    }

    /// Writes them down if there are so many new ones, and forgets what has not been there for long.
    fn keep_vectors(&self, vectors: &Vectors, files: &Files, worth: usize) -> Result<(), Failure> {
        let mut known = lock(&vectors.known);
        if known.unwritten < worth {
            return Ok(());
        }
        let there: HashSet<Hash> = files.values().map(|file| file.hash).collect();
        known.texts.retain(|file, _| there.contains(file));
        let used: HashSet<Hash> =
            known.texts.values().flat_map(|texts| texts.iter().map(|(_, text)| *text)).collect();
        // Some of those that are not used come back with a branch, and some were not met yet.
        if known.vectors.len() > 2 * used.len() + 4096 && vectors.done.load(Ordering::Relaxed) > 0 {
            known.vectors.retain(|text, _| used.contains(text));
        }
        known.unwritten = 0;
        let bytes = pack(&known.vectors, vectors.identity);
        drop(known);
        cache::write(&self.root, cache::VECTORS, &bytes)
    }

    /// Definitions of a part, best first: by words, and by meaning where that is known.
    pub(super) fn ranked(&self, query: &str, part: &Part, view: &View) -> Result<Vec<(Place, f32)>, Unable> {
        let by_words = self.words(view).rank(&view.snapshot, query, part);
        Ok(match self.by_meaning(query, part, view)? {
            Some(by_meaning) => fused(&by_words, &by_meaning),
            None => by_words,
        })
    }

    /// Definitions of a part by how far they are about the query; nothing without a model or before it has seen any.
    fn by_meaning(&self, query: &str, part: &Part, view: &View) -> Result<Option<Vec<(Place, f32)>>, Unable> {
        let Some(vectors) = &self.vectors else { return Ok(None) };
        if lock(&vectors.known).vectors.is_empty() {
            return Ok(None);
        }
        let Some(encoder) = vectors.encoder() else { return Ok(None) };
        let query = encoder.encode(query);
        let mut ranked = Vec::new();
        for (id, entry) in view.snapshot.files.each() {
            let Some(file) =
                view.files.get(&*entry.path).filter(|_| part.holds(&entry.path, entry.facts.language))
            else {
                continue;
            };
            let texts = self.texts(vectors, &entry.path, file, view)?;
            let known = lock(&vectors.known);
            let found = texts.iter().filter_map(|(def, text)| Some((*def, known.vectors.get(text)?)));
            ranked.extend(found.map(|(def, vector)| (Place { file: id, def }, query.likeness(vector))));
        }
        let path = |place: Place| (view.snapshot.files.path(place.file), place.def);
        ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then_with(|| path(*one).cmp(&path(*other))));
        ranked.truncate(MOST);
        Ok(Some(ranked))
    }

    fn texts(
        &self,
        vectors: &Vectors,
        path: &str,
        file: &File,
        view: &View,
    ) -> Result<Arc<Vec<(DefId, Hash)>>, Unable> {
        if let Some(texts) = lock(&vectors.known).texts.get(&file.hash) {
            return Ok(Arc::clone(texts));
        }
        let text = view.text(&self.root, path, file)?;
        let texts = Arc::new(parts(file, &text).into_iter().map(|(def, hash, _)| (def, hash)).collect());
        lock(&vectors.known).texts.insert(file.hash, Arc::clone(&texts));
        Ok(texts)
    }
}

/// Two rankings as one: what is near the top of either is near the top.
fn fused(by_words: &[(Place, f32)], by_meaning: &[(Place, f32)]) -> Vec<(Place, f32)> {
    let mut order = Vec::new();
    let mut scores: HashMap<Place, f32> = HashMap::new();
    for list in [by_meaning, by_words] {
        for (rank, (place, _)) in list.iter().enumerate() {
            let score = scores.entry(*place).or_insert_with(|| {
                order.push(*place);
                0.0
            });
            *score += SLOWNESS / (SLOWNESS + rank as f32);
        }
    }
    let mut ranked: Vec<(Place, f32)> = order.into_iter().map(|place| (place, scores[&place])).collect();
    // Stable: of two that are equal, the one that meaning found first.
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked
}

/// The definitions that questions about meaning are answered with.
fn definitions(file: &File) -> impl Iterator<Item = DefId> {
    let facts = file.facts.as_deref().into_iter();
    facts
        .flat_map(code::facts::Facts::each_def)
        .filter(|(_, def)| def.kind.runs() || def.kind == DefKind::Class)
        .map(|(id, _)| id)
}

/// Each definition with its text and the text's hash.
fn parts<'t>(file: &File, text: &'t [u8]) -> Vec<(DefId, Hash, std::borrow::Cow<'t, str>)> {
    let Some(facts) = file.facts.as_deref() else { return Vec::new() };
    let ends: Vec<usize> =
        text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let begin = |line: u32| match line {
        0 | 1 => 0,
        line => ends.get(line as usize - 2).copied().unwrap_or(text.len()),
    };
    definitions(file)
        .map(|id| {
            let def = facts.def(id);
            let part = &text[begin(def.line)..begin(def.end_line + 1).max(begin(def.line))];
            (id, Hash::of(part), String::from_utf8_lossy(part))
        })
        .collect()
}

/// Files of vectors begin with it; the last byte counts changes of the layout.
const MAGIC: &[u8; 8] = b"tldrvec\x01";

/// The magic, the model, the length of a vector, and for each text its hash and its vector; the hash of all comes first.
fn pack(vectors: &HashMap<Hash, Arc<Vector>>, model: Hash) -> Vec<u8> {
    let mut body = model.0.to_vec();
    let length = vectors.values().next().map_or(0, |vector| vector.to_bytes().count());
    body.extend(u32::try_from(length).expect("no model is that wide").to_le_bytes());
    let mut sorted: Vec<_> = vectors.iter().collect();
    sorted.sort_by_key(|(text, _)| **text);
    for (text, vector) in sorted {
        body.extend(text.0);
        body.extend(vector.to_bytes());
    }
    [MAGIC.as_slice(), &Hash::of(&body).0, &body].concat()
}

fn unpack(bytes: &[u8], model: Hash) -> Option<HashMap<Hash, Arc<Vector>>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (hash, body) = rest.split_first_chunk()?;
    if Hash(*hash) != Hash::of(body) {
        return None;
    }
    let (of, rest) = body.split_first_chunk()?;
    if Hash(*of) != model {
        return None;
    }
    let (length, rest) = rest.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let entries = rest.chunks_exact(16 + length);
    Some(
        entries
            .filter_map(|entry| entry.split_first_chunk())
            .map(|(text, vector)| (Hash(*text), Arc::new(Vector::from_bytes(vector))))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use code::project::FileId;

    use super::*;

    fn place(number: u32) -> Place {
        Place { file: FileId(number), def: DefId(number) }
    }

    #[test]
    fn what_both_rankings_like_comes_first() {
        let list = |numbers: &[u32]| numbers.iter().map(|number| (place(*number), 0.5)).collect::<Vec<_>>();
        let order = |words: &[u32], meaning: &[u32]| {
            fused(&list(words), &list(meaning)).into_iter().map(|(place, _)| place.file.0).collect::<Vec<_>>()
        };
        assert_eq!(order(&[1, 2, 3], &[4, 2, 5]), [2, 4, 1, 5, 3]);
        assert_eq!(order(&[1, 2], &[]), [1, 2]);
        assert_eq!(order(&[], &[]), Vec::<u32>::new());
    }

    #[test]
    fn kept_vectors_come_back_for_their_own_model_and_whole_or_not_at_all() {
        let model = Hash([1; 16]);
        let vectors: HashMap<Hash, Arc<Vector>> = (0..9_u8)
            .map(|number| (Hash([number; 16]), Arc::new(Vector::from_bytes(&[number, 2, 3]))))
            .collect();
        let bytes = pack(&vectors, model);
        assert_eq!(unpack(&bytes, model).unwrap(), vectors);
        assert!(unpack(&bytes, Hash([2; 16])).is_none());
        for at in [0, 9, 30, bytes.len() - 1] {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            assert!(unpack(&broken, model).is_none(), "{at}");
        }
        assert!(unpack(&bytes[..bytes.len() - 1], model).is_none());
        assert_eq!(unpack(&pack(&HashMap::new(), model), model).unwrap().len(), 0);
    }
}
