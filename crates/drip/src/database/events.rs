//! What was said to readers, for `replay` and `why`.

use store::sqlite::rusqlite::{OptionalExtension, Row, params};

use super::contents;
use super::{Database, Result};
use crate::elide::Stub;
use crate::lines::{Hash, Ranges};
use crate::render::Cost;
use crate::session::SessionId;

/// One answer, with the numbers behind it.
#[derive(Debug, Clone)]
pub struct Event {
    pub session: String,
    pub agent: String,
    pub path: String,
    pub occurred_at: i64,
    pub kind: String,
    pub reason: Option<String>,
    pub cost: Cost,
    pub hunks: Option<u64>,
    pub policy: Option<String>,
    /// What the reader had been shown, and when last.
    pub shown_before: Option<Ranges>,
    pub shown_at: Option<i64>,
    pub rendered: String,
}

/// Which answers of a session.
#[derive(Debug, Clone, Copy)]
pub struct Which<'a> {
    pub session: &'a SessionId,
    pub since: Option<i64>,
    /// A part of the path.
    pub file: Option<&'a str>,
    /// The newest so many.
    pub limit: u32,
}

/// What a reader was shown in place of bodies, and of how many lines.
pub struct SourceMap {
    pub stubs: Vec<Stub>,
    /// Of the file itself; none if its text is lost.
    pub lines: Option<usize>,
}

const EVENT: &str =
    "SELECT session_id, agent_id, file_path, occurred_at, outcome_kind, fallback_reason, tokens_full,
    tokens_sent, overhead_tokens, hunks, policy, shown_before, shown_at, rendered FROM read_events";

impl Database {
    /// The answers, oldest first.
    pub fn events(&self, which: &Which) -> Result<Vec<Event>> {
        let mut statement = self.connection.prepare(&format!(
            "{EVENT} WHERE session_id = ?1 AND (?2 IS NULL OR occurred_at >= ?2)
             AND (?3 IS NULL OR instr(file_path, ?3) > 0) ORDER BY id DESC LIMIT ?4"
        ))?;
        let rows = statement
            .query_map(params![which.session.as_str(), which.since, which.file, which.limit], event)?;
        let mut events = rows.collect::<std::result::Result<Vec<_>, _>>()?;
        events.reverse();
        Ok(events)
    }

    /// The newest answer about a file, in one session or in any.
    pub fn last_event(&self, path: &str, session: Option<&SessionId>) -> Result<Option<Event>> {
        let find = format!(
            "{EVENT} WHERE file_path = ?1 AND (?2 IS NULL OR session_id = ?2) ORDER BY id DESC LIMIT 1"
        );
        let session = session.map(SessionId::as_str);
        Ok(self.connection.query_row(&find, params![path, session], event).optional()?)
    }

    /// What a session was last shown of a file; none if nothing. Without stubs if no body was left out.
    pub fn source_map(&self, session: &SessionId, path: &str) -> Result<Option<SourceMap>> {
        let find = "SELECT source_map, content, content_hash FROM reads
                    WHERE session_id = ?1 AND file_path = ?2 AND delivery > 0 ORDER BY read_at DESC LIMIT 1";
        let row: Option<(Option<String>, Option<String>, String)> = self
            .connection
            .query_row(find, params![session.as_str(), path], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((stubs, content, hash)) = row else { return Ok(None) };
        let stubs = stubs.and_then(|stubs| serde_json::from_str(&stubs).ok()).unwrap_or_default();
        let text = contents::fetch(|| self.blobs(), content, &Hash::stored(hash))?;
        Ok(Some(SourceMap { stubs, lines: text.map(|text| text.count()) }))
    }
}

fn event(row: &Row) -> store::sqlite::rusqlite::Result<Event> {
    let shown: Option<String> = row.get(11)?;
    Ok(Event {
        session: row.get(0)?,
        agent: row.get(1)?,
        path: row.get(2)?,
        occurred_at: row.get(3)?,
        kind: row.get(4)?,
        reason: row.get(5)?,
        cost: Cost { full: row.get(6)?, sent: row.get(7)?, overhead: row.get(8)? },
        hunks: row.get(9)?,
        policy: row.get(10)?,
        shown_before: shown.and_then(|shown| serde_json::from_str(&shown).ok()),
        shown_at: row.get(12)?,
        rendered: row.get(13)?,
    })
}
