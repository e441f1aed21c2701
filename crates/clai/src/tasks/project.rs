//! A project's files as far as they may be read, and what was found in them. Knows no format.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
    pub(super) fn is_unchanged(&mut self) -> bool {
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
struct Stamps {
    files: Vec<(PathBuf, Seen)>,
    /// Where files were looked for in vain.
    folders: Vec<(PathBuf, Folder)>,
}

/// When it was written, in nanoseconds, and its number; and its size.
type Stamp = ((i64, i64, u64), u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    There(Stamp),
    /// A link whose target may appear anywhere.
    Dangling,
    Absent,
}

/// A folder changes when a file appears in it, so that one look at it stands for all that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folder {
    Known(Option<Stamp>),
    /// Changed so lately that the next change may bear the same time.
    Busy,
}

impl Stamps {
    fn hold(&mut self) -> bool {
        let files = self.files.iter();
        if !files.clone().filter(|(_, seen)| *seen != Seen::Absent).all(|(path, seen)| look(path) == *seen) {
            return false;
        }
        let absent = files.filter(|(_, seen)| *seen == Seen::Absent).map(|(path, _)| path);
        self.folders.iter_mut().all(|(folder, known)| {
            let now = Folder::of(folder);
            *known == now && now != Folder::Busy || {
                *known = now;
                absent
                    .clone()
                    .filter(|path| path.parent() == Some(folder))
                    .all(|path| look(path) == Seen::Absent)
            }
        })
    }

    fn take(&mut self, path: PathBuf) -> Option<Stamp> {
        // As it was first seen: what changes while we read is read again next time.
        let known = self.files.iter().find(|(known, _)| *known == path).map(|(_, seen)| *seen);
        let seen = known.unwrap_or_else(|| self.see(path));
        if let Seen::There(stamp) = seen { Some(stamp) } else { None }
    }

    fn see(&mut self, path: PathBuf) -> Seen {
        if let Some(folder) = path.parent()
            && !self.folders.iter().any(|(known, _)| known == folder)
        {
            self.folders.push((folder.to_owned(), Folder::of(folder)));
        }
        let seen = look(&path);
        self.files.push((path, seen));
        seen
    }
}

impl Folder {
    /// The coarsest time that a file system keeps.
    const COARSE: Duration = Duration::from_secs(2);

    fn of(path: &Path) -> Folder {
        let metadata = fs::metadata(path).ok();
        let written = metadata.as_ref().and_then(|folder| folder.modified().ok());
        // One that was written in the future has no age.
        let is_old = |written: SystemTime| written.elapsed().is_ok_and(|age| age > Folder::COARSE);
        if written.is_none_or(is_old) { Folder::Known(metadata.as_ref().map(stamp_of)) } else { Folder::Busy }
    }
}

fn look(path: &Path) -> Seen {
    match fs::metadata(path) {
        Ok(metadata) => Seen::There(stamp_of(&metadata)),
        Err(_) if fs::symlink_metadata(path).is_ok() => Seen::Dangling,
        Err(_) => Seen::Absent,
    }
}

fn stamp_of(metadata: &Metadata) -> Stamp {
    ((metadata.mtime(), metadata.mtime_nsec(), metadata.ino()), metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use testkit::Home;

    fn date(folder: &Path, age: Duration) {
        File::open(folder).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    /// Looks for `Makefile` in vain in a folder that was written so long ago, then lets `change` happen.
    fn holds(age: Duration, change: impl Fn(&Path)) -> bool {
        let home = Home::new();
        let folder = home.path().join("p");
        fs::create_dir(&folder).unwrap();
        symlink("elsewhere", folder.join("justfile")).unwrap();
        date(&folder, age);
        let written = fs::metadata(&folder).unwrap().modified().unwrap();
        let mut stamps = Stamps::default();
        assert_eq!(stamps.take(folder.join("Makefile")), None);
        assert_eq!(stamps.take(folder.join("justfile")), None);
        assert!(stamps.hold());
        change(&folder);
        // As if it had happened in the same tick of the file system's clock.
        if age.is_zero() {
            File::open(&folder).unwrap().set_modified(written).unwrap();
        }
        stamps.hold()
    }

    #[test]
    fn a_file_that_appears_is_seen_by_its_folder_or_where_that_is_too_young_by_its_name() {
        let make = |name: &'static str| move |folder: &Path| drop(File::create(folder.join(name)).unwrap());
        for age in [Duration::ZERO, Duration::from_secs(3600)] {
            assert!(holds(age, |_| {}), "nothing happened");
            assert!(!holds(age, make("Makefile")), "{age:?}");
            assert!(holds(age, make("unasked")), "{age:?}");
            assert!(!holds(age, make("elsewhere")), "a link leads somewhere at last, {age:?}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_known_until_it_is() {
        let home = Home::new();
        let mut stamps = Stamps::default();
        assert_eq!(stamps.take(home.path().join(".cargo/config")), None);
        assert!(stamps.hold());
        home.write(".cargo/config", "");
        assert!(!stamps.hold());
    }
}
