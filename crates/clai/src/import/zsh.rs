//! Zsh's history file: a line per entry, with `: start:seconds;` before it if the user wants times; a newline inside
//! an entry has a backslash before it; bytes that zsh uses for itself are escaped.

use super::lines::CAP;
use super::{Entry, time};

#[derive(Debug, Clone, Default)]
pub(super) struct Reader {
    state: State,
    bytes: Vec<u8>,
    offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Between,
    Inside,
    /// Inside an entry that is spoiled.
    Dropping,
}

impl Reader {
    pub(super) fn line(&mut self, line: &[u8], offset: u64) -> Option<Entry> {
        let continued = line.last() == Some(&b'\\');
        if self.state == State::Dropping || self.bytes.len() + line.len() > CAP {
            return self.drop_entry(continued);
        }
        if self.state == State::Between {
            self.offset = offset;
        }
        if continued {
            self.bytes.extend_from_slice(&line[..line.len() - 1]);
            self.bytes.push(b'\n');
            self.state = State::Inside;
            return None;
        }
        self.bytes.extend_from_slice(guarded(line));
        self.state = State::Between;
        let bytes = std::mem::take(&mut self.bytes);
        let (ts, duration_ms, command) = split(&bytes);
        let entry = Entry::of(unescape(command), self.offset)?;
        Some(Entry { ts, duration_ms, ..entry })
    }

    pub(super) fn unusable(&mut self, last: u8) -> Option<Entry> {
        self.drop_entry(last == b'\\')
    }

    fn drop_entry(&mut self, continued: bool) -> Option<Entry> {
        self.bytes.clear();
        self.state = if continued { State::Dropping } else { State::Between };
        None
    }
}

/// An entry that ends with a backslash is written with a space behind it, so that it does not seem to go on.
fn guarded(line: &[u8]) -> &[u8] {
    match line.strip_suffix(b" ") {
        Some(shorter) if shorter.trim_ascii_end().last() == Some(&b'\\') => shorter,
        _ => line,
    }
}

/// The end time, the duration and the command. A whole second that was not reached says nothing.
fn split(bytes: &[u8]) -> (Option<i64>, Option<u64>, &[u8]) {
    let header = || {
        let rest = bytes.strip_prefix(b":")?.trim_ascii_start();
        let end = rest.iter().position(|byte| *byte == b';')?;
        let mut numbers = rest[..end].split(|byte| *byte == b':');
        let (start, seconds) = (numbers.next()?, numbers.next()?);
        let seconds: i64 = str::from_utf8(seconds).ok()?.parse().ok()?;
        if numbers.next().is_some() || !start.iter().all(u8::is_ascii_digit) || start.is_empty() {
            return None;
        }
        let duration = seconds.max(0).checked_mul(1000)?;
        Some((time(start).map(|start| start.saturating_add(duration)), duration, &rest[end + 1..]))
    };
    match header() {
        Some((ts, duration, command)) => (ts, (duration > 0).then_some(duration.unsigned_abs()), command),
        // A command that begins with a colon is told from a header by a backslash.
        None if bytes.starts_with(b"\\:") => (None, None, &bytes[1..]),
        None => (None, None, bytes),
    }
}

fn unescape(bytes: &[u8]) -> Vec<u8> {
    const META: u8 = 0x83;
    let mut out = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter();
    while let Some(byte) = bytes.next() {
        match (*byte, bytes.as_slice().first()) {
            (META, Some(next)) => {
                out.push(next ^ 32);
                bytes.next();
            }
            (byte, _) => out.push(byte),
        }
    }
    out
}
