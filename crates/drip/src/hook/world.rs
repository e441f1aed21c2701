//! What a hook may know of the world: settings, the store, the log, and how a path and a caller are found. Knows no
//! client's words.

use std::cell::RefCell;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kit::invocation::{Environment, Program};
use kit::log::Log;
use kit::process::Job;
use kit::{Invocation, Places};
use serde_json::Value;
use store::sqlite::Note;

use super::payload::Who;
use crate::caller::Caller;
use crate::database::{Database, DatabaseError, Options, mark_lost};
use crate::ignored::{self, Ignored};
use crate::lines::Text;
use crate::load::{self, Loaded, Symlinks};
use crate::read::{self, Located};
use crate::session::{self, AgentId, Parent, Session, SessionId};
use crate::settings::{Agent, Settings};

/// What a hook answers.
#[derive(Debug)]
pub(super) enum Reply {
    /// The client goes on as if we were not there.
    Nothing,
    Json(Value),
    /// It was printed already, because it counts as shown only then.
    Said,
}

/// Why a hook had to stay silent. No word of it is from a file or a prompt.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("what the client sent is larger than 4 MiB")]
    TooLarge,
    #[error("what the client sent cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("what the client sent is not understood, at line {line} column {column}")]
    Malformed { line: usize, column: usize },
    #[error("the client did not take the answer: {0}")]
    NotTaken(io::Error),
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

impl From<serde_json::Error> for Trouble {
    /// Without the parser's own words: they quote what they did not expect.
    fn from(error: serde_json::Error) -> Trouble {
        Trouble::Malformed { line: error.line(), column: error.column() }
    }
}

/// The surroundings of one call.
pub(super) struct World {
    pub(super) settings: Settings,
    pub(super) env: Environment,
    places: Places,
    program: Program,
    cwd: PathBuf,
    now_ms: i64,
    stdout: RefCell<Box<dyn Write + Send>>,
}

impl World {
    pub(super) fn new(invocation: Invocation, places: Places) -> World {
        World {
            settings: Settings::read(&invocation.env),
            env: invocation.env,
            places,
            program: invocation.program,
            cwd: invocation.cwd,
            now_ms: invocation.clock.unix_ms(),
            stdout: RefCell::new(invocation.stdout),
        }
    }

    pub(super) fn say(&self, text: &str) -> Result<(), Trouble> {
        let mut stdout = self.stdout.borrow_mut();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Trouble::NotTaken)
    }

    /// Prints what the reader gets from nobody else, and writes it down after that: what nobody took was not shown. Where
    /// the client has shown its own text already it is the other way round, since then nothing can be lost on the way.
    pub(super) fn say_and_record(
        &self,
        hook: &str,
        text: &str,
        record: impl FnOnce() -> Result<(), DatabaseError>,
    ) -> Result<Reply, Trouble> {
        self.say(text)?;
        if let Err(error) = record() {
            self.log(hook, &error.into());
        }
        Ok(Reply::Said)
    }

    /// Opens the store for one piece of work. What the work recorded is recorded when it returns.
    pub(super) fn store<T>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let root = self.settings.data_dir(&self.places);
        let mut database = Database::open(&root, Options::from(&self.settings), self.now_ms)?;
        for note in database.notes() {
            if let Note::SetAside { kept_as, reason, .. } = note {
                self.record("store", &[("kept_as", &kept_as.to_string_lossy()), ("error", reason)]);
            }
        }
        let done = work(&mut database)?;
        if database.wants_fold() {
            self.fold_log();
        }
        Ok(done)
    }

    /// Opens the store to end a past. If that fails, it is remembered beside the store and made up for later.
    pub(super) fn reset(
        &self,
        caller: &Caller,
        work: impl FnOnce(&mut Database) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let done = self.store(work);
        if done.is_err() && mark_lost(&self.settings.data_dir(&self.places), &caller.session.id).is_ok() {
            return Ok(());
        }
        done
    }

    /// The reader saw something of a file that nobody can place, or may: what it was shown before is not the last word.
    pub(super) fn unplaced(&self, caller: &Caller, located: &Located) -> Result<(), Trouble> {
        self.store(|database| Ok(database.forget_head(&caller.eyes(), &located.key)?))
    }

    /// The reader that a client names, if it does.
    pub(super) fn caller(&self, who: &Who, client: Agent) -> Option<Caller> {
        let id = who.session_id.as_deref().and_then(SessionId::new)?;
        Some(self.caller_in(Session::explicit(id), who, client))
    }

    /// The reader that a client names, or the one that works here.
    pub(super) fn caller_or_derived(&self, who: &Who, client: Agent) -> Caller {
        self.caller(who, client).unwrap_or_else(|| {
            let session =
                session::derive(&self.settings.session, &self.cwd_of(who), Parent::of_this_process());
            self.caller_in(session, who, client)
        })
    }

    /// The file that a client means; none where its name cannot be one.
    pub(super) fn locate(&self, spelled: &str, caller: &Caller) -> Option<Located> {
        /// As long as the system takes them.
        const LONGEST: usize = 4096;
        let sane = !spelled.is_empty() && spelled.len() < LONGEST && !spelled.contains('\0');
        sane.then(|| read::locate(spelled, &caller.cwd).ok()).flatten()
    }

    /// The text of a file to the byte, if it is one.
    pub(super) fn load(&self, located: &Located) -> Option<String> {
        match load::load(&located.path, load::Limits::new(self.settings.symlinks)) {
            Loaded::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// A file that has its text as a client shows it, and so needs no thought about line ends.
    pub(super) fn load_plain(&self, located: &Located) -> Option<Text> {
        let text = self.load(located)?;
        (super::page::as_shown(&text) == text).then(|| Text::new(text))
    }

    /// Whether a file may be remembered at all.
    pub(super) fn may_keep(&self, located: &Located, caller: &Caller) -> bool {
        let is_link =
            || located.path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_symlink());
        if self.settings.symlinks == Symlinks::Refuse && is_link() {
            return false;
        }
        self.ignored(&caller.cwd).verdict_of_read(&located.path).is_free()
    }

    pub(super) fn ignored(&self, cwd: &Path) -> Ignored {
        Ignored::load(ignored::Places {
            cwd,
            home: Some(&self.places.home),
            extra: self.settings.ignore_file.as_deref(),
        })
    }

    pub(super) fn log(&self, hook: &str, trouble: &Trouble) {
        let cause = trouble.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        self.record("hook", &[("hook", hook), ("error", &format!("{trouble}{cause}"))]);
    }

    fn record(&self, event: &str, fields: &[(&str, &str)]) {
        // A log that cannot be written is not worth failing for.
        let _ = Log::of("drip", &self.places).record(self.now_ms, event, fields);
    }

    fn caller_in(&self, session: Session, who: &Who, client: Agent) -> Caller {
        let agent = who.agent_id.as_deref().map_or_else(AgentId::main, AgentId::new);
        Caller { session, agent, cwd: self.cwd_of(who), client: Some(client), call: who.tool_use_id.clone() }
    }

    fn cwd_of(&self, who: &Who) -> PathBuf {
        who.cwd.as_ref().map(|cwd| self.cwd.join(cwd)).unwrap_or_else(|| self.cwd.clone())
    }

    /// Folding waits for the disk, and the client waits for us: another process does it.
    fn fold_log(&self) {
        let started = self.program.sibling("drip").map_err(|failure| failure.to_string()).and_then(|drip| {
            let job = Job::new(drip).args(["cache", "fold"]).envs(self.env.iter());
            job.detach().map_err(|error| error.to_string())
        });
        if let Err(error) = started {
            self.record("fold", &[("error", &error)]);
        }
    }
}
