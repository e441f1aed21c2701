//! Spans of time as people type and read them.

use crate::read::age;

/// `30s`, `5m`, `1h`, `2d`, or seconds alone.
pub(crate) fn seconds(text: &str) -> Result<i64, String> {
    let wrong = || "a time is a number with a unit: 30s, 5m, 1h, 2d".to_owned();
    let (number, unit) = match text.char_indices().next_back() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3_600),
        Some((at, 'd')) => (&text[..at], 86_400),
        _ => (text, 1),
    };
    if !number.chars().all(|digit| digit.is_ascii_digit()) {
        return Err(wrong());
    }
    number.parse::<i64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)
}

/// `3h ago`.
pub(crate) fn ago(then: i64, now: i64) -> String {
    format!("{} ago", age(now.saturating_sub(then)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_nonsense_is_told() {
        assert_eq!(
            ["30s", "5m", "1h", "2d", "90", "0s"].map(seconds),
            [Ok(30), Ok(300), Ok(3_600), Ok(172_800), Ok(90), Ok(0)]
        );
        for wrong in [
            "",
            "m",
            "5é",
            "é",
            "-5m",
            "+5",
            "1.5h",
            "5 m",
            "½d",
            "99999999999999999999",
            "9223372036854775807d",
        ] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
