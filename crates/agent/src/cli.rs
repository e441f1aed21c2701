//! What was typed behind `agent`. Declares every flag and command once: help, completions and the generated page come
//! from here. What a command does is in [`crate::commands`].

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use kit::{Failure, Form, Invocation, Page, usage};

use crate::permission::Mode;

#[derive(Debug, Parser)]
#[command(
    name = "agent",
    version,
    about = "A coding agent in your terminal: five tools, small requests, and a history that is never invalid",
    after_help = "Without a prompt it opens a conversation. What is piped in is sent too, after the prompt.\n\
                  A prompt that is the name of a command: agent -- doctor",
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
pub(crate) struct Typed {
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Typed {
    pub(crate) fn form(&self) -> Form {
        let json = match &self.command {
            Some(Command::Contexts { json } | Command::Doctor { json } | Command::Export { json, .. }) => {
                *json
            }
            _ => self.talk.json,
        };
        if json { Form::Json } else { Form::Text }
    }
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Talk {
    /// What to do
    pub(crate) prompt: Vec<String>,
    #[command(flatten)]
    pub(crate) provider: Provider,
    /// The most tokens of one reply
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u32>,
    /// What may be done without asking; by default `ask`, and `read-only` where nobody can be asked
    #[arg(long, value_name = "MODE", value_parser = MODES.map(|mode| mode.name()))]
    permission: Option<String>,
    /// Go on with the last conversation of this directory
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) go_on: bool,
    /// Go on with this conversation
    #[arg(long, value_name = "NAME")]
    pub(crate) resume: Option<String>,
    /// Stream events as JSON lines, for programs
    #[arg(long)]
    pub(crate) json: bool,
    /// Let commands write anywhere and reach the network
    #[arg(long)]
    pub(crate) no_sandbox: bool,
    /// Let commands reach the network
    #[arg(long)]
    pub(crate) network: bool,
    /// End when this much is spent
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) max_usd: Option<f64>,
    /// Show what tools are given and what they give
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl Talk {
    /// For a model that we have written ourselves, in a directory that we throw away.
    pub(crate) fn scripted(provider: Provider) -> Talk {
        Talk { provider, permission: Some(Mode::All.name().to_owned()), no_sandbox: true, ..Talk::default() }
    }

    pub(crate) fn permission(&self) -> Option<Mode> {
        self.permission.as_deref().and_then(Mode::named)
    }
}

/// From the least to the most.
const MODES: [Mode; 4] = [Mode::ReadOnly, Mode::Ask, Mode::Edits, Mode::All];

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Provider {
    /// The model, or script:FILE for one that is played from a file
    #[arg(short, long)]
    pub(crate) model: Option<String>,
    /// The base of the provider's address
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,
    /// anthropic, openrouter, or openai and every server that speaks like it
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the conversations that can be gone on with
    Contexts {
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Write a conversation to `.entire/metadata`, for tools that read that
    Export {
        /// Which conversation; the last one of this directory if none is named
        name: Option<String>,
        /// The directory that gets it; this one if none is named
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Show or write the configuration
    Config {
        #[command(subcommand)]
        action: Config,
    },
    /// Find what keeps the agent from working, and say how to mend it
    Doctor {
        /// Print JSON for programs
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum Config {
    /// Write a file with every setting and what it means
    Init,
    /// Say which provider is asked, how, and where each setting comes from
    Show,
}

/// The whole command line, for help, completions and the front door.
pub(crate) fn command() -> clap::Command {
    Typed::command()
}

pub(crate) fn parse(invocation: &Invocation) -> Result<Typed, clap::Error> {
    let spoken = invocation.program.spoken();
    let words = [OsString::from("agent")].into_iter().chain(invocation.args.iter().cloned());
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
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.as_str()),
        ContextValue::Strings(words) => words.first().map(String::as_str),
        _ => None,
    });
    usage::refused(&error.render().to_string(), meant, &invocation.program.spoken())
}

pub(crate) fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "agent", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Typed {
        Typed::try_parse_from([&["agent"], words].concat()).unwrap()
    }

    #[test]
    fn words_are_a_prompt_and_a_command_is_only_a_command_in_front() {
        assert_eq!(typed(&["fix", "the", "config"]).talk.prompt, ["fix", "the", "config"]);
        assert!(matches!(typed(&["config", "init"]).command, Some(Command::Config { action: Config::Init })));
        assert_eq!(typed(&["--", "doctor"]).talk.prompt, ["doctor"]);
        assert_eq!(typed(&["-m", "x", "doctor"]).talk.prompt, ["doctor"]);
        command().debug_assert();
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        assert!(Typed::try_parse_from(["agent", "--continue", "--resume", "x"]).is_err());
        assert!(Typed::try_parse_from(["agent", "--permission", "everything"]).is_err());
    }
}
