//! What the model is spared by being told what changed instead of all of it: counted where the answers are made, kept
//! as one line for each turn. A turn that was killed is not counted.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use kit::text;
use serde::{Deserialize, Serialize};
use store::Durability;
use store::journal::{self, Journal, JournalError};

/// Counts of one turn, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    pub reads: u64,
    /// In tokens: every line that was asked for, each time.
    pub full: u64,
    /// In tokens: what was sent, with all that we say about a file.
    pub sent: u64,
}

/// Counts while a turn lasts.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Count>);

impl Meter {
    /// An answer to a read, in bytes.
    pub(crate) fn read(&self, full: usize, sent: usize) {
        self.add(Count { reads: 1, full: tokens(full), sent: tokens(sent) });
    }

    /// What the result of an edit says about the file so that the next read can be short, in bytes.
    pub(crate) fn noted(&self, sent: usize) {
        self.add(Count { sent: tokens(sent), ..Count::default() });
    }

    /// What was counted since this was asked last.
    pub fn take(&self) -> Count {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, more: Count) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(more);
    }
}

impl Count {
    fn add(&mut self, more: Count) {
        self.reads = self.reads.saturating_add(more.reads);
        self.full = self.full.saturating_add(more.full);
        self.sent = self.sent.saturating_add(more.sent);
    }
}

/// Where turns are written down, below what the agent keeps.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("saved.jsonl")
}

/// Writes a turn down. A count that cannot be kept is worth no failure.
pub(crate) fn keep(path: &Path, count: Count) {
    if count == Count::default() {
        return;
    }
    if let (Ok((mut journal, _)), Ok(line)) =
        (Journal::open(path, Durability::Cached), serde_json::to_vec(&count))
    {
        let _ = journal.append(&line);
    }
}

/// The sum of all turns. A line that is none of ours counts nothing.
pub(crate) fn total(path: &Path) -> Result<Count, JournalError> {
    let mut total = Count::default();
    for line in journal::lines(path, 0)? {
        if let Ok(count) = serde_json::from_slice(&line?.bytes) {
            total.add(count);
        }
    }
    Ok(total)
}

fn tokens(bytes: usize) -> u64 {
    text::tokens(bytes as u64)
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn turns_add_up_and_foreign_lines_count_nothing() {
        let home = Home::new();
        let path = home.path().join("saved.jsonl");
        assert_eq!(total(&path).unwrap(), Count::default(), "there is no file yet");
        keep(&path, Count::default());
        assert!(!path.exists(), "a turn without a read leaves no line");
        let meter = Meter::default();
        meter.read(4000, 4040);
        meter.read(4000, 60);
        meter.noted(41);
        keep(&path, meter.take());
        assert_eq!(meter.take(), Count::default());
        home.write("saved.jsonl", format!("{}garbage\n{{\"reads\":1}}\n[2]\n", home.read("saved.jsonl")));
        keep(&path, Count { reads: 1, full: u64::MAX, sent: 9 });
        assert_eq!(total(&path).unwrap(), Count { reads: 3, full: u64::MAX, sent: 1010 + 15 + 11 + 9 });
    }
}
