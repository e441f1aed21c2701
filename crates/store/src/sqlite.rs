//! One policy for opening a database; owners bring the schema. Nothing here knows a table.
//!
//! An up-to-date database is opened without a write lock, a write or an fsync. Everything else (making it,
//! migrating it, setting a corrupt one aside) happens under the lock file `<database>.lock`, so that of several
//! processes exactly one does it and the others find it done.
//!
//! *Policy:* WAL; no checkpoint when a connection closes, so that a short-lived process never pays for everybody's
//! fsyncs (a commit that finds 1000 pages in the log still checkpoints); foreign keys enforced, except inside
//! migrations, where rebuilding a table must not cascade; a schema is not trusted to call our functions; a private
//! directory, and files 0600. A commit survives `kill -9`; whether it survives a power loss is [`Synchronous`].

mod aside;
mod log;
mod migrate;
mod read;

use std::error::Error;
use std::fmt;
use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::places::{self, PlaceError, SharedEntry};
/// For owners: nobody else links it directly.
pub use rusqlite;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use rustix::fs::{Access, access};
use rustix::process::geteuid;

use crate::FileError;
use crate::fault::{At, folder_of, with_suffix};
use crate::lock::{self, LockError};
use migrate::Work;
pub use migrate::{Migrated, Schema};
pub use read::{read, read_foreign};

/// How an owner wants its database opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How long to wait for another writer or migration before giving up.
    pub busy: Duration,
    pub synchronous: Synchronous,
}

/// What a commit survives besides the death of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// Nothing: a power loss may corrupt the file. For what can be made again.
    Off,
    /// A power loss may take back the last commits, but never corrupts.
    Normal,
    /// A power loss takes back nothing: one fsync for each commit.
    Full,
}

/// An open database, and what had to be done for it.
#[derive(Debug)]
pub struct Opened {
    pub connection: Connection,
    pub notes: Vec<Note>,
}

/// Something that the owner should put into its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The file was no database or a broken one; it is kept, together with its log, under the new name. Or only the
    /// log was broken: it is kept, and the database goes on with what SQLite could read.
    SetAside {
        path: PathBuf,
        kept_as: PathBuf,
        reason: String,
    },
    Migrated {
        from: usize,
        to: usize,
    },
}

/// Why a database was not opened. Nothing in it was lost or changed.
#[derive(Debug, thiserror::Error)]
pub enum SqliteError {
    #[error("`{}` has schema {found}, and this {application} knows up to {supported}", path.display())]
    Newer { path: PathBuf, application: &'static str, found: i64, supported: usize },
    /// Told only to who cannot migrate it.
    #[error("`{}` has schema {found}, and this {application} needs {supported}", path.display())]
    Older { path: PathBuf, application: &'static str, found: usize, supported: usize },
    #[error("`{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot open the database `{}`", path.display())]
    Sql { path: PathBuf, source: rusqlite::Error },
}

impl SqliteError {
    /// Whether the file is no database, or a broken one.
    fn is_corrupt(&self) -> bool {
        self.has(ErrorCode::NotADatabase) || self.has(ErrorCode::DatabaseCorrupt)
    }

    /// Whether the file was gone when it was to be used.
    fn is_absence(&self) -> bool {
        let is_missing = |error: &FileError| error.kind() == io::ErrorKind::NotFound;
        self.has(ErrorCode::CannotOpen) || matches!(self, SqliteError::File(error) if is_missing(error))
    }

    fn has(&self, code: ErrorCode) -> bool {
        matches!(self, SqliteError::Sql { source, .. } if source.sqlite_error_code() == Some(code))
    }

    /// The command that helps, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            SqliteError::Newer { application, .. } => {
                Some(format!("`cargo xtask install` brings the newest {application}"))
            }
            SqliteError::Older { .. } => None,
            SqliteError::NotAFile { path } => Some(format!(
                "`ls -ld {}`, then move it out of the way",
                places::shell_word(path.as_os_str())
            )),
            SqliteError::Lock(error) => error.hint(),
            SqliteError::Place(error) => error.hint(),
            SqliteError::File(error) => error.hint(),
            SqliteError::Sql { path, source } => match source.sqlite_error_code()? {
                ErrorCode::DiskFull | ErrorCode::SystemIoFailure => {
                    Some(format!("`df -h {}`", places::shell_word(folder_of(path).as_os_str())))
                }
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                    Some(format!("`fuser -v {}`", places::shell_word(path.as_os_str())))
                }
                _ => None,
            },
        }
    }
}

/// Opens the database at `path` with the newest schema that `schema` describes, making or migrating it first where
/// needed. The directory is made if missing and must be private. Waits for others for about [`Policy::busy`], then
/// gives up with [`SqliteError::Lock`] or a busy [`SqliteError::Sql`].
pub fn open(path: &Path, policy: &Policy, schema: &Schema, unix_ms: i64) -> Result<Opened, SqliteError> {
    let folder = folder_of(path);
    places::private_dir(folder, geteuid().as_raw())?;
    access(folder, Access::WRITE_OK | Access::EXEC_OK).at("write in", folder)?;
    match open_current(path, policy, schema) {
        Ok(Some(connection)) => return Ok(Opened { connection, notes: Vec::new() }),
        Ok(None) => {}
        // Somebody is just setting it aside.
        Err(error) if error.is_absence() => {}
        Err(error) => return Err(error),
    }
    let _alone = lock::acquire(&with_suffix(path, ".lock"), schema.application, policy.busy)?;
    prepare(path, policy, schema, unix_ms)
}

/// The quick way: none if the database is missing, old or broken, which is then looked at under the lock.
fn open_current(path: &Path, policy: &Policy, schema: &Schema) -> Result<Option<Connection>, SqliteError> {
    if look(path, READ_AND_WRITE)? == SharedEntry::Absent || log::is_orphaned(path).at("look at", path)? {
        return Ok(None);
    }
    match inspect(path, policy, schema) {
        Ok(Found { connection, work: Work::Nothing, log: Log::Good }) => {
            finish(connection, path, policy).map(Some)
        }
        Ok(_) => Ok(None),
        Err(error) if error.is_corrupt() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The slow way, alone: makes, migrates or sets aside.
fn prepare(path: &Path, policy: &Policy, schema: &Schema, unix_ms: i64) -> Result<Opened, SqliteError> {
    let mut notes = Vec::new();
    if log::is_orphaned(path).at("look at", path)? {
        notes.push(aside::set_aside(path, unix_ms, "the database is gone and its log is left".to_owned())?);
    }
    loop {
        if look(path, READ_AND_WRITE)? == SharedEntry::Absent {
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).at("make", path)?;
        }
        match bring_up(path, policy, schema, unix_ms) {
            Ok((connection, done)) => {
                notes.extend(done);
                return Ok(Opened { connection: finish(connection, path, policy)?, notes });
            }
            // A database that is broken as soon as it is made is not the old file's fault: told, not tried again.
            Err(error) if error.is_corrupt() && notes.is_empty() => {
                let reason = error.source().map_or_else(String::new, ToString::to_string);
                notes.push(aside::set_aside(path, unix_ms, reason)?);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Looks again, now that nobody else can change the schema, and migrates.
fn bring_up(
    path: &Path,
    policy: &Policy,
    schema: &Schema,
    unix_ms: i64,
) -> Result<(Connection, Vec<Note>), SqliteError> {
    let sql = |source| SqliteError::Sql { path: path.to_owned(), source };
    let Found { mut connection, work, log } = inspect(path, policy, schema)?;
    let mut notes = Vec::new();
    if log == Log::Damaged {
        notes.push(renew_log(&connection, path, unix_ms)?);
    }
    if let Work::From(from) = work {
        use_wal(&connection)
            .and_then(|()| migrate::run(&mut connection, schema, from, unix_ms))
            .map_err(sql)?;
        notes.push(Note::Migrated { from, to: schema.migrations.len() });
    }
    Ok((connection, notes))
}

/// Keeps a copy of a damaged log and empties it, so that it is told once. What SQLite could read goes into the
/// database, which must be sound without the rest.
fn renew_log(connection: &Connection, path: &Path, unix_ms: i64) -> Result<Note, SqliteError> {
    let sql = |source| SqliteError::Sql { path: path.to_owned(), source };
    let answer: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sql)?;
    if answer != "ok" {
        return Err(sql(failure(ffi::SQLITE_CORRUPT, &answer)));
    }
    let note = aside::copy_log(path, unix_ms, "it is damaged, and commits in it may be lost".to_owned())?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    match busy.map_err(sql)? {
        false => Ok(note),
        true => {
            // The log is still there for whoever opens next: one copy is enough.
            if let Note::SetAside { kept_as, .. } = &note {
                fs::remove_file(kept_as).at("remove", kept_as)?;
            }
            Err(sql(failure(ffi::SQLITE_BUSY, "others are reading")))
        }
    }
}

fn failure(code: i32, words: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(words.to_owned()))
}

/// What a look at a database shows.
struct Found {
    connection: Connection,
    work: Work,
    log: Log,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Log {
    Good,
    Damaged,
}

/// Connects and says what is to be done; changes nothing, so that a damaged log is still as it was.
fn inspect(path: &Path, policy: &Policy, schema: &Schema) -> Result<Found, SqliteError> {
    let sql = |source| SqliteError::Sql { path: path.to_owned(), source };
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, policy.busy).map_err(sql)?;
    let work = schema.needs(migrate::version(&connection).map_err(sql)?, path)?;
    // A broken schema is found here and not by the owner's first query; after the version, because what a newer
    // SQLite wrote may look broken to ours.
    let entries = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
    let entries: i64 = entries.map_err(sql)?;
    let log = match (log::is_damaged(&connection, path)?, entries) {
        (false, _) => Log::Good,
        (true, 0) => {
            return Err(sql(failure(ffi::SQLITE_CORRUPT, "its log is damaged and holds all there is")));
        }
        (true, _) => Log::Damaged,
    };
    Ok(Found { connection, work, log })
}

/// A connection that has changed nothing yet, and that will not write when it closes.
#[expect(clippy::disallowed_methods, reason = "this is the one policy that the ban points to")]
fn connect(path: &Path, access: OpenFlags, busy: Duration) -> rusqlite::Result<Connection> {
    // A bare `file:x?mode=memory` would be a URI to SQLite; nothing that starts with a dot or a slash is.
    let path = Path::new(".").join(path);
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)?;
    connection.busy_timeout(busy)?;
    Ok(connection)
}

/// What only a database of a schema that we know is given.
fn finish(connection: Connection, path: &Path, policy: &Policy) -> Result<Connection, SqliteError> {
    let level = match policy.synchronous {
        Synchronous::Off => "OFF",
        Synchronous::Normal => "NORMAL",
        Synchronous::Full => "FULL",
    };
    use_wal(&connection)
        .and_then(|()| connection.pragma_update(None, "synchronous", level))
        .and_then(|()| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true))
        .map_err(|source| SqliteError::Sql { path: path.to_owned(), source })?;
    close_to_others(path).at("make private", path)?;
    Ok(connection)
}

/// Changes nothing where WAL is on already.
fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)).map(drop)
}

/// Files of an older tool may be open to others; SQLite gives its log the mode of the database.
fn close_to_others(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.mode() & 0o077 == 0 {
        return Ok(());
    }
    for suffix in ["", "-wal", "-shm"] {
        match fs::set_permissions(with_suffix(path, suffix), Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

const READ_AND_WRITE: Access = Access::READ_OK.union(Access::WRITE_OK);

/// A regular file of ours that we may use as we want, or nothing at all. SQLite itself would follow a link, and would
/// open what it may not write as if nothing were wrong.
fn look(path: &Path, wanted: Access) -> Result<SharedEntry, SqliteError> {
    let action = if wanted == READ_AND_WRITE { "read and write" } else { "read" };
    let entry = places::shared_entry(path, geteuid().as_raw())?;
    match entry {
        SharedEntry::Absent => {}
        SharedEntry::File => access(path, wanted).at(action, path)?,
        _ => return Err(SqliteError::NotAFile { path: path.to_owned() }),
    }
    Ok(entry)
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::SetAside { path, kept_as, reason } => {
                write!(f, "`{}` was set aside as `{}`: {reason}", path.display(), kept_as.display())
            }
            Note::Migrated { from, to } => write!(f, "schema {from} became {to}"),
        }
    }
}
