//! What was typed behind `drip`. Declares every command once: help, completions and the generated page come from here.
//! What a command does is in [`crate::commands`]; hooks are not parsed here at all, they start too often for it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use kit::{Failure, Form, Invocation, Page, usage};

use crate::commands::{
    cache, completions, doctor, init, mcp, meter, read, refresh, registry, replay, reset, sessions,
    source_map, verify, watch, why,
};

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
    pub(crate) command: Option<Command>,
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
    /// Say what was saved, and what it cost
    Meter(meter::Args),
    /// List who reads here
    Sessions(sessions::Args),
    /// Show what was sent, answer by answer
    Replay(replay::Args),
    /// Explain the last answer about a file in one line
    Why(why::Args),
    /// Check that the answers on record, applied in their order, give the contents on record
    Verify(verify::Args),
    /// Tell which lines of a file the lines of a shortened read stand for
    SourceMap(source_map::Args),
    /// What is remembered of files from one session to the next
    Registry(registry::Args),
    /// Contents that are kept as files beside the database
    Cache(cache::Args),
    /// Find what keeps drip from working, and say how to mend it
    Doctor(doctor::Args),
    /// Let a client's reads go through drip
    Init(init::InitArgs),
    /// Take drip out of a client's files, to the last byte
    Uninstall(init::UninstallArgs),
    /// Compare files as soon as they change, so that the next read finds it done
    Watch(watch::Args),
    /// Serve the Model Context Protocol on the standard streams
    Mcp(mcp::Args),
    /// Answer a client's hook: JSON on standard input, JSON or nothing on standard output
    Hook {
        /// Which hook of which client
        name: Option<String>,
    },
    /// Print a completion script for a shell
    Completions(completions::Args),
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
    if Page::of(invocation).colour { rendered.ansi().to_string() } else { rendered.to_string() }
}

/// What the parser did not understand, in our words, and what was probably meant.
pub(crate) fn usage(error: &clap::Error, invocation: &Invocation) -> Failure {
    let mut spoken = invocation.program.spoken();
    let mut command = command();
    for word in invocation.args.iter().filter_map(|arg| arg.to_str()).filter(|arg| !arg.starts_with('-')) {
        let Some(below) = command.find_subcommand(word).cloned() else { break };
        spoken.push_str(&format!(" {word}"));
        command = below;
    }
    if let ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand = error.kind() {
        let below: Vec<&str> = command
            .get_subcommands()
            .filter(|below| !below.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        return Failure::usage(format!("`{spoken}` needs a subcommand: {}", below.join(", ")))
            .hint(format!("`{spoken} --help`"));
    }
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.as_str()),
        ContextValue::Strings(words) => words.first().map(String::as_str),
        _ => None,
    });
    usage::refused(&error.render().to_string(), meant, &spoken)
}
