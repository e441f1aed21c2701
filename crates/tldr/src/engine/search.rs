//! Looking through texts and words, with what was found kept by content: an edit costs one file.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::{Arc, Mutex};

use code::language::Language;
use code::memo::Snapshot;
use code::query::Part;
use code::query::search::{Hit, Pattern};
use code::query::semantic;
use rayon::prelude::*;

use super::{Engine, lock};
use crate::index::Hash;

/// So many patterns are remembered with what they found.
const PATTERNS: usize = 32;

/// Lines that a pattern was found on, by the content of the file.
type Found = HashMap<Hash, Arc<Vec<Hit>>>;

#[derive(Default)]
pub(super) struct Hits(Mutex<HashMap<String, Found>>);

/// The words of all definitions, for one state of the files.
#[derive(Default)]
pub(super) struct Words(Mutex<Option<(u128, Arc<semantic::Index>)>>);

impl Engine {
    /// The files of a part by their path, programs or not.
    pub(super) fn files_of(&self, part: &Part) -> BTreeMap<String, Hash> {
        let everything = Part { path: part.path.clone(), language: None };
        let fits = |path: &str| match part.language {
            None => everything.holds(path, Language::ALL[0]),
            Some(_) => Language::of_path(path).is_some_and(|language| part.holds(path, language)),
        };
        let index = lock(&self.index);
        index
            .files()
            .iter()
            .filter(|(path, _)| fits(path))
            .map(|(path, file)| (path.clone(), file.hash))
            .collect()
    }

    /// Reads what was not read with this pattern before.
    pub(super) fn search(&self, pattern: &Pattern, part: &Part) -> Vec<Hit> {
        let files = self.files_of(part);
        let known = lock(&self.hits.0).get(pattern.text()).cloned().unwrap_or_default();
        let found: Vec<(&String, Hash, Arc<Vec<Hit>>)> = files
            .par_iter()
            .map(|(path, hash)| {
                let hits = known.get(hash).cloned().unwrap_or_else(|| {
                    let text = fs::read(self.root.path().join(path)).unwrap_or_default();
                    Arc::new(pattern.hits(path, &text))
                });
                (path, *hash, hits)
            })
            .collect();
        let mut kept = lock(&self.hits.0);
        if kept.len() >= PATTERNS {
            kept.clear();
        }
        kept.insert(
            pattern.text().to_owned(),
            found.iter().map(|(_, hash, hits)| (*hash, Arc::clone(hits))).collect(),
        );
        drop(kept);
        // The same content under two names is found under both.
        let named = |path: &String, hits: &[Hit]| {
            hits.iter().map(|hit| Hit { file: path.clone(), ..hit.clone() }).collect::<Vec<_>>()
        };
        found.iter().flat_map(|(path, _, hits)| named(path, hits)).collect()
    }

    pub(super) fn words(&self, snapshot: &Snapshot) -> Arc<semantic::Index> {
        let state = lock(&self.index).digests().contents;
        let mut kept = lock(&self.words.0);
        match &*kept {
            Some((of, words)) if *of == state => Arc::clone(words),
            _ => {
                let words = Arc::new(semantic::Index::build(snapshot));
                *kept = Some((state, Arc::clone(&words)));
                words
            }
        }
    }
}
