//! What files were before the agent changed them, kept outside of the project so that nothing there, git least of all,
//! has to know. An edit keeps its file exactly. Before a command the files that git would not ignore are kept, as far
//! as they are small; what was not kept is named when it is missed. Who asked for a change is a call's id; what the
//! conversation says is not known here.

mod pack;
mod snapshot;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Permissions};
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

use crate::create::{For, create};
use crate::project::plainly;
use snapshot::Snapshot;

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

/// What came of going back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    pub restored: Vec<PathBuf>,
    /// With the reason.
    pub not: Vec<(PathBuf, String)>,
    /// Where files stand that a command may have left so, or somebody else while it ran: nobody can tell.
    pub aside: Option<PathBuf>,
    /// Commands ran among what was taken back: what they did elsewhere stays.
    pub commands: bool,
    /// Commands of which nobody knows what they did: we died before we could look, or could not write it down.
    pub unknown: usize,
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

/// That a command ran, another line of the journal. One that began and never ended died with us.
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

    /// Finds out what a command changed.
    pub fn after_command(&mut self, call: &CallId) -> usize {
        let changes = self.snapshot.changes(&self.blobs);
        let entry = |(path, before, after): &(PathBuf, State, State)| Entry {
            call: call.clone(),
            path: Name::of(path),
            by: By::Command,
            before: before.clone(),
            after: after.clone(),
        };
        // A change that cannot be written down cannot be taken back; the command has run all the same.
        let written = changes.iter().filter(|change| self.write(&entry(change)).is_ok()).count();
        if written == changes.len() {
            let _ = self.write(&Mark { call: call.clone(), command: Phase::Ended });
        }
        written
    }

    /// Takes back what these calls did to files, the last first. A file that is not as the agent left it stays. Can be
    /// done again: what is as it was stays so.
    pub fn restore(&mut self, calls: &BTreeSet<CallId>) -> Result<Restored, UndoError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut restored = Restored::default();
        for line in journal::lines(&self.path, 0)? {
            let line = line.map_err(JournalError::from)?;
            if let Ok(entry) = serde_json::from_slice::<Entry>(&line.bytes) {
                entries.extend(Some(entry).filter(|entry| calls.contains(&entry.call)));
            } else if let Ok(mark) = serde_json::from_slice::<Mark>(&line.bytes)
                && calls.contains(&mark.call)
            {
                restored.commands = true;
                restored.unknown = match mark.command {
                    Phase::Began => restored.unknown + 1,
                    Phase::Ended => restored.unknown.saturating_sub(1),
                };
            }
            // A line of another version of ours is not ours to judge.
        }
        let aside = self.aside();
        for entry in entries.into_iter().rev() {
            let path = entry.path.path();
            match self.take_back(&path, &entry, &aside) {
                Ok(Back::Done) if !restored.restored.contains(&path) => restored.restored.push(path),
                Ok(_) => {}
                Err(why) => restored.not.push((path, why)),
            }
        }
        restored.aside = aside.exists().then_some(aside);
        Ok(restored)
    }

    /// A directory that is not there yet, for what is taken away this time.
    fn aside(&self) -> PathBuf {
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = self.path.with_file_name(TAKEN);
        let mut places = (1..).map(|number: u64| folder.join(format!("{name}-{number}")));
        places.find(|place| !place.exists()).expect("there is no end of numbers")
    }

    fn take_back(&self, path: &Path, entry: &Entry, aside: &Path) -> Result<Back, String> {
        let now = state(path).map_err(|error| plainly(&error))?;
        if same(&now, &entry.before) {
            return Ok(Back::Already);
        }
        let kept = match &entry.before {
            State::Unkept(why) => return Err(format!("its old version was not kept: {why}")),
            State::Absent => None,
            State::File { digest, mode } => Some((self.kept(digest)?, *mode)),
        };
        if let State::Unkept(why) = &entry.after {
            return Err(format!("nobody knows whether it is as the command left it: {why}"));
        }
        if !same(&now, &entry.after) {
            return Err("it was changed since, by somebody else".to_owned());
        }
        if entry.by == By::Command && now != State::Absent {
            let place = aside.join(path.strip_prefix("/").unwrap_or(path));
            let put = fs::read(path).and_then(|bytes| create(&place, &bytes, For::Mode(0o600)));
            // Taken away twice, it is the last that somebody has seen which counts.
            put.or_else(exists).map_err(|error| format!("it could not be set aside: {}", plainly(&error)))?;
        }
        match kept {
            None => fs::remove_file(path).map_err(|error| plainly(&error))?,
            Some((bytes, mode)) => put(path, &bytes, mode).map_err(|error| error.to_string())?,
        }
        Ok(Back::Done)
    }

    fn kept(&self, digest: &str) -> Result<Vec<u8>, String> {
        let digest = digest.parse().map_err(|_| "what was kept cannot be found".to_owned())?;
        let bytes = self.blobs.get(&digest).map_err(|error| error.to_string())?;
        bytes.ok_or_else(|| "what was kept is gone".to_owned())
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

fn exists(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
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

enum Back {
    Done,
    Already,
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

/// What stands at a path now. A link in a file's place is not followed: who knows where it leads.
fn state(path: &Path) -> io::Result<State> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(State::Unkept("it is no file".to_owned()));
    }
    match fs::read(path) {
        Ok(bytes) => Ok(State::File {
            digest: Digest::of(&bytes).to_string(),
            mode: fs::metadata(path)?.permissions().mode(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::Absent),
        Err(error) => Err(error),
    }
}

/// The same bytes; who may read them is not what was edited.
fn same(one: &State, other: &State) -> bool {
    match (one, other) {
        (State::File { digest: one, .. }, State::File { digest: other, .. }) => one == other,
        (State::Absent, State::Absent) => true,
        // What was not kept may be anything.
        _ => false,
    }
}

fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Box<dyn std::error::Error>> {
    if path.symlink_metadata().is_err() {
        return Ok(create(path, bytes, For::Mode(mode))?);
    }
    store::replace(path, bytes, Durability::Cached)?;
    Ok(fs::set_permissions(path, Permissions::from_mode(mode & 0o7777))?)
}
