//! What is counted from the commands: how often each template was used, fading with time, and what followed what,
//! in both scopes. The tables are a fold over the commands in the order they were written, whether that happens batch
//! by batch or all at once: [`super::Database::rebuild_aggregates`] gives the same rows, bit for bit.
//!
//! A command is counted in the transaction that writes it, except in a burst: then counting waits until it is over or
//! [`MOST_UNCOUNTED`] commands have come. The rows that they touch lie on tens of thousands of pages, and each page is
//! written once for all of them instead of once for every batch (measured on top of 900,000 commands: 6,200 commands a
//! second with counting in each batch, 18,800 like this). How far the tables have come stands in the table `state`, in
//! the same transaction, so that after a crash the rest is counted when the database is opened.

mod counts;

use std::collections::HashMap;
use std::sync::Arc;

use store::sqlite::rusqlite::{self, Connection, Transaction};

use super::extras::{set_state, state};
use super::replay::{last_id, replay};
use crate::command::Ran;
use crate::model::{self, SAME_REPO_WINDOW_MS, hashed};
use counts::Counts;

/// Counted in rows, so that it depends neither on when a map was swept nor on whether the daemon was restarted.
const REACH: i64 = model::REACH as i64;

/// What waits to be counted at most: a few megabytes, and seconds after a crash.
pub(super) const MOST_UNCOUNTED: usize = 100_000;

/// How the progress is called in the table of what survives a restart.
const COUNTED_TO: &str = "counted_to";

/// Whether the commands of a batch are counted with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    Now,
    /// More are on their way.
    Later,
}

/// A map is swept when it holds more than this: more sessions than a year of work has.
const SWEEP_AT: usize = 16_384;

/// What ran last in each session and repository.
#[derive(Debug, Default)]
struct Trails {
    sessions: HashMap<u64, Latest>,
    repos: HashMap<u64, Latest>,
}

#[derive(Debug, Clone)]
struct Latest {
    id: i64,
    ts: i64,
    template: Arc<str>,
}

impl Trails {
    fn note(&mut self, id: i64, ran: &Ran) {
        let latest = Latest { id, ts: ran.ts, template: ran.template.0.as_str().into() };
        if let Some(repo) = &ran.place.repo {
            self.repos.insert(hashed(repo), latest.clone());
        }
        self.sessions.insert(hashed(&ran.session), latest);
        for map in [&mut self.sessions, &mut self.repos] {
            if map.len() > SWEEP_AT {
                map.retain(|_, latest| id - latest.id <= REACH);
            }
        }
    }

    /// What `ran` follows: the last command of its session, else what ran in its repository a moment ago.
    fn before(&self, id: i64, ran: &Ran) -> Option<&Latest> {
        let own = self.sessions.get(&hashed(&ran.session)).filter(|own| id - own.id <= REACH);
        own.or_else(|| {
            let latest = self.repos.get(&hashed(ran.place.repo.as_ref()?))?;
            let recent = (0..=SAME_REPO_WINDOW_MS).contains(&ran.ts.saturating_sub(latest.ts));
            (recent && id - latest.id <= REACH).then_some(latest)
        })
    }
}

/// Replaces both tables by what the kept commands say.
pub(super) fn rebuild(transaction: &Transaction<'_>) -> rusqlite::Result<Progress> {
    transaction.execute_batch("DELETE FROM command_score; DELETE FROM transition;")?;
    let mut progress = Progress::default();
    progress.catch_up(transaction)?;
    progress.count(transaction)?;
    Ok(progress)
}

/// How far the tables have come, and what is still to be counted.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// What ran last where, as of the last command that was written.
    trails: Trails,
    pub(super) uncounted: Counts,
    /// The last command that the tables know.
    counted_to: i64,
}

impl Progress {
    /// As it was when the database was last closed, however that came.
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Progress> {
        let counted_to = state(connection, COUNTED_TO)?.unwrap_or(0);
        let mut progress = Progress { counted_to, ..Progress::default() };
        let before = "id BETWEEN ?1 - ?2 AND ?1 ORDER BY id";
        replay(connection, before, [counted_to, REACH], |id, ran| progress.trails.note(id, ran))?;
        progress.catch_up(connection)?;
        Ok(progress)
    }

    fn catch_up(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let counted_to = self.counted_to;
        replay(connection, "id > ?1 ORDER BY id", [counted_to], |id, ran| self.add(id, ran)).map(drop)
    }

    /// The next command that was written.
    pub(super) fn add(&mut self, id: i64, ran: &Ran) {
        let before = self.trails.before(id, ran).map(|latest| &*latest.template);
        self.uncounted.add(ran, before);
        self.trails.note(id, ran);
    }

    /// Counts what is uncounted, all but the commit.
    pub(super) fn count(&mut self, transaction: &Connection) -> rusqlite::Result<()> {
        std::mem::take(&mut self.uncounted).write(transaction)?;
        self.counted_to = last_id(transaction)?;
        set_state(transaction, COUNTED_TO, Some(self.counted_to))?;
        Ok(())
    }
}

impl super::Database {
    /// Counts everything anew from the commands that are kept.
    pub fn rebuild_aggregates(&mut self) -> super::Result<()> {
        let rebuilt = (|| {
            let transaction = self.connection.transaction()?;
            let progress = rebuild(&transaction)?;
            transaction.commit()?;
            Ok(progress)
        })();
        self.progress = Some(rebuilt.map_err(|source| self.failed(source))?);
        Ok(())
    }

    /// Whether counting waits for the end of a burst.
    pub fn has_uncounted(&self) -> bool {
        self.progress.as_ref().is_none_or(|progress| progress.uncounted.len() > 0)
    }

    /// Brings both tables up to the last command that was written.
    pub fn count(&mut self) -> super::Result<()> {
        if !self.has_uncounted() {
            return Ok(());
        }
        self.write_batch(&[], Counting::Now)
    }
}
