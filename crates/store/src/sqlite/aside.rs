//! Moves a database that cannot be used out of the way, with all its files, and deletes nothing. The caller holds
//! the lock; what is wrong with the file is the caller's knowledge.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Note, SqliteError};
use crate::fault::{At, found};

/// The database last: a database without its log is set aside by the next opener, but next to a log without its
/// database SQLite would start afresh and throw the log away.
const FILES: [&str; 4] = ["-wal", "-shm", "-journal", ""];

/// Renames `<path>` to `<path>.corrupt-<unix_ms>`, and its log and index likewise.
pub(super) fn set_aside(path: &Path, unix_ms: i64, reason: String) -> Result<Note, SqliteError> {
    let kept_as = free_name(path, unix_ms);
    for suffix in FILES {
        let from = with_suffix(path, suffix);
        found(fs::rename(&from, with_suffix(&kept_as, suffix))).at("set aside", &from)?;
    }
    Ok(Note::SetAside { path: path.to_owned(), kept_as, reason })
}

pub(super) fn log_without_database(path: &Path) -> io::Result<bool> {
    let length =
        |path: &Path| Ok::<_, io::Error>(found(fs::symlink_metadata(path))?.map_or(0, |file| file.len()));
    Ok(length(path)? == 0 && length(&with_suffix(path, "-wal"))? > 0)
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Two databases may break in one millisecond, or under a clock that stands still: neither may overwrite the other.
fn free_name(path: &Path, unix_ms: i64) -> PathBuf {
    let taken =
        |name: &PathBuf| FILES.iter().any(|suffix| with_suffix(name, suffix).symlink_metadata().is_ok());
    (unix_ms..)
        .map(|stamp| with_suffix(path, &format!(".corrupt-{stamp}")))
        .find(|name| !taken(name))
        .expect("a directory does not hold a file for every millisecond")
}
