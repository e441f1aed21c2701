//! Comparisons that a watcher did before they were asked for. Named by the two contents they are about, so that none can
//! be taken for another.

use std::path::Path;

use store::sqlite::rusqlite::{OptionalExtension, params};

use super::head::read_head;
use super::{Database, Head, Result};
use crate::diff::Change;
use crate::lines::{Hash, Text};
use crate::load::Stamp;
use crate::session::{AgentId, Eyes, SessionId};

/// A comparison of what a reader holds with what there is.
pub struct Foreseen<'a> {
    pub eyes: &'a Eyes,
    pub path: &'a str,
    pub base: &'a Hash,
    pub now: &'a Hash,
    pub text: &'a Text,
    pub stamp: &'a Stamp,
    pub changes: &'a [Change],
}

impl Database {
    /// The files below a folder that somebody was shown.
    pub fn read_below(&self, folder: &Path) -> Result<Vec<String>> {
        let mut below = folder.to_string_lossy().into_owned();
        if !below.ends_with('/') {
            below.push('/');
        }
        // Not LIKE, which would take `_` and `%` in a folder's name for anything.
        let mut find = self.connection.prepare_cached(
            "SELECT DISTINCT file_path FROM reads WHERE substr(file_path, 1, length(?1)) = ?1 AND delivery > 0",
        )?;
        Ok(find.query_map([below], |row| row.get(0))?.collect::<std::result::Result<_, _>>()?)
    }

    /// What everybody holds of a file.
    pub fn heads_of(&self, path: &str) -> Result<Vec<(Eyes, Head)>> {
        let mut find = self.connection.prepare_cached(
            "SELECT content_hash, seen_ranges, was_semantic_compressed, reads.batch, delivery, read_at, source_map, content,
                    seen_end, sent_until, call_id, reads.session_id, agent_id
             FROM reads JOIN sessions ON sessions.session_id = reads.session_id
                                     AND sessions.context_epoch = reads.context_epoch
             WHERE file_path = ?1 AND delivery > 0",
        )?;
        let rows = find.query_map([path], |row| {
            Ok((row.get::<_, String>(11)?, row.get::<_, String>(12)?, read_head(row)?))
        })?;
        let rows: Vec<(String, String, Head)> = rows.collect::<std::result::Result<_, _>>()?;
        let eyes = |session: String, agent: &str| {
            Some(Eyes { session: SessionId::new(session)?, agent: AgentId::new(agent) })
        };
        Ok(rows
            .into_iter()
            .filter_map(|(session, agent, head)| Some((eyes(session, &agent)?, head)))
            .collect())
    }

    pub fn is_foreseen(&self, eyes: &Eyes, path: &str, base: &Hash, now: &Hash) -> Result<bool> {
        Ok(self.foreseen(eyes, path, base, now)?.is_some())
    }

    /// The changes between two contents, if somebody compared them already.
    pub fn foreseen(&self, eyes: &Eyes, path: &str, base: &Hash, now: &Hash) -> Result<Option<Vec<Change>>> {
        let found: Option<Option<String>> = self
            .connection
            .prepare_cached(
                "SELECT diff_text FROM precomputed_reads
                 WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3 AND baseline_hash = ?4 AND content_hash = ?5",
            )?
            .query_row(
                params![eyes.session.as_str(), eyes.agent.as_str(), path, base.as_str(), now.as_str()],
                |row| row.get(0),
            )
            .optional()?;
        Ok(found.flatten().and_then(|changes| serde_json::from_str(&changes).ok()))
    }

    /// Keeps a comparison for the next read.
    pub fn foresee(&mut self, foreseen: &Foreseen) -> Result<()> {
        self.write(|writing| {
            let Foreseen { eyes, path, base, now, text, stamp, changes } = foreseen;
            let nanoseconds = |time: i128| i64::try_from(time).unwrap_or(i64::MAX);
            let changes = serde_json::to_string(changes).expect("ranges are plain numbers");
            writing
                .transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO precomputed_reads
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, ?9, ?10, ?11, 1, ?12, ?13)",
                )?
                .execute(params![
                    eyes.session.as_str(),
                    eyes.agent.as_str(),
                    path,
                    nanoseconds(stamp.modified_ns),
                    stamp.bytes,
                    nanoseconds(stamp.changed_ns),
                    i64::from_ne_bytes(stamp.inode.to_ne_bytes()),
                    now.as_str(),
                    kit::text::tokens(text.len() as u64),
                    kit::text::tokens(changes.len() as u64),
                    changes,
                    base.as_str(),
                    writing.now,
                ])?;
            Ok(())
        })
    }
}
