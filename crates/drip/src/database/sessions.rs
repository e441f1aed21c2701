//! Sessions: meeting one, its epochs and rounds, and the end of those that nobody uses any more.

use std::ops::RangeInclusive;
use std::time::Duration;

use store::sqlite::rusqlite::{OptionalExtension, params};

use super::{Database, Result, Writing};
use crate::caller::Caller;
use crate::session::{Eyes, SessionId};
use crate::settings::Agent;

/// What the store knows of a session when somebody reads in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    pub epoch: i64,
    /// The client's round of parallel calls. Above 0 if it tells where rounds end: what was delivered in the same round
    /// may not be built upon.
    pub batch: i64,
    /// What a first read should tell.
    pub told: Option<Told>,
    /// Whether anything was shown in it that still counts.
    pub remembers: bool,
    /// What it has been sent so far, in tokens.
    pub sent: i64,
}

/// Why a reader finds itself without its past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Expired,
    Compacted { count: i64 },
}

/// The round of a reader `?2` in a session `?1`: 0 if its client does not tell where rounds end, and 1 if it does but
/// this reader is in its first.
pub(super) const ROUND: &str = "coalesce((SELECT batch FROM rounds WHERE session_id = ?1 AND agent_id = ?2),
                                         (SELECT 1 FROM rounds WHERE session_id = ?1 LIMIT 1), 0)";

/// How long the store remembers that a session expired.
const TOMBSTONE: Duration = Duration::from_secs(24 * 3600);

impl Database {
    /// Looks a session up; changes nothing. A session that was idle for too long is over, even if nobody cleared it.
    pub fn meet(&self, eyes: &Eyes) -> Result<Meeting> {
        let id = &eyes.session;
        let row = self
            .connection
            .prepare_cached(&format!(
                "SELECT context_epoch, {ROUND}, last_active, compaction_count, tokens_sent + overhead_tokens
                 FROM sessions WHERE session_id = ?1"
            ))?
            .query_row([id.as_str(), eyes.agent.as_str()], |row| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get(1)?,
                    row.get::<_, i64>(2)?,
                    row.get::<_, i64>(3)?,
                    row.get::<_, i64>(4)?,
                ))
            })
            .optional()?;
        Ok(match row {
            // Whoever writes next ends it and begins it anew.
            Some((_, _, last_active, ..)) if self.is_over(last_active) => {
                Meeting { epoch: 0, batch: 0, told: Some(Told::Expired), remembers: false, sent: 0 }
            }
            Some((epoch, batch, _, count, sent)) => {
                let told = (count > 0).then_some(Told::Compacted { count });
                Meeting { epoch, batch, told, remembers: true, sent }
            }
            None => {
                let told = self.tombstone(id)?.then_some(Told::Expired);
                Meeting { epoch: 0, batch: 0, told, remembers: false, sent: 0 }
            }
        })
    }

    /// The past of a session is gone from its readers' windows: nothing counts as shown any more.
    pub fn begin_epoch(&mut self, caller: &Caller) -> Result<()> {
        self.write(|writing| {
            writing.touch(caller)?;
            writing.forget_views(caller.session.id.as_str())?;
            let set = "UPDATE sessions SET context_epoch = context_epoch + 1, last_compaction_at = ?2,
                       compaction_count = compaction_count + 1 WHERE session_id = ?1";
            writing.transaction.execute(set, params![caller.session.id.as_str(), writing.now])?;
            Ok(())
        })
    }

    /// The client said that a reader's round of parallel calls is over.
    pub fn end_batch(&mut self, caller: &Caller) -> Result<()> {
        self.write(|writing| {
            writing.touch(caller)?;
            writing.end_round(caller)
        })
    }

    /// Forgets a session as if it had never read anything, and remembers that it expired.
    pub fn reset(&mut self, id: &SessionId) -> Result<()> {
        self.write(|writing| writing.end(id.as_str()))
    }

    fn is_over(&self, last_active: i64) -> bool {
        !alive(self.now(), self.options.ttl).contains(&last_active)
    }

    fn tombstone(&self, id: &SessionId) -> Result<bool> {
        let found = self
            .connection
            .prepare_cached("SELECT 1 FROM expired_sessions WHERE session_id = ?1 AND expired_at > ?2")?
            .exists(params![id.as_str(), self.now() - seconds(TOMBSTONE)])?;
        Ok(found)
    }
}

impl Writing<'_> {
    /// Somebody is here: keeps the session alive, after those that are over were cleared away.
    pub(super) fn touch(&self, caller: &Caller) -> Result<()> {
        // This one first, however many others wait for their end: what it is about to write must not revive its past.
        let over = "SELECT 1 FROM sessions WHERE session_id = ?1 AND last_active NOT BETWEEN ?2 AND ?3";
        let id = caller.session.id.as_str();
        let alive = alive(self.now, self.options.ttl);
        let over = self.transaction.prepare_cached(over)?.exists(params![id, alive.start(), alive.end()])?;
        if over {
            self.end(id)?;
        }
        self.expire()?;
        self.transaction
            .prepare_cached(
                "INSERT INTO sessions (session_id, started_at, last_active, cwd, strategy, context, agent)
                 VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (session_id) DO UPDATE SET last_active = ?2, agent = coalesce(?6, agent)",
            )?
            .execute(params![
                caller.session.id.as_str(),
                self.now,
                caller.cwd.to_string_lossy(),
                caller.session.strategy.word(),
                caller.session.context,
                caller.client.map(Agent::word)
            ])?;
        self.transaction
            .prepare_cached("DELETE FROM expired_sessions WHERE session_id = ?1")?
            .execute([caller.session.id.as_str()])?;
        Ok(())
    }

    pub(super) fn end_round(&self, caller: &Caller) -> Result<()> {
        // Above 1, which is the first round of a reader that is not written down.
        let next = "INSERT INTO rounds VALUES (?1, ?2, 2)
                    ON CONFLICT (session_id, agent_id) DO UPDATE SET batch = batch + 1";
        let (session, agent) = (caller.session.id.as_str(), caller.agent.as_str());
        self.transaction.prepare_cached(next)?.execute([session, agent])?;
        Ok(())
    }

    /// Clears what idle sessions left: reads, events, patches. Their contents go when the cache is collected; the
    /// registry stays.
    pub(super) fn expire(&self) -> Result<()> {
        let alive = alive(self.now, self.options.ttl);
        let mut find = self.transaction.prepare_cached(
            "SELECT session_id FROM sessions WHERE last_active NOT BETWEEN ?1 AND ?2 LIMIT 64",
        )?;
        let idle: Vec<String> = find
            .query_map([alive.start(), alive.end()], |row| row.get(0))?
            .collect::<std::result::Result<_, _>>()?;
        for id in &idle {
            self.end(id)?;
        }
        if !idle.is_empty() {
            self.transaction.execute("INSERT OR REPLACE INTO meta VALUES ('fold_due', '1')", [])?;
            let forget = "DELETE FROM expired_sessions WHERE expired_at < ?1";
            self.transaction.execute(forget, [self.now - seconds(TOMBSTONE)])?;
        }
        Ok(())
    }

    fn end(&self, id: &str) -> Result<()> {
        self.forget_views(id)?;
        for table in ["read_events", "edit_events", "deliveries", "rounds", "sessions"] {
            self.transaction.execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [id])?;
        }
        let remember = "INSERT OR REPLACE INTO expired_sessions VALUES (?1, ?2)";
        self.transaction.execute(remember, params![id, self.now])?;
        Ok(())
    }

    pub(super) fn forget_views(&self, id: &str) -> Result<()> {
        for table in ["reads", "precomputed_reads", "passthrough_pending"] {
            self.transaction.execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [id])?;
        }
        Ok(())
    }
}

/// When a session was last active that is not over. One from a future that the clock came back from is, or it would
/// stay until that comes again.
fn alive(now: i64, ttl: Duration) -> RangeInclusive<i64> {
    let ttl = seconds(ttl);
    now.saturating_sub(ttl)..=now.saturating_add(ttl)
}

pub(super) fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}
