//! What the front door needs to know of chibi: its commands, its stop of the tour, its findings, its files and variables.

use std::time::{Duration, Instant};

use kit::doctor::Check;
use kit::places::{Entry, Variable};
use kit::{Failure, Invocation, Places, savings};
use llm::provider::{self, Target};

use crate::cli::help;
use crate::config::Layers;
use crate::context::{ChibiHome, ContextName, Ids, Reader, State};
use crate::failure;
use crate::ground;
use crate::input::Asked;
use crate::plugins::{Ground, Plugins};
use crate::run::home as home_of;

pub use crate::commands::run;
pub use crate::tour::stop as tour;

pub const NAME: &str = "chibi";
pub const ABOUT: &str = help::ABOUT;

/// A doctor who reads for longer than this keeps the patient waiting.
const PATIENCE: Duration = Duration::from_secs(3);

pub fn command() -> clap::Command {
    help::command()
}

/// Looks and writes nothing but what plugins say they bring.
pub fn doctor(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let root = home_of(&invocation.env, places);
    let home = ChibiHome::new(root, invocation.clock.clone(), Ids::random());
    let spoken = format!("{} {NAME}", invocation.program.spoken());
    if !home.root().exists() {
        return vec![Check::ok(NAME, "not used yet")];
    }
    let (config, models) = (home.config_file(), home.models_file());
    match Layers::read(&config, &models, None, &[]) {
        Err(error) => vec![Check::fail(NAME, error.to_string())],
        Ok(layers) => {
            let mut checks = vec![model(&layers, invocation, places, &spoken)];
            checks.extend(layers.unknown().into_iter().map(|line| Check::warn(NAME, line)));
            checks.extend(contexts(&home));
            let ground = ground::at(&home, &invocation.cwd, &invocation.env, &layers);
            checks.push(loaded(ground, &spoken));
            checks
        }
    }
}

/// What it saves is counted by whoever renders the bytes: not here.
pub fn savings(_: &Invocation, _: &Places) -> Result<Vec<savings::Row>, Failure> {
    Ok(Vec::new())
}

fn model(layers: &Layers, invocation: &Invocation, places: &Places, spoken: &str) -> Check {
    match crate::provider::resolve(layers, &Asked::default(), &invocation.env, places) {
        Err(error @ provider::ResolveError::NoModel(_)) => {
            Check::warn(NAME, error.to_string()).hint(format!("`{spoken} --init`, then set `model`"))
        }
        Err(error) => Check::fail(NAME, error.to_string()),
        Ok(resolved) => {
            let model = layers.model_id(&resolved.model.value);
            let place = match &resolved.target.value {
                Target::Http(endpoint) => endpoint.host().to_owned(),
                Target::Script(path) => path.display().to_string(),
            };
            let finding = format!("asks {model} at {place} ({})", resolved.model.origin);
            match resolved.warnings.first() {
                Some(warning) => Check::warn(NAME, format!("{finding}; {warning}")),
                None => Check::ok(NAME, finding),
            }
        }
    }
}

fn contexts(home: &ChibiHome) -> Vec<Check> {
    match (home.list(), State::load(home)) {
        (Ok(listed), Ok((state, note))) => {
            let found = format!("{} contexts, now in `{}`", listed.len(), state.current_context.as_str());
            let mut checks =
                vec![note.map_or_else(|| Check::ok(NAME, found), |note| Check::warn(NAME, note))];
            let until = Instant::now() + PATIENCE;
            let names = listed.into_iter().map(|context| context.name);
            checks.extend(names.filter_map(|name| transcript(home, &name, until)));
            checks
        }
        (Err(error), _) | (_, Err(error)) => {
            let check = Check::fail(NAME, error.to_string());
            vec![error.hint().into_iter().fold(check, Check::hint)]
        }
    }
}

/// What is wrong with what was said in a context. Nothing is, if time is up before it was read.
fn transcript(home: &ChibiHome, name: &ContextName, until: Instant) -> Option<Check> {
    match Reader::open(home, name).and_then(|reader| reader.faults(until)) {
        Ok(faults) => {
            let more = match faults.len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let first = faults.into_iter().next()?;
            Some(Check::warn(NAME, format!("`{}`: {first}{more}; the rest is used", name.as_str())))
        }
        Err(error) => Some(Check::fail(NAME, failure::line(&format!("`{}`", name.as_str()), &error))),
    }
}

fn loaded(ground: Ground, spoken: &str) -> Check {
    let plugins = Plugins::load(ground);
    let count = plugins.specs().len();
    match plugins.warnings().first() {
        None => Check::ok(NAME, format!("{count} tools of plugins")),
        Some(warning) => Check::warn(NAME, warning.to_string()).hint(format!("`{spoken} --list-plugins`")),
    }
}

pub const FILES: &[Entry] = &[
    Entry {
        path: "~/.chibi/config.toml, models.toml",
        owner: "you",
        holds: "which model is asked, with which key, and how; `chibi --init` writes the first with comments",
    },
    Entry {
        path: "~/.chibi/state.json",
        owner: "chibi",
        holds: "which contexts there are and which is current",
    },
    Entry {
        path: "~/.chibi/prompts/",
        owner: "you",
        holds: "`chibi.md` (the system prompt), `reflection.md` (the model's memory), `compaction.md`, `continuation.md`",
    },
    Entry { path: "~/.chibi/plugins/", owner: "you", holds: "programs that bring tools and listen to hooks" },
    Entry { path: "~/.chibi/cache/", owner: "chibi", holds: "what plugins and servers said they bring" },
    Entry { path: "~/.chibi/usage.jsonl", owner: "chibi", holds: "what each reply cost" },
    Entry {
        path: "~/.chibi/contexts/<name>/transcript/",
        owner: "chibi",
        holds: "everything that was ever said, in files that only grow, with filters and indexes for the search",
    },
    Entry {
        path: "~/.chibi/contexts/<name>/context.jsonl",
        owner: "chibi",
        holds: "the window: what the model is shown; can be made again from the transcript",
    },
    Entry {
        path: "~/.chibi/contexts/<name>/transcript.md",
        owner: "chibi",
        holds: "who said what, for people",
    },
    Entry {
        path: "~/.chibi/contexts/<name>/local.toml",
        owner: "you",
        holds: "what this context sets differently; `chibi -u` edits it and leaves your comments",
    },
    Entry {
        path: "~/.chibi/contexts/<name>/{summary,todos,goals,system_prompt}.md",
        owner: "chibi",
        holds: "what the model is told beside the conversation",
    },
    Entry {
        path: "~/.chibi/contexts/<name>/inbox.jsonl",
        owner: "chibi",
        holds: "messages of other contexts that wait",
    },
    Entry {
        path: "~/.chibi/contexts/<name>/compactions/",
        owner: "chibi",
        holds: "the windows before the last compactions, for `--undo-compaction`",
    },
    Entry {
        path: "~/.chibi/contexts/<name>/{requests,response_meta}.jsonl",
        owner: "chibi",
        holds: "what was sent and told, after `--debug`; no key",
    },
];

pub const VARIABLES: &[Variable] = &[
    Variable { name: "CHIBI_HOME", meaning: "where chibi keeps everything", default: "~/.chibi" },
    provider::VARIABLES[0],
    provider::VARIABLES[1],
    provider::VARIABLES[2],
    provider::VARIABLES[3],
    provider::VARIABLES[4],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_the_providers_is_told() {
        assert_eq!(VARIABLES.len(), provider::VARIABLES.len() + 1);
    }
}
