//! Times as people read them. What is stored are seconds; only what is shown or becomes a name is local.

use std::time::Duration;

use kit::calendar;
use kit::invocation::Environment;
use kit::process::{self, Ended, Job};

/// A moment in some place's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(calendar::Moment);

/// How far the local time is ahead of UTC, in seconds. The system's own `date` knows the rules of the place; without it,
/// it is UTC.
pub(crate) fn offset(env: &Environment) -> i64 {
    let Some(date) = process::find("date", env) else { return 0 };
    let job = Job::new(date).arg("+%z").envs(process::minimal_environment(env, &[]));
    match job.deadline(Duration::from_secs(1)).run() {
        Ok(outcome) if outcome.ended == Ended::Exited(0) => parsed(outcome.stdout.text().trim()).unwrap_or(0),
        _ => 0,
    }
}

impl Moment {
    pub(crate) fn new(seconds: i64, offset: i64) -> Moment {
        Moment(calendar::Moment::at(seconds.saturating_add(offset)))
    }

    /// `20260131_095959`.
    pub(crate) fn stamp(self) -> String {
        let calendar::Moment { year, month, day, hour, minute, second } = self.0;
        format!("{year:04}{month:02}{day:02}_{hour:02}{minute:02}{second:02}")
    }

    /// `2026-01-31`.
    pub(crate) fn day(self) -> String {
        format!("{:04}-{:02}-{:02}", self.0.year, self.0.month, self.0.day)
    }

    /// `2026-01-31 09:59`.
    pub(crate) fn minute(self) -> String {
        format!("{} {:02}:{:02}", self.day(), self.0.hour, self.0.minute)
    }
}

/// `+0130` in seconds.
fn parsed(zone: &str) -> Option<i64> {
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_at_checked(2)?;
    Some(sign * (hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(Moment::new(951_782_400, 0).stamp(), "20000229_000000");
        assert_eq!(Moment::new(-1, 0).day(), "1969-12-31");
        assert_eq!(Moment::new(1_798_761_599, 3600).minute(), "2027-01-01 00:59");
    }

    #[test]
    fn a_zone_is_read_as_date_writes_it() {
        assert_eq!(parsed("+0130"), Some(5400));
        assert_eq!(parsed("-0800"), Some(-28_800));
        for bad in ["", "UTC", "+", "+ab00", "é"] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }
}
