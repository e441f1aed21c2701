//! One budget of time, shared by all steps of an exchange. Knows nothing of what is waited for.

use std::time::{Duration, Instant};

/// The moment to give up. Passed along by value, so that two steps cannot each take the whole budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Instant);

impl Deadline {
    /// A patience beyond what the clock can express counts as a century.
    pub fn after(patience: Duration) -> Deadline {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let now = Instant::now();
        Deadline(now.checked_add(patience).unwrap_or_else(|| now + CENTURY))
    }

    /// What is left; zero once it has passed.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub fn passed(self) -> bool {
        self.remaining().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_runs_out_and_never_below_zero() {
        let deadline = Deadline::after(Duration::ZERO);
        assert!(deadline.passed());
        assert_eq!(deadline.remaining(), Duration::ZERO);
        let later = Deadline::after(Duration::from_secs(60));
        assert!(!later.passed() && later.remaining() <= Duration::from_secs(60));
    }

    #[test]
    fn a_patience_without_end_is_no_panic() {
        assert!(!Deadline::after(Duration::MAX).passed());
    }
}
