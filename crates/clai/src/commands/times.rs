//! Spans of time as people say and read them. What a time zone is, nobody here needs to know: times are shown as how
//! long ago they were.

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;

/// `30m`, `2h`, `1h30m`, `3d`, `1w`, `90s`, in milliseconds.
pub(crate) fn span(text: &str) -> Result<u64, String> {
    let wrong = || "a time is a number with a unit: 90s, 30m, 2h, 1h30m, 3d, 1w".to_owned();
    let mut total: i64 = 0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: i64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = match rest[digits..].chars().next() {
            Some('s') => SECOND,
            Some('m') => MINUTE,
            Some('h') => HOUR,
            Some('d') => DAY,
            Some('w') => WEEK,
            _ => return Err(wrong()),
        };
        total = number.checked_mul(unit).and_then(|ms| total.checked_add(ms)).ok_or_else(wrong)?;
        rest = &rest[digits + 1..];
    }
    if total > 0 { Ok(total.cast_unsigned()) } else { Err(wrong()) }
}

/// Since when: a span before now, or `@` and seconds since 1970, as `date +%s` prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Ago(u64),
    At(i64),
}

impl Since {
    pub(crate) fn parse(text: &str) -> Result<Since, String> {
        match text.strip_prefix('@') {
            Some(seconds) => {
                let seconds: i64 =
                    seconds.parse().map_err(|_| "behind `@` stand seconds since 1970".to_owned())?;
                Ok(Since::At(seconds.saturating_mul(SECOND)))
            }
            None => span(text).map(Since::Ago),
        }
    }

    pub(crate) fn unix_ms(self, now: i64) -> i64 {
        match self {
            Since::Ago(ms) => now.saturating_sub_unsigned(ms),
            Since::At(ms) => ms,
        }
    }
}

/// How long something took or lasts, to the two digits that matter.
pub(crate) fn said(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    let tenths = |unit: i64, name: &str| match ms * 10 / unit {
        tenths if tenths < 100 && tenths % 10 != 0 => format!("{}.{} {name}", tenths / 10, tenths % 10),
        tenths => format!("{} {name}", tenths / 10),
    };
    match ms {
        _ if ms < SECOND => format!("{ms} ms"),
        _ if ms < MINUTE => tenths(SECOND, "s"),
        _ if ms < HOUR => format!("{} min", (ms + MINUTE / 2) / MINUTE),
        _ if ms < 2 * DAY => tenths(HOUR, "h"),
        _ => format!("{} days", ms / DAY),
    }
}

/// How long before `now` something was.
pub(crate) fn ago(ts: i64, now: i64) -> String {
    match now.saturating_sub(ts) {
        ms if ms < 0 => "in the future".to_owned(),
        ms if ms < SECOND => "just now".to_owned(),
        ms => format!("{} ago", said(ms.cast_unsigned())),
    }
}

/// The same in a narrow column: `3s`, `12m`, `5h`, `40d`.
pub(crate) fn age(ts: i64, now: i64) -> String {
    match now.saturating_sub(ts) {
        ms if ms < MINUTE => format!("{}s", ms.max(0) / SECOND),
        ms if ms < HOUR => format!("{}m", ms / MINUTE),
        ms if ms < 2 * DAY => format!("{}h", ms / HOUR),
        ms => format!("{}d", ms / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        assert_eq!(span("30m"), Ok(1_800_000));
        assert_eq!(span("1h30m"), Ok(5_400_000));
        assert_eq!(span(" 2d "), Ok(172_800_000));
        for wrong in
            ["", "0s", "30", "m", "-1h", "1y", "1h-", "99999999999999999999s", "9999999999999999w", "½h"]
        {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn since_is_a_span_or_a_moment() {
        assert_eq!(Since::parse("2h").unwrap().unix_ms(10_000_000), 2_800_000);
        assert_eq!(Since::parse("@1700000000").unwrap().unix_ms(0), 1_700_000_000_000);
        assert!(Since::parse("@yesterday").is_err() && Since::parse("yesterday").is_err());
    }

    #[test]
    fn spans_are_said_short() {
        let said: Vec<String> =
            [7, 1400, 12_345, 1_799_900, 5_400_000, 40 * 3_600_000, 172_800_000].map(said).into();
        assert_eq!(said, ["7 ms", "1.4 s", "12 s", "30 min", "1.5 h", "40 h", "2 days"]);
        assert_eq!(ago(0, 3000), "3 s ago");
        assert_eq!([ago(0, 10), ago(10, 0)], ["just now", "in the future"]);
        assert_eq!(
            [age(0, 59_999), age(0, 3_599_999), age(0, 90_000_000), age(0, 1 << 33)],
            ["59s", "59m", "25h", "99d"]
        );
        assert_eq!(age(5, 0), "0s");
    }
}
