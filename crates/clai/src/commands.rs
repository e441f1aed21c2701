//! What a person types: each command turns words into a question to the daemon or the database, and the answer into
//! lines. Nothing here learns, ranks or writes a table.

mod alone;
mod completions;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod dismiss;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod forget;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod pause;
pub(crate) mod replay;
pub(crate) mod search;
mod stats;
mod status;
pub(crate) mod suggest;
pub(crate) mod tasks;
pub(crate) mod times;
mod welcome;
pub(crate) mod why;
mod why_not;

use std::io::Write;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use kit::invocation::place_failure;
use kit::places::look_private;
use kit::{Exit, Failure, Form, Invocation, Places, text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::endpoint::clai_dir;

use crate::cli::{self, Command, Typed};
use crate::command::SessionId;
use crate::config::{Config, Loaded, database_dir, load};
use crate::daemon::{AskFailure, Done, Request, ask, ensure};
use crate::database::{DatabaseError, Query, Reader};

/// How long a daemon that is there may take for an ordinary answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs `clai`.
pub fn run(mut invocation: Invocation) -> Exit {
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
    let call = &mut Call { invocation, places, form };
    match typed.command {
        None => welcome::run(call),
        Some(Command::Init(args)) => init::run(call, &args),
        Some(Command::Suggest(args)) => suggest::run(call, &args),
        Some(Command::Why(args)) => why::run(call, &args),
        Some(Command::WhyNot) => why_not::run(call),
        Some(Command::Dismiss(args)) => dismiss::run(call, &args),
        Some(Command::Search(args)) => search::run(call, &args),
        Some(Command::History(args)) => history::run(call, &args),
        Some(Command::Stats) => stats::run(call),
        Some(Command::Tasks(args)) => tasks::run(call, &args),
        Some(Command::Import(args)) => import::run(call, &args),
        Some(Command::Forget(args)) => forget::run(call, &args),
        Some(Command::Pause(args)) => pause::run(call, &args),
        Some(Command::Resume) => pause::resume(call),
        Some(Command::Replay(args)) => replay::run(call, &args),
        Some(Command::Eval(args)) => eval::run(call, &args),
        Some(Command::Status) => status::run(call),
        Some(Command::Doctor) => doctor::run(call),
        Some(Command::Config(args)) => config::run(call, &args),
        Some(Command::Daemon(args)) => daemon::run(call, &args),
        Some(Command::Completions { shell }) => completions::run(call, shell),
    }
}

/// One command on its way: the world it may see, and how it is to be answered.
pub(crate) struct Call<'a> {
    pub(crate) invocation: &'a mut Invocation,
    pub(crate) places: Places,
    pub(crate) form: Form,
}

impl Call<'_> {
    /// Prints `answer` for programs, or what `text` makes of it for people.
    fn show(&mut self, answer: &impl Serialize, text: impl FnOnce(&Page) -> String) -> Result<Exit, Failure> {
        let said = match self.form {
            Form::Json => {
                let json = serde_json::to_string(answer).expect("our answers have text for keys");
                format!("{json}\n")
            }
            Form::Text => text(&self.page()),
        };
        self.invocation.print(&said).map(|()| Exit::Done)
    }

    /// A word to the person, not part of the answer. Not being able to say it changes nothing.
    fn say(&mut self, line: &str) {
        let _ = writeln!(self.invocation.stderr, "{}", text::plain(line));
    }

    fn page(&self) -> Page {
        Page { page: kit::Page::of(self.invocation), now: self.invocation.clock.unix_ms() }
    }

    /// Asks a daemon that is running.
    fn ask<T: DeserializeOwned>(&self, request: &Request) -> Result<T, AskFailure> {
        self.ask_for(request, PATIENCE)
    }

    fn ask_for<T: DeserializeOwned>(&self, request: &Request, patience: Duration) -> Result<T, AskFailure> {
        ask(&self.places, &self.invocation.env, request, patience)
    }

    /// Asks, and starts the daemon first where none is running.
    fn ask_started<T: DeserializeOwned>(&self, request: &Request, patience: Duration) -> Result<T, Failure> {
        match self.ask_for(request, patience) {
            Err(AskFailure::Absent) => {
                self.start_daemon()?;
                self.ask_for(request, patience).map_err(Failure::from)
            }
            answered => answered.map_err(Failure::from),
        }
    }

    fn start_daemon(&self) -> Result<crate::daemon::Started, Failure> {
        // A daemon that finds no place to stand has none to tell it in, either.
        for directory in [self.database_dir()?, clai_dir(&self.places)] {
            look_private(&directory, self.places.uid)
                .map_err(|error| place_failure("the daemon cannot be started", &error))?;
        }
        let program = self.invocation.program.sibling("clai-daemon")?;
        ensure(&program, &self.places, &self.invocation.env)
    }

    /// The history as it is now, or `None` where nothing was ever kept. What a running daemon has heard is written
    /// first.
    fn reader(&self) -> Result<Option<Reader>, Failure> {
        // Without a daemon everything is written; one that does not answer must not hide what is.
        let _ = self.ask_for::<Done>(&Request::Flush, Duration::from_secs(1));
        let directory = self.database_dir()?;
        Reader::open(&directory, self.now())
            .map_err(|error| database_failure("cannot open the history", &error))
    }

    fn database_dir(&self) -> Result<PathBuf, Failure> {
        database_dir(&self.invocation.env, &self.places)
    }

    fn config(&mut self) -> Result<Config, Failure> {
        let Loaded { config, warnings, .. } = load(&self.places, &self.invocation.env, &[])?;
        warnings.iter().for_each(|warning| self.say(&format!("note: {warning}")));
        Ok(config)
    }

    fn now(&self) -> i64 {
        self.invocation.clock.unix_ms()
    }

    fn cwd(&self) -> String {
        self.invocation.cwd.to_string_lossy().into_owned()
    }

    /// The session of the shell that we were called from. A shell without one goes on where the latest stopped.
    fn session(&self) -> SessionId {
        if let Some(session) = self.invocation.env.text("CLAI_SESSION_ID") {
            return SessionId(session.to_owned());
        }
        let newest = Query { limit: Some(1), ..Query::default() };
        let found = self.reader().ok().flatten().and_then(|reader| reader.find(&newest).ok());
        let latest = found.and_then(|found| found.into_iter().next()).map(|found| found.session_id);
        SessionId(latest.unwrap_or_else(|| "none".to_owned()))
    }
}

/// What lines are written on, and when.
pub(crate) struct Page {
    page: kit::Page,
    now: i64,
}

impl Deref for Page {
    type Target = kit::Page;

    fn deref(&self) -> &kit::Page {
        &self.page
    }
}

/// `1 command`, `12,904 commands`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", text::thousands(count))
}

/// A database's trouble in words.
pub(crate) fn database_failure(what: &str, error: &DatabaseError) -> Failure {
    let failure = Failure::new(what).because(error);
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
