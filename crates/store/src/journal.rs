//! An append-only log of one JSON value per line. It never parses one: a line is bytes without a newline.
//!
//! An entry is one append under a kernel lock, so that entries of several processes never mix, and costs the same
//! however long the log is. An append that fails (a full disk) takes back what it wrote. Whoever opens or appends next
//! heals what follows the last newline: an object or an array that is whole (an editor's last line) gets its newline;
//! anything else is what a killed writer left, was never reported as written, and moves to `<log>.torn`.
//! Whoever wants to replace or rename a log keeps the other appenders away by a lock of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::iter::FusedIterator;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::fault::{At, folder_of, found, with_suffix};
use crate::lock::{Mode, lock_within};
use crate::{Durability, FileError};

/// Another appender holds the lock for one write and perhaps one fsync; one that takes longer than this is stopped
/// or its disk is gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// The tail is searched for a newline in steps of this many bytes; most entries fit one.
const STEP: usize = 4096;
/// Torn ends are for people who miss something: when so much of them is kept, it becomes `<log>.torn.old` in the
/// place of what was older still.
const ENOUGH_TORN: u64 = 1 << 20;

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
    /// How much of a torn entry by another process was moved to `<log>.torn` before it.
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
    /// to be moved to `<log>.torn`; reads no more of the log than that entry.
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
        let healed = journal.locked(Journal::heal)?;
        Ok((journal, healed.dropped))
    }

    /// Appends `entry` and a newline. After an error the log is as it was.
    pub fn append(&mut self, entry: &[u8]) -> Result<Appended, JournalError> {
        if entry.contains(&b'\n') {
            return Err(JournalError::Newline { path: self.path.clone() });
        }
        let line = [entry, b"\n"].concat();
        self.locked(|journal| {
            let Healed { length, dropped } = journal.heal()?;
            journal.write(&line, length)?;
            Ok(Appended { offset: length, dropped })
        })
    }

    fn locked<T>(&mut self, step: impl FnOnce(&Journal) -> Result<T, FileError>) -> Result<T, JournalError> {
        if !lock_within(&self.file, Mode::Exclusive, PATIENCE).at("lock", &self.path)? {
            return Err(JournalError::Busy { path: self.path.clone() });
        }
        let result = step(self);
        self.file.unlock().at("unlock", &self.path)?;
        Ok(result?)
    }

    /// Appends to a log of this length, or leaves it so.
    fn write(&self, bytes: &[u8], length: u64) -> Result<(), FileError> {
        let written = (&self.file).write_all(bytes).and_then(|()| self.durability.sync_file(&self.file));
        if written.is_err() {
            // If even this fails, the next append finds a torn end and heals it.
            let _ = self.file.set_len(length);
        }
        written.at("append to", &self.path)
    }

    /// Makes the log end with a newline. One byte is read when it does.
    fn heal(&self) -> Result<Healed, FileError> {
        let measured =
            self.file.metadata().and_then(|file| Ok((file.len(), whole_lines(&self.file, file.len())?)));
        let (length, whole) = measured.at("read", &self.path)?;
        if whole == length {
            return Ok(Healed { length, dropped: 0 });
        }
        if self.tail(whole).and_then(is_whole).at("read", &self.path)? {
            self.write(b"\n", length)?;
            return Ok(Healed { length: length + 1, dropped: 0 });
        }
        let torn = with_suffix(&self.path, ".torn");
        self.keep(&torn, whole, length - whole).at("write", &torn)?;
        self.file.set_len(whole).at("cut", &self.path)?;
        Ok(Healed { length: whole, dropped: length - whole })
    }

    /// Adds the end of the log, with a line that says where it stood, to what is kept already.
    fn keep(&self, torn: &Path, offset: u64, length: u64) -> io::Result<()> {
        if found(fs::symlink_metadata(torn))?.is_some_and(|kept| kept.len() > ENOUGH_TORN) {
            fs::rename(torn, with_suffix(torn, ".old"))?;
        }
        let mut kept = OpenOptions::new().append(true).create(true).mode(0o600).open(torn)?;
        let before = kept.metadata()?.len();
        let copied = writeln!(kept, "{length} bytes at {offset}:")
            .and_then(|()| io::copy(&mut self.tail(offset)?, &mut kept))
            .and_then(|_| kept.write_all(b"\n"))
            .and_then(|()| self.durability.sync_file(&kept))
            .and_then(|()| self.durability.sync_dir(folder_of(torn)));
        if copied.is_err() {
            // It is still in the log.
            let _ = kept.set_len(before);
        }
        copied
    }

    fn tail(&self, offset: u64) -> io::Result<impl BufRead> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        Ok(BufReader::new(file))
    }
}

/// The whole lines of the log at `path` from the byte `offset` on, where a line must start. Bytes after the last
/// newline are somebody's unfinished append and are not shown. No log, no lines. Lines are data, good or bad: only
/// a disk that cannot be read is an error.
pub fn lines(path: &Path, offset: u64) -> Result<Lines, JournalError> {
    // To open a pipe would be to wait for whoever writes to it.
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let file = found(OpenOptions::new().read(true).custom_flags(at_once).open(path)).at("open", path)?;
    let reader = match file {
        Some(mut file) => {
            if !file.metadata().at("look at", path)?.is_file() {
                return Err(JournalError::NotAFile { path: path.to_owned() });
            }
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
        if bytes.pop() != Some(b'\n') {
            // The rest of an unfinished line may come later; without its beginning it is no line.
            self.reader = None;
            return None;
        }
        Some(Ok(Line { offset, bytes }))
    }
}

impl FusedIterator for Lines {}

struct Healed {
    length: u64,
    dropped: u64,
}

/// Whether this is one object or array with nothing but space around it. No beginning of one is: its last bracket
/// is missing, so what a killed writer left is never taken for whole.
fn is_whole(mut tail: impl BufRead) -> io::Result<bool> {
    let (mut depth, mut in_string, mut escaped, mut closed) = (0_u64, false, false, false);
    loop {
        let piece = tail.fill_buf()?;
        if piece.is_empty() {
            return Ok(closed);
        }
        for byte in piece {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' if depth > 0 => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' if !closed => depth += 1,
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    closed = depth == 0;
                }
                b' ' | b'\t' | b'\r' => {}
                _ if depth > 0 => {}
                _ => return Ok(false),
            }
        }
        let length = piece.len();
        tail.consume(length);
    }
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
