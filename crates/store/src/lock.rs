//! One holder at a time, as long as it lives. The kernel keeps the lock and drops it with the holder, however that
//! dies; the process id inside the file only tells people who holds it. Never knows what is guarded.
//!
//! The file is made 0600 and stays: to rename or remove it would let a second taker lock another file of the same
//! name. A process id in a file that is not locked means nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, process, thread};

use kit::places::{self, PlaceError, SharedEntry};
use kit::text;
use rustix::fs::OFlags;
use rustix::process::{Pid, geteuid, test_kill_process};

use crate::FileError;
use crate::fault::{At, found};

/// How often a waiting taker looks again: well below what a person notices, well above what a look costs.
const POLL: Duration = Duration::from_millis(2);
/// Somebody who only asks who holds a lock stands in the way for microseconds; a taker waits that long for them.
const ASKERS: Duration = Duration::from_millis(200);
/// More of a lock file than this was not written by us.
const LONGEST_NOTE: usize = 128;

/// The right to go on alone, until it is dropped or the process ends.
#[derive(Debug)]
#[must_use = "a lock that is not kept is free again at once"]
pub struct Lock {
    file: File,
}

/// Who holds a lock, as far as its file tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holder {
    /// None while the holder has not written it yet, and when no such process is visible from here.
    pub pid: Option<u32>,
    pub label: String,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("`{}` is held by {holder}", path.display())]
    Held { path: PathBuf, holder: Holder },
    #[error("`{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    File(#[from] FileError),
}

impl LockError {
    /// The command that helps, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            LockError::Held { holder, .. } => holder.pid.map(|pid| format!("`ps -fp {pid}`")),
            LockError::NotAFile { path } => {
                Some(format!("`ls -ld {}`", places::shell_word(path.as_os_str())))
            }
            LockError::Place(error) => error.hint(),
            LockError::File(error) => error.hint(),
        }
    }
}

/// Takes the lock or says who has it. `label` is a word or two for whoever asks.
pub fn try_acquire(path: &Path, label: &str) -> Result<Lock, LockError> {
    acquire(path, label, Duration::ZERO)
}

/// Takes the lock, waiting for at most `patience`; then gives up with [`LockError::Held`].
pub fn acquire(path: &Path, label: &str, patience: Duration) -> Result<Lock, LockError> {
    let start = Instant::now();
    loop {
        let file = open(path)?;
        let remaining = patience.saturating_sub(start.elapsed());
        let locked = lock_within(&file, Mode::Exclusive, remaining).at("lock", path)?
            || (only_askers(&file) && lock_within(&file, Mode::Exclusive, ASKERS).at("lock", path)?);
        if !locked {
            return Err(LockError::Held { path: path.to_owned(), holder: Holder::read(&file) });
        }
        // Somebody may have removed the file while we waited: what we hold then guards nothing.
        if same_file(&file, path).at("look at", path)? {
            // The lock holds without the note; on a full disk it is only anonymous.
            let _ = note(&file, label);
            return Ok(Lock { file });
        }
    }
}

/// Who holds the lock now; none if it is free, whatever is written in the file.
pub fn holder(path: &Path) -> Result<Option<Holder>, LockError> {
    if places::shared_entry(path, geteuid().as_raw())? == SharedEntry::Absent {
        return Ok(None);
    }
    let file = open(path)?;
    match lock_within(&file, Mode::Shared, Duration::ZERO).at("lock", path)? {
        true => Ok(None),
        false => Ok(Some(Holder::read(&file))),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An explicit unlock also frees what a child between fork and exec has inherited.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

impl Holder {
    fn read(file: &File) -> Holder {
        let mut note = [0; LONGEST_NOTE];
        let length = file.read_at(&mut note, 0).unwrap_or(0);
        let note = String::from_utf8_lossy(&note[..length]);
        let (pid, label) = note.split_once('\n').unwrap_or_default();
        // The note of a holder that was killed stays until the next one has written its own.
        let alive = |pid: &i32| {
            Pid::from_raw(*pid).is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
        };
        match pid.parse().ok().filter(|pid| *pid > 0).filter(alive) {
            Some(pid) => Holder { pid: Some(pid.cast_unsigned()), label: text::plain(label.trim_end()) },
            None => Holder::default(),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) if self.label.is_empty() => write!(f, "process {pid}"),
            Some(pid) => write!(f, "process {pid} ({})", self.label),
            None => f.write_str("another process"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Exclusive,
    Shared,
}

/// Tries until the lock is ours (true) or `patience` is over (false). At least one try.
#[expect(clippy::disallowed_methods, reason = "this is the polling with a deadline that others call")]
pub(crate) fn lock_within(file: &File, mode: Mode, patience: Duration) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        let tried = match mode {
            Mode::Exclusive => file.try_lock(),
            Mode::Shared => file.try_lock_shared(),
        };
        match tried {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() >= patience => return Ok(false),
            Err(TryLockError::WouldBlock) => thread::sleep(POLL),
        }
    }
}

/// Whether everybody in the way only asks: then a shared lock is to be had. It is given back at once.
fn only_askers(file: &File) -> bool {
    file.try_lock_shared().is_ok() && file.unlock().is_ok()
}

fn open(path: &Path) -> Result<File, LockError> {
    let uid = geteuid().as_raw();
    let not_a_file = || LockError::NotAFile { path: path.to_owned() };
    if !matches!(places::shared_entry(path, uid)?, SharedEntry::Absent | SharedEntry::File) {
        return Err(not_a_file());
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
        .at("open", path)?;
    // Asked again of what we really opened: the name may have changed hands in between.
    let metadata = file.metadata().at("look at", path)?;
    if !metadata.is_file() || metadata.uid() != uid {
        return Err(not_a_file());
    }
    Ok(file)
}

fn same_file(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    let named = found(fs::symlink_metadata(path))?;
    Ok(named.is_some_and(|named| (named.dev(), named.ino()) == (ours.dev(), ours.ino())))
}

fn note(file: &File, label: &str) -> io::Result<()> {
    let label = text::plain(label);
    let note = format!("{}\n{}\n", process::id(), text::head(&label, LONGEST_NOTE - 32));
    file.set_len(0)?;
    file.write_all_at(note.as_bytes(), 0)
}
