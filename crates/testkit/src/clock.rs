//! Clocks that stand still until a test moves them: one for code in this process, one for our binaries.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// 2026-01-01T00:00:00Z, where every clock of a test starts.
const START_MS: i64 = 1_767_225_600_000;

/// A clock for code in this process. Clones show the same time.
#[derive(Debug, Clone)]
pub struct FixedClock(Arc<AtomicI64>);

impl FixedClock {
    pub fn new() -> FixedClock {
        FixedClock(Arc::new(AtomicI64::new(START_MS)))
    }

    pub fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    pub fn set(&self, ms: i64) {
        self.0.store(ms, Ordering::SeqCst);
    }

    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(millis(by), Ordering::SeqCst);
    }
}

impl Default for FixedClock {
    fn default() -> Self {
        FixedClock::new()
    }
}

/// A clock for our binaries: a file of milliseconds since 1970, which they read at each question when
/// `SCRIMP_CLOCK_FILE` names it, so that the time of a running daemon can jump.
#[derive(Debug)]
pub struct ClockFile {
    path: PathBuf,
    time: FixedClock,
}

impl ClockFile {
    pub(crate) const VARIABLE: &str = "SCRIMP_CLOCK_FILE";

    pub(crate) fn create(path: PathBuf) -> ClockFile {
        let clock = ClockFile { path, time: FixedClock::new() };
        clock.publish();
        clock
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn now_ms(&self) -> i64 {
        self.time.now_ms()
    }

    pub fn set(&self, ms: i64) {
        self.time.set(ms);
        self.publish();
    }

    pub fn advance(&self, by: Duration) {
        self.time.advance(by);
        self.publish();
    }

    /// By rename: a daemon that asks at this very moment sees the old time or the new one, never half a number.
    fn publish(&self) {
        let fresh = self.path.with_extension("new");
        fs::write(&fresh, self.now_ms().to_string()).expect("the clock file can be written");
        fs::rename(&fresh, &self.path).expect("the clock file can be replaced");
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).expect("a test's time span fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    #[test]
    fn clones_of_a_fixed_clock_move_together() {
        let clock = FixedClock::new();
        let same = clock.clone();
        clock.advance(Duration::from_secs(2));
        assert_eq!(same.now_ms(), START_MS + 2000);
    }

    #[test]
    fn a_child_reads_the_time_that_the_test_has_set() {
        let home = Home::new();
        let before = home.run(home.command("sh").args(["-c", "echo ${SCRIMP_CLOCK_FILE-unset}"]));
        assert_eq!(before.stdout, "unset\n");
        home.clock().set(5);
        home.clock().advance(Duration::from_millis(7));
        let after = home.run(home.command("sh").args(["-c", "cat $SCRIMP_CLOCK_FILE"]));
        assert_eq!(after.stdout, "12");
        assert_eq!(home.clock().now_ms(), 12);
    }
}
