//! What the front door needs to know of tldr: its commands, its stop of the tour, its findings, what it saved, its files and
//! variables.

use code::language::Language;
use kit::doctor::Check;
use kit::places::{Entry, Variable};
use kit::{Failure, Invocation, Places, savings};
use mcp::Part;
use wire::tldr::{DaemonCommand, DaemonResponse, Request};

use crate::client::{self, Asked};
use crate::door::Door;
use crate::index::Lifetime;
use crate::root::Root;
use crate::settings::Settings;
use crate::{cache, cli, serve, usage};

pub use crate::tour::stop as tour;

pub const NAME: &str = "tldr";
pub const ABOUT: &str = "Code questions answered from a warm index instead of from whole files";

pub fn command() -> clap::Command {
    cli::command()
}

/// About the project that we stand in.
pub fn doctor(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let Ok(root) = Root::find(&invocation.cwd) else { return Vec::new() };
    let mut checks = vec![daemon(&root, places)];
    let settings = Settings::read(&root);
    checks.extend(
        settings
            .warnings
            .iter()
            .map(|warning| Check::warn(NAME, warning.clone()).hint("its keys are in docs/tldr.md")),
    );
    if let Some(contents) = cache::contents(&root) {
        let files = &contents.cache_files;
        checks.push(Check::ok(NAME, format!("cache: {} in .tldr/cache", files.total_size_human)));
    }
    checks
}

fn daemon(root: &Root, places: &Places) -> Check {
    let status = Request::new(DaemonCommand::Status);
    match client::ask(root, places, &status, client::GREETING) {
        Ok(Asked::NotRunning) => {
            Check::ok(NAME, "no daemon runs for this project: answers are made on the spot")
        }
        Ok(Asked::Said(line)) => match serde_json::from_str(&line) {
            Ok(DaemonResponse::FullStatus(status)) => {
                Check::ok(NAME, format!("daemon: {} files, up {}", status.files, status.uptime_human))
            }
            _ => Check::fail(NAME, "what listens for this project is no daemon of ours")
                .hint("`tldr daemon stop`"),
        },
        Err(failure) => Check::fail(NAME, failure.to_string().trim_start_matches("error: ").to_owned())
            .hint("`tldr daemon stop`"),
    }
}

/// Its tools for clients that speak the Model Context Protocol, about the project that we stand in.
pub fn mcp(invocation: &Invocation, places: &Places) -> Result<Part, Failure> {
    let root = Root::find(&invocation.cwd)?;
    Ok(serve::server(Door::new(root, places.clone(), invocation.env.clone(), Lifetime::Long)).into())
}

/// Questions that a daemon was asked, in all projects.
pub fn savings(_: &Invocation, places: &Places) -> Result<Vec<savings::Row>, Failure> {
    let row = |totals: usage::Totals| savings::Row {
        tool: NAME.into(),
        what: "questions about code".into(),
        without: totals.raw_tokens_total,
        with: totals.tldr_tokens_total,
    };
    Ok(usage::totals(places)?.map(row).into_iter().collect())
}

pub const FILES: &[Entry] = &[
    Entry { path: ".tldr/config.json", owner: "you", holds: "what a project says about its daemon" },
    Entry {
        path: ".tldr/cache/facts.bin",
        owner: "tldr",
        holds: "what each file of the project says, by its hash; made again when it is gone",
    },
    Entry {
        path: ".tldr/cache/meaning.bin",
        owner: "tldr",
        holds: "what all uses in those files mean, so that a restart need not work it out again",
    },
    Entry {
        path: ".tldr/cache/call_graph.json",
        owner: "tldr",
        holds: "the call graph of the last `tldr warm`, for other programs",
    },
    Entry {
        path: ".tldr/cache/salsa_stats.json",
        owner: "tldr",
        holds: "how often a kept answer was of use",
    },
    Entry {
        path: ".tldr/cache/vectors.bin",
        owner: "tldr",
        holds: "what each function is about, by the hash of its text; only with a model",
    },
    Entry {
        path: "$XDG_DATA_HOME/scrimp/tldr/models/",
        owner: "tldr",
        holds: "sentence encoders that `tldr model add` was given",
    },
    Entry { path: ".tldrignore", owner: "you", holds: "what tldr does not look at, as in `.gitignore`" },
    Entry {
        path: "~/.tldr/stats.jsonl",
        owner: "tldr",
        holds: "how much was asked and how long the answers were, never what",
    },
    Entry {
        path: "$TMPDIR/tldr-<hash>.sock, $TMPDIR/tldr-<hash>.pid",
        owner: "tldr",
        holds: "the daemon of one project: where it is met, and the lock that makes it the only one",
    },
];

pub const VARIABLES: &[Variable] = &[];

/// The page that says what is known of which language.
pub fn languages() -> String {
    let mut page = String::from(
        "# Languages\n\n`tree` and `search` take every text. All other questions are answered for these; the flows of a function \
         (`cfg`, `dfg`, `slice`) where it says so.\n\n| language | `--lang` | files | flows |\n|---|---|---|---|\n",
    );
    for language in Language::ALL {
        let table = language.table();
        let endings: Vec<String> = table.dialects.iter().map(|(ending, _)| format!("`.{ending}`")).collect();
        let flows = if code::flow::supports(language) { "yes" } else { "no" };
        page.push_str(&format!("| {} | `{}` | {} | {flows} |\n", table.title, table.name, endings.join(" ")));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
