//! Commands on their way out: what grew too old, and what a person wants never to have been written. Nothing here
//! knows why.

use std::collections::BTreeSet;

use store::sqlite::rusqlite::{self, Connection, ffi, params};

use super::aggregate::{Progress, rebuild};
use super::{Database, Result};
use crate::config::glob;

/// Days to milliseconds.
const DAY_MS: i64 = 86_400_000;

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doomed {
    /// Every line with this text in it, or, where it has `*` or `?`, that it describes as a whole.
    Matching(String),
    /// The commands that were written last.
    Last(u64),
    /// Every command that ended at or after this, in unix milliseconds.
    Since(i64),
}

impl Doomed {
    /// Whether a line is to go, as far as its text decides.
    pub fn matches(&self, line: &str) -> bool {
        match self {
            Doomed::Matching(pattern) if pattern.contains(['*', '?']) => glob(pattern, line),
            Doomed::Matching(text) => !text.is_empty() && line.contains(text),
            Doomed::Last(_) | Doomed::Since(_) => false,
        }
    }
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forgotten {
    pub commands: u64,
    /// Lines of which no command is left, for those who keep copies.
    pub lines: BTreeSet<String>,
}

impl Database {
    /// How many commands [`Database::forget`] would forget.
    pub fn would_forget(&self, doomed: &Doomed) -> Result<u64> {
        select(&self.connection, doomed).map(|ids| ids.len() as u64).map_err(|source| self.failed(source))
    }

    /// Deletes commands and counts the rest anew. Their bytes are gone after [`Database::scrub`].
    pub fn forget(&mut self, doomed: &Doomed) -> Result<Forgotten> {
        let deleted = delete(&mut self.connection, doomed);
        let (forgotten, progress) = deleted.map_err(|source| self.failed(source))?;
        self.progress = Some(progress);
        Ok(forgotten)
    }

    /// Leaves no byte of what was deleted in the database's files. Takes as long as copying the database; an error
    /// when somebody reads it for seconds on end, and then it can be tried again.
    pub fn scrub(&self) -> Result<()> {
        scrub(&self.connection).map_err(|source| self.failed(source))
    }

    /// Deletes commands that are older than `days`, and sessions that have none. What was counted from them stays.
    /// Gives how many commands went.
    pub fn purge(&mut self, days: u32, now_ms: i64) -> Result<u64> {
        let oldest = now_ms.saturating_sub(i64::from(days).saturating_mul(DAY_MS));
        purge(&mut self.connection, oldest).map_err(|source| self.failed(source))
    }
}

fn purge(connection: &mut Connection, oldest: i64) -> rusqlite::Result<u64> {
    let transaction = connection.transaction()?;
    let gone = transaction.execute("DELETE FROM command_event WHERE ts < ?1", [oldest])?;
    if gone > 0 {
        transaction.execute(
            "DELETE FROM session WHERE created_at < ?1
             AND NOT EXISTS (SELECT 1 FROM command_event WHERE session_id = session.id)",
            [oldest],
        )?;
    }
    transaction.execute("DELETE FROM feedback WHERE ts < ?1", [oldest])?;
    transaction.commit()?;
    let size = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    // After a large purge the file would stay as large as it ever was.
    if size("freelist_count")? * 2 > size("page_count")? {
        connection.execute_batch("VACUUM")?;
    }
    Ok(gone as u64)
}

fn delete(connection: &mut Connection, doomed: &Doomed) -> rusqlite::Result<(Forgotten, Progress)> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let ids = select(&transaction, doomed)?;
    let mut lines = BTreeSet::new();
    for id in &ids {
        let line = transaction
            .prepare_cached("DELETE FROM command_event WHERE id = ?1 RETURNING cmd_raw")?
            .query_row([id], |row| row.get::<_, String>(0))?;
        lines.insert(line);
    }
    keep_those_gone(&transaction, &mut lines)?;
    let feedback: Vec<(i64, String)> = transaction
        .prepare("SELECT id, cmd_raw FROM feedback")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (id, line) in feedback {
        if lines.contains(&line) || doomed.matches(&line) {
            transaction.execute("DELETE FROM feedback WHERE id = ?1", [id])?;
        }
    }
    // Every count may have seen what is gone, and a row's key is text.
    let progress = rebuild(&transaction)?;
    transaction.commit()?;
    Ok((Forgotten { commands: ids.len() as u64, lines }, progress))
}

/// Leaves the lines that nothing in the table says any more.
fn keep_those_gone(connection: &Connection, lines: &mut BTreeSet<String>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT DISTINCT cmd_raw FROM command_event")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        lines.remove(row.get_ref(0)?.as_str()?);
    }
    Ok(())
}

fn select(connection: &Connection, doomed: &Doomed) -> rusqlite::Result<Vec<i64>> {
    let mut ids = Vec::new();
    match doomed {
        Doomed::Matching(_) => {
            // By our own rule, so that the database and whoever keeps copies agree on what matches. The template may
            // show what the line hides behind quotes.
            let mut statement = connection.prepare("SELECT id, cmd_raw, cmd_norm FROM command_event")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let text = |column| row.get_ref(column).and_then(|text| text.as_str().map_err(Into::into));
                if doomed.matches(text(1)?) || doomed.matches(text(2)?) {
                    ids.push(row.get(0)?);
                }
            }
        }
        Doomed::Last(count) => {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            let mut statement =
                connection.prepare("SELECT id FROM command_event ORDER BY id DESC LIMIT ?1")?;
            for id in statement.query_map(params![count], |row| row.get(0))? {
                ids.push(id?);
            }
        }
        Doomed::Since(ts) => {
            let mut statement = connection.prepare("SELECT id FROM command_event WHERE ts >= ?1")?;
            for id in statement.query_map(params![ts], |row| row.get(0))? {
                ids.push(id?);
            }
        }
    }
    Ok(ids)
}

/// Overwriting deleted rows is not enough: when the tree of pages was rebalanced, cells left copies in the gaps of
/// pages that are in use. A fresh copy has no gaps that ever held anything; then the log goes.
fn scrub(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("VACUUM")?;
    let blocked = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
    match blocked {
        false => Ok(()),
        true => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)),
    }
}
