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
use rustix::process::geteuid;

const SUFFIX: &str = ".replacing";
/// Hex digits that nobody can guess.
const DIGITS: usize = 16;
/// A dot, the target's name, a dot, the digits and the suffix must fit the 255 bytes of a file name.
const LONGEST_STEM: usize = 255 - 2 - DIGITS - SUFFIX.len();

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
            name.push(format!("{:0DIGITS$x}{SUFFIX}", RandomState::new().hash_one(std::process::id())));
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

/// Removes what killed writers left in `folder`, whatever they were replacing. What cannot be read or removed stays, and
/// what somebody else owns: tidying is never a reason to fail.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let ours = || entry.metadata().is_ok_and(|found| found.is_file() && may_be_ours(found.uid()));
        if is_temporary(entry.file_name().as_bytes()) && ours() {
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

/// Root gives what it replaces to whom it belonged.
fn may_be_ours(owner: u32) -> bool {
    geteuid().is_root() || owner == geteuid().as_raw()
}

/// `.NAME.0123456789abcdef.replacing`, as [`Temporary::create`] names them.
fn is_temporary(name: &[u8]) -> bool {
    let stem = name.strip_suffix(SUFFIX.as_bytes()).and_then(|rest| rest.split_last_chunk::<DIGITS>());
    stem.is_some_and(|(stem, digits)| {
        let hex = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        hex && stem.len() > 2 && stem.starts_with(b".") && stem.ends_with(b".")
    })
}

fn stem(target: &OsStr) -> OsString {
    let mut stem = OsString::from(".");
    stem.push(OsStr::from_bytes(&target.as_bytes()[..target.len().min(LONGEST_STEM)]));
    stem.push(".");
    stem
}
