//! Functions by what they are about: their names taken apart, their documentation and signatures, ranked by BM25, and
//! brought nearer by what they call and who calls them.

use std::collections::HashMap;

use serde::Serialize;

use super::budget::{self, list_answer};
use super::extract::first_line;
use super::{Cut, Part};
use crate::facts::{DefKind, Facts};
use crate::memo::Snapshot;
use crate::project::Place;

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

/// The words of all functions and classes; built once for a state of the facts.
pub struct Index {
    places: Vec<Place>,
    lengths: Vec<f32>,
    /// By word: which definitions have it, and how much of it.
    words: HashMap<Box<str>, Vec<(u32, f32)>>,
    average: f32,
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
        let mut index = Self { places: Vec::new(), lengths: Vec::new(), words: HashMap::new(), average: 1.0 };
        for (file, entry) in snapshot.files.each() {
            for (def, one) in entry.facts.each_def() {
                if one.kind.runs() || one.kind == DefKind::Class {
                    index.add(Place { file, def }, &entry.path, &entry.facts);
                }
            }
        }
        let total: f32 = index.lengths.iter().sum();
        index.average = (total / (index.lengths.len().max(1) as f32)).max(1.0);
        index
    }

    fn add(&mut self, place: Place, path: &str, facts: &Facts) {
        let def = facts.def(place.def);
        let doc = def.doc.map_or("", |doc| facts.text(doc));
        let texts = [&*facts.qualified(place.def), facts.text(def.signature), doc, path];
        let mut counts: HashMap<String, f32> = HashMap::new();
        for (text, weight) in texts.iter().zip(WEIGHTS) {
            for word in split_words(text) {
                *counts.entry(word).or_default() += weight;
            }
        }
        let number = u32::try_from(self.places.len()).expect("fewer definitions than 32 bits can count");
        self.places.push(place);
        self.lengths.push(counts.values().sum());
        for (word, count) in counts {
            self.words.entry(word.into()).or_default().push((number, count));
        }
    }

    /// The `top` definitions of a part that fit the query best.
    pub fn search(&self, snapshot: &Snapshot, query: &str, top: usize, part: &Part) -> Semantic {
        answer(snapshot, query, self.rank(snapshot, query, part), top)
    }

    /// All definitions of a part that have a word of the query, best first.
    pub fn rank(&self, snapshot: &Snapshot, query: &str, part: &Part) -> Vec<(Place, f32)> {
        let mut scores: HashMap<u32, f32> = HashMap::new();
        let mut words: Vec<String> = split_words(query).collect();
        words.sort_unstable();
        words.dedup();
        for word in &words {
            let Some(list) = self.words.get(word.as_str()) else { continue };
            let (all, with) = (self.places.len() as f32, list.len() as f32);
            let rarity = ((all - with + 0.5) / (with + 0.5) + 1.0).ln();
            for (number, count) in list {
                let length = self.lengths[*number as usize] / self.average;
                *scores.entry(*number).or_default() +=
                    rarity * count * (K + 1.0) / (count + K * (1.0 - B + B * length));
            }
        }
        let by_place: HashMap<Place, f32> =
            scores.iter().map(|(number, score)| (self.places[*number as usize], *score)).collect();
        let mut ranked: Vec<(Place, f32)> = by_place
            .iter()
            .filter(|(place, _)| {
                part.holds(snapshot.files.path(place.file), snapshot.files.facts(place.file).language)
            })
            .map(|(place, score)| (*place, score + NEIGHBOUR * best_neighbour(snapshot, *place, &by_place)))
            .collect();
        let path = |place: Place| (snapshot.files.path(place.file), place.def);
        ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then_with(|| path(*one).cmp(&path(*other))));
        ranked
    }
}

/// The first `top` of a ranking, as they are told.
pub fn answer(snapshot: &Snapshot, query: &str, ranked: Vec<(Place, f32)>, top: usize) -> Semantic {
    let results: Vec<Match> =
        ranked.into_iter().take(top).map(|(place, score)| matched(snapshot, place, score)).collect();
    let cut = Cut { total: results.len(), ..Cut::default() };
    Semantic { query: query.to_owned(), results, cut }
}

fn best_neighbour(snapshot: &Snapshot, place: Place, scores: &HashMap<Place, f32>) -> f32 {
    let called = snapshot.graph.uses(place).iter().map(|edge| edge.to);
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
