//! The executables of a folder, in an order that never changes, and why the others are none. Starts nothing.

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::report::Fault;

/// What stands in the folder under a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) what: Result<Executable, Fault>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Executable {
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
}

/// Tells a file from what it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { size: metadata.len(), seconds: metadata.mtime(), nanoseconds: metadata.mtime_nsec() }
    }
}

/// Everything in the folder but hidden files, sorted by name. A folder that is not there is empty.
pub(super) fn find(folder: &Path) -> io::Result<Vec<Found>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found: Vec<Found> = entries.filter_map(|entry| look(folder, &entry.ok()?)).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// What stands under one name; none if nothing does.
pub(super) fn find_one(folder: &Path, name: &str) -> Option<Found> {
    find(folder).ok()?.into_iter().find(|found| found.name == name)
}

fn look(folder: &Path, entry: &DirEntry) -> Option<Found> {
    let name = entry.file_name();
    let what = match name.to_str() {
        Some(name) if name.starts_with('.') => return None,
        Some(name) if name.ends_with(".disabled") => Err(Fault::Disabled),
        Some(name) => executable(folder, &folder.join(name), name),
        None => Err(Fault::Name),
    };
    Some(Found { name: name.to_string_lossy().into_owned(), what })
}

/// A file, or the file of the same name in a directory.
fn executable(folder: &Path, path: &Path, name: &str) -> Result<Executable, Fault> {
    let metadata = inside(folder, path)?;
    if !metadata.is_dir() {
        return runnable(path, &metadata);
    }
    let path = path.join(name);
    if fs::symlink_metadata(&path).is_err() {
        return Err(Fault::EmptyDirectory(format!("{name}/{name}")));
    }
    runnable(&path, &inside(folder, &path)?)
}

fn runnable(path: &Path, metadata: &Metadata) -> Result<Executable, Fault> {
    if !metadata.is_file() {
        return Err(Fault::NotAFile);
    }
    if rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
        return Err(Fault::NotExecutable);
    }
    Ok(Executable { path: path.to_owned(), stamp: Stamp::of(metadata) })
}

/// What `path` is, if it does not lead out of the folder: what is in there was put there on purpose, what a link leads to
/// may change hands unseen.
fn inside(folder: &Path, path: &Path) -> Result<Metadata, Fault> {
    let unreadable = |error: io::Error| Fault::Unreadable(error.kind().to_string());
    let metadata = fs::symlink_metadata(path).map_err(unreadable)?;
    if !metadata.is_symlink() {
        return Ok(metadata);
    }
    let target = fs::canonicalize(path).map_err(unreadable)?;
    match fs::canonicalize(folder).map_err(unreadable)? {
        folder if target.starts_with(&folder) => fs::metadata(path).map_err(unreadable),
        _ => Err(Fault::LeadsOut(target)),
    }
}
