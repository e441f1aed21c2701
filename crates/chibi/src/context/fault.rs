//! What can go wrong with what we keep, in words. It never decides what to do about it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kit::places::shell_word;
use store::journal::JournalError;
use store::lock::{Holder, LockError};
use store::{FileError, ReplaceError};
use thiserror::Error;

use super::{ContextName, EntryId, NameError};

#[derive(Debug, Error)]
pub enum ContextError {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("the context `{name}` is in use by {holder}")]
    Locked { name: ContextName, holder: Holder },
    #[error("there is no context `{0}`")]
    Missing(ContextName),
    #[error("there is a context `{0}` already")]
    Exists(ContextName),
    #[error("the context `{context}` has no entry `{id}`")]
    NoEntry { context: ContextName, id: EntryId },
    #[error("the context `{0}` has no compaction to undo")]
    NothingToUndo(ContextName),
    #[error("`{}` is not valid TOML: {reason}", path.display())]
    Toml { path: PathBuf, reason: String },
    #[error("`{}` is no session file that we can read: {reason}", path.display())]
    Session { path: PathBuf, reason: String },
    #[error("cannot {action} `{}`", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Replace(#[from] ReplaceError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl ContextError {
    /// The command that helps, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            ContextError::Locked { holder, .. } => Some(match holder.pid {
                Some(pid) => format!("`chibi --wait …` queues behind it; `ps -fp {pid}` shows it"),
                None => "`chibi --wait …` queues behind it".to_owned(),
            }),
            ContextError::Missing(_) | ContextError::Exists(_) | ContextError::Name(_) => {
                Some("`chibi -L` lists the contexts".to_owned())
            }
            ContextError::NoEntry { context, .. } => {
                Some(format!("`chibi -C {context} --search WORD` shows ids"))
            }
            ContextError::Io { path, source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => Some(format!("`df -h {}`", shell_word(path.as_os_str()))),
                _ => Some(format!("`ls -ld {}`", shell_word(path.as_os_str()))),
            },
            ContextError::File(error) => error.hint(),
            ContextError::Replace(error) => error.hint(),
            ContextError::Journal(error) => error.hint(),
            ContextError::Lock(error) => error.hint(),
            ContextError::Toml { path, .. } => Some(format!("`$EDITOR {}`", shell_word(path.as_os_str()))),
            ContextError::NothingToUndo(_) => Some("`chibi -g 0` shows the window".to_owned()),
            ContextError::Session { .. } => {
                Some("sessions are in `~/.claude/projects` and `~/.codex/sessions`".to_owned())
            }
        }
    }
}

/// Gives a refusal of the system the name of the file and of the step.
pub(super) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, ContextError>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, ContextError> {
        self.map_err(|error| ContextError::Io { action, path: path.to_owned(), source: error.into() })
    }
}

/// All of a file. A pipe in its place is not waited for.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    // Of a directory the system itself says what it is.
    match kind.is_file() || kind.is_dir() {
        true => fs::read(path),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// A missing file is an answer, not a failure.
pub(super) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
