//! The ledger on disk: SQLite and, for large contents, files beside it. It records what was delivered and gives back
//! what each pair of eyes holds. Decides nothing about what to send.
//!
//! No call here waits for the disk: a commit is a write into SQLite's log, and folding the log into the database is
//! left to [`Database::fold_log`], which the hooks leave to a process of its own.

mod contents;
mod deliveries;
mod doubt;
mod edits;
mod erase;
mod events;
mod foreign;
mod foreseen;
mod head;
mod lost;
mod record;
mod registry;
mod roster;
mod schema;
mod sessions;
mod sums;
mod turns;
mod upkeep;

use std::path::{Path, PathBuf};
use std::time::Duration;

use store::Durability;
use store::blobs::{BlobError, Blobs};
use store::sqlite::rusqlite::{self, Connection, Transaction, TransactionBehavior};
use store::sqlite::{self, Note, Policy, SqliteError, Synchronous};

use crate::settings::{Inline, Replay, Settings};

pub use deliveries::{Delivered, Sent};
pub use edits::{Edit, Touched};
pub use erase::erase;
pub use events::{Event, SourceMap, Which};
pub use foreseen::Foreseen;
pub use head::Head;
pub use lost::mark_lost;
pub use record::{Delivery, Form, Numbers};
pub use registry::Known;
pub use roster::Roll;
pub use sessions::{Meeting, Told};
pub use sums::{Compactions, Named, Scope, Sums, Totals};
pub use upkeep::{RegistrySize, Storage};

/// As the seed says: a hook would rather be native than late.
const POLICY: Policy = Policy { busy: Duration::from_millis(500), synchronous: Synchronous::Normal };

/// Of SQLite's log, before somebody should fold it into the database. Whoever opens the store reads all of the log, about
/// a millisecond for each megabyte; a read that changes nothing adds 25 KB to it.
const LARGE_LOG: u64 = 512 << 10;

/// The open store of one process.
pub struct Database {
    connection: Connection,
    root: PathBuf,
    options: Options,
    now_ms: i64,
    notes: Vec<Note>,
}

/// What of the settings matters here.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub inline: Inline,
    pub ttl: Duration,
    pub registry: bool,
    pub replay: Replay,
}

impl From<&Settings> for Options {
    fn from(settings: &Settings) -> Options {
        Options {
            inline: settings.inline,
            ttl: settings.session.ttl,
            registry: settings.registry,
            replay: settings.replay,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error(transparent)]
    Open(#[from] SqliteError),
    #[error("the store does not answer as it should")]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("not everything could be removed")]
    Erase(#[source] std::io::Error),
}

impl DatabaseError {
    /// The command that helps, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            DatabaseError::Open(error) => error.hint(),
            DatabaseError::Sql(_) | DatabaseError::Erase(_) => None,
            DatabaseError::Blob(error) => error.hint(),
        }
    }
}

pub type Result<T> = std::result::Result<T, DatabaseError>;

impl Database {
    /// Opens or makes the store in a directory, which must be private.
    pub fn open(root: &Path, options: Options, now_ms: i64) -> Result<Database> {
        let path = Self::path(root);
        let open = || sqlite::open(&path, &POLICY, &schema::SCHEMA, now_ms);
        let mut made_way = None;
        let mut opened = match open() {
            Err(error) if foreign::is_in_the_way(&error) => {
                made_way = foreign::set_aside(&path, now_ms)?;
                open()?
            }
            opened => opened?,
        };
        opened.notes.extend(made_way);
        // A commit that folds the log waits twice for the disk: see `fold_log`.
        opened.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let mut database = Database {
            connection: opened.connection,
            root: root.to_owned(),
            options,
            now_ms,
            notes: opened.notes,
        };
        database.recover_lost()?;
        Ok(database)
    }

    /// Where the database is in the directory of the store.
    pub fn path(root: &Path) -> PathBuf {
        root.join("sessions.db")
    }

    /// What had to be done to open it, for the log.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Seconds, as every column holds them.
    pub(crate) fn now(&self) -> i64 {
        self.now_ms / 1000
    }

    /// Contents too large for a row.
    pub(crate) fn blobs(&self) -> Result<Blobs> {
        Ok(Blobs::open(&self.root.join("cache"), Durability::Cached)?)
    }

    /// Whether somebody should fold the log into the database, or clear away what ended sessions left.
    pub fn wants_fold(&self) -> bool {
        let log = self.root.join("sessions.db-wal");
        let left = "SELECT 1 FROM meta WHERE key = 'fold_due'";
        std::fs::metadata(log).is_ok_and(|log| log.len() > LARGE_LOG)
            || self.connection.prepare_cached(left).and_then(|mut left| left.exists([])).unwrap_or(false)
    }

    /// Folds the log into the database. Waits for the disk.
    pub fn fold_log(&self) -> Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Everything in one commit, or nothing. The lock is taken at once: who reads first and writes later may be refused.
    ///
    /// Dozens of hooks may write at once, each for a moment: waits for them up to three times as long as for a database
    /// that is locked when it is opened, which still is less than clients give their hooks.
    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&Writing) -> Result<T>) -> Result<T> {
        let blobs = self.root.join("cache");
        self.connection.busy_timeout(POLICY.busy * 3)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let writing = Writing { transaction, cache: blobs, options: self.options, now: self.now_ms / 1000 };
        let done = work(&writing)?;
        writing.transaction.commit()?;
        Ok(done)
    }
}

/// A transaction and what its statements need to know.
pub(crate) struct Writing<'a> {
    pub(crate) transaction: Transaction<'a>,
    cache: PathBuf,
    options: Options,
    /// Seconds.
    pub(crate) now: i64,
}

impl Writing<'_> {
    fn blobs(&self) -> Result<Blobs> {
        Ok(Blobs::open(&self.cache, Durability::Cached)?)
    }
}
