//! What a person types: each command turns words into a question and the answer into lines.

mod ask;
mod cache;
mod daemon;
mod graph;
mod model;
mod stats;
mod warm;
mod welcome;

use std::io::Write;

use kit::{Exit, Failure, Form, Invocation};
use serde::Serialize;
use serde_json::json;

use crate::cli::{self, Command, Format, McpArgs, Typed};
use crate::door::Door;
use crate::index::Lifetime;
use crate::progress;
use crate::root::Root;
use crate::serve;

/// Runs `tldr`.
pub fn run(mut invocation: Invocation) -> Exit {
    let result = match cli::parse(&invocation) {
        Ok(Typed { command: Some(command) }) => dispatch(&mut invocation, &command),
        Ok(Typed { command: None }) => welcome::run(&mut invocation),
        // Help and version were asked for and go to standard output; anything else is wrong usage.
        Err(error) if error.use_stderr() => Err(cli::usage(&error, &invocation)),
        Err(error) => invocation.print(&cli::help(&error, &invocation)).map(|()| Exit::Done),
    };
    invocation.conclude(result, Form::Text)
}

fn dispatch(invocation: &mut Invocation, command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Ask(asked) => ask::run(invocation, asked),
        Command::Warm(args) => warm::run(invocation, args),
        Command::Daemon(args) => daemon::run(invocation, args),
        Command::Cache(args) => cache::run(invocation, args),
        Command::Model(args) => model::run(invocation, args),
        Command::Stats(args) => stats::run(invocation, args),
        Command::Graph(args) => graph::run(invocation, args),
        Command::Mcp(args) => mcp(invocation, args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut cli::command(), "tldr", &mut script);
            invocation.print(&String::from_utf8_lossy(&script)).map(|()| Exit::Done)
        }
    }
}

fn mcp(invocation: &mut Invocation, args: &McpArgs) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&args.project))?;
    let door = Door::new(root, invocation.places()?, invocation.env.clone(), Lifetime::Long);
    let stdin = std::mem::replace(&mut invocation.stdin, Box::new(std::io::empty()));
    serve::run(door, stdin, &mut invocation.stdout)
}

/// Asks while a terminal shows how far the reading of files has come.
fn waiting<T>(invocation: &mut Invocation, door: &Door, ask: impl FnOnce() -> T) -> T {
    let stream: &mut (dyn Write + Send) = &mut *invocation.stderr;
    progress::shown(invocation.terminal.stderr.then_some(stream), door.progress(), ask)
}

/// Prints an answer for programs, or what `text` makes of it for people.
fn show(
    invocation: &mut Invocation,
    format: Format,
    answer: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<Exit, Failure> {
    let said = match format {
        Format::Json => {
            format!("{}\n", serde_json::to_string(answer).expect("our answers have text for keys"))
        }
        Format::Text | Format::Dot => text(),
    };
    invocation.print(&said).map(|()| Exit::Done)
}

/// A state in which there is nothing to tell.
fn message(invocation: &mut Invocation, format: Format, words: &str) -> Result<Exit, Failure> {
    show(invocation, format, &json!({"message": words}), || format!("{words}\n"))
}
