//! What was typed behind `clai`. Declares every command once: help, completions and the generated page come from here.
//! What a command does is in [`crate::commands`].

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use kit::{Failure, Form, Invocation, Page, usage};

use crate::command;
use crate::commands::{
    config, daemon, dismiss, eval, forget, history, import, init, pause, replay, search, suggest, tasks, why,
};

#[derive(Debug, Parser)]
#[command(
    name = "clai",
    version,
    about = "Your next command, learned from what you do: no language model, nothing leaves this machine",
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
    /// Print the script that your shell loads: eval "$(clai init bash)"
    Init(init::Args),
    /// Say what you will probably run next
    Suggest(suggest::Args),
    /// Explain the suggestions: what each part of the score is
    Why(why::Args),
    /// Tell what was not kept, or not as it was, and why
    WhyNot,
    /// Do not offer a line until you run it again
    Dismiss(dismiss::Args),
    /// Find commands that contain a text
    Search(search::Args),
    /// List the commands that were kept, the newest last
    History(history::Args),
    /// Say what the history holds, in numbers
    Stats,
    /// List what the project around here offers to run
    Tasks(tasks::Args),
    /// Take in the history that your shell or atuin has kept
    Import(import::Args),
    /// Forget commands, so that no byte of them is left
    Forget(forget::Args),
    /// Keep and learn nothing for a while
    Pause(pause::Args),
    /// End a pause
    Resume,
    /// Measure how well your own history could be foreseen
    Replay(replay::Args),
    /// Serve an evaluator: JSON lines on standard input, suggestions on standard output
    Eval(eval::Args),
    /// Say how the daemon is
    Status,
    /// Find what keeps clai from working, and say how to mend it
    Doctor,
    /// Show or write the configuration
    Config(config::Args),
    /// Start, stop or ask the daemon
    Daemon(daemon::Args),
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

/// The shells that we have a script for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    pub(crate) const ALL: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
        }
    }

    /// The shell of somebody whose `$SHELL` is this.
    pub(crate) fn of_path(path: &str) -> Option<Shell> {
        let name = path.rsplit('/').next()?;
        Shell::ALL.into_iter().find(|shell| shell.name() == name)
    }
}

impl From<Shell> for command::Shell {
    fn from(shell: Shell) -> command::Shell {
        match shell {
            Shell::Bash => command::Shell::Bash,
            Shell::Zsh => command::Shell::Zsh,
            Shell::Fish => command::Shell::Fish,
        }
    }
}

/// The whole command line, for help, completions and the front door.
pub(crate) fn command() -> clap::Command {
    Typed::command()
}

pub(crate) fn parse(invocation: &Invocation) -> Result<Typed, clap::Error> {
    let spoken = invocation.program.spoken();
    let words = [OsString::from("clai")].into_iter().chain(invocation.args.iter().cloned());
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
    let first = invocation.args.iter().filter_map(|arg| arg.to_str()).find(|arg| !arg.starts_with('-'));
    if let Some(name) = first.filter(|name| command().find_subcommand(name).is_some()) {
        spoken.push_str(&format!(" {name}"));
    }
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.as_str()),
        ContextValue::Strings(words) => words.first().map(String::as_str),
        _ => None,
    });
    usage::refused(&error.render().to_string(), meant, &spoken)
}
