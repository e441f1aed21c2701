//! What a person types: each command turns words into a question to the store and the answer into lines. What is sent to
//! an agent is decided elsewhere.

pub(crate) mod cache;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod init;
pub(crate) mod mcp;
pub(crate) mod meter;
mod picked;
pub(crate) mod read;
pub(crate) mod refresh;
pub(crate) mod registry;
pub(crate) mod replay;
pub(crate) mod reset;
pub(crate) mod sessions;
pub(crate) mod source_map;
pub(crate) mod times;
pub(crate) mod verify;
pub(crate) mod watch;
mod welcome;
pub(crate) mod why;

use std::io::Write;
use std::path::{Path, PathBuf};

use kit::invocation::{Clock, Environment, Program};
use kit::log::Log;
use kit::{Exit, Failure, Form, Invocation, Page, Places, text};
use serde::Serialize;
use store::sqlite::Note;

use crate::caller::Caller;
use crate::cli::{self, Command, Typed};
use crate::database::{Database, DatabaseError, Options};
use crate::hook;
use crate::ignored::{self, Ignored};
use crate::session::{self, AgentId, Parent};
use crate::settings::Settings;

/// Runs `drip`.
pub fn run(mut invocation: Invocation) -> Exit {
    // Hooks start too often for a parser, and speak JSON anyway.
    let flags = invocation.args.iter().take_while(|word| *word == "--json").count();
    if invocation.args.get(flags).is_some_and(|word| word == "hook") {
        invocation.args.drain(..flags);
        return hook::run(invocation);
    }
    let typed = match cli::parse(&invocation) {
        Ok(typed) => typed,
        Err(error) => return refuse(&mut invocation, &error),
    };
    let form = typed.form();
    let result = dispatch(&mut invocation, typed);
    invocation.conclude(result, form)
}

/// Help and version were asked for and go to standard output; anything else is wrong usage.
fn refuse(invocation: &mut Invocation, error: &clap::Error) -> Exit {
    let result = match error.use_stderr() {
        true => Err(cli::usage(error, invocation)),
        false => invocation.print(&cli::help(error, invocation)).map(|()| Exit::Done),
    };
    let json = invocation.args.iter().any(|arg| arg == "--json");
    invocation.conclude(result, if json { Form::Json } else { Form::Text })
}

fn dispatch(invocation: &mut Invocation, typed: Typed) -> Result<Exit, Failure> {
    let form = typed.form();
    let places = invocation.places()?;
    let here = Here::of(invocation, places);
    let call = &mut Call { invocation, here, form };
    let Some(command) = typed.command else { return welcome::run(call) };
    match command {
        Command::Read(args) => read::run(call, &args),
        Command::Refresh(args) => refresh::run(call, &args),
        Command::Reset(args) => reset::run(call, &args),
        Command::Meter(args) => meter::run(call, &args),
        Command::Sessions(args) => sessions::run(call, &args),
        Command::Replay(args) => replay::run(call, &args),
        Command::Why(args) => why::run(call, &args),
        Command::Verify(args) => verify::run(call, &args),
        Command::SourceMap(args) => source_map::run(call, &args),
        Command::Registry(args) => registry::run(call, &args),
        Command::Cache(args) => cache::run(call, &args),
        Command::Doctor(args) => doctor::run(call, &args),
        Command::Init(args) => init::init(call, &args),
        Command::Uninstall(args) => init::uninstall(call, &args),
        Command::Watch(args) => watch::run(call, &args),
        Command::Mcp(args) => mcp::run(call, &args),
        Command::Hook { .. } => unreachable!("hooks are answered before anything is parsed"),
        Command::Completions(args) => completions::run(call, &args),
    }
}

/// One command on its way: the world it may see, and how it is to be answered.
pub(crate) struct Call<'a> {
    pub(crate) invocation: &'a mut Invocation,
    pub(crate) here: Here,
    pub(crate) form: Form,
}

impl Call<'_> {
    /// Prints `answer` for programs, or what `text` makes of it for people.
    pub(crate) fn show(
        &mut self,
        answer: &impl Serialize,
        text: impl FnOnce(&Page) -> String,
    ) -> Result<Exit, Failure> {
        let said = match self.form {
            Form::Json => {
                let json = serde_json::to_string(answer).expect("our answers have text for keys");
                format!("{json}\n")
            }
            Form::Text => text(&Page::of(self.invocation)),
        };
        self.invocation.print(&said).map(|()| Exit::Done)
    }

    /// A word to the person, not part of the answer. Not being able to say it changes nothing.
    pub(crate) fn say(&mut self, line: &str) {
        let _ = writeln!(self.invocation.stderr, "{}", text::plain(line));
    }
}

/// What a command may see of the world without touching it.
pub(crate) struct Here {
    pub(crate) program: Program,
    pub(crate) env: Environment,
    pub(crate) cwd: PathBuf,
    pub(crate) clock: Clock,
    pub(crate) places: Places,
    pub(crate) settings: Settings,
}

impl Here {
    pub(crate) fn of(invocation: &Invocation, places: Places) -> Here {
        Here {
            program: invocation.program.clone(),
            env: invocation.env.clone(),
            cwd: invocation.cwd.clone(),
            clock: invocation.clock.clone(),
            settings: Settings::read(&invocation.env),
            places,
        }
    }

    /// Where the store is.
    pub(crate) fn root(&self) -> PathBuf {
        self.settings.data_dir(&self.places)
    }

    pub(crate) fn database(&self) -> Result<Database, DatabaseError> {
        let opened = Database::open(&self.root(), Options::from(&self.settings), self.clock.unix_ms());
        match &opened {
            Ok(database) => {
                for note in database.notes() {
                    if let Note::SetAside { kept_as, reason, .. } = note {
                        self.trouble("the store was set aside", &format!("{reason}: {}", kept_as.display()));
                    }
                }
            }
            Err(error) => self.trouble("the store cannot be used", &error.to_string()),
        }
        opened
    }

    /// For `doctor`. What cannot be written down is not worth failing for.
    pub(crate) fn trouble(&self, event: &str, error: &str) {
        let _ = Log::of("drip", &self.places).record(self.clock.unix_ms(), event, &[("error", error)]);
    }

    /// The store, for a command that only looks: where nothing was ever kept, nothing is made.
    pub(crate) fn stored(&self) -> Result<Option<Database>, Failure> {
        match Database::path(&self.root()).exists() {
            true => self.needed_database().map(Some),
            false => Ok(None),
        }
    }

    /// The store, for a command that is nothing without it.
    pub(crate) fn needed_database(&self) -> Result<Database, Failure> {
        self.database().map_err(|error| store_failure(&error))
    }

    /// The session of whoever types here.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            session: session::derive(&self.settings.session, &self.cwd, Parent::of_this_process()),
            agent: AgentId::main(),
            cwd: self.cwd.clone(),
            client: self.settings.agent,
            call: None,
        }
    }

    /// Seconds, as the store counts.
    pub(crate) fn now(&self) -> i64 {
        self.clock.unix_ms() / 1000
    }

    /// A path as somebody who is here would call it.
    pub(crate) fn short(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(inside) if !inside.as_os_str().is_empty() => inside.display().to_string(),
            _ => self.places.tilde(path),
        }
    }

    pub(crate) fn ignored(&self) -> Ignored {
        Ignored::load(ignored::Places {
            cwd: &self.cwd,
            home: Some(&self.places.home),
            extra: self.settings.ignore_file.as_deref(),
        })
    }
}

/// Why the store cannot be used, in words.
pub(crate) fn store_failure(error: &DatabaseError) -> Failure {
    let failure = Failure::new("cannot use the store").because(error);
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure.hint("`drip doctor`"),
    }
}

/// The same in one line, for those who go on without it.
pub(crate) fn store_trouble(error: &DatabaseError) -> String {
    let failure = store_failure(error).to_string();
    let first = failure.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}

/// `-1,234` or `1,234`.
pub(crate) fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", text::thousands(number.unsigned_abs()))
}

/// To one digit behind the point.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// `912 B`, `31.4 KB`, `2.0 MB`.
pub(crate) fn bytes(count: u64) -> String {
    let scaled = |unit: u64, name: &str| format!("{:.1} {name}", count as f64 / unit as f64);
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => scaled(1_000, "KB"),
        1_000_000..1_000_000_000 => scaled(1_000_000, "MB"),
        _ => scaled(1_000_000_000, "GB"),
    }
}
