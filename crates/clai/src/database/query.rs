//! Questions about what was kept: history, search, statistics, and the tables as they are. Only reads.

use serde::Serialize;
use serde_json::{Value, json};
use store::sqlite::rusqlite::types::Value as Sql;
use store::sqlite::rusqlite::{self, params_from_iter};

use super::{Reader, Result};

/// Which commands. Every field that is set must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Text that the line contains.
    pub text: Option<String>,
    pub cwd: Option<String>,
    pub repo: Option<String>,
    pub session: Option<String>,
    /// Unix milliseconds, included.
    pub since: Option<i64>,
    /// Unix milliseconds, not included.
    pub until: Option<i64>,
    pub outcome: Outcome,
    pub typed_by: TypedBy,
    /// The newest that many; all when it is none.
    pub limit: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    #[default]
    Any,
    Worked,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TypedBy {
    #[default]
    Person,
    Agents,
    Anyone,
}

/// A command as it was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    pub id: i64,
    pub ts: i64,
    pub duration_ms: Option<i64>,
    pub exit_code: Option<i32>,
    pub cwd: String,
    pub repo_key: Option<String>,
    pub branch: Option<String>,
    pub cmd: String,
    pub cmd_norm: String,
    pub session_id: String,
    pub shell: String,
    pub actor: Option<String>,
}

/// What the database holds, in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    pub commands: u64,
    pub by_agents: u64,
    pub failed: u64,
    pub sessions: u64,
    pub lines: u64,
    pub templates: u64,
    pub repos: u64,
    pub first_ts: Option<i64>,
    pub last_ts: Option<i64>,
    /// The templates that were used most, with how often.
    pub top: Vec<(String, u64)>,
    pub bytes: u64,
}

impl Reader {
    /// Newest first.
    pub fn find(&self, query: &Query) -> Result<Vec<Found>> {
        find(&self.connection, query).map_err(|source| self.failed(source))
    }

    pub fn stats(&self) -> Result<Stats> {
        stats(&self.connection).map_err(|source| self.failed(source))
    }

    /// The table `command_score`, best first.
    pub fn scores(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Value>> {
        let sql = "SELECT scope, cmd_norm, score, last_ts FROM command_score
                   WHERE ?1 IS NULL OR scope = ?1 ORDER BY score DESC, scope, cmd_norm LIMIT ?2";
        self.rows(sql, scope, limit, |row| {
            Ok(json!({"scope": row.get::<_, String>(0)?, "cmd_norm": row.get::<_, String>(1)?,
                "score": row.get::<_, f64>(2)?, "last_ts": row.get::<_, i64>(3)?}))
        })
    }

    /// The table `transition`, most frequent first.
    pub fn transitions(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Value>> {
        let sql = "SELECT scope, prev_norm, next_norm, count, last_ts FROM transition
                   WHERE ?1 IS NULL OR scope = ?1 ORDER BY count DESC, scope, prev_norm, next_norm LIMIT ?2";
        self.rows(sql, scope, limit, |row| {
            Ok(json!({"scope": row.get::<_, String>(0)?, "prev_norm": row.get::<_, String>(1)?,
                "next_norm": row.get::<_, String>(2)?, "count": row.get::<_, i64>(3)?,
                "last_ts": row.get::<_, i64>(4)?}))
        })
    }

    /// The table `project_task`; here a scope is a repository.
    pub fn tasks(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Value>> {
        let sql = "SELECT repo_key, kind, name, command, description, discovered_ts FROM project_task
                   WHERE ?1 IS NULL OR repo_key = ?1 ORDER BY repo_key, kind, name LIMIT ?2";
        self.rows(sql, scope, limit, |row| {
            Ok(json!({"repo_key": row.get::<_, String>(0)?, "kind": row.get::<_, String>(1)?,
                "name": row.get::<_, String>(2)?, "command": row.get::<_, String>(3)?,
                "description": row.get::<_, Option<String>>(4)?, "discovered_ts": row.get::<_, i64>(5)?}))
        })
    }

    /// Times and lines of sessions whose ids begin so, in the order of time.
    pub fn of_sessions(&self, beginning: &str) -> Result<Vec<(i64, String)>> {
        let sql = "SELECT ts, cmd_raw FROM command_event WHERE substr(session_id, 1, length(?1)) = ?1 ORDER BY ts, id";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let read: rusqlite::Result<_> =
            (|| self.connection.prepare(sql)?.query_map([beginning], row)?.collect())();
        read.map_err(|source| self.failed(source))
    }

    fn rows(
        &self,
        sql: &str,
        scope: Option<&str>,
        limit: u32,
        row: fn(&rusqlite::Row<'_>) -> rusqlite::Result<Value>,
    ) -> Result<Vec<Value>> {
        let read: rusqlite::Result<_> =
            (|| self.connection.prepare_cached(sql)?.query_map((scope, limit), row)?.collect())();
        read.map_err(|source| self.failed(source))
    }
}

fn find(connection: &rusqlite::Connection, query: &Query) -> rusqlite::Result<Vec<Found>> {
    let mut clauses = vec!["true"];
    let mut values: Vec<Sql> = Vec::new();
    let mut hold = |clause, value: Option<Sql>| {
        if let Some(value) = value {
            clauses.push(clause);
            values.push(value);
        }
    };
    // A text without capitals finds any.
    let any_case = query.text.as_deref().is_some_and(|text| !text.contains(char::is_uppercase));
    let contains = if any_case { "instr(lower(e.cmd_raw), ?) > 0" } else { "instr(e.cmd_raw, ?) > 0" };
    hold(contains, query.text.clone().map(Sql::Text));
    hold("e.cwd = ?", query.cwd.clone().map(Sql::Text));
    hold("e.repo_key = ?", query.repo.clone().map(Sql::Text));
    hold("e.session_id = ?", query.session.clone().map(Sql::Text));
    hold("e.ts >= ?", query.since.map(Sql::Integer));
    hold("e.ts < ?", query.until.map(Sql::Integer));
    match query.outcome {
        Outcome::Any => {}
        Outcome::Worked => clauses.push("e.exit_code = 0"),
        Outcome::Failed => clauses.push("e.exit_code NOT IN (0, 130)"),
    }
    match query.typed_by {
        TypedBy::Person => clauses.push("a.actor IS NULL"),
        TypedBy::Agents => clauses.push("a.actor IS NOT NULL"),
        TypedBy::Anyone => {}
    }
    values.push(Sql::Integer(query.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))));
    let sql = format!(
        "SELECT e.id, e.ts, e.duration_ms, e.exit_code, e.cwd, e.repo_key, e.branch, e.cmd_raw, e.cmd_norm,
                e.session_id, s.shell, a.actor
         FROM command_event e JOIN session s ON s.id = e.session_id LEFT JOIN event_actor a ON a.event_id = e.id
         WHERE {} ORDER BY e.ts DESC, e.id DESC LIMIT ?",
        clauses.join(" AND ")
    );
    let mut statement = connection.prepare(&sql)?;
    statement.query_map(params_from_iter(values), found)?.collect()
}

fn found(row: &rusqlite::Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        id: row.get(0)?,
        ts: row.get(1)?,
        duration_ms: row.get(2)?,
        exit_code: row.get(3)?,
        cwd: row.get(4)?,
        repo_key: row.get(5)?,
        branch: row.get(6)?,
        cmd: row.get(7)?,
        cmd_norm: row.get(8)?,
        session_id: row.get(9)?,
        shell: row.get(10)?,
        actor: row.get(11)?,
    })
}

fn stats(connection: &rusqlite::Connection) -> rusqlite::Result<Stats> {
    let number =
        |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
    let (first_ts, last_ts) =
        connection.query_row("SELECT min(ts), max(ts) FROM command_event", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let mut top = connection.prepare(
        "SELECT cmd_norm, count(*) FROM command_event WHERE id NOT IN (SELECT event_id FROM event_actor)
         GROUP BY cmd_norm ORDER BY 2 DESC, 1 LIMIT 10",
    )?;
    let top = top
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Stats {
        commands: number("SELECT count(*) FROM command_event")?,
        by_agents: number("SELECT count(*) FROM event_actor")?,
        failed: number("SELECT count(*) FROM command_event WHERE exit_code NOT IN (0, 130)")?,
        sessions: number("SELECT count(*) FROM session")?,
        lines: number("SELECT count(DISTINCT cmd_raw) FROM command_event")?,
        templates: number("SELECT count(DISTINCT cmd_norm) FROM command_event")?,
        repos: number("SELECT count(DISTINCT repo_key) FROM command_event")?,
        first_ts,
        last_ts,
        top,
        bytes: number("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")?,
    })
}
