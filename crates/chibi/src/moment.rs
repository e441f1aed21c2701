//! Times as people read them. What is stored are seconds; only what is shown or becomes a name is local.

use std::time::Duration;

use kit::invocation::Environment;
use kit::process::{self, Ended, Job};

const DAY: i64 = 86_400;

/// A moment in some place's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Seconds since 1970, moved by the offset of the place.
    local: i64,
}

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
        Moment { local: seconds.saturating_add(offset) }
    }

    /// `20260131_095959`.
    pub(crate) fn stamp(self) -> String {
        let (year, month, day) = self.date();
        let (hour, minute, second) = self.time();
        format!("{year:04}{month:02}{day:02}_{hour:02}{minute:02}{second:02}")
    }

    /// `2026-01-31`.
    pub(crate) fn day(self) -> String {
        let (year, month, day) = self.date();
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `2026-01-31 09:59`.
    pub(crate) fn minute(self) -> String {
        let (hour, minute, _) = self.time();
        format!("{} {hour:02}:{minute:02}", self.day())
    }

    fn time(self) -> (i64, i64, i64) {
        let second = self.local.rem_euclid(DAY);
        (second / 3600, second / 60 % 60, second % 60)
    }

    /// Years are counted from March, so that the odd day comes last.
    fn date(self) -> (i64, i64, i64) {
        let days = self.local.div_euclid(DAY) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        (year_of_era + era * 400 + i64::from(month <= 2), month, day)
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
        for (seconds, stamp) in [
            (0, "19700101_000000"),
            (951_782_399, "20000228_235959"),
            (951_782_400, "20000229_000000"),
            (1_709_164_800, "20240229_000000"),
            (1_798_761_599, "20261231_235959"),
            (4_107_542_400, "21000301_000000"),
            (-1, "19691231_235959"),
        ] {
            assert_eq!(Moment::new(seconds, 0).stamp(), stamp);
        }
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
