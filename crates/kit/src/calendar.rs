//! Seconds since 1970 as a calendar has them, and back. Knows no clock and no place on earth: who wants local time moves
//! the seconds.

const DAY: i64 = 86_400;
/// From the first of March of the year 0 to 1970.
const BEFORE_1970: i64 = 719_468;
/// Days of 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;

/// A second of the Gregorian calendar. Fields in the order of what they weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

impl Moment {
    /// What the calendar says `seconds` after 1970 began.
    pub fn at(seconds: i64) -> Moment {
        let second = seconds.rem_euclid(DAY);
        // Years begin in March here, so that the leap day is the last of its year.
        let days = seconds.div_euclid(DAY) + BEFORE_1970;
        let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Moment {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * from_march + 2) / 5 + 1,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }

    /// Seconds since 1970. Nothing for what no calendar and no clock shows.
    pub fn seconds(self) -> Option<i64> {
        let Moment { year, month, day, hour, minute, second } = self;
        let shown = (0..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&minute)
            // A leap second is the first of the next minute.
            && (0..=60).contains(&second);
        // What is not shown may be too large to count with.
        if !shown {
            return None;
        }
        let (year, from_march) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let days = 365 * year + leap_days + (153 * from_march + 2) / 5 + day - 1 - BEFORE_1970;
        Some(((days * 24 + hour) * 60 + minute) * 60 + second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment([year, month, day, hour, minute, second]: [i64; 6]) -> Moment {
        Moment { year, month, day, hour, minute, second }
    }

    #[test]
    fn seconds_become_dates_and_dates_seconds() {
        for (seconds, date) in [
            (0, [1970, 1, 1, 0, 0, 0]),
            (-1, [1969, 12, 31, 23, 59, 59]),
            (951_782_399, [2000, 2, 28, 23, 59, 59]),
            (951_827_696, [2000, 2, 29, 12, 34, 56]),
            (1_798_761_599, [2026, 12, 31, 23, 59, 59]),
            (1_835_395_200, [2028, 2, 29, 0, 0, 0]),
            (4_107_542_400, [2100, 3, 1, 0, 0, 0]),
            (-62_167_219_200, [0, 1, 1, 0, 0, 0]),
            (253_402_300_799, [9999, 12, 31, 23, 59, 59]),
        ] {
            assert_eq!(Moment::at(seconds), moment(date));
            assert_eq!(moment(date).seconds(), Some(seconds));
        }
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut before = Moment::at(-DAY * 146_097);
        for day in 1 - 146_097..146_097 {
            let now = Moment::at(day * DAY);
            assert!(now > before);
            assert_eq!(now.seconds(), Some(day * DAY));
            before = now;
        }
    }

    #[test]
    fn what_no_calendar_shows_is_nothing() {
        for date in [
            [2026, 0, 1, 0, 0, 0],
            [2026, 13, 1, 0, 0, 0],
            [2026, 1, 32, 0, 0, 0],
            [2026, 1, 1, 24, 0, 0],
            [2026, 1, 1, 0, 60, 0],
            [2026, 1, 1, 0, 0, -1],
            [i64::MAX, 1, 1, 0, 0, 0],
        ] {
            assert_eq!(moment(date).seconds(), None, "{date:?}");
        }
        assert_eq!(Moment::at(i64::MAX).month, 12);
    }
}
