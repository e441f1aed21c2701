//! What reads have cost and saved, added up: for a session, for all time, by file and by day.

use std::io;
use std::path::Path;

use store::sqlite::rusqlite::{OptionalExtension, Row, params};

use super::{Database, Result};
use crate::session::SessionId;

/// Reads and their tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    pub reads: u64,
    /// What would have been sent without us.
    pub full: u64,
    pub sent: u64,
    /// Our own words.
    pub overhead: u64,
}

impl Sums {
    /// Below zero where we cost more than we saved.
    pub fn saved(&self) -> i64 {
        self.full.cast_signed() - self.sent.cast_signed() - self.overhead.cast_signed()
    }

    /// The same in percent of what would have been sent.
    pub fn reduction(&self) -> f64 {
        if self.full == 0 { 0.0 } else { self.saved() as f64 * 100.0 / self.full as f64 }
    }
}

/// What to add up.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    Lifetime,
    Session(&'a SessionId),
}

/// The sums of a scope and what belongs beside them.
#[derive(Debug, Default)]
pub struct Totals {
    pub sums: Sums,
    /// When counting began.
    pub since: i64,
    pub files: u64,
    pub edited_files: u64,
    pub edits: u64,
    /// Reads that met a change which the reader had not made. Counted for all time only.
    pub outside_changes: u64,
    pub compactions: Compactions,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Compactions {
    pub count: u64,
    pub last_at: Option<i64>,
    /// Sent again since the last one, because it was shown before it.
    pub tokens_resent: u64,
}

/// A file or a day, and its sums.
pub type Named = (String, Sums);

impl Database {
    pub fn totals(&self, scope: Scope) -> Result<Totals> {
        let compactions = self.compactions(scope)?;
        match scope {
            Scope::Lifetime => {
                let totals = self.connection.query_row(
                    "SELECT total_reads, tokens_full, tokens_sent, overhead_tokens, installed_at,
                            (SELECT count(*) FROM lifetime_per_file),
                            (SELECT count(*) FROM lifetime_edited_files),
                            (SELECT coalesce(sum(edits), 0) FROM lifetime_edited_files),
                            external_edit_refreshes
                     FROM lifetime_stats",
                    [],
                    |row| totals(row, compactions),
                )?;
                Ok(Totals { since: self.last_reset()?.unwrap_or(totals.since), ..totals })
            }
            Scope::Session(id) => {
                let found = self.connection.query_row(
                    "SELECT total_reads, tokens_full, tokens_sent, overhead_tokens, started_at,
                            (SELECT count(DISTINCT file_path) FROM reads WHERE session_id = ?1 AND delivery > 0),
                            (SELECT count(DISTINCT file_path) FROM edit_events WHERE session_id = ?1),
                            (SELECT count(*) FROM edit_events WHERE session_id = ?1),
                            0
                     FROM sessions WHERE session_id = ?1",
                    [id.as_str()],
                    |row| totals(row, compactions),
                );
                Ok(found.optional()?.unwrap_or(Totals { since: self.now(), ..Totals::default() }))
            }
        }
    }

    /// When the counters were set to nothing.
    pub fn last_reset(&self) -> Result<Option<i64>> {
        let find = "SELECT value FROM meta WHERE key = 'last_reset_at'";
        let value: Option<String> = self.connection.query_row(find, [], |row| row.get(0)).optional()?;
        Ok(value.and_then(|value| value.parse().ok()))
    }

    /// The files that saved most.
    pub fn top_files(&self, scope: Scope, limit: usize) -> Result<Vec<Named>> {
        let saved = "tokens_full - tokens_sent - overhead_tokens";
        match scope {
            Scope::Lifetime => self.named(
                &format!(
                    "SELECT file_path, reads, tokens_full, tokens_sent, overhead_tokens FROM lifetime_per_file
                     ORDER BY {saved} DESC, file_path LIMIT ?1"
                ),
                params![limit],
            ),
            Scope::Session(id) => self.named(
                &format!(
                    "SELECT file_path, count(*), sum(tokens_full), sum(tokens_sent), sum(overhead_tokens)
                     FROM read_events WHERE session_id = ?2 GROUP BY file_path
                     ORDER BY sum({saved}) DESC, file_path LIMIT ?1"
                ),
                params![limit, id.as_str()],
            ),
        }
    }

    /// The last days on which something was read, oldest first.
    pub fn days(&self, scope: Scope, days: i64) -> Result<Vec<Named>> {
        let since = self.now() - days * 86_400;
        match scope {
            Scope::Lifetime => self.named(
                "SELECT day, reads, tokens_full, tokens_sent, overhead_tokens FROM lifetime_daily
                 WHERE day > date(?1, 'unixepoch') ORDER BY day",
                params![since],
            ),
            Scope::Session(id) => self.named(
                "SELECT date(occurred_at, 'unixepoch') AS day, count(*), sum(tokens_full), sum(tokens_sent),
                        sum(overhead_tokens)
                 FROM read_events WHERE session_id = ?2 AND day > date(?1, 'unixepoch') GROUP BY day ORDER BY day",
                params![since, id.as_str()],
            ),
        }
    }

    /// Files that were counted and are no longer there.
    pub fn vanished(&self) -> Result<Vec<Named>> {
        let every =
            "SELECT file_path, reads, tokens_full, tokens_sent, overhead_tokens FROM lifetime_per_file
                     ORDER BY file_path";
        let mut files = self.named(every, [])?;
        let is_gone = |path: &str| match Path::new(path).symlink_metadata() {
            Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
            Ok(_) => false,
        };
        files.retain(|(path, _)| is_gone(path));
        Ok(files)
    }

    /// Takes files out of the sums of all time, as if they had never been read.
    pub fn discount(&mut self, files: &[Named]) -> Result<()> {
        self.write(|writing| {
            for (path, sums) in files {
                let transaction = &writing.transaction;
                transaction.execute("DELETE FROM lifetime_per_file WHERE file_path = ?1", [path])?;
                transaction.execute(
                    "UPDATE lifetime_stats SET total_reads = max(0, total_reads - ?1),
                     tokens_full = max(0, tokens_full - ?2), tokens_sent = max(0, tokens_sent - ?3),
                     overhead_tokens = max(0, overhead_tokens - ?4)",
                    params![sums.reads, sums.full, sums.sent, sums.overhead],
                )?;
            }
            Ok(())
        })
    }

    fn compactions(&self, scope: Scope) -> Result<Compactions> {
        let id = match scope {
            Scope::Lifetime => None,
            Scope::Session(id) => Some(id.as_str()),
        };
        let counted = "SELECT coalesce(sum(compaction_count), 0), max(last_compaction_at) FROM sessions
                       WHERE ?1 IS NULL OR session_id = ?1";
        let (count, last_at) =
            self.connection.query_row(counted, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let resent = "SELECT coalesce(sum(e.tokens_sent), 0) FROM read_events e JOIN sessions s USING (session_id)
                      WHERE (?1 IS NULL OR e.session_id = ?1) AND e.occurred_at >= s.last_compaction_at
                        AND e.outcome_kind IN ('first', 'first-compressed', 'partial', 'native')
                        AND EXISTS (SELECT 1 FROM read_events b
                                    WHERE b.session_id = e.session_id AND b.agent_id = e.agent_id
                                      AND b.file_path = e.file_path AND b.occurred_at < s.last_compaction_at)";
        let tokens_resent = self.connection.query_row(resent, [id], |row| row.get(0))?;
        Ok(Compactions { count, last_at, tokens_resent })
    }

    fn named(&self, sql: &str, parameters: impl store::sqlite::rusqlite::Params) -> Result<Vec<Named>> {
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map(parameters, |row| Ok((row.get(0)?, sums(row, 1)?)))?;
        Ok(rows.collect::<std::result::Result<_, _>>()?)
    }
}

/// The four columns of sums from `first` on.
pub(super) fn sums(row: &Row, first: usize) -> store::sqlite::rusqlite::Result<Sums> {
    Ok(Sums {
        reads: row.get(first)?,
        full: row.get(first + 1)?,
        sent: row.get(first + 2)?,
        overhead: row.get(first + 3)?,
    })
}

fn totals(row: &Row, compactions: Compactions) -> store::sqlite::rusqlite::Result<Totals> {
    Ok(Totals {
        sums: sums(row, 0)?,
        since: row.get(4)?,
        files: row.get(5)?,
        edited_files: row.get(6)?,
        edits: row.get(7)?,
        outside_changes: row.get(8)?,
        compactions,
    })
}
