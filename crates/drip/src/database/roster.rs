//! The sessions that are alive, for people who look at them.

use std::path::Path;

use store::sqlite::rusqlite::{Row, params};

use super::sessions::seconds;
use super::sums::{Sums, sums};
use super::{Database, Result};
use crate::session::SessionId;

/// A session and what was read in it.
#[derive(Debug, Clone)]
pub struct Roll {
    pub id: SessionId,
    pub started_at: i64,
    pub last_active: i64,
    pub cwd: String,
    pub strategy: String,
    pub context: String,
    pub agent: Option<String>,
    /// Files of which its readers hold something.
    pub files: u64,
    pub sums: Sums,
}

const ROLL: &str = "SELECT session_id, started_at, last_active, cwd, strategy, context, agent,
    (SELECT count(DISTINCT file_path) FROM reads WHERE reads.session_id = sessions.session_id AND delivery > 0),
    total_reads, tokens_full, tokens_sent, overhead_tokens FROM sessions";

impl Database {
    /// The sessions that are not over, newest first.
    pub fn sessions(&self) -> Result<Vec<Roll>> {
        self.rolls("last_active >= ?1 ORDER BY last_active DESC, session_id", params![self.horizon()])
    }

    /// Those whose id begins like this; only one if it is the whole id.
    pub fn sessions_named(&self, id: &str) -> Result<Vec<Roll>> {
        let exact = self.rolls("session_id = ?1", [id])?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        self.rolls("substr(session_id, 1, length(?1)) = ?1 ORDER BY last_active DESC", [id])
    }

    /// The newest session in which a client read in this directory under an id of its own.
    pub fn client_session(&self, cwd: &Path) -> Result<Option<Roll>> {
        let found = self.rolls(
            "strategy IN ('env', 'hook') AND cwd = ?1 AND total_reads > 0 AND last_active >= ?2
             ORDER BY last_active DESC LIMIT 1",
            params![cwd.to_string_lossy(), self.horizon()],
        )?;
        Ok(found.into_iter().next())
    }

    /// The newest session of which an answer is kept.
    pub fn session_with_events(&self) -> Result<Option<Roll>> {
        let newest = "session_id = (SELECT session_id FROM read_events ORDER BY id DESC LIMIT 1)";
        Ok(self.rolls(newest, [])?.into_iter().next())
    }

    fn horizon(&self) -> i64 {
        self.now() - seconds(self.options.ttl)
    }

    fn rolls(&self, which: &str, parameters: impl store::sqlite::rusqlite::Params) -> Result<Vec<Roll>> {
        let mut statement = self.connection.prepare(&format!("{ROLL} WHERE {which}"))?;
        let rows = statement.query_map(parameters, roll)?.collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(rows.into_iter().flatten().collect())
    }
}

/// None for an id that no session of ours could have.
fn roll(row: &Row) -> store::sqlite::rusqlite::Result<Option<Roll>> {
    let Some(id) = SessionId::new(row.get::<_, String>(0)?) else { return Ok(None) };
    Ok(Some(Roll {
        id,
        started_at: row.get(1)?,
        last_active: row.get(2)?,
        cwd: row.get(3)?,
        strategy: row.get(4)?,
        context: row.get(5)?,
        agent: row.get(6)?,
        files: row.get(7)?,
        sums: sums(row, 8)?,
    }))
}
