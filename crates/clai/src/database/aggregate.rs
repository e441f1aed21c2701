//! What is counted from the commands: how often each template was used, fading with time, and what followed what,
//! in both scopes. The tables are a fold over the commands in the order they were written, whether that happens batch
//! by batch or all at once: [`super::Database::rebuild_aggregates`] gives the same rows, bit for bit.
//!
//! A command is counted in the transaction that writes it, except in a burst: then counting waits until it is over or
//! [`MOST_UNCOUNTED`] commands have come, because the rows of a command lie on a dozen pages and the command itself on
//! two (measured: 3,000 commands a second with counting in each batch of a hundred, 30,000 without). How far the tables
//! have come stands in the table `state`, in the same transaction, so that after a crash the rest is counted when the
//! database is opened.

use std::collections::HashMap;
use std::sync::Arc;

use store::sqlite::rusqlite::{self, Connection, OptionalExtension, Params, Transaction, params};

use crate::command::{Place, Ran, RepoKey, SessionId, Template};
use crate::model::{Decayed, GLOBAL, SAME_REPO_WINDOW_MS, hashed};

/// After so many other commands the last one of a session or a repository is over. Counted in rows, so that it depends
/// neither on when a map was swept nor on whether the daemon was restarted.
const REACH: i64 = 50_000;

/// What waits to be counted at most: a few megabytes, and seconds after a crash.
pub(super) const MOST_UNCOUNTED: usize = 50_000;

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

/// What is to be added to both tables, in the order of the commands.
#[derive(Debug, Default)]
pub(super) struct Counts {
    ids: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
    uses: Vec<Used>,
    followed: Vec<Followed>,
    commands: usize,
}

#[derive(Debug)]
struct Used {
    scope: u32,
    template: u32,
    ts: i64,
}

#[derive(Debug)]
struct Followed {
    scope: u32,
    previous: u32,
    next: u32,
    ts: i64,
}

impl Counts {
    pub(super) fn len(&self) -> usize {
        self.commands
    }

    pub(super) fn add(&mut self, ran: &Ran, previous: Option<&str>) {
        self.commands += 1;
        let (next, ts) = (self.id(&ran.template.0), ran.ts);
        let previous = previous.map(|previous| self.id(previous));
        let repo = ran.place.repo.as_ref().map(|repo| repo.0.as_str());
        for scope in [GLOBAL].into_iter().chain(repo) {
            let scope = self.id(scope);
            self.uses.push(Used { scope, template: next, ts });
            self.followed.extend(previous.map(|previous| Followed { scope, previous, next, ts }));
        }
    }

    /// Each row is looked up once, changed and written, however many commands touch it, and rows are visited in the
    /// order of their keys: then neighbours are still in the cache, where in the order of time every row would be a
    /// page of its own.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        order.sort_unstable_by(|a, b| self.names[*a as usize].cmp(&self.names[*b as usize]));
        let mut rank = vec![0_u32; order.len()];
        for (place, id) in order.iter().enumerate() {
            rank[*id as usize] = place as u32;
        }
        let rank = |id: u32| rank[id as usize];
        // Stable: the uses of one template stay in the order of the commands.
        self.uses.sort_by_key(|row| (rank(row.scope), rank(row.template)));
        self.followed.sort_by_key(|row| (rank(row.scope), rank(row.previous), rank(row.next)));
        self.write_scores(connection)?;
        self.write_transitions(connection)
    }

    fn write_scores(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut find = connection.prepare_cached(
            "SELECT rowid, score, last_ts FROM command_score WHERE scope = ?1 AND cmd_norm = ?2",
        )?;
        let mut insert = connection.prepare_cached(
            "INSERT INTO command_score(scope, cmd_norm, score, last_ts) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let mut update = connection
            .prepare_cached("UPDATE command_score SET score = ?2, last_ts = ?3 WHERE rowid = ?1")?;
        for uses in self.uses.chunk_by(|a, b| (a.scope, a.template) == (b.scope, b.template)) {
            let (scope, template) = (self.name(uses[0].scope), self.name(uses[0].template));
            let known = find.query_row(params![scope, template], |row| {
                Ok((row.get::<_, i64>(0)?, Decayed { score: row.get(1)?, last_ts: row.get(2)? }))
            });
            let known = known.optional()?;
            let (first, rest) = match known {
                Some((_, score)) => (score, uses),
                None => (Decayed::first(uses[0].ts), &uses[1..]),
            };
            let score = rest.iter().fold(first, |mut score, used| {
                score.add(used.ts);
                score
            });
            match known {
                Some((row, _)) => update.execute(params![row, score.score, score.last_ts])?,
                None => insert.execute(params![scope, template, score.score, score.last_ts])?,
            };
        }
        Ok(())
    }

    fn write_transitions(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut update = connection.prepare_cached(
            "UPDATE transition SET count = count + ?4, last_ts = max(last_ts, ?5)
             WHERE scope = ?1 AND prev_norm = ?2 AND next_norm = ?3",
        )?;
        let mut insert = connection.prepare_cached(
            "INSERT INTO transition(scope, prev_norm, next_norm, count, last_ts) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let key = |row: &Followed| (row.scope, row.previous, row.next);
        for rows in self.followed.chunk_by(|a, b| key(a) == key(b)) {
            let (scope, previous, next) = key(&rows[0]);
            let (scope, previous, next) = (self.name(scope), self.name(previous), self.name(next));
            let last = rows.iter().map(|row| row.ts).max();
            let values = params![scope, previous, next, rows.len() as i64, last];
            if update.execute(values)? == 0 {
                insert.execute(values)?;
            }
        }
        Ok(())
    }

    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let (name, id): (Arc<str>, u32) = (name.into(), self.names.len() as u32);
        self.names.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    fn name(&self, id: u32) -> &str {
        &self.names[id as usize]
    }
}

/// Commands of the person with their row numbers; `rest` says which of them, and in which order. Gives how many.
pub(super) fn replay(
    connection: &Connection,
    rest: &str,
    values: impl Params,
    mut each: impl FnMut(i64, &Ran),
) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare(&format!(
        "SELECT id, session_id, ts, duration_ms, exit_code, cwd, repo_key, branch, cmd_raw, cmd_norm
         FROM command_event WHERE id NOT IN (SELECT event_id FROM event_actor) AND {rest}"
    ))?;
    let mut rows = statement.query(values)?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, &ran(row, 1)?);
        count += 1;
    }
    Ok(count)
}

/// A command from the columns that begin at `first`, in the order of the table.
pub(super) fn ran(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Ran> {
    let place = Place {
        cwd: row.get(first + 4)?,
        repo: row.get::<_, Option<String>>(first + 5)?.map(RepoKey),
        branch: row.get(first + 6)?,
    };
    Ok(Ran {
        session: SessionId(row.get(first)?),
        ts: row.get(first + 1)?,
        duration_ms: row.get::<_, Option<i64>>(first + 2)?.map(i64::cast_unsigned),
        exit_code: row.get(first + 3)?,
        place,
        line: row.get(first + 7)?,
        template: Template(row.get(first + 8)?),
    })
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
        let sql = "SELECT value FROM state WHERE name = ?1";
        let counted_to = connection.query_row(sql, [COUNTED_TO], |row| row.get(0)).optional()?.unwrap_or(0);
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
        self.uncounted.write(transaction)?;
        let last = "SELECT coalesce(max(id), 0) FROM command_event";
        let counted_to: i64 = transaction.query_row(last, [], |row| row.get(0))?;
        let sql = "INSERT OR REPLACE INTO state(name, value) VALUES (?1, ?2)";
        transaction.prepare_cached(sql)?.execute(params![COUNTED_TO, counted_to])?;
        self.counted_to = counted_to;
        self.uncounted = Counts::default();
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
