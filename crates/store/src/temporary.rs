//! A file on its way to another name. It knows nothing of what is written into it.
//!
//! Its writer holds a kernel lock on it, which dies with the writer: a temporary that can be locked was left
//! behind by a killed process and may go. A process id in the name could not say that: ids are used again, and
//! mean nothing to a process in another container.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

const SUFFIX: &str = ".replacing";
/// A dot, the target's name, a dot, 16 hex digits and the suffix must fit the 255 bytes of a file name.
const LONGEST_STEM: usize = 255 - 2 - 16 - SUFFIX.len();

/// An unfinished file, 0600, removed when dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) file: File,
    path: PathBuf,
    finished: bool,
}

impl Temporary {
    /// Makes a new file in `folder` under a name that nobody can guess and that says what it is for.
    pub(crate) fn create(folder: &Path, target: &OsStr) -> io::Result<Temporary> {
        loop {
            let mut name = stem(target);
            name.push(format!("{:016x}{SUFFIX}", RandomState::new().hash_one(std::process::id())));
            let path = folder.join(name);
            let created = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
            let file = match created {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other?,
            };
            file.lock()?;
            // Before we had the lock, a sweep may have taken the file for a leftover.
            if file.metadata()?.nlink() > 0 {
                return Ok(Temporary { file, path, finished: false });
            }
        }
    }

    /// Gives the file its final name, replacing what stands there.
    pub(crate) fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.finished {
            // A file that cannot be removed now is found by the next sweep.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes what killed writers left in `folder` on their way to `target`. What cannot be read or removed stays:
/// tidying is never a reason to fail.
pub(crate) fn sweep(folder: &Path, target: &OsStr) {
    let stem = stem(target);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.len() == stem.len() + 16 + SUFFIX.len()
            && name.as_bytes().starts_with(stem.as_bytes())
            && name.as_bytes().ends_with(SUFFIX.as_bytes());
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
            let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(entry.path()) else {
                continue;
            };
            // Held while we remove: a writer that is about to lock must find the file gone, not lose it later.
            if file.try_lock().is_ok() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn stem(target: &OsStr) -> OsString {
    let mut stem = OsString::from(".");
    stem.push(OsStr::from_bytes(&target.as_bytes()[..target.len().min(LONGEST_STEM)]));
    stem.push(".");
    stem
}
