//! Conversations that other programs kept: session files of Claude Code and Codex become contexts. The file is only read.
//! What we do not understand in it is counted and left out.

mod claude;
mod codex;

use std::fs;
use std::path::Path;

use conversation::Record;
use kit::calendar::Moment;
use serde_json::Value;
use store::Durability;

use super::fault::At;
use super::{
    ChibiHome, ContextError, ContextName, Entry, EntryKind, Meta, documents, lifecycle, meta, records,
};

/// Who wrote a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    ClaudeCode,
    Codex,
}

/// A conversation of another program.
#[derive(Debug)]
pub struct Session {
    pub source: Source,
    /// The program's name for it.
    pub id: Option<String>,
    /// The folder in which it was held.
    pub project: Option<String>,
    /// What happened, and when, in seconds since 1970.
    pub records: Vec<(u64, Record)>,
    /// Lines that we could not read.
    pub skipped: usize,
}

/// Reads a session file of either program.
pub fn read(path: &Path) -> Result<Session, ContextError> {
    let bytes = fs::read(path).at("read", path)?;
    let strange = |reason: &str| ContextError::Session { path: path.to_owned(), reason: reason.to_owned() };
    let session = parse(&bytes).ok_or_else(|| strange("neither Claude Code nor Codex writes such lines"))?;
    match session.records.is_empty() {
        true => Err(strange("nothing was said in it")),
        false => Ok(session),
    }
}

/// None if no line is one of theirs.
pub(super) fn parse(bytes: &[u8]) -> Option<Session> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let lines: Vec<&[u8]> = lines.collect();
    match lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).find_map(|line| source(&line))? {
        Source::ClaudeCode => Some(claude::session(&lines)),
        Source::Codex => Some(codex::session(&lines)),
    }
}

impl ChibiHome {
    /// Makes a context of a session. What its summaries replaced is in the transcript, not in the window.
    pub fn import(&self, session: &Session, name: &ContextName) -> Result<(), ContextError> {
        let created =
            Entry::of_system(self.fresh_id(), self.now(), EntryKind::ContextCreated, name, "Context created");
        let mut entries = vec![created];
        let mut summary = String::new();
        for (timestamp, record) in &session.records {
            if let Record::Compacted { summary: text, .. } = record {
                summary.clone_from(text);
                let anchor = Entry::of_system(
                    self.fresh_id(),
                    *timestamp,
                    EntryKind::Compaction,
                    name,
                    "Context compacted",
                );
                entries.push(anchor.with("summary", text));
                continue;
            }
            for mut entry in records::write(record, self, name, "user") {
                entry.timestamp = *timestamp;
                entries.push(entry);
            }
        }
        records::name_tools(&mut entries);
        lifecycle::make(self, name, &entries, |folder| {
            let mut other = serde_json::Map::new();
            let texts = [("imported", session.id.as_ref()), ("project", session.project.as_ref())];
            for (key, text) in texts.into_iter().filter_map(|(key, text)| Some((key, text?))) {
                other.insert(key.to_owned(), Value::from(text.as_str()));
            }
            meta::save(folder, &Meta { created_at: self.now(), other }, Durability::Fsync)?;
            documents::write(folder, documents::Document::Summary, &summary)
        })
    }
}

fn source(line: &Value) -> Option<Source> {
    let kind = line.get("type").and_then(Value::as_str).unwrap_or_default();
    let has = |key| line.get(key).is_some();
    match kind {
        "session_meta" | "response_item" | "turn_context" | "event_msg" if has("payload") => {
            Some(Source::Codex)
        }
        // Before there were envelopes, items stood alone.
        "function_call" | "function_call_output" => Some(Source::Codex),
        "message" if has("role") && has("content") => Some(Source::Codex),
        "user" | "assistant" if has("message") => Some(Source::ClaudeCode),
        "system" if has("uuid") => Some(Source::ClaudeCode),
        "summary" if has("leafUuid") => Some(Source::ClaudeCode),
        _ => None,
    }
}

/// Seconds since 1970 of `2026-01-31T23:59:59.123Z`. None if it is something else.
fn seconds(time: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| time.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let seconds = Moment { year, month, day, hour, minute, second }.seconds()?;
    u64::try_from(seconds).ok().filter(|_| time.ends_with('Z'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_read_as_seconds() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2026-01-01T00:00:00.000Z"), Some(1_767_225_600));
        assert_eq!(seconds("2024-02-29T12:34:56.789Z"), Some(1_709_210_096));
        for bad in
            ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "日本日本日本日本日本日本"]
        {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_session_with_anything_in_it_is_read_or_refused() {
        testkit::fuzz("chibi-session", "tests/corpus/sessions", 10_000, |bytes| {
            if let Some(session) = parse(bytes) {
                let records: Vec<Record> = session.records.into_iter().map(|(_, record)| record).collect();
                // Whatever it says, it becomes a valid history.
                drop(conversation::History::load(records));
            }
        });
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_session_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
            let _ = parse(&[br#"{"type":"user","message":{}}"#, b"\n".as_slice(), &bytes].concat());
            let _ = parse(&[br#"{"type":"session_meta","payload":{}}"#, b"\n".as_slice(), &bytes].concat());
        }
    }
}
