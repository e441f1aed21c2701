//! The journal and the truth: every command that was kept, what was counted from it, and what was left out. One writer
//! (the daemon, under its lock); readers see it through connections that cannot write. Knows no socket and no model.
//!
//! The six tables of the specification keep their names and columns; what goes beyond stands in tables of its own.

mod aggregate;
mod extras;
mod forget;
mod query;
mod replay;
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

/// What one transaction should hold at most. In a long history a command changes nearly two pages that no other one
/// changes, so this is what the cache can hold: a page that has to leave it and is changed again in the same transaction
/// is written twice, and makes SQLite sign all of the log after it anew. Measured at a million commands: 29 reads and
/// writes of a page for each command with batches of 2048 and a cache of 8 MB, 11 with these.
pub const LARGEST_BATCH: usize = 1408;
const CACHE_KB: i64 = 14 * 1024;

/// How many pages the log may hold before they are copied back: as usual, and in a burst, in which the same pages change
/// again and again. A pause comes soon, see [`Database::rest`].
const LOG_PAGES: i64 = 1000;
const LOG_PAGES_IN_A_BURST: i64 = 64_000;
/// What whoever opens the database next should not have to read.
const LONG_LOG: u64 = 4 << 20;

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
    /// As of the last batch.
    log: Log,
    /// How long the log may become as things are.
    log_pages: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Log {
    Short,
    /// Longer than whoever opens the database next should have to read.
    Long,
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
        let mut database =
            Database { connection, path, owner, progress: None, log: Log::Short, log_pages: LOG_PAGES };
        database.prepare().map_err(|source| database.failed(source))?;
        database.count()?;
        Ok((database, notes))
    }

    fn prepare(&mut self) -> rusqlite::Result<()> {
        // What is deleted is overwritten at once, so that `forget` finds no older copies in free pages.
        self.connection.pragma_update(None, "secure_delete", true)?;
        self.connection.pragma_update(None, "cache_size", -CACHE_KB)?;
        self.connection.pragma_update(None, "wal_autocheckpoint", self.log_pages)?;
        self.connection.set_prepared_statement_cache_capacity(32);
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is anything to [`Database::rest`] for.
    pub fn is_at_rest(&self) -> bool {
        !self.has_uncounted() && self.log == Log::Short
    }

    /// For the end of a burst: counts what is uncounted, and folds a long log into the database. Where somebody reads,
    /// the log stays for the next time.
    pub fn rest(&mut self) -> Result<()> {
        self.count()?;
        if std::mem::replace(&mut self.log, Log::Short) == Log::Short {
            return Ok(());
        }
        let fold = || {
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        let folded = fold().and(self.connection.busy_timeout(BUSY));
        folded.map_err(|source| self.failed(source))
    }

    fn bound_log(&mut self, counting: Counting) -> rusqlite::Result<()> {
        let pages = if counting == Counting::Later { LOG_PAGES_IN_A_BURST } else { LOG_PAGES };
        if pages != self.log_pages {
            self.connection.pragma_update(None, "wal_autocheckpoint", pages)?;
            self.log_pages = pages;
        }
        Ok(())
    }

    fn measure_log(&self) -> Log {
        let log = self.path.with_file_name(format!("{FILE}-wal"));
        let length = log.metadata().map_or(0, |log| log.len());
        if length > LONG_LOG { Log::Long } else { Log::Short }
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
    /// `None` where there is no database yet. One of an older version is migrated first.
    pub fn open(directory: &Path, unix_ms: i64) -> Result<Option<Reader>> {
        let path = directory.join(FILE);
        let read = || store::sqlite::read(&path, BUSY, &schema::SCHEMA);
        let connection = match read() {
            Err(SqliteError::Older { .. }) => {
                let policy = Policy { busy: BUSY, synchronous: Synchronous::Normal };
                store::sqlite::open(&path, &policy, &schema::SCHEMA, unix_ms)?;
                read()?
            }
            done => done?,
        };
        Ok(connection.map(|connection| Reader { connection, path }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_is_as_the_specification_wants_it_and_the_setting_says() {
        let home = testkit::Home::new();
        for (synchronous, level) in [(Synchronous::Off, 0), (Synchronous::Normal, 1), (Synchronous::Full, 2)]
        {
            let owner = Owner { host: None, user: None };
            let (database, _) = Database::open(&home.data().join("clai"), synchronous, owner, 0).unwrap();
            let pragma = |name: &str| -> rusqlite::types::Value {
                database.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
            };
            assert_eq!(pragma("synchronous"), level.into());
            assert_eq!(pragma("foreign_keys"), 1.into());
            assert_eq!(pragma("secure_delete"), 1.into());
            assert_eq!(pragma("journal_mode"), "wal".to_owned().into());
        }
    }
}
