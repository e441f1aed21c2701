//! A database under our name that is not ours: the original of this tool keeps its own in the same place, with tables of
//! the same names. It is moved out of the way, whole, and deleted by nobody but `reset --all`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use store::lock;
use store::sqlite::rusqlite::{self, Connection};
use store::sqlite::{Note, SqliteError, read_foreign};

use super::POLICY;

/// Whether a database could not be opened because of tables that it has already.
pub(super) fn is_in_the_way(error: &SqliteError) -> bool {
    matches!(error, SqliteError::Sql { source: rusqlite::Error::SqlInputError { .. }, .. })
}

/// Moves it away, unless somebody else just did: then there is nothing to tell.
pub(super) fn set_aside(path: &Path, now_ms: i64) -> Result<Option<Note>, SqliteError> {
    let _alone = lock::acquire(&with_suffix(path, ".lock"), "drip", POLICY.busy)?;
    let sql = |source| SqliteError::Sql { path: path.to_owned(), source };
    let is_foreign = read_foreign(path, POLICY.busy).and_then(|database| is_foreign(&database));
    if !is_foreign.map_err(sql)? {
        return Ok(None);
    }
    let kept_as = with_suffix(path, &format!(".corrupt-{now_ms}"));
    for suffix in ["", "-wal", "-shm"] {
        match fs::rename(with_suffix(path, suffix), with_suffix(&kept_as, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(sql(rusqlite::Error::ToSqlConversionFailure(Box::new(error))));
            }
            _ => {}
        }
    }
    Ok(Some(Note::SetAside { path: path.to_owned(), kept_as, reason: "another program made it".to_owned() }))
}

/// Ours get their tables and their version at once.
fn is_foreign(database: &Connection) -> rusqlite::Result<bool> {
    let version: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let entries: i64 = database.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(version == 0 && entries > 0)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
