//! The queue between those who take events and the one who writes them: bounded, ordered, and never waited for while
//! anything else is locked. Knows records and orders, not what is in them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::database::{Database, LARGEST_BATCH, Reason, Record};

/// A batch is written when its first record has waited this long: the specification allows 25 to 50 ms.
const WINDOW: Duration = Duration::from_millis(25);
/// … or when there are this many.
pub(super) const FULL_BATCH: usize = 100;
/// How much may wait, in records and in bytes: a script's loop while the disk is busy, and a few pasted files.
const ROOM: usize = 4096;
const ROOM_BYTES: usize = 4 << 20;

/// Something that only the writer can do, after all that was said before.
pub(super) type Order = Box<dyn FnOnce(&mut Database) + Send>;

#[derive(Default)]
pub(super) struct Journal {
    inner: Mutex<Inner>,
    changed: Condvar,
    roomy: Condvar,
}

#[derive(Default)]
struct Inner {
    records: VecDeque<Record>,
    bytes: usize,
    /// When the oldest record came.
    since: Option<Instant>,
    /// Taken by the writer and not written yet.
    in_flight: usize,
    /// How many records ever came and how many of them the writer took, those given back not counted.
    pushed: u64,
    taken: u64,
    /// Each with how many records were said before it.
    orders: VecDeque<(u64, Order)>,
    left_out: HashMap<(Reason, String), (u64, i64)>,
    written: u64,
    dropped: u64,
    trouble: Option<String>,
    closing: bool,
}

/// What the writer is to do next.
pub(super) enum Work {
    Batch(Vec<Record>),
    Order(Order),
    /// Nothing came for a while: time to look at the clock.
    Idle,
    /// Everything is done and nothing more will come.
    Over,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Counters {
    pub(super) written: u64,
    pub(super) queued: u64,
    pub(super) dropped: u64,
    pub(super) trouble: Option<String>,
}

impl Journal {
    /// Waits until there is room, at most for `patience`. Without room the caller should give up its event.
    pub(super) fn wait_for_room(&self, patience: Duration) -> bool {
        let full = |inner: &mut Inner| inner.records.len() >= ROOM || inner.bytes >= ROOM_BYTES;
        let mut inner = self.lock();
        // What the disk does not take now it will not take in a moment either.
        if inner.trouble.is_some() {
            return !full(&mut inner);
        }
        let waited = self.roomy.wait_timeout_while(inner, patience, full);
        !full(&mut waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    pub(super) fn push(&self, record: Record) {
        let mut inner = self.lock();
        inner.bytes += weight(&record);
        inner.records.push_back(record);
        inner.pushed += 1;
        inner.since.get_or_insert_with(Instant::now);
        // Waking the writer for every record would cost more than the record.
        let worth_waking = matches!(inner.records.len(), 1 | FULL_BATCH);
        drop(inner);
        if worth_waking {
            self.changed.notify_all();
        }
    }

    pub(super) fn count_drop(&self) {
        self.lock().dropped += 1;
    }

    pub(super) fn leave_out(&self, reason: Reason, detail: &str, ts: i64) {
        let mut inner = self.lock();
        let (count, last) = inner.left_out.entry((reason, detail.to_owned())).or_insert((0, ts));
        *count += 1;
        *last = ts.max(*last);
    }

    pub(super) fn take_left_out(&self) -> HashMap<(Reason, String), (u64, i64)> {
        std::mem::take(&mut self.lock().left_out)
    }

    /// Lets the writer do something and gives its result; `None` when the writer is gone.
    pub(super) fn order<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> T + Send + 'static,
    ) -> Option<T> {
        let (reply, result) = mpsc::sync_channel(1);
        self.order_unheard(move |database| {
            // Whoever asked may have gone.
            let _ = reply.send(work(database));
        });
        result.recv().ok()
    }

    /// The same for who does not want to wait.
    pub(super) fn order_unheard(&self, work: impl FnOnce(&mut Database) + Send + 'static) {
        let mut inner = self.lock();
        // After the end nobody would ever do it; dropping it tells whoever waits.
        if !inner.closing {
            let said_before = inner.pushed;
            inner.orders.push_back((said_before, Box::new(work)));
        }
        drop(inner);
        self.changed.notify_all();
    }

    /// What waits to be written, in order.
    pub(super) fn pending(&self) -> Vec<Record> {
        self.lock().records.iter().cloned().collect()
    }

    pub(super) fn counters(&self) -> Counters {
        let inner = self.lock();
        let (written, dropped, trouble) = (inner.written, inner.dropped, inner.trouble.clone());
        Counters { written, queued: (inner.records.len() + inner.in_flight) as u64, dropped, trouble }
    }

    /// Blocks until there is something to do, at most for `idle`.
    pub(super) fn next(&self, idle: Duration) -> Work {
        let mut inner = self.lock();
        let until = Instant::now() + idle;
        loop {
            let now = Instant::now();
            let due = inner.since.map(|since| since + WINDOW);
            let full = inner.records.len() >= FULL_BATCH;
            let urgent =
                full || !inner.orders.is_empty() || inner.closing || due.is_some_and(|due| now >= due);
            // What comes later does not hold it up: a burst may never end.
            let taken = inner.taken;
            if let Some((_, order)) = inner.orders.pop_front_if(|(said_before, _)| *said_before <= taken) {
                return Work::Order(order);
            }
            if !inner.records.is_empty() && urgent {
                return Work::Batch(inner.take_batch());
            }
            if inner.closing {
                return Work::Over;
            }
            if now >= until {
                return Work::Idle;
            }
            let wait = due.unwrap_or(until).min(until).saturating_duration_since(now);
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn done(&self, count: usize) {
        let mut inner = self.lock();
        inner.written += count as u64;
        (inner.in_flight, inner.trouble) = (0, None);
        drop(inner);
        self.roomy.notify_all();
    }

    /// Puts a batch back that could not be written. Says whether this is news.
    pub(super) fn give_back(&self, batch: Vec<Record>, trouble: String) -> bool {
        let mut inner = self.lock();
        inner.taken -= batch.len() as u64;
        for record in batch.into_iter().rev() {
            inner.bytes += weight(&record);
            inner.records.push_front(record);
        }
        inner.in_flight = 0;
        inner.since.get_or_insert_with(Instant::now);
        let news = inner.trouble.is_none();
        inner.trouble = Some(trouble);
        news
    }

    /// Waits for `patience`, unless the end comes first.
    pub(super) fn rest(&self, patience: Duration) {
        let closing = |inner: &mut Inner| !inner.closing;
        let _ = self.changed.wait_timeout_while(self.lock(), patience, closing);
    }

    /// Nothing more will come: the writer ends when all is written.
    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.lock().closing
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked with the lock left whole records behind.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// What piled up while the last batch was written goes along, so that a burst gets faster and not slower.
    fn take_batch(&mut self) -> Vec<Record> {
        let count = self.records.len().min(LARGEST_BATCH);
        let batch: Vec<Record> = self.records.drain(..count).collect();
        self.bytes -= batch.iter().map(weight).sum::<usize>();
        self.in_flight = batch.len();
        self.taken += batch.len() as u64;
        self.since = self.since.filter(|_| !self.records.is_empty());
        batch
    }
}

fn weight(record: &Record) -> usize {
    size_of::<Record>() + record.ran.line.len() + record.ran.template.0.len() + record.ran.place.cwd.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Place, Ran, SessionId, Shell, Template};

    fn record(ts: i64) -> Record {
        let place = Place { cwd: "/".to_owned(), repo: None, branch: None };
        let (session, template, line) =
            (SessionId("s".to_owned()), Template("ls".to_owned()), "ls".to_owned());
        let ran = Ran { session, ts, duration_ms: None, exit_code: None, place, line, template };
        Record { ran, shell: Shell::Bash, actor: None }
    }

    fn batch(journal: &Journal) -> Vec<i64> {
        match journal.next(Duration::ZERO) {
            Work::Batch(batch) => {
                let stamps = batch.iter().map(|record| record.ran.ts).collect();
                journal.done(batch.len());
                stamps
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn what_piled_up_comes_in_order_and_in_batches_that_are_not_too_large() {
        let journal = Journal::default();
        let all = 2 * LARGEST_BATCH as i64 + 7;
        (0..all).for_each(|ts| journal.push(record(ts)));
        journal.close();
        let batches: Vec<Vec<i64>> =
            std::iter::from_fn(|| Some(batch(&journal)).filter(|it| !it.is_empty())).collect();
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [LARGEST_BATCH, LARGEST_BATCH, 7]);
        assert_eq!(batches.concat(), (0..all).collect::<Vec<_>>());
        assert_eq!(journal.counters().written, all.cast_unsigned());
        assert_eq!(journal.lock().bytes, 0);
    }

    #[test]
    fn a_lone_record_waits_for_others_within_the_specified_time_and_a_hundred_wait_for_nobody() {
        assert!((Duration::from_millis(25)..=Duration::from_millis(50)).contains(&WINDOW));
        let journal = Journal::default();
        let began = Instant::now();
        journal.push(record(1));
        let Work::Batch(lone) = journal.next(Duration::from_secs(60)) else { panic!("it becomes due") };
        assert_eq!(lone.len(), 1);
        assert!(began.elapsed() >= WINDOW, "{:?}", began.elapsed());
        journal.done(1);
        let is_due = |journal: &Journal| !batch(journal).is_empty();
        let began = Instant::now();
        (0..FULL_BATCH as i64 - 1).for_each(|ts| journal.push(record(ts)));
        // On a machine that stood still they have become due by their age.
        assert!(!is_due(&journal) || began.elapsed() >= WINDOW);
        (0..FULL_BATCH as i64).for_each(|ts| journal.push(record(ts)));
        assert!(is_due(&journal));
    }

    #[test]
    fn an_order_waits_for_what_was_said_before_it_and_for_nothing_later() {
        let journal = Journal::default();
        let is_order = || matches!(journal.next(Duration::ZERO), Work::Order(_));
        (0..LARGEST_BATCH as i64 + 1).for_each(|ts| journal.push(record(ts)));
        journal.order_unheard(|_| {});
        (0..5 * LARGEST_BATCH as i64).for_each(|ts| journal.push(record(ts)));
        assert_eq!(batch(&journal).len(), LARGEST_BATCH);
        let Work::Batch(second) = journal.next(Duration::ZERO) else { panic!("one is left") };
        journal.give_back(second, "full".to_owned());
        assert_eq!(batch(&journal).len(), LARGEST_BATCH, "it has to be written first");
        assert!(is_order());
        assert!(!is_order());
    }

    #[test]
    fn what_could_not_be_written_comes_again_first() {
        let journal = Journal::default();
        (0..3).for_each(|ts| journal.push(record(ts)));
        journal.close();
        let Work::Batch(first) = journal.next(Duration::ZERO) else { panic!("there is something") };
        journal.push(record(3));
        assert!(journal.give_back(first, "full".to_owned()));
        assert_eq!(journal.counters().trouble.as_deref(), Some("full"));
        assert_eq!(batch(&journal), [0, 1, 2, 3]);
        assert_eq!(journal.counters(), Counters { written: 4, ..Counters::default() });
    }
}
