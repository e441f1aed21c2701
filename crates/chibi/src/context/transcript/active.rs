//! The partition that grows. Its owner holds the context, so nobody else appends.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use store::journal::Journal;
use store::{Durability, replace};

use super::super::fault::At;
use super::super::home::read_text;
use super::super::{ContextError, Entry};
use super::Policy;

/// So many bytes are counted anew in less than a millisecond; beyond that the count is noted down.
const RECOUNT: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Active {
    file: File,
    path: PathBuf,
    tally: Tally,
    /// The length at which the tally was last written down.
    noted: u64,
}

/// What is known of the first `bytes` of the file. Only a shortcut: without it the lines are counted again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Tally {
    /// Which file it is of: the next active partition is another.
    inode: u64,
    bytes: u64,
    entries: u64,
    /// When the first entry was written.
    first: Option<u64>,
}

impl Active {
    /// Gives the number of bytes of a torn last entry that had to be moved aside.
    pub(super) fn open(path: &Path) -> Result<(Active, u64), ContextError> {
        // The journal heals the end; our own handle writes many lines at once, which a journal does not.
        let (_, dropped) = Journal::open(path, Durability::Fsync)?;
        let file = OpenOptions::new().read(true).append(true).mode(0o600).open(path).at("open", path)?;
        let (length, inode) = file.metadata().map(|file| (file.len(), file.ino())).at("look at", path)?;
        let known = read_text(&tally_file(path))?.and_then(|text| serde_json::from_str(&text).ok());
        let known = known.filter(|tally: &Tally| tally.inode == inode && tally.bytes <= length);
        let known = known.unwrap_or(Tally { inode, ..Tally::default() });
        let tally = known.complete(&file, length).at("read", path)?;
        Ok((Active { file, path: path.to_owned(), tally, noted: known.bytes }, dropped))
    }

    pub(super) fn length(&self) -> u64 {
        self.tally.bytes
    }

    pub(super) fn append(&mut self, entries: &[Entry], durability: Durability) -> Result<(), ContextError> {
        let Some(first) = entries.first() else { return Ok(()) };
        let mut lines = Vec::new();
        for entry in entries {
            lines.extend(entry.line());
            lines.push(b'\n');
        }
        let written = self.file.write_all(&lines).and_then(|()| match durability {
            Durability::Fsync => self.file.sync_data(),
            Durability::Cached => Ok(()),
        });
        let written = written.and_then(|()| self.still_there());
        if written.is_err() {
            // If even this fails, whoever opens next finds a torn end and heals it.
            let _ = self.file.set_len(self.tally.bytes);
        }
        written.at("append to", &self.path)?;
        self.tally.bytes += lines.len() as u64;
        self.tally.entries += entries.len() as u64;
        self.tally.first.get_or_insert(first.timestamp);
        if self.tally.bytes - self.noted > RECOUNT {
            self.note();
        }
        Ok(())
    }

    /// Whoever deletes the folder while we work with it must not make us say that something was kept.
    fn still_there(&self) -> std::io::Result<()> {
        match self.file.metadata()?.nlink() {
            0 => Err(std::io::Error::new(std::io::ErrorKind::NotFound, "somebody removed it")),
            _ => Ok(()),
        }
    }

    pub(super) fn sync(&self) -> Result<(), ContextError> {
        self.file.sync_data().at("make durable", &self.path)
    }

    pub(super) fn is_due(&self, policy: &Policy, now: u64) -> bool {
        let Tally { bytes, entries, first, .. } = self.tally;
        let old = first.is_some_and(|first| now.saturating_sub(first) >= policy.max_age_seconds);
        let heavy = policy.max_tokens.is_some_and(|most| kit::text::tokens(bytes) >= most);
        entries > 0 && (entries >= policy.max_entries || old || heavy)
    }

    fn note(&mut self) {
        let text = serde_json::to_vec(&self.tally).expect("numbers can be written as JSON");
        // Without it the next to open counts a little longer.
        let _ = replace(&tally_file(&self.path), &text, Durability::Cached);
        self.noted = self.tally.bytes;
    }
}

impl Tally {
    fn complete(self, file: &File, length: u64) -> std::io::Result<Tally> {
        let mut tally = Tally { bytes: length, ..self };
        let mut reader = BufReader::with_capacity(1 << 16, file);
        if self.first.is_none() {
            reader.seek(SeekFrom::Start(0))?;
            let mut line = Vec::new();
            reader.read_until(b'\n', &mut line)?;
            tally.first = Entry::parse(&line).map(|entry| entry.timestamp);
        }
        reader.seek(SeekFrom::Start(self.bytes))?;
        let mut rest = reader.take(length - self.bytes);
        loop {
            let piece = rest.fill_buf()?;
            if piece.is_empty() {
                return Ok(tally);
            }
            tally.entries += memchr::memchr_iter(b'\n', piece).count() as u64;
            let read = piece.len();
            rest.consume(read);
        }
    }
}

fn tally_file(active: &Path) -> PathBuf {
    active.with_extension("tally")
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::super::super::{EntryId, EntryKind};
    use super::*;

    fn entry(timestamp: u64) -> Entry {
        let text = "x".repeat(100_000);
        Entry::new(EntryId(timestamp.to_string()), timestamp, EntryKind::Message, "a", "b", &text)
    }

    #[test]
    fn the_count_is_the_same_with_a_note_without_one_and_with_a_false_one() {
        let home = Home::new();
        let path = home.path().join("active.jsonl");
        let mut active = Active::open(&path).unwrap().0;
        for timestamp in 5..35 {
            active.append(&[entry(timestamp)], Durability::Cached).unwrap();
        }
        let tally = active.tally;
        assert_eq!((tally.entries, tally.first), (30, Some(5)));
        let noted: Tally = serde_json::from_str(&home.read("active.tally")).unwrap();
        assert!(noted.bytes < tally.bytes && noted.entries >= 20, "{noted:?}");
        assert_eq!(Active::open(&path).unwrap().0.tally, tally);
        let lying = [
            Tally { bytes: 99_999_999_999, ..tally },
            Tally { inode: 7, bytes: 10, entries: 3, first: Some(1) },
        ];
        let lying = lying.map(|tally| serde_json::to_string(&tally).unwrap());
        for note in ["", "garbage", &lying[0], &lying[1]] {
            home.write("active.tally", note);
            assert_eq!(Active::open(&path).unwrap().0.tally, tally, "{note}");
        }
    }
}
