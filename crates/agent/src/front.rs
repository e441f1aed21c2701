//! What the front door needs to know of the agent: its commands, its stop of the tour, its findings, its files and
//! variables.

mod tour;

use kit::doctor::Check;
use kit::invocation::Environment;
use kit::places::{Entry, Variable};
use kit::{Failure, Invocation, Places, savings};

use crate::{cli, commands, meter, provider, setup};

pub use crate::commands::run;
pub use tour::stop as tour;

pub const NAME: &str = "agent";
pub const ABOUT: &str = "A coding agent in your terminal that never corrupts its own history";

pub fn command() -> clap::Command {
    cli::command()
}

/// How to make it ready, in five lines.
pub const HOW: &str = "\
To talk to a model, name one; then `scrimp` alone opens a conversation:
  export ANTHROPIC_API_KEY=…      Anthropic
  export OPENROUTER_API_KEY=…     OpenRouter, with `--model NAME`
  export OPENAI_BASE_URL=http://localhost:8080/v1   a server of your own; `scrimp agent config init` keeps it
Without any of them, `scrimp tour` shows it at work with a scripted model.
";

/// Whether somebody has named a provider, so that a conversation can be opened.
pub fn is_ready(env: &Environment, places: &Places) -> bool {
    provider::is_configured(env, places)
}

pub fn doctor(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let named = |check: Check| Check {
        subject: NAME.into(),
        finding: format!("{}: {}", check.subject, check.finding),
        ..check
    };
    commands::doctor::checks(&invocation.program.subcommand(NAME), invocation, places)
        .into_iter()
        .map(named)
        .collect()
}

/// Reads of our own, full against what was sent. That every later request of a conversation carries the shorter answer
/// again is not counted.
pub fn savings(_: &Invocation, places: &Places) -> Result<Vec<savings::Row>, Failure> {
    let path = meter::path(&setup::data(places));
    let total = meter::total(&path)
        .map_err(|error| Failure::new(format!("cannot read `{}`", places.tilde(&path))).because(&error))?;
    let row = || savings::Row {
        tool: NAME.into(),
        what: "file reads".into(),
        without: total.full,
        with: total.sent,
    };
    Ok((total.reads > 0).then(row).into_iter().collect())
}

pub const FILES: &[Entry] = &[
    Entry {
        path: "$XDG_CONFIG_HOME/scrimp/config.toml",
        owner: "agent",
        holds: "settings: the provider, permissions, rules, hooks, servers",
    },
    Entry {
        path: "~/.chibi/contexts/agent-*",
        owner: "agent",
        holds: "conversations, as chibi keeps its own",
    },
    Entry {
        path: "$XDG_DATA_HOME/scrimp/agent/undo",
        owner: "agent",
        holds: "what files were before they were changed",
    },
    Entry {
        path: "$XDG_DATA_HOME/scrimp/agent/allowed-*.json",
        owner: "agent",
        holds: "what you allowed for good, per project",
    },
    Entry {
        path: "$XDG_DATA_HOME/scrimp/agent/begun-*.json",
        owner: "agent",
        holds: "the first prompt of a conversation, until that is there",
    },
    Entry {
        path: "$XDG_DATA_HOME/scrimp/agent/saved.jsonl",
        owner: "agent",
        holds: "what reads would have cost and what they did, one line a turn; for `scrimp savings`",
    },
    Entry {
        path: "$XDG_DATA_HOME/scrimp/agent/typed.jsonl",
        owner: "agent",
        holds: "what was typed at the prompt",
    },
    Entry {
        path: "$XDG_CACHE_HOME/scrimp/agent/output-*.txt",
        owner: "agent",
        holds: "output of commands that did not fit, for a day",
    },
];

pub const VARIABLES: &[Variable] = {
    const OURS: [Variable; 3] = [
        Variable { name: "CHIBI_HOME", meaning: "where conversations are kept", default: "~/.chibi" },
        Variable {
            name: "VISUAL",
            meaning: "the editor for what is edited before it runs",
            default: "EDITOR",
        },
        Variable {
            name: "EDITOR",
            meaning: "the same, if VISUAL is not set",
            default: "nothing can be edited",
        },
    ];
    const THEIRS: &[Variable] = llm::provider::VARIABLES;
    const ALL: [Variable; OURS.len() + THEIRS.len()] = {
        let mut all = [OURS[0]; OURS.len() + THEIRS.len()];
        let mut next = 0;
        while next < all.len() {
            all[next] = if next < OURS.len() { OURS[next] } else { THEIRS[next - OURS.len()] };
            next += 1;
        }
        all
    };
    &ALL
};
