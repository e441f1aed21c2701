//! Each command: what it means here, and the answer it gets. Knows no socket and no cache.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use code::flow::Criterion;
use code::language::Language;
use code::memo::Snapshot;
use code::query::change::Changed;
use code::query::search::{Hit, Pattern};
use code::query::{self, Answer, Missing, Page, Part, fit};
use rayon::prelude::*;
use serde_json::{Value, json};
use wire::tldr::{DaemonCommand, Direction, Format, Refusal, Request};

use super::{Engine, lock, refuse, refuse_with};
use crate::index::Hash;

/// How far `context` and `impact` go if nobody says.
const CONTEXT_DEPTH: usize = 2;
const IMPACT_DEPTH: usize = 3;
/// How far a change is followed: calls that far away are everything.
const CHANGE_DEPTH: usize = 10;
/// What `status` and `as_of` take of an answer's budget.
const ENVELOPE_TOKENS: u64 = 18;

/// A command with its parameters checked: paths are those of the project.
pub(super) enum Asks {
    Tree { part: Part },
    Structure { part: Part },
    Search { pattern: Box<Pattern>, part: Part, most: Option<usize> },
    Extract { file: String },
    Imports { file: String },
    Flow { file: String, function: String, what: Flow },
    Context { entry: String, depth: usize },
    Calls { part: Part },
    Impact { function: String, part: Part, depth: usize },
    Dead { part: Part, entries: Vec<String> },
    Arch { part: Part },
    Importers { module: String, part: Part },
    Semantic { query: String, top: usize, part: Part },
    ChangeImpact { changes: Vec<Changed> },
    Diagnostics { path: String },
    Warm { language: Option<Language> },
}

pub(super) enum Flow {
    Control,
    Data,
    Slice(Criterion),
}

/// An answer as JSON, and the files that it stands for.
pub(super) struct Told {
    pub(super) json: String,
    pub(super) files: BTreeSet<String>,
}

/// Lines that a pattern was found on, by the content of the file: an edit costs one file.
#[derive(Default)]
pub(super) struct Hits(Mutex<HashMap<String, HashMap<Hash, Arc<Vec<Hit>>>>>);

/// The words of all definitions, for one state of the files.
#[derive(Default)]
pub(super) struct Words(Mutex<Option<(u128, Arc<query::semantic::Index>)>>);

impl Engine {
    pub(super) fn understand(&self, request: &Request) -> Result<Asks, Box<Refusal>> {
        let language = request.lang.as_deref().filter(|name| *name != "all").map(language).transpose()?;
        let part = |path: &Option<std::path::PathBuf>| match path {
            Some(path) => self.part(path, language),
            None => Ok(Part { path: String::new(), language }),
        };
        Ok(match &request.command {
            DaemonCommand::Tree { path } => Asks::Tree { part: part(path)? },
            DaemonCommand::Structure { path } => Asks::Structure { part: self.part(path, language)? },
            DaemonCommand::Search { pattern, path, max_results } => {
                let pattern = Pattern::new(pattern).map_err(|error| refuse(error.to_string()))?;
                Asks::Search { pattern: Box::new(pattern), part: part(path)?, most: *max_results }
            }
            DaemonCommand::Extract { file } => Asks::Extract { file: self.file(file)? },
            DaemonCommand::Imports { file } => Asks::Imports { file: self.file(file)? },
            DaemonCommand::Cfg { file, function } => {
                Asks::Flow { file: self.file(file)?, function: function.clone(), what: Flow::Control }
            }
            DaemonCommand::Dfg { file, function } => {
                Asks::Flow { file: self.file(file)?, function: function.clone(), what: Flow::Data }
            }
            DaemonCommand::Slice { file, function, line, direction, var } => {
                let direction = match direction {
                    Direction::Backward => code::flow::Direction::Backward,
                    Direction::Forward => code::flow::Direction::Forward,
                };
                let what = Flow::Slice(Criterion { line: *line, direction, var: var.clone() });
                Asks::Flow { file: self.file(file)?, function: function.clone(), what }
            }
            DaemonCommand::Context { entry, depth } => {
                Asks::Context { entry: entry.clone(), depth: depth.unwrap_or(CONTEXT_DEPTH) }
            }
            DaemonCommand::Calls { path } => Asks::Calls { part: part(path)? },
            DaemonCommand::Impact { func, path, depth } => Asks::Impact {
                function: func.clone(),
                part: part(path)?,
                depth: depth.unwrap_or(IMPACT_DEPTH),
            },
            DaemonCommand::Dead { path, entry } => {
                Asks::Dead { part: part(path)?, entries: entry.clone().unwrap_or_default() }
            }
            DaemonCommand::Arch { path } => Asks::Arch { part: part(path)? },
            DaemonCommand::Importers { module, path } => {
                Asks::Importers { module: module.clone(), part: part(path)? }
            }
            DaemonCommand::Semantic { .. } if !self.semantic => {
                return Err(refuse(
                    "semantic search is switched off in .tldr/config.json (semantic_enabled)",
                ));
            }
            DaemonCommand::Semantic { query, top_k } => {
                Asks::Semantic { query: query.clone(), top: *top_k, part: part(&None)? }
            }
            DaemonCommand::ChangeImpact { files, session, git } => {
                Asks::ChangeImpact { changes: self.changes(files.as_deref(), *session, *git)? }
            }
            DaemonCommand::Diagnostics { path, .. } => {
                Asks::Diagnostics { path: self.part(path, None)?.path }
            }
            DaemonCommand::Warm { language: name } => Asks::Warm {
                language: name
                    .as_deref()
                    .filter(|name| *name != "all")
                    .map(self::language)
                    .transpose()?
                    .or(language),
            },
            DaemonCommand::Ping
            | DaemonCommand::Status
            | DaemonCommand::Shutdown
            | DaemonCommand::Clear
            | DaemonCommand::Notify { .. }
            | DaemonCommand::Track { .. } => return Err(refuse("only a daemon can do that")),
        })
    }

    pub(super) fn make(
        &self,
        asks: &Asks,
        request: &Request,
        snapshot: &Snapshot,
    ) -> Result<Told, Box<Refusal>> {
        let page = Page {
            offset: 0,
            max_tokens: request.max_tokens.map(|most| most.saturating_sub(ENVELOPE_TOKENS)),
        };
        let tell = Telling { page, format: request.format };
        match asks {
            Asks::Tree { part } => {
                let name = self.root.path().file_name().map_or("/".into(), |name| name.to_string_lossy());
                tell.about_nothing(query::tree::tree(&name, self.paths(part)))
            }
            Asks::Structure { part } => {
                let structure = query::structure::structure(snapshot, part);
                match structure.files.is_empty() && !part.path.is_empty() {
                    true => Err(self.nothing_at(&part.path)),
                    false => tell.about(structure),
                }
            }
            Asks::Search { pattern, part, most } => {
                let mut hits = self.search(pattern, part);
                let found = hits.len();
                hits.truncate(most.unwrap_or(usize::MAX));
                let mut answer = pattern.answer(hits);
                (answer.cut.total, answer.cut.truncated) = (found, answer.results.len() < found);
                tell.about(answer)
            }
            Asks::Extract { file } => {
                tell.about_file(file, query::extract::extract(file, self.facts(snapshot, file)?))
            }
            Asks::Imports { file } => {
                tell.about_file(file, query::imports::imports(file, self.facts(snapshot, file)?))
            }
            Asks::Flow { file, function, what } => self.flow(file, function, what, &tell),
            Asks::Context { entry, depth } => {
                tell.about(query::context::context(snapshot, entry, *depth).map_err(missing)?)
            }
            Asks::Calls { part } => tell.about(query::calls::calls(snapshot, part)),
            Asks::Impact { function, part, depth } => {
                tell.about(query::impact::impact(snapshot, function, *depth, part).map_err(missing)?)
            }
            Asks::Dead { part, entries } => tell.about(query::dead::dead(snapshot, part, entries)),
            Asks::Arch { part } => tell.about(query::arch::arch(snapshot, part)),
            Asks::Importers { module, part } => {
                let answer = query::imports::importers(snapshot, module, part);
                match answer.importers.is_empty() {
                    true => Err(refuse(format!("nothing imports {module}"))),
                    false => tell.about(answer),
                }
            }
            Asks::Semantic { query, top, part } => {
                let words = self.words(snapshot);
                tell.about(words.search(snapshot, query, *top, part))
            }
            Asks::ChangeImpact { changes } => {
                tell.about(query::change::change_impact(snapshot, changes, CHANGE_DEPTH))
            }
            Asks::Diagnostics { path } => self.diagnostics(path, &tell),
            Asks::Warm { language } => self.warm(*language, snapshot),
        }
    }

    fn part(&self, path: &Path, language: Option<Language>) -> Result<Part, Box<Refusal>> {
        let inside = self.root.relative(self.root.path(), path);
        let path = inside.ok_or_else(|| refuse(format!("`{}` is not in the project", path.display())))?;
        Ok(Part { path, language })
    }

    fn file(&self, path: &Path) -> Result<String, Box<Refusal>> {
        let inside = self.part(path, None)?.path;
        let full = self.root.path().join(&inside);
        match full.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                Err(refuse(format!("`{inside}` is a directory, and a file is wanted")))
            }
            Ok(_) => Ok(inside),
            Err(error) => Err(refuse(format!("cannot read `{inside}`: {error}"))),
        }
    }

    fn facts<'s>(&self, snapshot: &'s Snapshot, path: &str) -> Result<&'s code::facts::Facts, Box<Refusal>> {
        let id = snapshot.files.find(path).and_then(|id| snapshot.files.entry(id));
        id.map(|entry| &*entry.facts).ok_or_else(|| self.nothing_at(path))
    }

    pub(super) fn nothing_at(&self, path: &str) -> Box<Refusal> {
        let full = self.root.path().join(path);
        match Language::of_path(path) {
            _ if !full.exists() => refuse(format!("`{path}` is not there")),
            _ if full.is_dir() => {
                refuse(format!("there is no program below `{path}`, or the ignore rules hide it"))
            }
            None => {
                refuse_with(format!("`{path}` is in no language that is known"), "languages", json!(names()))
            }
            Some(_) if lock(&self.index).files().contains_key(path) => {
                refuse(format!("`{path}` is too long or no text"))
            }
            Some(_) => refuse(format!("`{path}` is hidden by the ignore rules")),
        }
    }

    fn paths(&self, part: &Part) -> Vec<String> {
        let index = lock(&self.index);
        let language = |path: &str| Language::of_path(path);
        let fits = |path: &str| match part.language {
            None => Part { path: part.path.clone(), language: None }.holds(path, Language::ALL[0]),
            Some(_) => language(path).is_some_and(|language| part.holds(path, language)),
        };
        index.files().keys().filter(|path| fits(path)).cloned().collect()
    }

    /// Reads what was not read with this pattern before.
    fn search(&self, pattern: &Pattern, part: &Part) -> Vec<Hit> {
        let hashes: BTreeMap<String, Hash> = {
            let index = lock(&self.index);
            self.paths_of(part, &index)
        };
        let known = lock(&self.hits.0).get(pattern.text()).cloned().unwrap_or_default();
        let found: Vec<(Hash, Arc<Vec<Hit>>, &String)> = hashes
            .par_iter()
            .map(|(path, hash)| {
                let hits = known.get(hash).cloned().unwrap_or_else(|| {
                    let text = std::fs::read(self.root.path().join(path)).unwrap_or_default();
                    Arc::new(pattern.hits(path, &text))
                });
                (*hash, hits, path)
            })
            .collect();
        let mut kept = lock(&self.hits.0);
        if kept.len() >= PATTERNS {
            kept.clear();
        }
        kept.insert(
            pattern.text().to_owned(),
            found.iter().map(|(hash, hits, _)| (*hash, Arc::clone(hits))).collect(),
        );
        drop(kept);
        // The same content under two names is found under both.
        let named = found
            .iter()
            .flat_map(|(_, hits, path)| hits.iter().map(|hit| Hit { file: (*path).clone(), ..hit.clone() }));
        named.collect()
    }

    fn paths_of(&self, part: &Part, index: &crate::index::Index) -> BTreeMap<String, Hash> {
        let fits = |path: &str| match part.language {
            None => part.holds(path, Language::ALL[0]),
            Some(_) => Language::of_path(path).is_some_and(|language| part.holds(path, language)),
        };
        index
            .files()
            .iter()
            .filter(|(path, _)| fits(path))
            .map(|(path, file)| (path.clone(), file.hash))
            .collect()
    }

    fn words(&self, snapshot: &Snapshot) -> Arc<query::semantic::Index> {
        let state = lock(&self.index).digests().contents;
        let mut kept = lock(&self.words.0);
        match &*kept {
            Some((of, words)) if *of == state => Arc::clone(words),
            _ => {
                let words = Arc::new(query::semantic::Index::build(snapshot));
                *kept = Some((state, Arc::clone(&words)));
                words
            }
        }
    }
}

/// So many patterns are remembered with what they found.
const PATTERNS: usize = 32;

/// How an answer is written.
pub(super) struct Telling {
    page: Page,
    format: Format,
}

impl Telling {
    /// An answer that stands for the files that it names.
    pub(super) fn about<A: Answer>(&self, answer: A) -> Result<Told, Box<Refusal>> {
        let answer = fit(answer, self.page);
        let value = serde_json::to_value(&answer).expect("answers have text for keys");
        let mut files = BTreeSet::new();
        mentioned(&value, &mut files);
        self.told(&answer, files)
    }

    pub(super) fn about_file<A: Answer>(&self, file: &str, answer: A) -> Result<Told, Box<Refusal>> {
        self.told(&fit(answer, self.page), BTreeSet::from([file.to_owned()]))
    }

    /// An answer that nobody would read files for.
    fn about_nothing<A: Answer>(&self, answer: A) -> Result<Told, Box<Refusal>> {
        self.told(&fit(answer, self.page), BTreeSet::new())
    }

    fn told<A: Answer>(&self, answer: &A, files: BTreeSet<String>) -> Result<Told, Box<Refusal>> {
        let json = match self.format {
            Format::Json => serde_json::to_string(answer).expect("answers have text for keys"),
            Format::Text => json!({"text": answer.text()}).to_string(),
        };
        self.within(json, files)
    }

    /// For what is no list and cannot be cut.
    pub(super) fn whole(&self, json: String, files: BTreeSet<String>) -> Result<Told, Box<Refusal>> {
        self.within(json, files)
    }

    fn within(&self, json: String, files: BTreeSet<String>) -> Result<Told, Box<Refusal>> {
        let tokens = kit::text::tokens(json.len() as u64);
        match self.page.max_tokens {
            Some(most) if tokens > most => {
                let needed = tokens + ENVELOPE_TOKENS;
                Err(refuse_with(format!("the answer needs {needed} tokens"), "needed_tokens", json!(needed)))
            }
            _ => Ok(Told { json, files }),
        }
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }
}

/// Every file that an answer names.
fn mentioned(value: &Value, into: &mut BTreeSet<String>) {
    const KEYS: [&str; 5] = ["file", "path", "from_file", "to_file", "file_path"];
    match value {
        Value::Array(items) => items.iter().for_each(|item| mentioned(item, into)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(file) if KEYS.contains(&key.as_str()) => drop(into.insert(file.clone())),
                    value => mentioned(value, into),
                }
            }
        }
        _ => {}
    }
}

fn missing(missing: Missing) -> Box<Refusal> {
    let mut refusal = refuse(missing.message());
    refusal.data.insert("near".to_owned(), json!(missing.near));
    if !missing.candidates.is_empty() {
        refusal.data.insert("candidates".to_owned(), json!(missing.candidates));
    }
    refusal
}

fn language(name: &str) -> Result<Language, Box<Refusal>> {
    Language::named(name).ok_or_else(|| {
        refuse_with(format!("no language called {name} is known"), "languages", json!(names()))
    })
}

fn names() -> Vec<&'static str> {
    Language::ALL.iter().map(|language| language.name()).collect()
}
