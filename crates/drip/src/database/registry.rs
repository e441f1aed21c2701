//! What files looked like when anybody read them last, across sessions: a hint for the next first read, never a base.

use std::time::Duration;

use store::sqlite::rusqlite::{OptionalExtension, params};

use super::contents::{self, Kept};
use super::{Database, Result, Writing};
use crate::caller::Caller;
use crate::lines::{Hash, Text};
use crate::session::SessionId;

/// Older entries are forgotten, whatever their size.
const MAX_AGE: Duration = Duration::from_secs(90 * 24 * 3600);

/// Beyond this the oldest are forgotten: one large repository, twice.
const MAX_BYTES: i64 = 256 << 20;

/// A file as it was seen in another session.
#[derive(Debug, Clone)]
pub struct Known {
    pub hash: Hash,
    pub seen_at: i64,
    pub branch: Option<String>,
    content: Option<String>,
}

impl Database {
    /// What another session saw of a file.
    pub fn known(&self, path: &str, session: &SessionId) -> Result<Option<Known>> {
        if !self.options.registry {
            return Ok(None);
        }
        let found = self
            .connection
            .prepare_cached(
                "SELECT content_hash, last_seen_at, last_git_branch, content FROM file_registry
                 WHERE file_path = ?1 AND last_session_id <> ?2",
            )?
            .query_row(params![path, session.as_str()], |row| {
                Ok(Known {
                    hash: Hash::stored(row.get(0)?),
                    seen_at: row.get(1)?,
                    branch: row.get(2)?,
                    content: row.get(3)?,
                })
            })
            .optional()?;
        Ok(found)
    }

    /// The text that was seen, if it is still there.
    pub fn known_text(&self, known: &Known) -> Result<Option<Text>> {
        contents::fetch(|| self.blobs(), known.content.clone(), &known.hash)
    }
}

impl Writing<'_> {
    pub(super) fn register(
        &self,
        caller: &Caller,
        path: &str,
        hash: &Hash,
        text: &Text,
        kept: &Kept,
    ) -> Result<()> {
        if !self.options.registry {
            return Ok(());
        }
        self.transaction
            .prepare_cached(
                "INSERT INTO file_registry VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8)
                 ON CONFLICT (file_path) DO UPDATE SET content_hash = ?2, content = ?3, content_storage = ?4,
                 last_session_id = ?5, last_seen_at = ?6, last_git_branch = ?7, reads_count = reads_count + 1, bytes = ?8",
            )?
            .execute(params![
                path,
                hash.as_str(),
                kept.content,
                kept.storage,
                caller.session.id.as_str(),
                self.now,
                caller.branch(),
                text.len(),
            ])?;
        Ok(())
    }

    /// Forgets what is too old and, oldest first, what is too much. Returns how many entries went.
    pub(crate) fn bound_registry(&self, older_than: i64) -> Result<usize> {
        let by_age = "DELETE FROM file_registry WHERE last_seen_at <= ?1";
        let old = self.transaction.execute(by_age, [older_than])?;
        let by_size = "DELETE FROM file_registry WHERE file_path IN (
                           SELECT file_path FROM (
                               SELECT file_path, sum(bytes) OVER (ORDER BY last_seen_at DESC, file_path) AS total
                               FROM file_registry)
                           WHERE total > ?1)";
        Ok(old + self.transaction.execute(by_size, [MAX_BYTES])?)
    }

    /// The age beyond which the registry forgets by itself.
    pub(crate) fn registry_horizon(&self) -> i64 {
        self.now - i64::try_from(MAX_AGE.as_secs()).unwrap_or(i64::MAX)
    }
}
