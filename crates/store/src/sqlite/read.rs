//! Opening for those who only look: nothing is made, migrated, mended or set aside, and the connection cannot write.
//! SQLite itself may still make the index of a log beside the database.

use std::path::Path;
use std::time::Duration;

use kit::places::{self, SharedEntry};
use rusqlite::{Connection, OpenFlags};
use rustix::fs::Access;
use rustix::process::geteuid;

use super::migrate::{self, Work};
use super::{Schema, SqliteError, connect, look};
use crate::fault::folder_of;

/// Opens the database at `path` for reading; `None` where there is none. One that has to be migrated first is refused
/// as [`SqliteError::Older`]. Waits for a migration for about `busy`, then gives up with a busy [`SqliteError::Sql`].
pub fn read(path: &Path, busy: Duration, schema: &Schema) -> Result<Option<Connection>, SqliteError> {
    match open_current(path, busy, schema) {
        // Somebody has just set it aside.
        Err(error) if error.is_absence() && look(path, Access::READ_OK)? == SharedEntry::Absent => Ok(None),
        done => done,
    }
}

fn open_current(path: &Path, busy: Duration, schema: &Schema) -> Result<Option<Connection>, SqliteError> {
    if look(path, Access::READ_OK)? == SharedEntry::Absent {
        return Ok(None);
    }
    places::check_private(folder_of(path), geteuid().as_raw())?;
    let sql = |source| SqliteError::Sql { path: path.to_owned(), source };
    let connection = read_foreign(path, busy).map_err(sql)?;
    match schema.needs(migrate::version(&connection).map_err(sql)?, path)? {
        Work::Nothing => Ok(Some(connection)),
        Work::From(found) => Err(SqliteError::Older {
            path: path.to_owned(),
            application: schema.application,
            found,
            supported: schema.migrations.len(),
        }),
    }
}

/// The same for another tool's database, whose place, owner and schema are not ours to judge.
pub fn read_foreign(path: &Path, busy: Duration) -> rusqlite::Result<Connection> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, busy)
}
