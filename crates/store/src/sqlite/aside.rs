//! Moves a database that cannot be used out of the way, with all its files, and deletes nothing. The caller holds
//! the lock; what is wrong with the file is the caller's knowledge.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{Note, SqliteError};
use crate::fault::{At, found, with_suffix};

/// The database first: a log without its database is set aside by the next opener and told again, but a database
/// without its log may look as if nothing were wrong.
const FILES: [&str; 4] = ["", "-wal", "-journal", "-shm"];

/// Renames `<path>` to `<path>.corrupt-<unix_ms>`, and its log and index likewise.
pub(super) fn set_aside(path: &Path, unix_ms: i64, reason: String) -> Result<Note, SqliteError> {
    let kept_as = free_name(path, unix_ms);
    for suffix in FILES {
        let from = with_suffix(path, suffix);
        found(fs::rename(&from, with_suffix(&kept_as, suffix))).at("set aside", &from)?;
    }
    Ok(Note::SetAside { path: path.to_owned(), kept_as, reason })
}

/// Copies the log alone to `<path>.corrupt-<unix_ms>-wal`: others may have it open, and go on with it.
pub(super) fn copy_log(path: &Path, unix_ms: i64, reason: String) -> Result<Note, SqliteError> {
    let log = with_suffix(path, "-wal");
    let kept_as = with_suffix(&free_name(path, unix_ms), "-wal");
    let copied = fs::copy(&log, &kept_as).and_then(|_| File::open(&kept_as)?.sync_all());
    if copied.is_err() {
        // Half a copy is no use to anybody; the log itself is still there.
        let _ = fs::remove_file(&kept_as);
    }
    copied.at("set aside", &log)?;
    Ok(Note::SetAside { path: log, kept_as, reason })
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
