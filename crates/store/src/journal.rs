//! An append-only log of one JSON value per line. It never parses one: a line is bytes without a newline.
//!
//! An entry is one append under a kernel lock, so that entries of several processes never mix, and costs the same
//! however long the log is. An append that fails (a full disk) takes back what it wrote. What a killed writer left
//! after the last newline was never reported as written: whoever opens or appends next cuts it off and reports it.
//! Whoever wants to replace or rename a log keeps the other appenders away by a lock of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::fault::{At, folder_of, found};
use crate::lock::{Mode, lock_within};
use crate::{Durability, FileError};

/// Another appender holds the lock for one write and perhaps one fsync; one that takes longer than this is stopped
/// or its disk is gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// The tail is searched for a newline in steps of this many bytes; most entries fit one.
const STEP: usize = 4096;

/// A log open for appending.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    durability: Durability,
}

/// What an append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Where the entry starts.
    pub offset: u64,
    /// How much of a torn entry by another process was cut off before it.
    pub dropped: u64,
}

/// One line of a log, without its newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub offset: u64,
    pub bytes: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("an entry for `{}` contains a newline", path.display())]
    Newline { path: PathBuf },
    #[error("`{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error("`{}` is locked by another process that does not finish", path.display())]
    Busy { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
}

impl JournalError {
    /// The command that shows the cause, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            JournalError::Newline { .. } => None,
            JournalError::NotAFile { path } => {
                Some(format!("`ls -ld {}`", kit::places::shell_word(path.as_os_str())))
            }
            JournalError::Busy { path } => {
                Some(format!("`fuser -v {}`", kit::places::shell_word(path.as_os_str())))
            }
            JournalError::File(error) => error.hint(),
        }
    }
}

impl Journal {
    /// Opens the log at `path`, or makes it with mode 0600. Gives the number of bytes of a torn last entry that had
    /// to be cut off; reads no more of the log than that entry.
    pub fn open(path: &Path, durability: Durability) -> Result<(Journal, u64), JournalError> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let file = file.at("open", path)?;
        let metadata = file.metadata().at("look at", path)?;
        if !metadata.is_file() {
            return Err(JournalError::NotAFile { path: path.to_owned() });
        }
        if metadata.len() == 0 {
            durability.sync_dir(folder_of(path)).at("make durable", folder_of(path))?;
        }
        let mut journal = Journal { file, path: path.to_owned(), durability };
        let dropped = journal.locked(|file| heal(file).map(|healed| healed.dropped))?;
        Ok((journal, dropped))
    }

    /// Appends `entry` and a newline. After an error the log is as it was.
    pub fn append(&mut self, entry: &[u8]) -> Result<Appended, JournalError> {
        if entry.contains(&b'\n') {
            return Err(JournalError::Newline { path: self.path.clone() });
        }
        let line = [entry, b"\n"].concat();
        let durability = self.durability;
        self.locked(|mut file| {
            let Healed { length, dropped } = heal(file)?;
            let written = file.write_all(&line).and_then(|()| durability.sync_file(file));
            if let Err(error) = written {
                // If even this fails, the next append finds a torn tail and heals it.
                let _ = file.set_len(length);
                return Err(error);
            }
            Ok(Appended { offset: length, dropped })
        })
    }

    fn locked<T>(&mut self, step: impl FnOnce(&File) -> io::Result<T>) -> Result<T, JournalError> {
        if !lock_within(&self.file, Mode::Exclusive, PATIENCE).at("lock", &self.path)? {
            return Err(JournalError::Busy { path: self.path.clone() });
        }
        let result = step(&self.file);
        self.file.unlock().at("unlock", &self.path)?;
        Ok(result.at("append to", &self.path)?)
    }
}

/// The whole lines of the log at `path` from the byte `offset` on, where a line must start. Bytes after the last
/// newline are somebody's unfinished append and are not shown. No log, no lines. Lines are data, good or bad: only
/// a disk that cannot be read is an error.
pub fn lines(path: &Path, offset: u64) -> Result<Lines, JournalError> {
    let file = found(File::open(path)).at("open", path)?;
    let reader = match file {
        Some(mut file) => {
            file.seek(SeekFrom::Start(offset)).at("read", path)?;
            Some(BufReader::new(file))
        }
        None => None,
    };
    Ok(Lines { reader, path: path.to_owned(), offset })
}

/// See [`lines`].
#[derive(Debug)]
pub struct Lines {
    reader: Option<BufReader<File>>,
    path: PathBuf,
    offset: u64,
}

impl Iterator for Lines {
    type Item = Result<Line, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = Vec::new();
        if let Err(error) = self.reader.as_mut()?.read_until(b'\n', &mut bytes).at("read", &self.path) {
            self.reader = None;
            return Some(Err(error));
        }
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        (bytes.pop()? == b'\n').then_some(Ok(Line { offset, bytes }))
    }
}

struct Healed {
    length: u64,
    dropped: u64,
}

/// Cuts off what follows the last newline. One byte is read when there is nothing to heal.
fn heal(file: &File) -> io::Result<Healed> {
    let length = file.metadata()?.len();
    let whole = whole_lines(file, length)?;
    if whole < length {
        file.set_len(whole)?;
    }
    Ok(Healed { length: whole, dropped: length - whole })
}

/// The length of the log up to and with its last newline, found from the end.
fn whole_lines(file: &File, length: u64) -> io::Result<u64> {
    let mut step = [0; STEP];
    let (mut end, mut size) = (length, 1);
    while end > 0 {
        let start = end.saturating_sub(size);
        let piece = &mut step[..(end - start) as usize];
        file.read_exact_at(piece, start)?;
        if let Some(last) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        (end, size) = (start, STEP as u64);
    }
    Ok(0)
}
