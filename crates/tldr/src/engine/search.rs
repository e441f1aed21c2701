//! Looking through texts and words, with what was found kept by content: an edit costs one file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use code::language::Language;
use code::query::Part;
use code::query::search::{Hit, Pattern};
use code::query::semantic;
use rayon::prelude::*;

use super::{Engine, Trust, Unable, View, lock};
use crate::index::{File, Hash};

/// So many patterns are remembered with what they found.
const PATTERNS: usize = 32;

/// Lines that a pattern was found on, by the content of the file.
type Found = HashMap<Hash, Arc<Vec<Hit>>>;

#[derive(Default)]
pub(super) struct Hits(Mutex<HashMap<String, Found>>);

/// The words of all definitions, for the last state of the files that somebody asked about.
#[derive(Default)]
pub(super) struct Words(Mutex<Arc<semantic::Index>>);

impl View {
    /// The files of a part by their path, programs or not.
    pub(super) fn files_of<'v>(&'v self, part: &'v Part) -> impl Iterator<Item = (&'v String, &'v File)> {
        let everything = Part { path: part.path.clone(), language: None };
        self.files.iter().filter(move |(path, _)| match part.language {
            None => everything.holds(path, Language::ALL[0]),
            Some(_) => Language::of_path(path).is_some_and(|language| part.holds(path, language)),
        })
    }
}

impl Engine {
    /// Reads what was not read with this pattern before.
    pub(super) fn search(&self, pattern: &Pattern, part: &Part, view: &View) -> Result<Vec<Hit>, Unable> {
        let files: Vec<(&String, &File)> = view.files_of(part).collect();
        let known = lock(&self.hits.0).get(pattern.text()).cloned().unwrap_or_default();
        let look = |(path, file): (&'_ String, &File)| {
            let hits = match known.get(&file.hash) {
                Some(hits) => Arc::clone(hits),
                None => {
                    let text = view.text(&self.root, path, file)?;
                    Arc::new(pattern.hits(path, &text))
                }
            };
            Ok((file.hash, hits))
        };
        let found: Vec<(Hash, Arc<Vec<Hit>>)> =
            files.par_iter().map(|file| look(*file)).collect::<Result<_, Unable>>()?;
        if view.trust == Trust::Strict {
            let mut kept = lock(&self.hits.0);
            if kept.len() >= PATTERNS {
                kept.clear();
            }
            kept.insert(pattern.text().to_owned(), found.iter().cloned().collect());
        }
        // The same content under two names is found under both.
        let named = |path: &str, hits: &[Hit]| {
            hits.iter().map(|hit| Hit { file: path.to_owned(), ..hit.clone() }).collect::<Vec<_>>()
        };
        Ok(files.iter().zip(&found).flat_map(|((path, _), (_, hits))| named(path, hits)).collect())
    }

    /// Lets go of what was put together file by file, and with it of the files as they were then.
    pub(super) fn let_go(&self) {
        self.shelf.forget();
        *lock(&self.words.0) = Arc::default();
    }

    pub(super) fn words(&self, view: &View) -> Arc<semantic::Index> {
        let mut kept = lock(&self.words.0);
        if !kept.is_of(&view.snapshot) {
            *kept = Arc::new(kept.next(&view.snapshot));
        }
        Arc::clone(&kept)
    }
}
