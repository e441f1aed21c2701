//! What was typed behind `drip`. Declares every command once: help, completions and the generated page come from here.
//! What a command does is in [`crate::commands`]; hooks are not parsed here at all, they start too often for it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use kit::{Failure, Form, Invocation};

use crate::commands::{read, refresh, reset};

#[derive(Debug, Parser)]
#[command(
    name = "drip",
    version,
    about = "An agent that reads a file again gets what changed, not the file",
    max_term_width = 100
)]
pub(crate) struct Typed {
    /// Print JSON for programs
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Typed {
    pub(crate) fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read a file as an agent would: all of it, what changed, or one line that nothing did
    Read(read::Args),
    /// Forget what was shown of a file, in every session: the next read sends it whole
    Refresh(refresh::Args),
    /// Forget this session, the counters, or everything
    Reset(reset::Args),
    /// Answer a client's hook: JSON on standard input, JSON or nothing on standard output
    Hook {
        /// Which hook of which client
        name: Option<String>,
    },
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

/// The whole command line, for help, completions and the front door.
pub(crate) fn command() -> clap::Command {
    Typed::command()
}

pub(crate) fn parse(invocation: &Invocation) -> Result<Typed, clap::Error> {
    let spoken = invocation.program.spoken();
    let words = [OsString::from("drip")].into_iter().chain(invocation.args.iter().cloned());
    let matches = command().bin_name(spoken).try_get_matches_from(words)?;
    Typed::from_arg_matches(&matches)
}

/// Help or version, coloured only for somebody who looks at it and does not mind.
pub(crate) fn help(asked: &clap::Error, invocation: &Invocation) -> String {
    let rendered = asked.render();
    if invocation.terminal.stdout && invocation.env.text("NO_COLOR").is_none() {
        return rendered.ansi().to_string();
    }
    rendered.to_string()
}

/// What the parser did not understand, in our words: its first line, and what was probably meant.
pub(crate) fn usage(error: &clap::Error, invocation: &Invocation) -> Failure {
    let mut spoken = invocation.program.spoken();
    let first = invocation.args.iter().filter_map(|arg| arg.to_str()).find(|arg| !arg.starts_with('-'));
    if let Some(name) = first.filter(|name| command().find_subcommand(name).is_some()) {
        spoken.push_str(&format!(" {name}"));
    }
    let said = error.render().to_string();
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    // A list of what is missing stands on the lines below.
    let words = match first.strip_suffix(':') {
        Some(head) => format!("{head}: {}", lines.next().unwrap_or_default()),
        None => first.to_owned(),
    };
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => words.first().cloned(),
        _ => None,
    });
    match meant {
        Some(word) => Failure::usage(words)
            .hint(format!("did you mean `{word}`? `{spoken} --help` lists what there is")),
        None => Failure::usage(words).hint(format!("`{spoken} --help`")),
    }
}
