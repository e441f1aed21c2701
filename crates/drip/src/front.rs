//! What the front door needs to know of drip: its commands, its stop of the tour, its findings, what it saved, its files and variables.

use kit::doctor::{Check, Health};
use kit::places::{Entry, Variable};
use kit::{Failure, Invocation, Places, savings};
use mcp::Part;

use crate::cli;
use crate::commands::{self, Here, store_failure};
use crate::database::{Database, Options, Scope};
use crate::serve::{self, Ground};
use crate::settings::{self, Settings};

pub use crate::commands::run;
pub use crate::tour::stop as tour;

pub const NAME: &str = "drip";
pub const ABOUT: &str = "An agent that reads a file again gets what changed, not the file";

pub fn command() -> clap::Command {
    cli::command()
}

pub fn doctor(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let named = |check: Check| Check {
        subject: NAME.into(),
        finding: format!("{}: {}", check.subject, check.finding),
        // Among the findings about everything, only what is wrong is worth a word more.
        hint: check.hint.filter(|_| check.health != Health::Ok),
        ..check
    };
    let program = invocation.program.subcommand(NAME);
    commands::doctor::checks(&Here { program, ..Here::of(invocation, places.clone()) })
        .into_iter()
        .map(named)
        .collect()
}

/// Its tools for clients that speak the Model Context Protocol.
pub fn mcp(invocation: &Invocation, places: &Places) -> Result<Part, Failure> {
    let Here { settings, places, cwd, clock, .. } = Here::of(invocation, places.clone());
    Ok(serve::server(Ground { settings, places, cwd, clock }).into())
}

/// All reads that drip has answered; those of our own agent are its own to count.
pub fn savings(invocation: &Invocation, places: &Places) -> Result<Vec<savings::Row>, Failure> {
    let settings = Settings::read(&invocation.env);
    let root = settings.data_dir(places);
    if !Database::path(&root).exists() {
        return Ok(Vec::new());
    }
    let totals = Database::open(&root, Options::from(&settings), invocation.clock.unix_ms())
        .and_then(|database| database.totals(Scope::Lifetime))
        .map_err(|error| store_failure(&error))?;
    let row = savings::Row {
        tool: NAME.into(),
        what: "file reads".into(),
        without: totals.sums.full,
        with: totals.sums.sent + totals.sums.overhead,
    };
    Ok(if totals.sums.reads > 0 { vec![row] } else { Vec::new() })
}

pub const FILES: &[Entry] = &[
    Entry {
        path: "$XDG_DATA_HOME/drip/sessions.db",
        owner: "drip",
        holds: "what each session was shown of which file, what was said, and the sums; contents up to 32 KB",
    },
    Entry {
        path: "$XDG_DATA_HOME/drip/cache/",
        owner: "drip",
        holds: "larger contents, each named by its SHA-256",
    },
    Entry {
        path: "$XDG_DATA_HOME/drip/sessions.db.corrupt-<time>",
        owner: "drip",
        holds: "a store that was broken or another program's, set aside; `drip reset --all` removes it",
    },
    Entry {
        path: ".dripignore",
        owner: "drip",
        holds: "what is not to be read through it, as in `.gitignore`; also in ~",
    },
    Entry {
        path: "~/.claude, ~/.codex, ~/.gemini, or .claude and .gemini in a project",
        owner: "their clients",
        holds: "our hooks, our MCP server and our words, after `drip init`; `drip uninstall` gives every byte back",
    },
];

pub const VARIABLES: &[Variable] = settings::VARIABLES;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
