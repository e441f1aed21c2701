//! The pages of `docs/` that are made from the code, so that they cannot say anything else.

use std::collections::BTreeSet;

use kit::places::{self, Entry, Variable};
use kit::{Exit, invocation};

use crate::cli;
use crate::tools::{TOOLS, Tool};

const MADE: &str = "<!-- Made by `cargo xtask docs`; a test compares it with the code. -->\n";

/// What the front door itself keeps.
const FILES: &[Entry] = &[
    Entry {
        path: "$XDG_STATE_HOME/scrimp/<tool>.log",
        owner: "every tool",
        holds: "what could not be done, one JSON line per record: no source text, no prompt, no key",
    },
    Entry {
        path: "$XDG_STATE_HOME/scrimp/<tool>.log.1",
        owner: "every tool",
        holds: "the log before it reached 1 MB",
    },
];

/// Each page with its place below the project's root.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("docs/exit-codes.md", exit_codes()),
        ("docs/files.md", files(TOOLS)),
        ("docs/environment.md", environment(TOOLS)),
        ("docs/commands.md", commands(TOOLS)),
        ("docs/languages.md", format!("{MADE}{}", tldr::front::languages())),
    ]
}

fn exit_codes() -> String {
    let mut page = format!(
        "{MADE}# Exit codes\n\nThe same in every tool. Hooks always end with 0: what they serve must go on.\n\n\
         | code | meaning |\n|---|---|\n"
    );
    for (_, code, meaning) in Exit::TABLE {
        page.push_str(&format!("| {code} | {meaning} |\n"));
    }
    page
}

fn files(tools: &[Tool]) -> String {
    let mut page = format!(
        "{MADE}# Files\n\nDirectories are 0700 and files 0600. A directory that others can enter, that is a symbolic \
         link or that belongs to somebody else is refused, with the command that mends it.\n\n\
         | path | whose | holds |\n|---|---|---|\n"
    );
    for entry in FILES.iter().chain(tools.iter().flat_map(|tool| tool.files)) {
        page.push_str(&format!("| `{}` | {} | {} |\n", entry.path, entry.owner, entry.holds));
    }
    page
}

fn environment(tools: &[Tool]) -> String {
    let mut page = format!(
        "{MADE}# Environment\n\nRead once at the start. A relative path in a variable of a directory is not followed, \
         and `scrimp doctor` says so.\n\n| variable | meaning | without it |\n|---|---|---|\n"
    );
    let common: [&[Variable]; 2] = [places::VARIABLES, invocation::VARIABLES];
    let own = tools.iter().map(|tool| tool.variables);
    // Several tools may read the same one: it means the same to all of them.
    let mut told = BTreeSet::new();
    for variable in common.into_iter().chain(own).flatten().filter(|variable| told.insert(variable.name)) {
        page.push_str(&format!("| `{}` | {} | {} |\n", variable.name, variable.meaning, variable.default));
    }
    page
}

fn commands(tools: &[Tool]) -> String {
    let mut page = format!("{MADE}# Commands\n");
    // As wide as a page, whatever terminal this runs in.
    let mut command = cli::command(tools).term_width(100);
    command.build();
    describe(&mut command, &mut page);
    page
}

/// The help of a command and of everything below it.
fn describe(command: &mut clap::Command, page: &mut String) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    page.push_str(&format!("\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim_end()));
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        describe(below, page);
    }
}
