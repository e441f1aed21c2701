//! What was typed, and what it means. Declares the front door's own commands once: help, completions and the
//! generated page come from here.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use kit::{Failure, Form, Invocation, Page, usage};

use crate::tools::{Alone, Tool};

/// What is wanted.
pub(crate) enum Request {
    Welcome,
    Tour,
    Doctor(Form),
    Savings(Form),
    Mcp,
    Completions(Shell),
}

impl Request {
    /// How a failure is to be told.
    pub(crate) fn form(&self) -> Form {
        match self {
            Request::Doctor(form) | Request::Savings(form) => *form,
            Request::Welcome | Request::Tour | Request::Mcp | Request::Completions(_) => Form::Text,
        }
    }
}

#[derive(Parser)]
#[command(name = "scrimp", version, about = "Spend tokens like they are yours", max_term_width = 100)]
struct Typed {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Show what scrimp does, here and now, without installing anything
    Tour,
    /// Say what works on this machine and what does not
    Doctor {
        /// Print one JSON object for programs
        #[arg(long)]
        json: bool,
    },
    /// Add up what the tools have saved
    Savings {
        /// Print one JSON object for programs
        #[arg(long)]
        json: bool,
    },
    /// Serve an agent: every tool that reads and answers, as one MCP server on standard input and output
    Mcp,
    /// Print a completion script for a shell
    Completions { shell: Shell },
}

/// The whole command line with the tools in it.
pub(crate) fn command(tools: &[Tool]) -> clap::Command {
    let own = Typed::command();
    tools
        .iter()
        .fold(own, |command, tool| command.subcommand((tool.command)().name(tool.name).about(tool.about)))
}

pub(crate) fn parse(invocation: &Invocation, tools: &[Tool]) -> Result<Request, clap::Error> {
    let typed = [OsString::from("scrimp")].into_iter().chain(invocation.args.iter().cloned());
    let matches = command(tools).try_get_matches_from(typed)?;
    let form = |json| if json { Form::Json } else { Form::Text };
    Ok(match Typed::from_arg_matches(&matches)?.command {
        None => Request::Welcome,
        Some(Command::Tour) => Request::Tour,
        Some(Command::Doctor { json }) => Request::Doctor(form(json)),
        Some(Command::Savings { json }) => Request::Savings(form(json)),
        Some(Command::Mcp) => Request::Mcp,
        Some(Command::Completions { shell }) => Request::Completions(shell),
    })
}

/// Help or version, coloured only for somebody who looks at it and does not mind.
pub(crate) fn help(asked: &clap::Error, invocation: &Invocation) -> String {
    let rendered = asked.render();
    if Page::of(invocation).colour { rendered.ansi().to_string() } else { rendered.to_string() }
}

/// What the parser did not understand, in our words, and what was probably meant.
pub(crate) fn usage(error: &clap::Error) -> Failure {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.as_str()),
        ContextValue::Strings(words) => words.first().map(String::as_str),
        _ => None,
    });
    usage::refused(&error.render().to_string(), meant, "scrimp")
}

pub(crate) fn completions(tools: &[Tool], shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(tools), "scrimp", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The first screen. Whatever could be opened here and is not ready says what it needs.
pub(crate) fn welcome(invocation: &Invocation, tools: &[Tool]) -> String {
    let mut lines = format!("scrimp {} · spend tokens like they are yours\n\n", env!("CARGO_PKG_VERSION"));
    let own = [
        ("tour", "what it does, shown here in a few seconds; nothing is installed"),
        ("doctor", "what works on this machine and what does not"),
        ("savings", "what was saved so far"),
        ("mcp", "reads and code questions for an agent: `claude mcp add scrimp -- scrimp mcp`"),
    ];
    for (name, about) in own.into_iter().chain(tools.iter().map(|tool| (tool.name, tool.about))) {
        lines.push_str(&format!("  scrimp {name:<10} {about}\n"));
    }
    let places = invocation.env.places().ok();
    for tool in tools {
        if let (Alone::Open { is_ready, how }, Some(places)) = (tool.alone, &places)
            && !is_ready(&invocation.env, places)
        {
            lines.push_str(&format!("\n{how}"));
        }
    }
    lines
}
