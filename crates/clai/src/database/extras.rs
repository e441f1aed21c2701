//! What goes beyond the commands: tasks of projects, what was left out and why, what became of suggestions, and the
//! few values that must survive a restart.

use serde::{Deserialize, Serialize};
use store::sqlite::rusqlite::{self, OptionalExtension, params};

use super::{Database, Reader, Result};
use crate::command::RepoKey;

/// A row of `project_task`, without the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRow {
    pub kind: String,
    pub name: String,
    pub command: String,
    pub description: Option<String>,
}

/// Why something was not kept, or not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A secret was taken out; the detail is its kind.
    SecretRedacted,
    /// A line was dropped because of a secret; the detail is its kind.
    SecretDropped,
    /// A pattern of `ignore` fits; the detail is the pattern.
    IgnoredLine,
    /// A directory of `ignore_dirs` covers it; the detail is the directory.
    IgnoredDirectory,
    Paused,
    /// Typed by a program, and `agents = "drop"`.
    Agent,
    /// Longer than any message may be.
    TooLong,
    /// The queue was full.
    Overflow,
    Malformed,
}

impl Reason {
    pub fn word(self) -> &'static str {
        match self {
            Reason::SecretRedacted => "secret_redacted",
            Reason::SecretDropped => "secret_dropped",
            Reason::IgnoredLine => "ignored_line",
            Reason::IgnoredDirectory => "ignored_directory",
            Reason::Paused => "paused",
            Reason::Agent => "agent",
            Reason::TooLong => "too_long",
            Reason::Overflow => "overflow",
            Reason::Malformed => "malformed",
        }
    }

    pub fn is_of_a_secret(self) -> bool {
        matches!(self, Reason::SecretRedacted | Reason::SecretDropped)
    }
}

/// How often something was left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub reason: String,
    pub detail: String,
    pub count: u64,
    pub last_ts: i64,
}

/// What a person did with a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    Accepted,
    Dismissed,
}

impl Database {
    /// Makes `tasks` the tasks of a repository, in place of those known before.
    pub fn replace_tasks(&mut self, repo: &RepoKey, tasks: &[TaskRow], ts: i64) -> Result<()> {
        let replaced = (|| {
            let transaction = self.connection.transaction()?;
            transaction.prepare_cached("DELETE FROM project_task WHERE repo_key = ?1")?.execute([&repo.0])?;
            for task in tasks {
                let mut statement = transaction.prepare_cached(
                    "INSERT INTO project_task(repo_key, kind, name, command, description, discovered_ts)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                )?;
                let TaskRow { kind, name, command, description } = task;
                statement.execute(params![repo.0, kind, name, command, description, ts])?;
            }
            transaction.commit()
        })();
        replaced.map_err(|source| self.failed(source))
    }

    pub fn count_left_out(&self, reason: Reason, detail: &str, count: u64, ts: i64) -> Result<()> {
        let sql = "INSERT INTO left_out(reason, detail, count, last_ts) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT DO UPDATE SET count = count + excluded.count, last_ts = max(last_ts, excluded.last_ts)";
        let counted = (|| {
            let values = params![reason.word(), detail, count.cast_signed(), ts];
            self.connection.prepare_cached(sql)?.execute(values)
        })();
        counted.map(drop).map_err(|source| self.failed(source))
    }

    pub fn left_out(&self) -> Result<Vec<LeftOut>> {
        left_out(&self.connection).map_err(|source| self.failed(source))
    }

    pub fn write_feedback(&self, ts: i64, feedback: Feedback, line: &str) -> Result<()> {
        let action = match feedback {
            Feedback::Accepted => "accepted",
            Feedback::Dismissed => "dismissed",
        };
        let sql = "INSERT INTO feedback(ts, action, cmd_raw) VALUES (?1, ?2, ?3)";
        self.connection
            .execute(sql, params![ts, action, line])
            .map(drop)
            .map_err(|source| self.failed(source))
    }

    /// Lines that were waved away and when, in the order of time.
    pub fn dismissed(&self) -> Result<Vec<(i64, String)>> {
        let sql = "SELECT ts, cmd_raw FROM feedback WHERE action = 'dismissed' ORDER BY ts, id";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let read: rusqlite::Result<_> = (|| self.connection.prepare(sql)?.query_map([], row)?.collect())();
        read.map_err(|source| self.failed(source))
    }

    /// A value that survives a restart.
    pub fn state(&self, name: &str) -> Result<Option<i64>> {
        state(&self.connection, name).map_err(|source| self.failed(source))
    }

    pub fn set_state(&self, name: &str, value: Option<i64>) -> Result<()> {
        set_state(&self.connection, name, value).map_err(|source| self.failed(source))
    }

    /// What was learned under this name, as it was kept.
    pub fn learned(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT value FROM learned WHERE name = ?1";
        let found = self.connection.query_row(sql, [name], |row| row.get(0));
        found.optional().map_err(|source| self.failed(source))
    }

    pub fn keep_learned(&self, name: &str, value: &[u8]) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO learned(name, value) VALUES (?1, ?2)";
        let kept = (|| self.connection.prepare_cached(sql)?.execute(params![name, value]))();
        kept.map(drop).map_err(|source| self.failed(source))
    }
}

impl Reader {
    pub fn left_out(&self) -> Result<Vec<LeftOut>> {
        left_out(&self.connection).map_err(|source| self.failed(source))
    }
}

pub(super) fn state(connection: &rusqlite::Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT value FROM state WHERE name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).optional()
}

pub(super) fn set_state(
    connection: &rusqlite::Connection,
    name: &str,
    value: Option<i64>,
) -> rusqlite::Result<()> {
    let done = match value {
        Some(value) => connection
            .prepare_cached("INSERT OR REPLACE INTO state(name, value) VALUES (?1, ?2)")?
            .execute(params![name, value]),
        None => connection.execute("DELETE FROM state WHERE name = ?1", [name]),
    };
    done.map(drop)
}

fn left_out(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<LeftOut>> {
    let mut statement =
        connection.prepare("SELECT reason, detail, count, last_ts FROM left_out ORDER BY last_ts DESC")?;
    let rows = statement.query_map([], |row| {
        Ok(LeftOut {
            reason: row.get(0)?,
            detail: row.get(1)?,
            count: row.get::<_, i64>(2)?.cast_unsigned(),
            last_ts: row.get(3)?,
        })
    })?;
    rows.collect()
}
