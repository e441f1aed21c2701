//! Functions by what they are about: their names taken apart, their documentation and signatures, ranked by BM25, and
//! brought nearer by what they call and who calls them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use super::budget::{self, list_answer};
use super::extract::first_line;
use super::{Cut, Part};
use crate::facts::{DefId, DefKind, Facts};
use crate::memo::Snapshot;
use crate::project::{Entry, FileId, Files, Place};
use crate::quick::{Quick, QuickMap};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Semantic {
    pub query: String,
    pub results: Vec<Match>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Match {
    pub name: String,
    pub file: String,
    pub line: u32,
    pub end_line: u32,
    pub kind: &'static str,
    pub signature: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    pub score: f64,
}

/// The words of all functions and classes, file by file, so that after an edit those of one file are counted.
#[derive(Default)]
pub struct Index {
    of: Arc<Files>,
    /// By the number of the file.
    files: Vec<Option<Arc<Words>>>,
}

/// The words of one file.
#[derive(Default)]
struct Words {
    /// Its functions and classes, and how many words each has.
    defs: Vec<(DefId, f32)>,
    /// Sorted by word: which of them has it, and how much of it. Words go by a number: two that shared one would only rank
    /// something too high.
    counts: Vec<(u64, u32, f32)>,
}

/// How often a word counts that is in the name, the signature, the documentation, the path.
const WEIGHTS: [f32; 4] = [3.0, 1.0, 1.5, 0.5];

/// The usual constants of BM25.
const K: f32 = 1.2;
const B: f32 = 0.6;

/// How much of its best neighbour's score a definition gets.
const NEIGHBOUR: f32 = 0.15;

impl Index {
    pub fn build(snapshot: &Snapshot) -> Self {
        Self::default().next(snapshot)
    }

    /// The index of another state of the same files.
    #[must_use]
    pub fn next(&self, snapshot: &Snapshot) -> Self {
        let known = |id: FileId| {
            let is_known = self.of.is_same(&snapshot.files, id);
            if is_known { self.files[id.0 as usize].clone() } else { None }
        };
        let each: Vec<(FileId, &Entry)> = snapshot.files.each().collect();
        let words = |(id, entry): &(FileId, &Entry)| {
            (*id, known(*id).unwrap_or_else(|| Arc::new(Words::of(&entry.path, &entry.facts))))
        };
        let mut files = vec![None; snapshot.files.numbers()];
        for (id, words) in each.par_iter().map(words).collect::<Vec<_>>() {
            files[id.0 as usize] = Some(words);
        }
        Self { of: Arc::clone(&snapshot.files), files }
    }

    /// Whether it is that of a state.
    pub fn is_of(&self, snapshot: &Snapshot) -> bool {
        Arc::ptr_eq(&self.of, &snapshot.files)
    }

    fn words(&self) -> impl Iterator<Item = (FileId, &Words)> {
        self.of.each().filter_map(|(id, _)| Some((id, self.files[id.0 as usize].as_deref()?)))
    }

    /// The `top` definitions of a part that fit the query best.
    pub fn search(&self, snapshot: &Snapshot, query: &str, top: usize, part: &Part) -> Semantic {
        answer(snapshot, query, self.rank(snapshot, query, part), top)
    }

    /// All definitions of a part that have a word of the query, best first.
    pub fn rank(&self, snapshot: &Snapshot, query: &str, part: &Part) -> Vec<(Place, f32)> {
        let scores = self.scores(query);
        let mut ranked: Vec<(Place, f32)> = scores
            .iter()
            .filter(|(place, _)| {
                part.holds(snapshot.files.path(place.file), snapshot.files.facts(place.file).language)
            })
            .map(|(place, score)| (*place, score + NEIGHBOUR * best_neighbour(snapshot, *place, &scores)))
            .collect();
        let path = |place: Place| (snapshot.files.path(place.file), place.def);
        ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then_with(|| path(*one).cmp(&path(*other))));
        ranked
    }

    /// How well definitions fit the query by their own words.
    fn scores(&self, query: &str) -> QuickMap<Place, f32> {
        let mut all: usize = 0;
        let mut length: f32 = 0.0;
        for (_, words) in self.words() {
            all += words.defs.len();
            length += words.defs.iter().map(|(_, length)| length).sum::<f32>();
        }
        let average = (length / (all.max(1) as f32)).max(1.0);
        let mut query: Vec<String> = split_words(query).collect();
        query.sort_unstable();
        query.dedup();
        let mut scores: QuickMap<Place, f32> = QuickMap::default();
        for word in query.iter().map(|word| number(word)) {
            let found: Vec<(Place, f32, f32)> =
                self.words().flat_map(|(file, words)| words.with(file, word)).collect();
            let rarity = ((all as f32 - found.len() as f32 + 0.5) / (found.len() as f32 + 0.5) + 1.0).ln();
            for (place, length, count) in found {
                *scores.entry(place).or_default() +=
                    rarity * count * (K + 1.0) / (count + K * (1.0 - B + B * length / average));
            }
        }
        scores
    }
}

impl Words {
    fn of(path: &str, facts: &Facts) -> Self {
        let mut words = Self::default();
        for (id, def) in facts.each_def().filter(|(_, def)| def.kind.runs() || def.kind == DefKind::Class) {
            let doc = def.doc.map_or("", |doc| facts.text(doc));
            let texts = [&*facts.qualified(id), facts.text(def.signature), doc, path];
            let mut counts: QuickMap<u64, f32> = QuickMap::default();
            for (text, weight) in texts.iter().zip(WEIGHTS) {
                split_words(text).for_each(|word| *counts.entry(number(&word)).or_default() += weight);
            }
            let place = u32::try_from(words.defs.len()).expect("a file has fewer definitions than bytes");
            words.defs.push((id, counts.values().sum()));
            words.counts.extend(counts.into_iter().map(|(word, count)| (word, place, count)));
        }
        words.counts.sort_unstable_by_key(|(word, place, _)| (*word, *place));
        words.counts.shrink_to_fit();
        words
    }

    /// The definitions that have a word, how many words they have, and how much of this one.
    fn with(&self, file: FileId, word: u64) -> impl Iterator<Item = (Place, f32, f32)> {
        let start = self.counts.partition_point(|(other, ..)| *other < word);
        let found = self.counts[start..].iter().take_while(move |(other, ..)| *other == word);
        found.map(move |(_, place, count)| {
            let (def, length) = self.defs[*place as usize];
            (Place { file, def }, length, *count)
        })
    }
}

fn number(word: &str) -> u64 {
    let mut hash = Quick::default();
    word.hash(&mut hash);
    hash.finish()
}

/// The first `top` of a ranking, as they are told.
pub fn answer(snapshot: &Snapshot, query: &str, ranked: Vec<(Place, f32)>, top: usize) -> Semantic {
    let results: Vec<Match> =
        ranked.into_iter().take(top).map(|(place, score)| matched(snapshot, place, score)).collect();
    let cut = Cut { total: results.len(), ..Cut::default() };
    Semantic { query: query.to_owned(), results, cut }
}

fn best_neighbour(snapshot: &Snapshot, place: Place, scores: &QuickMap<Place, f32>) -> f32 {
    let called = snapshot.graph.uses(place).map(|edge| edge.to);
    let callers = snapshot.graph.users(place).iter().map(|edge| edge.from);
    called
        .chain(callers)
        .filter(|other| *other != place)
        .filter_map(|other| scores.get(&other).copied())
        .fold(0.0, f32::max)
}

fn matched(snapshot: &Snapshot, place: Place, score: f32) -> Match {
    let facts = snapshot.files.facts(place.file);
    let def = facts.def(place.def);
    Match {
        name: facts.qualified(place.def).into_owned(),
        file: snapshot.files.path(place.file).to_owned(),
        line: def.line,
        end_line: def.end_line,
        kind: def.kind.word(),
        signature: facts.text(def.signature).to_owned(),
        doc: def.doc.map(|doc| first_line(facts.text(doc))),
        // Three digits are more than the score deserves.
        score: (f64::from(score) * 1000.0).round() / 1000.0,
    }
}

/// The words in a text: identifiers taken apart at underscores and capitals, in lower case, without common endings.
pub fn split_words(text: &str) -> impl Iterator<Item = String> {
    let mut words = Vec::new();
    for token in text.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut before = ' ';
        let mut letters = token.chars().peekable();
        while let Some(c) = letters.next() {
            let starts = c.is_uppercase()
                && (before.is_lowercase() || letters.peek().is_some_and(|next| next.is_lowercase()));
            if starts && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
            before = c;
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
        .into_iter()
        .filter(|word| word.len() > 1 && !COMMON.contains(&word.as_str()))
        .map(|word| stem(&word))
}

/// Words that every text has.
const COMMON: &[&str] = &[
    "an", "and", "are", "as", "at", "be", "by", "can", "def", "do", "does", "for", "from", "function", "has",
    "how", "if", "in", "into", "is", "it", "its", "not", "of", "on", "or", "self", "that", "the", "then",
    "this", "to", "was", "we", "what", "when", "where", "which", "who", "will", "with", "you",
];

/// A crude stem: plural, past and continuous forms fall together.
fn stem(word: &str) -> String {
    for (ending, put) in [("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")] {
        if let Some(start) = word.strip_suffix(ending)
            && start.len() >= 3
            && !(ending == "s" && start.ends_with('s'))
        {
            return format!("{start}{put}");
        }
    }
    word.to_owned()
}

list_answer!(Semantic, results, |answer| {
    let mut out = String::new();
    for one in &answer.results {
        out.push_str(&format!("{:7.3}  {} ({}:{})\n", one.score, one.name, one.file, one.line));
        if let Some(doc) = &one.doc {
            out.push_str(&format!("         {doc}\n"));
        }
    }
    out + &budget::tail(&answer.cut)
});
