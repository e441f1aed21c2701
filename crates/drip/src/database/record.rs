//! Writing a delivery down: the truth (`deliveries`), its newest line for each file (`reads`), what was said
//! (`read_events`) and the sums, in one commit.

use store::sqlite::rusqlite::{OptionalExtension, params};

use super::sessions::ROUND;
use super::{Database, Head, Meeting, Result, Writing};
use crate::caller::Caller;
use crate::elide::Stub;
use crate::ledger::{Extent, View};
use crate::lines::{Hash, LineHash};
use crate::render::{Answer, Cost, Kind};

/// What a replay keeps of an answer.
const RENDERED_MAX: usize = 32 * 1024;

/// A session keeps this many deliveries for `verify`.
const DELIVERIES_MAX: i64 = 5_000;

/// Something that was put before a reader's eyes.
pub struct Delivery<'a> {
    pub caller: &'a Caller,
    pub path: &'a str,
    pub meeting: Meeting,
    /// What the eyes held when the answer was planned.
    pub base: Option<&'a Head>,
    /// Whether the order in which the eyes saw things is not known.
    pub in_doubt: bool,
    pub answer: &'a Answer,
    pub form: Form<'a>,
    /// What they hold now; nothing if the file is gone.
    pub after: Option<&'a View>,
    pub numbers: Numbers,
}

/// What the reader was given to apply.
#[derive(Debug, Clone, Copy)]
pub enum Form<'a> {
    /// Nothing: what it holds is right.
    Nothing,
    /// All of the text.
    Whole,
    /// All of the text but what the stubs hide, as it was sent.
    Elided { text: &'a str, stubs: &'a [Stub] },
    /// These lines.
    Lines { first: usize, text: &'a str },
    /// The body of a delta.
    Delta(&'a str),
    /// The same, made by the reader itself.
    Edit(&'a str),
    /// The file under this name is held already.
    Renamed(&'a str),
}

/// The numbers behind a decision, for `why`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbers {
    pub hunks: Option<usize>,
    pub policy: Option<&'static str>,
}

impl Form<'_> {
    fn word(&self) -> &'static str {
        match self {
            Form::Nothing => "nothing",
            Form::Whole => "whole",
            Form::Elided { .. } => "elided",
            Form::Lines { .. } => "lines",
            Form::Delta(_) => "delta",
            Form::Edit(_) => "edit",
            Form::Renamed(_) => "renamed",
        }
    }
}

impl Database {
    pub fn record(&mut self, delivery: &Delivery) -> Result<()> {
        self.write(|writing| {
            writing.touch(delivery.caller)?;
            writing.say(delivery)?;
            writing.count(delivery)?;
            writing.deliver(delivery)
        })
    }
}

impl Writing<'_> {
    /// Puts the delivery into the ledger. If somebody else delivered the same file to the same eyes meanwhile, nobody
    /// knows in which order they saw it: then nothing counts as shown.
    fn deliver(&self, delivery: &Delivery) -> Result<()> {
        let Some(after) = delivery.after else { return self.drop_head(delivery) };
        let (epoch, batch) = self.standing(delivery)?;
        if epoch != delivery.meeting.epoch {
            return Ok(());
        }
        let expected = delivery.base.map_or(0, |head| head.delivery);
        let overtaken = self.current(delivery, epoch)?.is_some_and(|current| current != expected);
        let hash = after.text.hash();
        let id = self.insert_delivery(delivery, after, &hash, (epoch, batch))?;
        let doubt = overtaken || delivery.in_doubt;
        if matches!(delivery.form, Form::Nothing)
            && !doubt
            && delivery.base.is_some_and(|base| base.tells(after, &hash))
        {
            return Ok(());
        }
        self.insert_head(delivery, after, &hash, (epoch, batch), if doubt { 0 } else { id })
    }

    /// Epoch and round as they are now.
    fn standing(&self, delivery: &Delivery) -> Result<(i64, i64)> {
        let found = self
            .transaction
            .prepare_cached(&format!("SELECT context_epoch, {ROUND} FROM sessions WHERE session_id = ?1"))?
            .query_row([delivery.caller.session.id.as_str(), delivery.caller.agent.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        Ok(found)
    }

    fn current(&self, delivery: &Delivery, epoch: i64) -> Result<Option<i64>> {
        let caller = delivery.caller;
        let found = self
            .transaction
            .prepare_cached(
                "SELECT delivery FROM reads
                 WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3 AND context_epoch = ?4",
            )?
            .query_row(
                params![caller.session.id.as_str(), caller.agent.as_str(), delivery.path, epoch],
                |row| row.get(0),
            )
            .optional()?;
        Ok(found)
    }

    fn insert_delivery(
        &self,
        delivery: &Delivery,
        after: &View,
        hash: &Hash,
        (epoch, batch): (i64, i64),
    ) -> Result<i64> {
        let (first, payload, payload_hash) = self.payload(delivery, after)?;
        let digest = seen_digest(after, hash);
        let caller = delivery.caller;
        self.transaction
            .prepare_cached(
                "INSERT INTO deliveries (session_id, agent_id, file_path, context_epoch, batch, delivered_at, kind, form,
                                         base, content_hash, seen_ranges, seen_digest, first_line, payload, payload_hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                caller.session.id.as_str(),
                caller.agent.as_str(),
                delivery.path,
                epoch,
                batch,
                self.now,
                delivery.answer.kind.as_str(),
                delivery.form.word(),
                delivery.base.map(|head| head.delivery),
                hash.as_str(),
                json(&after.shown),
                digest.as_str(),
                first,
                payload,
                payload_hash,
            ])?;
        let id = self.transaction.last_insert_rowid();
        if id % 256 == 0 {
            let prune = "DELETE FROM deliveries WHERE session_id = ?1 AND id <= ?2";
            self.transaction.execute(prune, params![caller.session.id.as_str(), id - DELIVERIES_MAX])?;
        }
        Ok(id)
    }

    /// First line, text, and the name of a text that is kept in a file.
    fn payload(
        &self,
        delivery: &Delivery,
        after: &View,
    ) -> Result<(Option<usize>, Option<String>, Option<String>)> {
        Ok(match delivery.form {
            Form::Nothing => (None, None, None),
            Form::Whole => match self.keep(&after.text)?.content {
                Some(content) => (Some(1), Some(content.to_owned()), None),
                None => (Some(1), None, Some(after.text.hash().as_str().to_owned())),
            },
            Form::Elided { text, stubs } => (Some(1), Some(text.to_owned()), Some(json(&stubs))),
            Form::Lines { first, text } => (Some(first), Some(text.to_owned()), None),
            Form::Delta(body) | Form::Edit(body) | Form::Renamed(body) => (None, Some(body.to_owned()), None),
        })
    }

    fn insert_head(
        &self,
        delivery: &Delivery,
        after: &View,
        hash: &Hash,
        (epoch, batch): (i64, i64),
        id: i64,
    ) -> Result<()> {
        let kept = self.keep(&after.text)?;
        let (caller, cost) = (delivery.caller, delivery.answer.cost);
        let stubs = match (delivery.form, delivery.base) {
            (Form::Elided { stubs, .. }, _) => Some(json(&stubs)),
            (_, Some(base)) if base.hash == *hash && after.extent == Extent::Elided => {
                Some(json(&base.stubs))
            }
            _ => None,
        };
        let functions = match delivery.form {
            Form::Elided { stubs, .. } => {
                Some(json(&stubs.iter().map(|stub| &stub.symbol).collect::<Vec<_>>()))
            }
            _ => None,
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO reads (session_id, agent_id, file_path, content_hash, content, read_at, tokens_full,
                                    tokens_sent, overhead_tokens, content_storage, was_semantic_compressed,
                                    elided_functions, source_map, context_epoch, seen_ranges, batch, delivery, seen_end, call_id, sent_until)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
                         (SELECT tokens_sent + overhead_tokens FROM sessions WHERE session_id = ?1))
                 ON CONFLICT (session_id, agent_id, file_path) DO UPDATE SET
                     content_hash = ?4, content = ?5, read_at = ?6, reads_count = reads_count + 1,
                     tokens_full = tokens_full + ?7, tokens_sent = tokens_sent + ?8,
                     overhead_tokens = overhead_tokens + ?9, content_storage = ?10, was_semantic_compressed = ?11,
                     elided_functions = ?12, source_map = ?13, context_epoch = ?14, seen_ranges = ?15, batch = ?16,
                     delivery = ?17, seen_end = ?18, call_id = ?19, sent_until = excluded.sent_until",
            )?
            .execute(params![
                caller.session.id.as_str(),
                caller.agent.as_str(),
                delivery.path,
                hash.as_str(),
                kept.content,
                self.now,
                cost.full,
                cost.sent,
                cost.overhead,
                kept.storage,
                after.extent == Extent::Elided,
                functions,
                stubs,
                epoch,
                json(&after.shown),
                batch,
                id,
                after.extent != Extent::Lines,
                caller.call,
            ])?;
        self.register(delivery.caller, delivery.path, hash, &after.text, &kept)
    }

    fn drop_head(&self, delivery: &Delivery) -> Result<()> {
        let caller = delivery.caller;
        self.transaction
            .prepare_cached("DELETE FROM reads WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3")?
            .execute(params![caller.session.id.as_str(), caller.agent.as_str(), delivery.path])?;
        Ok(())
    }

    /// What a person can replay.
    fn say(&self, delivery: &Delivery) -> Result<()> {
        let Answer { text, kind, reason, cost } = delivery.answer;
        if !self.options.replay.enabled || matches!(delivery.form, Form::Edit(_)) {
            return Ok(());
        }
        let rendered = match kind {
            Kind::Native => "[native read]".to_owned(),
            _ => clip(text),
        };
        let caller = delivery.caller;
        self.transaction
            .prepare_cached(
                "INSERT INTO read_events (session_id, agent_id, file_path, occurred_at, outcome_kind, fallback_reason,
                                          tokens_full, tokens_sent, overhead_tokens, hunks, policy, shown_before,
                                          shown_at, rendered)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute(params![
                caller.session.id.as_str(),
                caller.agent.as_str(),
                delivery.path,
                self.now,
                kind.as_str(),
                reason,
                cost.full,
                cost.sent,
                cost.overhead,
                delivery.numbers.hunks,
                delivery.numbers.policy,
                delivery.base.map(|head| json(&head.shown)),
                delivery.base.map(|head| head.read_at),
                rendered,
            ])?;
        let id = self.transaction.last_insert_rowid();
        // Counting rows at every read would cost more than a few too many.
        if id % 64 == 0 {
            let prune = "DELETE FROM read_events WHERE session_id = ?1 AND id NOT IN
                         (SELECT id FROM read_events WHERE session_id = ?1 ORDER BY id DESC LIMIT ?2)";
            self.transaction.execute(prune, params![caller.session.id.as_str(), self.options.replay.keep])?;
        }
        Ok(())
    }

    /// The sums that outlive the session.
    fn count(&self, delivery: &Delivery) -> Result<()> {
        let Cost { full, sent, overhead } = delivery.answer.cost;
        if matches!(delivery.form, Form::Edit(_)) {
            return Ok(());
        }
        let outside = matches!(
            (delivery.base, delivery.after),
            (Some(base), Some(after)) if base.hash != after.text.hash()
        );
        self.transaction
            .prepare_cached(
                "UPDATE lifetime_stats SET total_reads = total_reads + 1, tokens_full = tokens_full + ?1,
                 tokens_sent = tokens_sent + ?2, overhead_tokens = overhead_tokens + ?3,
                 external_edit_refreshes = external_edit_refreshes + ?4",
            )?
            .execute(params![full, sent, overhead, outside])?;
        self.transaction
            .prepare_cached(
                "UPDATE sessions SET total_reads = total_reads + 1, tokens_full = tokens_full + ?2,
                 tokens_sent = tokens_sent + ?3, overhead_tokens = overhead_tokens + ?4 WHERE session_id = ?1",
            )?
            .execute(params![delivery.caller.session.id.as_str(), full, sent, overhead])?;
        self.transaction
            .prepare_cached(
                "INSERT INTO lifetime_per_file VALUES (?1, 1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (file_path) DO UPDATE SET reads = reads + 1, tokens_full = tokens_full + ?2,
                 tokens_sent = tokens_sent + ?3, overhead_tokens = overhead_tokens + ?4, last_read_at = ?5",
            )?
            .execute(params![delivery.path, full, sent, overhead, self.now])?;
        self.transaction
            .prepare_cached(
                "INSERT INTO lifetime_daily VALUES (date(?1, 'unixepoch'), 1, ?2, ?3, ?4)
                 ON CONFLICT (day) DO UPDATE SET reads = reads + 1, tokens_full = tokens_full + ?2,
                 tokens_sent = tokens_sent + ?3, overhead_tokens = overhead_tokens + ?4",
            )?
            .execute(params![self.now, full, sent, overhead])?;
        Ok(())
    }
}

/// The lines that the reader holds, as one name: all of them are the text's own.
fn seen_digest(view: &View, hash: &Hash) -> Hash {
    if view.is_whole() {
        return hash.clone();
    }
    let mut named = LineHash::default();
    for number in view.shown.iter().flat_map(|span| span.first..=span.last) {
        named.add(number, view.text.line(number).unwrap_or_default());
    }
    named.finish()
}

fn clip(text: &str) -> String {
    let head = kit::text::head(text, RENDERED_MAX);
    match text.len() - head.len() {
        0 => text.to_owned(),
        more => format!("{head}[…truncated, {more} more bytes]"),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("ranges, stubs and names are plain data")
}
