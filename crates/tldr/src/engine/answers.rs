//! Each command and the answer it gets. Knows no socket and no cache.

use code::flow::Criterion;
use code::language::Language;
use code::query::change::Changed;
use code::query::search::Pattern;
use code::query::{self, Missing, Part};
use serde_json::json;
use wire::tldr::Refusal;

use super::telling::{Telling, Told};
use super::understand::languages;
use super::{Engine, Unable, View, refuse, refuse_with};
use crate::index::Files;

/// How far a change is followed: calls that far away are everything.
const CHANGE_DEPTH: usize = 10;

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

impl Asks {
    /// What the question is about, where it may be a part of the project.
    fn part(&self) -> Option<&Part> {
        match self {
            Asks::Tree { part }
            | Asks::Structure { part }
            | Asks::Search { part, .. }
            | Asks::Calls { part }
            | Asks::Impact { part, .. }
            | Asks::Dead { part, .. }
            | Asks::Arch { part }
            | Asks::Importers { part, .. }
            | Asks::Semantic { part, .. } => Some(part),
            _ => None,
        }
    }
}

impl Engine {
    pub(super) fn make(&self, asks: &Asks, tell: &Telling, view: &View) -> Result<Told, Unable> {
        let snapshot = &view.snapshot;
        if let Some(part) = asks.part()
            && *part != Part::default()
            && view.files_of(part).next().is_none()
        {
            return Err(self.nothing_of(part, &view.files).into());
        }
        Ok(match asks {
            Asks::Tree { part } => {
                let name = self.root.path().file_name().map_or("/".into(), |name| name.to_string_lossy());
                tell.about_nothing(query::tree::tree(
                    &name,
                    view.files_of(part).map(|(path, _)| path.clone()),
                ))
            }
            Asks::Structure { part } => self.structure(part, tell, view)?,
            Asks::Search { pattern, part, most } => {
                tell.at_most(*most).about(pattern.answer(self.search(pattern, part, view)?))
            }
            Asks::Extract { file } => {
                tell.about_file(file, query::extract::extract(file, self.facts(view, file)?))
            }
            Asks::Imports { file } => {
                tell.about_file(file, query::imports::imports(file, self.facts(view, file)?))
            }
            Asks::Flow { file, function, what } => self.flow(file, function, what, tell, view)?,
            Asks::Context { entry, depth } => {
                tell.about(query::context::context(snapshot, entry, *depth).map_err(|why| missing(&why))?)
            }
            Asks::Calls { part } if tell.is_whole() => self.shelf.calls(snapshot, part).into(),
            Asks::Calls { part } => tell.about(query::calls::calls(snapshot, part)),
            Asks::Impact { function, part, depth } => tell
                .about(query::impact::impact(snapshot, function, *depth, part).map_err(|why| missing(&why))?),
            Asks::Dead { part, entries } => tell.about(query::dead::dead(snapshot, part, entries)),
            Asks::Arch { part } => tell.about(query::arch::arch(snapshot, part)),
            Asks::Importers { module, part } => {
                let answer = query::imports::importers(snapshot, module, part);
                if answer.importers.is_empty() {
                    let (message, near) = answer.nobody(snapshot);
                    return Err(refuse_with(message, "near", json!(near)).into());
                }
                tell.about(answer)
            }
            Asks::Semantic { query, top, part } => {
                let ranked = self.ranked(query, part, view)?;
                tell.about(query::semantic::answer(snapshot, query, ranked, *top))
            }
            Asks::ChangeImpact { changes } => {
                tell.about(query::change::change_impact(snapshot, changes, CHANGE_DEPTH))
            }
            Asks::Diagnostics { path } => self.diagnostics(path, tell, &view.files)?,
            Asks::Warm { language } => self.warm(*language, snapshot)?,
        })
    }

    fn structure(&self, part: &Part, tell: &Telling, view: &View) -> Result<Told, Unable> {
        let snapshot = &view.snapshot;
        if !part.path.is_empty() && part.is_bare(snapshot) {
            return Err(self.nothing_at(&part.path, &view.files).into());
        }
        Ok(match tell.is_whole() {
            true => self.shelf.structure(snapshot, part).into(),
            false => tell.about(query::structure::structure(snapshot, part)),
        })
    }

    fn facts<'v>(&self, view: &'v View, path: &str) -> Result<&'v code::facts::Facts, Box<Refusal>> {
        let facts = view.files.get(path).and_then(|file| file.facts.as_deref());
        facts.ok_or_else(|| self.nothing_at(path, &view.files))
    }

    /// Why there is no file in a part.
    fn nothing_of(&self, part: &Part, files: &Files) -> Box<Refusal> {
        match part.language {
            Some(language) if self.root.path().join(&part.path).exists() => {
                refuse(format!("there is no {} here", language.table().title))
            }
            _ => self.nothing_at(&part.path, files),
        }
    }

    pub(super) fn nothing_at(&self, path: &str, files: &Files) -> Box<Refusal> {
        let full = self.root.path().join(path);
        match Language::of_path(path) {
            _ if !full.exists() => refuse(format!("`{path}` is not there")),
            _ if full.is_dir() => {
                refuse(format!("there is no program below `{path}`, or the ignore rules hide it"))
            }
            None => refuse_with(
                format!("`{path}` is in no language that is known"),
                "languages",
                json!(languages()),
            ),
            Some(_) if files.contains_key(path) => refuse(format!("`{path}` is too long or no text")),
            Some(_) => refuse(format!("`{path}` is hidden by the ignore rules")),
        }
    }
}

fn missing(missing: &Missing) -> Box<Refusal> {
    let mut refusal = refuse(missing.message());
    refusal.data.insert("near".to_owned(), json!(missing.near));
    if !missing.candidates.is_empty() {
        refusal.data.insert("candidates".to_owned(), json!(missing.candidates));
    }
    refusal
}
