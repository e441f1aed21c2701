//! The journal and the truth: every command that was kept, what was counted from it, and what was left out. One writer
//! (the daemon, under its lock); readers see it through connections that cannot write. Knows no socket and no model.
//!
//! The six tables of the specification keep their names and columns; what goes beyond stands in tables of its own.

mod aggregate;
mod extras;
mod forget;
mod query;
mod schema;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use store::sqlite::rusqlite::{self, Connection};
use store::sqlite::{Note, Opened, Policy, SqliteError, Synchronous};
use thiserror::Error;

use crate::command::{Ran, SessionId, Shell};
pub use aggregate::Counting;
use aggregate::Progress;
pub use extras::{Feedback, LeftOut, Reason, TaskRow};
pub use forget::{Doomed, Forgotten};
pub use query::{Found, Outcome, Query, Stats, TypedBy};

/// The name of the file in the database's directory.
pub const FILE: &str = "clai.db";

/// How long to wait for a reader that holds up a checkpoint, or for another process that prepares the database.
const BUSY: Duration = Duration::from_secs(5);

const CACHE_KB: i64 = 8 * 1024;
const CHECKPOINT_PAGES: i64 = 8000;

#[derive(Debug, Error)]
pub enum DatabaseError {
    #[error(transparent)]
    Open(#[from] SqliteError),
    #[error("cannot use the database `{}`", path.display())]
    Sql { path: PathBuf, source: rusqlite::Error },
}

impl DatabaseError {
    pub fn hint(&self) -> Option<String> {
        match self {
            DatabaseError::Open(error) => error.hint(),
            DatabaseError::Sql { .. } => None,
        }
    }
}

pub type Result<T> = std::result::Result<T, DatabaseError>;

/// A command to be kept, with what the model has no use for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub ran: Ran,
    pub shell: Shell,
    /// Who typed it, when that was not the person.
    pub actor: Option<String>,
}

/// A shell that has announced itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub created_at: i64,
    pub shell: Shell,
    pub host: Option<String>,
    pub user: Option<String>,
}

/// Whose sessions these are when a shell does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Owner {
    pub host: Option<String>,
    pub user: Option<String>,
}

/// The one writer.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
    owner: Owner,
    /// None while it is to be read from the disk.
    progress: Option<Progress>,
}

impl Database {
    /// Opens, makes or migrates the database in `directory`. What had to be done is for the log. The caller holds the
    /// daemon's lock.
    pub fn open(
        directory: &Path,
        synchronous: Synchronous,
        owner: Owner,
        unix_ms: i64,
    ) -> Result<(Database, Vec<Note>)> {
        let path = directory.join(FILE);
        let policy = Policy { busy: BUSY, synchronous };
        let Opened { connection, notes } = store::sqlite::open(&path, &policy, &schema::SCHEMA, unix_ms)?;
        let mut database = Database { connection, path, owner, progress: None };
        database.prepare().map_err(|source| database.failed(source))?;
        database.count()?;
        Ok((database, notes))
    }

    fn prepare(&mut self) -> rusqlite::Result<()> {
        // What is deleted is overwritten at once, so that `forget` finds no older copies in free pages.
        self.connection.pragma_update(None, "secure_delete", true)?;
        // Small next to the model, and enough for the pages that a large batch visits.
        self.connection.pragma_update(None, "cache_size", -CACHE_KB)?;
        // In a burst the same pages change again and again: copying them back less often saves most of the writing.
        self.connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        self.connection.set_prepared_statement_cache_capacity(32);
        Ok(())
    }

    /// Gives every command of the person in the order they ended, also those that were imported later.
    pub fn replay(&self, mut learn: impl FnMut(&Ran)) -> Result<u64> {
        aggregate::replay(&self.connection, "true ORDER BY ts, id", [], |_, ran| learn(ran))
            .map_err(|source| self.failed(source))
    }

    /// When the latest command ended.
    pub fn newest(&self) -> Result<Option<i64>> {
        let newest = self.connection.query_row("SELECT max(ts) FROM command_event", [], |row| row.get(0));
        newest.map_err(|source| self.failed(source))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, source: rusqlite::Error) -> DatabaseError {
        DatabaseError::Sql { path: self.path.clone(), source }
    }
}

/// A reader. It cannot write, and does not disturb the writer.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
    path: PathBuf,
}

impl Reader {
    /// `None` where there is no database yet.
    pub fn open(directory: &Path, unix_ms: i64) -> Result<Option<Reader>> {
        let path = directory.join(FILE);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let policy = Policy { busy: BUSY, synchronous: Synchronous::Normal };
        let Opened { connection, .. } = store::sqlite::open(&path, &policy, &schema::SCHEMA, unix_ms)?;
        let reader = Reader { connection, path };
        reader.connection.pragma_update(None, "query_only", true).map_err(|source| reader.failed(source))?;
        Ok(Some(reader))
    }

    fn failed(&self, source: rusqlite::Error) -> DatabaseError {
        DatabaseError::Sql { path: self.path.clone(), source }
    }
}

/// As the table `session` spells it.
fn shell_name(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
    }
}
