//! Taking back what calls did to files, and naming what cannot be: what was not kept, what somebody else changed since.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use llm::CallId;
use serde::Deserialize;
use store::Durability;
use store::blobs::Digest;
use store::journal::{self, JournalError};

use super::shape::{Back, Shape};
use super::{By, Entry, Mark, Name, Phase, Reshaped, State, TAKEN, Undo, UndoError};
use crate::create::{For, create};
use crate::project::plainly;

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

/// What the journal says that calls did, in its order.
#[derive(Default)]
struct Done {
    deeds: Vec<Deed>,
    commands: bool,
    unknown: usize,
}

/// An edit, or what one command did.
#[derive(Default)]
struct Deed {
    files: Vec<Entry>,
    shapes: Vec<Reshaped>,
}

impl Done {
    fn add(&mut self, line: Line) {
        let begins = match &line {
            Line::Command(mark) => mark.command == Phase::Began,
            Line::File(entry) => entry.by == By::Edit,
            Line::Shape(_) => false,
        };
        if begins || self.deeds.is_empty() {
            self.deeds.push(Deed::default());
        }
        let deed = self.deeds.last_mut().expect("there is one now");
        match line {
            Line::File(entry) => deed.files.push(entry),
            Line::Shape(reshaped) => deed.shapes.push(reshaped),
            Line::Command(mark) => {
                self.commands = true;
                self.unknown = match mark.command {
                    Phase::Began => self.unknown + 1,
                    Phase::Ended => self.unknown.saturating_sub(1),
                };
            }
        }
    }
}

/// A line of the journal, whichever it is.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    File(Entry),
    Shape(Reshaped),
    Command(Mark),
}

impl Line {
    fn call(&self) -> &CallId {
        match self {
            Line::File(entry) => &entry.call,
            Line::Shape(reshaped) => &reshaped.call,
            Line::Command(mark) => &mark.call,
        }
    }
}

impl Undo {
    /// Takes back what these calls did to files, the last first. A file that is not as the agent left it stays. Can be
    /// done again: what is as it was stays so.
    pub fn restore(&mut self, calls: &BTreeSet<CallId>) -> Result<Restored, UndoError> {
        let Done { deeds, commands, unknown } = self.done_by(calls)?;
        let mut tally = Tally::default();
        let aside = self.aside();
        for Deed { files, shapes } in deeds.iter().rev() {
            let (in_the_way, others): (Vec<&Reshaped>, Vec<&Reshaped>) =
                shapes.iter().rev().partition(|reshaped| reshaped.then.is_in_the_way());
            in_the_way.into_iter().for_each(|reshaped| tally.reshape(reshaped));
            for entry in files.iter().rev() {
                let path = entry.path.path();
                let back = self.take_back(&path, entry, &aside);
                tally.count(path, back);
            }
            // Folders when they are empty again.
            others.into_iter().for_each(|reshaped| tally.reshape(reshaped));
        }
        // Of a path with a longer story each step is told for itself: in the end only the end counts.
        tally.not.retain(|(path, _)| !is_as_before(path, &deeds));
        let aside = aside.exists().then_some(aside);
        Ok(Restored { restored: tally.restored, not: tally.not, aside, commands, unknown })
    }

    fn done_by(&self, calls: &BTreeSet<CallId>) -> Result<Done, UndoError> {
        let mut done = Done::default();
        for line in journal::lines(&self.path, 0)? {
            let line = line.map_err(JournalError::from)?;
            // A line of another version of ours is not ours to judge.
            match serde_json::from_slice::<Line>(&line.bytes) {
                Ok(line) if calls.contains(line.call()) => done.add(line),
                _ => {}
            }
        }
        Ok(done)
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
}

fn exists(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

/// Each path once.
#[derive(Default)]
struct Tally {
    restored: Vec<PathBuf>,
    not: Vec<(PathBuf, String)>,
    named: HashSet<(PathBuf, bool)>,
}

impl Tally {
    fn reshape(&mut self, Reshaped { path, was, then, .. }: &Reshaped) {
        let path = path.path();
        let back = Shape::restore(was, then, &path);
        self.count(path, back);
    }

    fn count(&mut self, path: PathBuf, back: Result<Back, String>) {
        if matches!(back, Ok(Back::Already)) || !self.named.insert((path.clone(), back.is_ok())) {
            return;
        }
        match back {
            Ok(_) => self.restored.push(path),
            Err(why) => self.not.push((path, why)),
        }
    }
}

/// Whether a path is what it was before the first of these.
fn is_as_before(path: &Path, deeds: &[Deed]) -> bool {
    let name = Name::of(path);
    let shape = deeds.iter().flat_map(|deed| &deed.shapes).find(|reshaped| reshaped.path == name);
    let shape = shape.map(|reshaped| &reshaped.was);
    let file = deeds.iter().flat_map(|deed| &deed.files).find(|entry| entry.path == name);
    let bytes = || file.is_none_or(|entry| state(path).is_ok_and(|now| same(&now, &entry.before)));
    match shape {
        Some(was @ (Shape::Folder(_) | Shape::Link(_) | Shape::Other)) => Shape::at(path) == *was,
        Some(was) => Shape::at(path) == *was && bytes(),
        None => bytes(),
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
