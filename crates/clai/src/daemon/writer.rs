//! The one thread that writes. Batches, orders, the daily purge, and patience with a disk that is full. Knows the
//! database and the queue; never a socket.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kit::invocation::Clock;
use kit::log::Log;

use super::journal::{FULL_BATCH, Journal, Work};
use super::service::{self, Service};
use crate::database::{Counting, Database, Record};
use crate::rank::Weights;

/// How long to leave a disk alone that did not take a batch.
const RETRY: Duration = Duration::from_secs(1);
/// The end of a burst.
const PAUSE: Duration = Duration::from_millis(100);
/// How often to look whether a day is over when nothing else happens.
const LOOK_UP: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// By how much the clock may be ahead of the time that has passed before it is not believed: daylight saving does not
/// show in it, corrections are seconds.
const BELIEVABLE: Duration = Duration::from_secs(60 * 60);

pub(super) struct Writer {
    database: Database,
    service: Arc<Service>,
    journal: Arc<Journal>,
    clock: Clock,
    log: Log,
    days: Days,
    /// The weights as they were last kept.
    kept: Option<Weights>,
}

impl Writer {
    pub(super) fn new(database: Database, service: &Arc<Service>, clock: Clock, log: Log) -> Writer {
        let days = Days::starting(clock.unix_ms(), Instant::now());
        let journal = Arc::clone(&service.journal);
        Writer { database, service: Arc::clone(service), journal, clock, log, days, kept: service.weights() }
    }

    /// Until the journal is closed and empty.
    pub(super) fn run(mut self) {
        loop {
            let idle = if self.database.is_at_rest() { LOOK_UP } else { PAUSE };
            match self.journal.next(idle) {
                Work::Batch(batch) => self.write(batch),
                Work::Order(order) => order(&mut self.database),
                Work::Idle => self.rest(),
                Work::Over => break,
            }
            self.count_left_out();
            self.purge_daily();
        }
        self.count_left_out();
        self.rest();
    }

    /// What cannot be done now is done after the next batch, or by the next daemon.
    fn rest(&mut self) {
        let _ = self.database.rest();
    }

    fn write(&mut self, batch: Vec<Record>) {
        // More than a batch has come while the last one was written: then that is a burst.
        let counting = if batch.len() > FULL_BATCH { Counting::Later } else { Counting::Now };
        match self.database.write_batch(&batch, counting) {
            Ok(()) => {
                self.keep_weights();
                // Before anybody can ask: whom we tell that all is well finds it in the log.
                if self.journal.counters().trouble.is_some() {
                    self.note("recovered", &[]);
                }
                self.journal.done(batch.len());
            }
            Err(error) if self.journal.is_closing() => {
                let lost = batch.len().to_string();
                self.note("lost", &[("commands", &lost), ("error", &words(&error))]);
            }
            Err(error) => {
                let words = words(&error);
                if self.journal.give_back(batch, words.clone()) {
                    self.note("trouble", &[("error", &words)]);
                }
                self.journal.rest(RETRY);
            }
        }
    }

    /// After the commands that they were learned from. What cannot be kept now is kept with the next batch.
    fn keep_weights(&mut self) {
        let weights = self.service.weights();
        if weights != self.kept
            && let Some(weights) = &weights
            && service::keep_weights(&self.database, weights).is_ok()
        {
            self.kept = Some(weights.clone());
        }
    }

    /// Counts are worth no retry: what is not counted now is lost from a number, not from the history.
    fn count_left_out(&self) {
        for ((reason, detail), (count, ts)) in self.journal.take_left_out() {
            let _ = self.database.count_left_out(reason, &detail, count, ts);
        }
    }

    fn purge_daily(&mut self) {
        let now = self.clock.unix_ms();
        match self.days.look(now, Instant::now()) {
            Day::Same => {}
            Day::Jumped => self.note("clock_jumped", &[]),
            Day::Next => purge(&mut self.database, self.service.config().retention_days, now, &self.log),
        }
    }

    fn note(&self, event: &str, fields: &[(&str, &str)]) {
        let _ = self.log.record(self.clock.unix_ms(), event, fields);
    }
}

/// Deletes what is too old. A failure is for the log; tomorrow is another day.
pub(super) fn purge(database: &mut Database, days: u32, now_ms: i64, log: &Log) {
    let _ = match database.purge(days, now_ms) {
        Ok(0) => Ok(()),
        Ok(gone) => log.record(now_ms, "purged", &[("commands", &gone.to_string())]),
        Err(error) => log.record(now_ms, "purge_failed", &[("error", &words(&error))]),
    };
}

/// Whether the clock can be right when a daemon starts. One that makes everything too old is not believed: commands
/// that come tell whether the person was away that long, or the clock is wrong.
pub(super) fn is_plausible(database: &Database, days: u32, now_ms: i64) -> bool {
    let newest = database.newest().ok().flatten();
    newest.is_none_or(|newest| now_ms.saturating_sub(newest) < i64::from(days) * 86_400_000)
}

/// An error with its causes, but for those that only repeat.
pub(super) fn words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let said = source.to_string();
        if !said.contains(words.rsplit(": ").next().unwrap_or_default()) {
            words = format!("{words}: {said}");
        }
        next = source.source();
    }
    words
}

/// When a day is over. The wall clock alone is not believed: if it were set ten years ahead, everything would be too
/// old. So a day is over when both clocks say so; when they disagree, they are compared anew from there.
#[derive(Debug)]
pub(super) struct Days {
    wall_ms: i64,
    passed: Instant,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Day {
    Same,
    Next,
    Jumped,
}

impl Days {
    pub(super) fn starting(wall_ms: i64, now: Instant) -> Days {
        Days { wall_ms, passed: now }
    }

    pub(super) fn look(&mut self, wall_ms: i64, now: Instant) -> Day {
        let by_wall = Duration::from_millis(u64::try_from(wall_ms.saturating_sub(self.wall_ms)).unwrap_or(0));
        let really = now.saturating_duration_since(self.passed);
        let day = match () {
            () if by_wall > really + BELIEVABLE || wall_ms < self.wall_ms => Day::Jumped,
            () if by_wall >= DAY => Day::Next,
            () => return Day::Same,
        };
        *self = Days::starting(wall_ms, now);
        day
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_over_when_both_clocks_say_so() {
        let start = Instant::now();
        let mut days = Days::starting(0, start);
        let hours = |n: u64| Duration::from_secs(n * 3600);
        let wall = |n: i64| n * 3_600_000;
        assert_eq!(days.look(wall(23), start + hours(23)), Day::Same);
        assert_eq!(days.look(wall(24), start + hours(24)), Day::Next);
        assert_eq!(days.look(wall(25), start + hours(25)), Day::Same);
        assert_eq!(days.look(wall(49), start + hours(49)), Day::Next);
    }

    #[test]
    fn a_clock_that_jumps_deletes_nothing_and_is_believed_a_day_later() {
        let start = Instant::now();
        let mut days = Days::starting(0, start);
        let year = 365 * 24 * 3_600_000_i64;
        assert_eq!(days.look(10 * year, start), Day::Jumped);
        assert_eq!(days.look(10 * year + 1, start + Duration::from_millis(1)), Day::Same);
        assert_eq!(days.look(10 * year + 86_400_001, start + DAY), Day::Next);
        assert_eq!(days.look(0, start + DAY), Day::Jumped);
        assert_eq!(days.look(i64::MIN, start + DAY), Day::Jumped);
        assert_eq!(days.look(i64::MAX, start + DAY), Day::Jumped);
    }
}
