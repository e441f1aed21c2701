//! What files were before the agent changed them, kept outside of the project so that nothing there, git least of all,
//! has to know. An edit keeps its file exactly. Before a command the files that git would not ignore are kept, as far
//! as they are small; what was not kept is named when it is missed. Who asked for a change is a call's id; what the
//! conversation says is not known here.

mod pack;
mod restore;
mod shape;
mod snapshot;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use kit::process::Cancel;
use llm::CallId;
use serde::{Deserialize, Serialize};
use store::Durability;
use store::blobs::{BlobError, Blobs, Digest};
use store::journal::{self, Journal, JournalError};

use crate::project::plainly;
pub use restore::Restored;
use shape::Shape;
use snapshot::{Changes, Snapshot};

/// Conversations that were not touched for so long keep no files.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Beside the memories: what was there before something was taken back.
const TAKEN: &str = "taken";

/// The memory of one conversation.
#[derive(Debug)]
pub struct Undo {
    blobs: Blobs,
    journal: Journal,
    path: PathBuf,
    snapshot: Snapshot,
}

/// Why something cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error(transparent)]
    Blobs(#[from] BlobError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot read `{}`: {cause}", path.display())]
    Read { path: PathBuf, cause: String },
    #[error("cannot write it down: {0}")]
    Written(#[from] serde_json::Error),
}

/// A change of one file, one line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    call: CallId,
    path: Name,
    by: By,
    before: State,
    after: State,
}

/// What a command made of a path besides its bytes, another line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reshaped {
    call: CallId,
    path: Name,
    was: Shape,
    then: Shape,
}

/// That a command ran, a third kind of line. One that began and never ended died with us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    call: CallId,
    command: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Began,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Edit,
    Command,
}

/// A path is bytes; most are text, and then it is written so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Absent,
    File {
        digest: String,
        mode: u32,
    },
    /// It was there, and this is why it was not kept.
    Unkept(String),
}

impl Undo {
    /// The memory in `folder` for the conversation `name`; `project` is what commands may change.
    pub fn open(folder: &Path, name: &str, project: &Path) -> Result<Undo, UndoError> {
        let blobs = Blobs::open(&folder.join("blobs"), Durability::Cached)?;
        let path = folder.join(format!("{name}.jsonl"));
        let (journal, _) = Journal::open(&path, Durability::Cached)?;
        Ok(Undo { blobs, journal, path, snapshot: Snapshot::new(project, folder) })
    }

    /// Removes what edits of this conversation left half done because we were killed: the old file is still there.
    pub fn sweep(&self) -> Result<(), UndoError> {
        let mut folders = BTreeSet::new();
        for line in journal::lines(&self.path, 0)? {
            let line = line.map_err(JournalError::from)?;
            if let Ok(Entry { by: By::Edit, path, .. }) = serde_json::from_slice(&line.bytes) {
                // An edit goes to where a link leads.
                let path = path.path();
                let path = path.canonicalize().unwrap_or(path);
                folders.extend(path.parent().map(Path::to_owned));
            }
        }
        folders.iter().for_each(|folder| store::sweep(folder));
        Ok(())
    }

    /// Keeps a file before an edit makes `after` of it. Whoever cannot keep must not edit.
    pub fn before_edit(&mut self, call: &CallId, path: &Path, after: &[u8]) -> Result<(), UndoError> {
        let before = self.keep(path)?;
        let mode = if let State::File { mode, .. } = before { mode } else { 0 };
        let after = State::File { digest: Digest::of(after).to_string(), mode };
        self.write(&Entry { call: call.clone(), path: Name::of(path), by: By::Edit, before, after })
    }

    /// Keeps what a command may change. The first time that is every file; later, those that changed. The first time
    /// memories that nobody will want again are removed, too.
    pub fn before_command(&mut self, call: &CallId, cancel: &Cancel) {
        if self.snapshot.is_empty() {
            let folder = self.path.parent().unwrap_or(&self.path);
            // What cannot be removed now can be another time.
            let _ = tidy(folder, SystemTime::now(), MONTH);
        }
        self.snapshot.refresh(cancel);
        // Whoever cannot write this down cannot write down the changes either; the command runs all the same.
        let _ = self.write(&Mark { call: call.clone(), command: Phase::Began });
    }

    /// Finds out what a command changed, and says of how many paths.
    pub fn after_command(&mut self, call: &CallId) -> usize {
        let Changes { files, shapes } = self.snapshot.changes(&self.blobs);
        let entry = |(path, before, after): (PathBuf, State, State)| Entry {
            call: call.clone(),
            path: Name::of(&path),
            by: By::Command,
            before,
            after,
        };
        let reshaped = |(path, was, then): (PathBuf, Shape, Shape)| Reshaped {
            call: call.clone(),
            path: Name::of(&path),
            was,
            then,
        };
        let all = files.len() + shapes.len();
        // A change that cannot be written down cannot be taken back; the command has run all the same.
        let files = files.into_iter().filter(|change| self.write(&entry(change.clone())).is_ok()).count();
        let shapes =
            shapes.into_iter().filter(|change| self.write(&reshaped(change.clone())).is_ok()).count();
        if files + shapes == all {
            let _ = self.write(&Mark { call: call.clone(), command: Phase::Ended });
        }
        files + shapes
    }

    fn keep(&self, path: &Path) -> Result<State, UndoError> {
        let cause = |error: io::Error| UndoError::Read { path: path.to_owned(), cause: plainly(&error) };
        match fs::read(path) {
            Ok(bytes) => {
                let mode = fs::metadata(path).map_err(cause)?.permissions().mode();
                Ok(State::File { digest: self.blobs.put(&bytes)?.to_string(), mode })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::Absent),
            Err(error) => Err(cause(error)),
        }
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), UndoError> {
        self.journal.append(&serde_json::to_vec(line)?)?;
        Ok(())
    }
}

/// Removes conversations' memories that were not touched for `age`, and what only they referred to.
pub fn tidy(folder: &Path, now: SystemTime, age: Duration) -> Result<(), UndoError> {
    const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
    let mut live = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|idle| idle > age)) {
            let _ = fs::remove_file(&path);
            continue;
        }
        for line in journal::lines(&path, 0)?.flatten() {
            if let Ok(Entry { before: State::File { digest, .. }, .. }) = serde_json::from_slice(&line.bytes)
            {
                live.insert(digest);
            }
        }
    }
    for entry in fs::read_dir(folder.join(TAKEN)).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|idle| idle > age)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let now_ms = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    Blobs::open(&folder.join("blobs"), Durability::Cached)?.collect(
        |digest| live.contains(&digest.to_string()),
        now_ms,
        GRACE,
    )?;
    Ok(())
}

impl Name {
    fn of(path: &Path) -> Name {
        match path.to_str() {
            Some(text) => Name::Text(text.to_owned()),
            None => Name::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    fn path(&self) -> PathBuf {
        match self {
            Name::Text(text) => text.into(),
            Name::Bytes(bytes) => OsString::from_vec(bytes.clone()).into(),
        }
    }
}
