//! What a person types: each command turns words into a question to the store and the answer into lines. What is sent to
//! an agent is decided elsewhere.

pub(crate) mod read;
pub(crate) mod refresh;
pub(crate) mod reset;

use std::io::Write;
use std::path::PathBuf;

use clap_complete::generate;
use kit::{Exit, Failure, Form, Invocation, Places, text};
use serde::Serialize;

use crate::caller::Caller;
use crate::cli::{self, Command, Typed};
use crate::database::{Database, DatabaseError, Options};
use crate::hook;
use crate::ignored::{self, Ignored};
use crate::session::{self, AgentId, Parent};
use crate::settings::Settings;

/// Runs `drip`.
pub fn run(mut invocation: Invocation) -> Exit {
    if invocation.args.first().is_some_and(|word| word == "hook") {
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
    let settings = Settings::read(&invocation.env);
    let call = &mut Call { invocation, places, settings, form };
    match typed.command {
        Command::Read(args) => read::run(call, &args),
        Command::Refresh(args) => refresh::run(call, &args),
        Command::Reset(args) => reset::run(call, &args),
        Command::Hook { .. } => unreachable!("hooks are answered before anything is parsed"),
        Command::Completions { shell } => completions(call, shell),
    }
}

fn completions(call: &mut Call, shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut cli::command(), "drip", &mut script);
    call.invocation.print(&String::from_utf8_lossy(&script)).map(|()| Exit::Done)
}

/// One command on its way: the world it may see, and how it is to be answered.
pub(crate) struct Call<'a> {
    pub(crate) invocation: &'a mut Invocation,
    pub(crate) places: Places,
    pub(crate) settings: Settings,
    pub(crate) form: Form,
}

impl Call<'_> {
    /// Prints `answer` for programs, or what `text` makes of it for people.
    pub(crate) fn show(
        &mut self,
        answer: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<Exit, Failure> {
        let said = match self.form {
            Form::Json => {
                let json = serde_json::to_string(answer).expect("our answers have text for keys");
                format!("{json}\n")
            }
            Form::Text => text(),
        };
        self.invocation.print(&said).map(|()| Exit::Done)
    }

    /// A word to the person, not part of the answer. Not being able to say it changes nothing.
    pub(crate) fn say(&mut self, line: &str) {
        let _ = writeln!(self.invocation.stderr, "{}", text::plain(line));
    }

    /// Where the store is.
    pub(crate) fn root(&self) -> PathBuf {
        self.settings.data_dir(&self.places)
    }

    pub(crate) fn database(&self) -> Result<Database, DatabaseError> {
        Database::open(&self.root(), Options::from(&self.settings), self.invocation.clock.unix_ms())
    }

    /// The store, for a command that is nothing without it.
    pub(crate) fn needed_database(&self) -> Result<Database, Failure> {
        self.database().map_err(|error| store_failure(&error))
    }

    /// The session of whoever types here.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            session: session::derive(&self.settings.session, &self.invocation.cwd, Parent::of_this_process()),
            agent: AgentId::main(),
            cwd: self.invocation.cwd.clone(),
            client: self.settings.agent,
        }
    }

    pub(crate) fn ignored(&self) -> Ignored {
        Ignored::load(ignored::Places {
            cwd: &self.invocation.cwd,
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
