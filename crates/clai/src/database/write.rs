//! Commands on their way in: one batch, one transaction, all or nothing.

use std::collections::HashSet;

use store::sqlite::rusqlite::{self, Connection, OptionalExtension, params};

use super::aggregate::{Counting, MOST_UNCOUNTED, Progress};
use super::extras::set_state;
use super::replay::{SORTED_TO, last_id};
use super::{Database, Owner, Record, Result, Session, shell_name};

/// Whether the same command may already be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeats {
    Keep,
    Skip,
}

impl Database {
    /// Writes all of `batch` or nothing. After an error the database is as it was, and the batch can be tried again.
    pub fn write_batch(&mut self, batch: &[Record], counting: Counting) -> Result<()> {
        self.write(batch, Repeats::Keep, counting).map(drop)
    }

    /// The same for commands of another tool's history: what is already there (same session, time and line) is passed
    /// over, so that importing twice changes nothing. Tells of each whether it was new.
    pub fn import(&mut self, batch: &[Record]) -> Result<Vec<bool>> {
        self.write(batch, Repeats::Skip, Counting::Later)
    }

    pub fn write_session(&self, session: &Session) -> Result<()> {
        insert_session(&self.connection, session).map_err(|source| self.failed(source))
    }

    fn write(&mut self, batch: &[Record], repeats: Repeats, counting: Counting) -> Result<Vec<bool>> {
        let written = (|| {
            if !batch.is_empty() {
                self.bound_log(counting)?;
            }
            // After a failure it is unknown what the disk has taken: then the disk is asked.
            let mut progress = match self.progress.take() {
                Some(progress) => progress,
                None => Progress::load(&self.connection)?,
            };
            let news = write(&mut self.connection, &mut progress, &self.owner, batch, repeats, counting)?;
            self.progress = Some(progress);
            Ok(news)
        })();
        self.log = self.measure_log();
        if self.progress.as_ref().is_some_and(|progress| progress.uncounted.len() >= MOST_UNCOUNTED) {
            // The batch is written, whatever becomes of this: what is not counted now is counted later.
            let _ = self.count();
        }
        written.map_err(|source| self.failed(source))
    }
}

fn write(
    connection: &mut Connection,
    progress: &mut Progress,
    owner: &Owner,
    batch: &[Record],
    repeats: Repeats,
    counting: Counting,
) -> rusqlite::Result<Vec<bool>> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let (mut sessions, mut news) = (HashSet::new(), Vec::with_capacity(batch.len()));
    for record in batch {
        let is_new = repeats == Repeats::Keep || !is_known(&transaction, record)?;
        news.push(is_new);
        if !is_new {
            continue;
        }
        // The command refers to its session, and a shell need not have announced itself.
        if sessions.insert(&record.ran.session) {
            insert_session(&transaction, &session_of(record, owner))?;
        }
        let id = insert(&transaction, record)?;
        match &record.actor {
            Some(actor) => tag(&transaction, id, actor)?,
            None => progress.add(id, &record.ran),
        }
    }
    if repeats == Repeats::Skip {
        set_state(&transaction, SORTED_TO, Some(last_id(&transaction)?))?;
    }
    if counting == Counting::Now {
        progress.count(&transaction)?;
    }
    transaction.commit()?;
    Ok(news)
}

fn session_of(record: &Record, owner: &Owner) -> Session {
    Session {
        id: record.ran.session.clone(),
        created_at: record.ran.ts,
        shell: record.shell,
        host: owner.host.clone(),
        user: owner.user.clone(),
    }
}

fn insert_session(connection: &Connection, session: &Session) -> rusqlite::Result<()> {
    let sql = "INSERT INTO session(id, created_at, shell, host, user) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let Session { id, created_at, shell, host, user } = session;
    connection
        .prepare_cached(sql)?
        .execute(params![id.0, created_at, shell_name(*shell), host, user])
        .map(drop)
}

fn insert(connection: &Connection, record: &Record) -> rusqlite::Result<i64> {
    let ran = &record.ran;
    let mut statement = connection.prepare_cached(
        "INSERT INTO command_event(session_id, ts, duration_ms, exit_code, cwd, repo_key, branch, cmd_raw, cmd_norm)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    statement.insert(params![
        ran.session.0,
        ran.ts,
        ran.duration_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
        ran.exit_code,
        ran.place.cwd,
        ran.place.repo.as_ref().map(|repo| &repo.0),
        ran.place.branch,
        ran.line,
        ran.template.0,
    ])
}

fn tag(connection: &Connection, id: i64, actor: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO event_actor(event_id, actor) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![id, actor]).map(drop)
}

fn is_known(connection: &Connection, record: &Record) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM command_event WHERE session_id = ?1 AND ts = ?2 AND cmd_raw = ?3";
    let ran = &record.ran;
    let found =
        connection.prepare_cached(sql)?.query_row(params![ran.session.0, ran.ts, ran.line], |_| Ok(()));
    found.optional().map(|found| found.is_some())
}
