//! A project's files as far as they may be read, and what was found in them. Knows no format.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::offer::Offers;
use super::{Found, Kind, Note, Parse};

/// A file of tasks is written by hand; what is larger was not.
const LARGEST: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Project {
    /// The real path: whatever is below is inside.
    root: PathBuf,
    stamps: Stamps,
    offers: Offers,
    notes: Vec<Note>,
}

impl Project {
    pub(super) fn open(directory: &Path) -> Option<Project> {
        let root = fs::canonicalize(directory).ok()?;
        Some(Project { root, stamps: Stamps::default(), offers: Offers::default(), notes: Vec::new() })
    }

    /// So far.
    pub(super) fn found(&self) -> Found {
        Found { tasks: self.offers.tasks.clone(), notes: self.notes.clone() }
    }

    /// Whether all files that were asked for still look as they did.
    pub(super) fn is_unchanged(&self) -> bool {
        self.stamps.hold()
    }

    pub(super) fn has(&mut self, file: &str) -> bool {
        self.stamps.take(self.root.join(file)).is_some()
    }

    /// The text of a file inside the project; none, and mostly a note, if it may not or cannot be read.
    pub(super) fn read(&mut self, file: &str) -> Option<String> {
        let path = self.root.join(file);
        let (_, bytes) = self.stamps.take(path.clone())?;
        let real = fs::canonicalize(&path).ok()?;
        if !real.starts_with(&self.root) {
            self.note(Note::Elsewhere { path });
            return None;
        }
        // A directory or a FIFO of that name is no such file.
        if !fs::metadata(&real).ok()?.is_file() {
            return None;
        }
        if bytes > LARGEST {
            self.note(Note::TooLarge { path, bytes });
            return None;
        }
        match read_at_most(&real) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned()),
            Err(_) => {
                self.note(Note::Unreadable { path });
                None
            }
        }
    }

    pub(super) fn parse(&mut self, file: &str, text: &str, parse: Parse) {
        self.offers.next_file();
        let path = self.root.join(file);
        if let Err(reason) = parse(self, text) {
            let reason = kit::text::plain(kit::text::head(&reason, 200));
            self.note(Note::NotUnderstood { path: path.clone(), reason });
        }
        if self.offers.are_too_many() {
            self.note(Note::TooMany { path });
        }
    }

    /// Offers `command name`.
    pub(super) fn offer(&mut self, kind: Kind, command: &str, name: &str, description: &str) {
        self.offers.add(kind, name, command, name, description);
    }

    /// Offers `command argument` under another name.
    pub(super) fn offer_as(
        &mut self,
        kind: Kind,
        name: &str,
        command: &str,
        argument: &str,
        description: &str,
    ) {
        self.offers.add(kind, name, command, argument, description);
    }

    pub(super) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}

fn read_at_most(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What every file looked like that was asked for, those that were not there too.
#[derive(Debug, Default)]
struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

/// When it was written, in nanoseconds, and its number; and its size.
type Stamp = ((i64, i64, u64), u64);

impl Stamps {
    fn hold(&self) -> bool {
        self.0.iter().all(|(path, stamp)| stamp_of(path) == *stamp)
    }

    fn take(&mut self, path: PathBuf) -> Option<Stamp> {
        // As it was first seen: what changes while we read is read again next time.
        if let Some((_, stamp)) = self.0.iter().find(|(known, _)| *known == path) {
            return *stamp;
        }
        let stamp = stamp_of(&path);
        self.0.push((path, stamp));
        stamp
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(((metadata.mtime(), metadata.mtime_nsec(), metadata.ino()), metadata.len()))
}
