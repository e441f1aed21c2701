//! What a request means in this project: paths inside of it, languages that exist, patterns that can be used.

use std::path::{Path, PathBuf};

use code::flow::Criterion;
use code::language::Language;
use code::query::Part;
use code::query::search::Pattern;
use serde_json::json;
use wire::tldr::{DaemonCommand, Direction, Refusal, Request};

use super::answers::{Asks, Flow};
use super::{Engine, refuse, refuse_with};

/// How far `context` and `impact` go if nobody says.
const CONTEXT_DEPTH: usize = 2;
const IMPACT_DEPTH: usize = 3;

impl Engine {
    pub(super) fn understand(&self, request: &Request) -> Result<Asks, Box<Refusal>> {
        let language = request.lang.as_deref().filter(|name| *name != "all").map(language).transpose()?;
        let part = |path: &Option<PathBuf>| match path {
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
            command @ (DaemonCommand::Cfg { file, function }
            | DaemonCommand::Dfg { file, function }
            | DaemonCommand::Slice { file, function, .. }) => {
                Asks::Flow { file: self.file(file)?, function: function.clone(), what: flow(command) }
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
            DaemonCommand::Semantic { query, top_k } => {
                self.is_semantic()?;
                Asks::Semantic { query: query.clone(), top: *top_k, part: part(&None)? }
            }
            DaemonCommand::ChangeImpact { files, session, git } => {
                Asks::ChangeImpact { changes: self.changes(files.as_deref(), *session, *git)? }
            }
            DaemonCommand::Diagnostics { path, .. } => {
                Asks::Diagnostics { path: self.part(path, None)?.path }
            }
            DaemonCommand::Warm { language: name } => {
                let named = name.as_deref().filter(|name| *name != "all").map(self::language).transpose()?;
                Asks::Warm { language: named.or(language) }
            }
            DaemonCommand::Ping
            | DaemonCommand::Status
            | DaemonCommand::Shutdown
            | DaemonCommand::Clear
            | DaemonCommand::Notify { .. }
            | DaemonCommand::Track { .. } => return Err(refuse("only a daemon can do that")),
        })
    }

    fn is_semantic(&self) -> Result<(), Box<Refusal>> {
        let words = "semantic search is switched off in .tldr/config.json (semantic_enabled)";
        if self.semantic { Ok(()) } else { Err(refuse(words)) }
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
}

/// Which of the three is wanted.
fn flow(command: &DaemonCommand) -> Flow {
    match command {
        DaemonCommand::Slice { line, direction, var, .. } => {
            let direction = match direction {
                Direction::Backward => code::flow::Direction::Backward,
                Direction::Forward => code::flow::Direction::Forward,
            };
            Flow::Slice(Criterion { line: *line, direction, var: var.clone() })
        }
        DaemonCommand::Dfg { .. } => Flow::Data,
        _ => Flow::Control,
    }
}

fn language(name: &str) -> Result<Language, Box<Refusal>> {
    Language::named(name).ok_or_else(|| {
        refuse_with(format!("no language called {name} is known"), "languages", json!(languages()))
    })
}

pub(super) fn languages() -> Vec<&'static str> {
    Language::ALL.iter().map(|language| language.name()).collect()
}
