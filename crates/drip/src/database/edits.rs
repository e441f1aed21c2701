//! Edits that a reader made itself: what it changed, and the one answer that they still owe.

use store::sqlite::rusqlite::{OptionalExtension, params};

use super::{Database, Result};
use crate::caller::Caller;
use crate::lines::{Hash, Span};
use crate::session::Eyes;

/// An edit, as the hook of the client saw it.
pub struct Edit<'a> {
    pub caller: &'a Caller,
    pub path: &'a str,
    pub before: &'a Hash,
    pub after: &'a Hash,
    pub patch: &'a str,
    pub touched: &'a [Touched],
}

/// Lines that an edit left, and the definition they are in.
pub type Touched = (String, Span);

impl Database {
    /// Writes an edit down; the next read of the file by the same eyes may be answered by its certificate.
    pub fn record_edit(&mut self, edit: &Edit) -> Result<()> {
        self.write(|writing| {
            let (session, agent) = (edit.caller.session.id.as_str(), edit.caller.agent.as_str());
            let ranges: Vec<Span> = edit.touched.iter().map(|(_, span)| *span).collect();
            let symbols: Vec<&str> = edit.touched.iter().map(|(symbol, _)| symbol.as_str()).collect();
            writing.touch(edit.caller)?;
            writing
                .transaction
                .prepare_cached(
                    "INSERT INTO edit_events (session_id, agent_id, file_path, before_hash, after_hash, patch,
                                              touched_ranges, touched_symbols, edited_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                )?
                .execute(params![
                    session,
                    agent,
                    edit.path,
                    edit.before.as_str(),
                    edit.after.as_str(),
                    edit.patch,
                    serde_json::to_string(&ranges).expect("spans are plain numbers"),
                    serde_json::to_string(&symbols).expect("names are plain text"),
                    writing.now,
                ])?;
            let pending = "INSERT OR REPLACE INTO passthrough_pending VALUES (?1, ?2, ?3, ?4)";
            writing.transaction.execute(pending, params![session, agent, edit.path, writing.now])?;
            let count = "INSERT INTO lifetime_edited_files VALUES (?1, 1, ?2)
                         ON CONFLICT (file_path) DO UPDATE SET edits = edits + 1, last_edit_at = ?2";
            writing.transaction.execute(count, params![edit.path, writing.now])?;
            Ok(())
        })
    }

    /// Whether the first read after an edit is still to come.
    pub fn owes_answer(&self, eyes: &Eyes, path: &str) -> Result<bool> {
        let mut find = self.connection.prepare_cached(
            "SELECT 1 FROM passthrough_pending WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3",
        )?;
        Ok(find.exists(params![eyes.session.as_str(), eyes.agent.as_str(), path])?)
    }

    /// What the one unused edit of a file touched, if it left the file as it is now. Of several, none speaks for all.
    pub fn unused_edit(
        &self,
        eyes: &Eyes,
        path: &str,
        now: &Hash,
        since: i64,
    ) -> Result<Option<Vec<Touched>>> {
        let found: Option<(String, String)> = self
            .connection
            .prepare_cached(
                "SELECT touched_ranges, touched_symbols FROM edit_events
                 WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3 AND cert_used = 0
                 GROUP BY file_path HAVING count(*) = 1 AND edited_at >= ?4 AND after_hash = ?5",
            )?
            .query_row(
                params![eyes.session.as_str(), eyes.agent.as_str(), path, since, now.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((ranges, symbols)) = found else { return Ok(None) };
        let ranges: Vec<Span> = serde_json::from_str(&ranges).unwrap_or_default();
        let symbols: Vec<String> = serde_json::from_str(&symbols).unwrap_or_default();
        Ok(Some(symbols.into_iter().zip(ranges).collect()))
    }

    /// The answer that the edits of a file owed was given.
    pub fn settle_edit(&mut self, eyes: &Eyes, path: &str) -> Result<()> {
        self.write(|writing| {
            for settle in [
                "DELETE FROM passthrough_pending WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3",
                "UPDATE edit_events SET cert_used = 1 WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3",
            ] {
                writing.transaction.execute(settle, params![eyes.session.as_str(), eyes.agent.as_str(), path])?;
            }
            Ok(())
        })
    }
}
