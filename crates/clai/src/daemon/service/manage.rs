//! What a person asks of the daemon itself: what was left out, to forget, to pause, to read the settings again, to take
//! in an older history.

use std::process;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wire::clai::{SessionId, SessionStart, SessionStarted, Shell};

use super::{DONE, Service, keep_weights, kept_weights, learn, refusal, to_json};
use crate::config::Loaded;
use crate::daemon::ingest::{self, NotKept};
use crate::daemon::request::{Forget, Forgot, Imported, Old, Paused, Reloaded, WhyNot};
use crate::daemon::writer::words;
use crate::database::{Database, DatabaseError, Feedback, Reason, Record, Session};
use crate::rank::Weights;

/// Until somebody says otherwise.
const FOR_EVER: i64 = i64::MAX;
pub(super) const NOT_PAUSED: i64 = i64::MIN;
/// How a pause is called in the table of what survives a restart.
pub(super) const PAUSED_UNTIL: &str = "paused_until";
/// … and the time of the latest command of a shell's history that was imported.
const IMPORTED_TO: &str = "imported_to_";
const ENDING: &str = "the daemon is ending";

impl Service {
    pub(super) fn why_not(&self) -> Value {
        let paused_until = self.paused(self.world.clock.unix_ms());
        let journal = Arc::clone(&self.journal);
        self.ordered(move |database| {
            for ((reason, detail), (count, ts)) in journal.take_left_out() {
                database.count_left_out(reason, &detail, count, ts)?;
            }
            Ok(WhyNot { left_out: database.left_out()?, paused_until })
        })
    }

    pub(super) fn start_session(&self, start: SessionStart) -> SessionStarted {
        let id = self.new_session_id(&start);
        let session = Session {
            id: id.clone(),
            created_at: start.ts,
            shell: start.shell,
            host: start.host,
            user: start.user,
        };
        self.journal.order_unheard(move |database| {
            // Made again with the session's first command.
            let _ = database.write_session(&session);
        });
        SessionStarted { session_id: id }
    }

    /// Unlike any other: two shells may have the same process id at the same millisecond, one after the other.
    pub(super) fn new_session_id(&self, start: &SessionStart) -> SessionId {
        let mut hash = Sha256::new();
        let count = self.sessions.fetch_add(1, Ordering::Relaxed);
        for number in [u64::from(process::id()), u64::from(start.pid), start.ts.cast_unsigned(), count] {
            hash.update(number.to_le_bytes());
        }
        hash.update(self.world.clock.unix_ms().to_le_bytes());
        SessionId(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    pub(super) fn forget(self: &Arc<Self>, forget: &Forget) -> Value {
        let Some(doomed) = forget.doomed() else {
            return refusal("say exactly one of `pattern`, `last` and `since`", None);
        };
        if forget.dry_run {
            return self.ordered(move |database| {
                Ok(Forgot { commands: database.would_forget(&doomed)?, dry_run: true })
            });
        }
        let service = Arc::clone(self);
        self.ordered(move |database| {
            let forgotten = database.forget(&doomed)?;
            service.engine().forget(|line| doomed.matches(line) || forgotten.lines.contains(line));
            database.scrub()?;
            Ok(Forgot { commands: forgotten.commands, dry_run: false })
        })
    }

    pub(super) fn pause(&self, for_ms: Option<u64>) -> Value {
        let now = self.world.clock.unix_ms();
        let end = for_ms.map_or(FOR_EVER, |ms| now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        self.set_pause(end)
    }

    pub(super) fn set_pause(&self, until: i64) -> Value {
        self.paused_until.store(until, Ordering::Relaxed);
        let paused_until = self.paused(self.world.clock.unix_ms());
        // Also for the next daemon: who asked not to be recorded does not care which process would have done it.
        self.ordered(move |database| {
            database.set_state(PAUSED_UNTIL, paused_until)?;
            Ok(Paused { paused_until })
        })
    }

    pub(super) fn paused(&self, now: i64) -> Option<i64> {
        Some(self.paused_until.load(Ordering::Relaxed)).filter(|until| now < *until)
    }

    pub(super) fn reload(self: &Arc<Self>) -> Value {
        let Loaded { config, warnings, .. } = match (self.world.reload)() {
            Ok(loaded) => loaded,
            Err(failure) => return refusal(&failure.to_string(), None),
        };
        let other_scorer = self.config().scorer != config.scorer;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        if other_scorer {
            self.learn_anew(kept_weights);
        }
        to_json(&Reloaded { warnings })
    }

    pub(super) fn feedback(&self, line: String, action: Feedback) -> Value {
        if action == Feedback::Dismissed {
            self.engine().dismiss(&line);
        }
        let now = self.world.clock.unix_ms();
        self.ordered(move |database| database.write_feedback(now, action, &line).map(|()| DONE))
    }

    /// What was left out has left no trace by which it could be known again: it counts as new where the command kept
    /// before it is new, and at the beginning where the one after it is.
    pub(super) fn import(&self, shell: Shell, commands: Vec<Old>) -> Value {
        let now = self.world.clock.unix_ms();
        let (mut batch, mut judged) = (Vec::new(), Vec::with_capacity(commands.len()));
        let config = self.config();
        let mark = format!("{IMPORTED_TO}{shell:?}");
        for command in commands {
            let ts = command.ts;
            let (event, exit_code) = ingest::event_of(command, shell);
            let kept = ingest::old(event, exit_code, &self.rules(&config, now)).map(|kept| {
                batch.push(kept.record);
                kept.redacted
            });
            judged.push((ts, kept));
        }
        drop(config);
        let journal = Arc::clone(&self.journal);
        self.ordered(move |database| {
            let news = database.import(&batch)?;
            let mut imported = Imported {
                new: news.iter().filter(|is_new| **is_new).count() as u64,
                left_out: (judged.len() - batch.len()) as u64,
                secrets: 0,
            };
            let before = database.state(&mark)?;
            let last = judged.iter().map(|(ts, _)| *ts).max();
            if last > before {
                database.set_state(&mark, last)?;
            }
            // What is not kept is new if its neighbours are, or if it is later than all that was imported before.
            let mut is_new = news.first().is_some_and(|first| *first);
            let mut kept = news.into_iter();
            for (ts, command) in judged {
                if command.is_ok() {
                    is_new = kept.next().expect("each that was kept was judged by the database");
                }
                if !is_new && (command.is_ok() || Some(ts) <= before) {
                    continue;
                }
                for (reason, detail) in left_out(command) {
                    imported.secrets += u64::from(reason.is_of_a_secret());
                    journal.leave_out(reason, &detail, now);
                }
            }
            Ok(imported)
        })
    }

    /// Learns everything anew, in the order of time, and then what waits to be written. What was only in memory is
    /// lost.
    pub(super) fn relearn(self: &Arc<Self>) -> Value {
        self.learn_anew(|_| Ok(None))
    }

    /// With the weights that `weights` gives, or else with those that all of it teaches.
    fn learn_anew(
        self: &Arc<Self>,
        weights: impl FnOnce(&Database) -> Result<Option<Weights>, DatabaseError> + Send + 'static,
    ) -> Value {
        let service = Arc::clone(self);
        self.ordered(move |database| {
            let (mut fresh, latest) = learn(database, &service.config(), weights(database)?)?;
            // Under the engine's lock nothing comes, and while we are at it the writer writes nothing.
            let mut engine = service.engine();
            let typed = |record: &&Record| record.actor.is_none() && ingest::is_worth_learning(&record.ran);
            service.journal.pending().iter().filter(typed).for_each(|record| fresh.learn(&record.ran));
            *engine = fresh;
            service.latest_ms.fetch_max(latest, Ordering::Relaxed);
            engine.learned_weights().map_or(Ok(()), |weights| keep_weights(database, weights))?;
            Ok(DONE)
        })
    }

    /// Lets the writer do something after all that was said before, and gives its answer.
    pub(super) fn ordered<T: Serialize + Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Value {
        match self.journal.order(work) {
            Some(Ok(done)) => to_json(&done),
            Some(Err(error)) => refusal(&words(&error), error.hint()),
            None => refusal(ENDING, None),
        }
    }
}

/// What of a command was left out: kinds of secrets in one that was kept, or all of it.
fn left_out(judged: Result<Vec<String>, NotKept>) -> Vec<(Reason, String)> {
    match judged {
        Ok(redacted) => redacted.into_iter().map(|kind| (Reason::SecretRedacted, kind)).collect(),
        Err(NotKept::LeftOut(reason, detail)) => vec![(reason, detail)],
        Err(NotKept::NotWork) => Vec::new(),
    }
}
