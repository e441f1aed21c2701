//! What is counted from the commands: how often each template was used, fading with time, and what followed what,
//! in both scopes. The tables are a fold over the commands in the order they were written, whether that happens batch
//! by batch or all at once: [`super::Database::rebuild_aggregates`] gives the same rows, bit for bit.

use std::collections::HashMap;
use std::sync::Arc;

use store::sqlite::rusqlite::{self, Connection, OptionalExtension, Params, Transaction, params};

use crate::command::{Place, Ran, RepoKey, SessionId, Template};
use crate::model::{Decayed, GLOBAL, SAME_REPO_WINDOW_MS, hashed};

/// After so many other commands the last one of a session or a repository is over. Counted in rows, so that it depends
/// neither on when a map was swept nor on whether the daemon was restarted.
const REACH: i64 = 50_000;

/// A map is swept when it holds more than this: more sessions than a year of work has.
const SWEEP_AT: usize = 16_384;

/// What ran last in each session and repository. In layers: a batch that is not committed leaves the base untouched.
#[derive(Debug, Default)]
pub(super) struct Trails {
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
    /// As they were after the last write.
    pub(super) fn load(connection: &Connection) -> rusqlite::Result<Trails> {
        let mut trails = Trails::default();
        let sql = "id > (SELECT coalesce(max(id), 0) FROM command_event) - ?1 ORDER BY id";
        replay(connection, sql, [REACH], |id, ran| trails.note(id, ran))?;
        Ok(trails)
    }

    pub(super) fn note(&mut self, id: i64, ran: &Ran) {
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

    pub(super) fn absorb(&mut self, newer: Trails) {
        self.sessions.extend(newer.sessions);
        self.repos.extend(newer.repos);
    }
}

/// What `ran` follows: the last command of its session, else what ran in its repository a moment ago. The newer layer
/// stands first.
pub(super) fn previous(layers: [&Trails; 2], id: i64, ran: &Ran) -> Option<Arc<str>> {
    let session = hashed(&ran.session);
    let own = layers.iter().find_map(|layer| layer.sessions.get(&session)).filter(|own| id - own.id <= REACH);
    let latest = own.or_else(|| {
        let repo = hashed(ran.place.repo.as_ref()?);
        let latest = layers.iter().find_map(|layer| layer.repos.get(&repo))?;
        let recent = (0..=SAME_REPO_WINDOW_MS).contains(&ran.ts.saturating_sub(latest.ts));
        (recent && id - latest.id <= REACH).then_some(latest)
    });
    latest.map(|latest| latest.template.clone())
}

/// What a batch adds to both tables. Each row is looked up once, changed and written, however many commands touch it,
/// and rows are visited in the order of their keys: a large batch then finds its neighbours in the cache, where in the
/// order of time every row would be a page of its own.
#[derive(Default)]
pub(super) struct Counts {
    /// When each template was used, in the order of the commands.
    uses: HashMap<(Arc<str>, Arc<str>), Vec<i64>>,
    /// How often one followed another, and when last.
    followed: HashMap<(Arc<str>, Arc<str>, Arc<str>), (i64, i64)>,
}

impl Counts {
    pub(super) fn add(&mut self, ran: &Ran, previous: Option<&Arc<str>>) {
        let template: Arc<str> = ran.template.0.as_str().into();
        let repo = ran.place.repo.as_ref().map(|repo| repo.0.as_str());
        for scope in [GLOBAL].into_iter().chain(repo) {
            let scope: Arc<str> = scope.into();
            self.uses.entry((scope.clone(), template.clone())).or_default().push(ran.ts);
            if let Some(previous) = previous {
                let key = (scope, previous.clone(), template.clone());
                let (count, last) = self.followed.entry(key).or_insert((0, ran.ts));
                (*count, *last) = (count.saturating_add(1), ran.ts.max(*last));
            }
        }
    }

    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
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
        for ((scope, template), stamps) in sorted(&self.uses) {
            let known = find.query_row(params![scope, template], |row| {
                Ok((row.get::<_, i64>(0)?, Decayed { score: row.get(1)?, last_ts: row.get(2)? }))
            });
            let known = known.optional()?;
            let score = stamps.iter().fold(known.map(|(_, score)| score), |score, ts| {
                Some(match score {
                    None => Decayed::first(*ts),
                    Some(mut score) => {
                        score.add(*ts);
                        score
                    }
                })
            });
            let score = score.expect("a template is in the map because it was used");
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
        for ((scope, previous, next), (count, last)) in sorted(&self.followed) {
            if update.execute(params![scope, previous, next, count, last])? == 0 {
                insert.execute(params![scope, previous, next, count, last])?;
            }
        }
        Ok(())
    }
}

fn sorted<K: Ord, V>(map: &HashMap<K, V>) -> Vec<(&K, &V)> {
    let mut rows: Vec<(&K, &V)> = map.iter().collect();
    rows.sort_unstable_by(|a, b| a.0.cmp(b.0));
    rows
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

/// Replaces both tables by what the kept commands say. Gives what ran last where.
pub(super) fn rebuild(transaction: &Transaction<'_>) -> rusqlite::Result<Trails> {
    let (mut counts, mut trails) = (Counts::default(), Trails::default());
    let nothing = Trails::default();
    replay(transaction, "true ORDER BY id", [], |id, ran| {
        counts.add(ran, previous([&trails, &nothing], id, ran).as_ref());
        trails.note(id, ran);
    })?;
    transaction.execute_batch("DELETE FROM command_score; DELETE FROM transition;")?;
    counts.write(transaction)?;
    Ok(trails)
}

impl super::Database {
    /// Counts everything anew from the commands that are kept.
    pub fn rebuild_aggregates(&mut self) -> super::Result<()> {
        let rebuilt = (|| {
            let transaction = self.connection.transaction()?;
            let trails = rebuild(&transaction)?;
            transaction.commit()?;
            Ok(trails)
        })();
        self.trails = rebuilt.map_err(|source| self.failed(source))?;
        Ok(())
    }
}
