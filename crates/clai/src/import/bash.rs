//! Bash's history file: one line per entry; or, when it writes times, a line `#seconds` and then the lines of the
//! entry, however many.

use super::lines::CAP;
use super::{Entry, time};

#[derive(Debug, Clone, Default)]
pub(super) struct Reader {
    lines: Lines,
    /// The time that stood above.
    stamp: Option<i64>,
    current: Option<(Option<i64>, u64, Vec<u8>)>,
}

/// Bash decides by the first line of the file how to take lines that have no time above them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Lines {
    #[default]
    Unknown,
    /// Each for itself.
    Single,
    /// Belongs to the entry above.
    Joined,
    /// Joined, and the entry above is spoiled.
    Dropped,
}

impl Reader {
    pub(super) fn line(&mut self, line: &[u8], offset: u64) -> Option<Entry> {
        let stamp = line.strip_prefix(b"#").filter(|rest| rest.iter().all(u8::is_ascii_digit)).and_then(time);
        if self.lines == Lines::Unknown {
            self.lines = if stamp.is_some() { Lines::Joined } else { Lines::Single };
        }
        if stamp.is_some() {
            if self.lines == Lines::Dropped {
                self.lines = Lines::Joined;
            }
            self.stamp = stamp;
            return self.end();
        }
        match (&mut self.current, self.lines) {
            (_, Lines::Dropped) => None,
            (Some((_, _, bytes)), Lines::Joined) => {
                bytes.push(b'\n');
                bytes.extend_from_slice(line);
                if bytes.len() > CAP { self.unusable() } else { None }
            }
            _ if line.is_empty() => None,
            _ => {
                let done = self.end();
                self.current = Some((self.stamp.take(), offset, line.to_vec()));
                done
            }
        }
    }

    pub(super) fn unusable(&mut self) -> Option<Entry> {
        self.stamp = None;
        if self.lines == Lines::Joined {
            self.lines = Lines::Dropped;
            self.current = None;
        }
        self.end()
    }

    pub(super) fn end(&mut self) -> Option<Entry> {
        let (ts, offset, bytes) = self.current.take()?;
        Entry::of(bytes, offset).map(|entry| Entry { ts, ..entry })
    }
}
