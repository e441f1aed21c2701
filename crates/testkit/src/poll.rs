//! Waiting for something to become true. The only file that sleeps.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for what should happen soon: far longer than it ever takes, so that a busy machine
/// does not fail a test, and short enough that a hung one is told before its runner gives up.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks until the condition holds. After `patience` it asks a last time and gives that answer.
#[must_use]
pub fn until(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    // Doubling up to 5 ms: quick when the answer is near, cheap when it is not.
    let mut step = Duration::from_micros(100);
    while start.elapsed() < patience {
        if condition() {
            return true;
        }
        thread::sleep(step);
        step = (step * 2).min(Duration::from_millis(5));
    }
    condition()
}

/// Lets time pass for its own sake: only the moment of a crash is chosen like this.
pub(crate) fn pass(time: Duration) {
    thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_returns_as_soon_as_the_condition_holds_and_gives_up_when_it_never_does() {
        let mut asked = 0;
        assert!(until(PATIENCE, || {
            asked += 1;
            asked == 3
        }));
        assert_eq!(asked, 3);
        assert!(!until(Duration::from_millis(10), || false));
    }

    #[test]
    fn without_patience_it_still_asks_once() {
        assert!(until(Duration::ZERO, || true));
    }
}
