//! What was typed behind `drip`. Declares every command once: help, completions and the generated page come from here.
//! What a command does is in [`crate::commands`]; hooks are not parsed here at all, they start too often for it.

use clap::{CommandFactory, Parser, Subcommand};
use kit::Form;

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
