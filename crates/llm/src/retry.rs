//! Whether to try again, and when. Pure: who calls waits, counts down and looks at the clock.

use std::time::Duration;

use kit::calendar::Moment;

use crate::error::{Again, Error, Kind};

/// The most attempts after the first.
pub const LIMIT: u32 = 3;

/// Who is told to wait longer than this is better told so than made to wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// When the provider wants to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    For(Duration),
    /// Seconds since 1970.
    Until(i64),
}

/// How far the attempt came that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing has come of it, or whatever was shown can be taken back.
    Open,
    /// A block is complete or a tool has started: asking again could do something twice.
    Committed,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// How many have failed, this one included.
    pub failed: u32,
    pub progress: Progress,
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// Any number from 0 to 1, so that many clients do not come back at once.
    pub jitter: f64,
}

/// How long to wait before the next attempt; none if there shall be no other.
pub fn next(error: &Error, attempt: Attempt) -> Option<Duration> {
    if attempt.progress == Progress::Committed || attempt.failed > LIMIT || !may_pass(error) {
        return None;
    }
    let asked = error.complaint().and_then(|complaint| complaint.advice.wait);
    match asked.map(|wait| wait.from(attempt.now_ms)) {
        Some(asked) => (asked <= PATIENCE).then_some(asked),
        None => Some(backoff(error, attempt)),
    }
}

impl Wait {
    fn from(self, now_ms: i64) -> Duration {
        match self {
            Wait::For(time) => time,
            Wait::Until(second) => {
                let left = second.saturating_mul(1000).saturating_sub(now_ms);
                Duration::from_millis(u64::try_from(left).unwrap_or(0))
            }
        }
    }

    /// What `retry-after` and `retry-after-ms` say; the finer one wins.
    pub(crate) fn from_headers(ms: Option<&str>, after: Option<&str>) -> Option<Wait> {
        let number =
            |text: &str| text.trim().parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
        let ms = ms.and_then(number).map(|ms| Wait::For(Duration::from_secs_f64(ms / 1000.0)));
        let seconds = || after.and_then(number).map(|seconds| Wait::For(Duration::from_secs_f64(seconds)));
        ms.or_else(seconds).or_else(|| after.and_then(http_date).map(Wait::Until))
    }
}

/// Whether the same request may succeed a moment later. A provider's own advice wins.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Provider(complaint) => match complaint.advice.again {
            Some(again) => again == Again::Yes,
            None => matches!(complaint.kind, Kind::RateLimited | Kind::Overloaded | Kind::Server),
        },
        Error::Network { .. } | Error::Dropped | Error::Idle(_) => true,
        Error::Tls { .. } | Error::Malformed(_) | Error::Cancelled | Error::Script(_) => false,
    }
}

/// Half a second, doubled each time up to eight, as the providers' own clients do; who is overloaded gets four times
/// as long. Up to a quarter is taken off.
fn backoff(error: &Error, attempt: Attempt) -> Duration {
    let base = match error.complaint().map(|complaint| complaint.kind) {
        Some(Kind::Overloaded) => 2.0,
        _ => 0.5,
    };
    let doubled = 2.0_f64.powi(attempt.failed.saturating_sub(1).min(10) as i32);
    let jitter = 1.0 - 0.25 * attempt.jitter.clamp(0.0, 1.0);
    Duration::from_secs_f64((base * doubled).min(base * 16.0) * jitter)
}

/// `Wed, 21 Oct 2026 07:28:00 GMT`, the only form that is still written, in seconds since 1970.
fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let clock: Vec<i64> = time.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hour, minute, second] = clock[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    Moment { year: year.parse().ok()?, month, day: day.parse().ok()?, hour, minute, second }.seconds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Advice, Complaint};

    fn complaint(kind: Kind, advice: Advice) -> Error {
        let message = String::new();
        Error::Provider(Box::new(Complaint { kind, status: Some(500), message, request_id: None, advice }))
    }

    fn first() -> Attempt {
        Attempt { failed: 1, progress: Progress::Open, now_ms: 0, jitter: 0.0 }
    }

    #[test]
    fn what_may_pass_is_tried_three_times_more_and_slower_each_time() {
        let server = complaint(Kind::Server, Advice::default());
        let waits = (1..=4).map(|failed| next(&server, Attempt { failed, ..first() }));
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(waits.collect::<Vec<_>>(), [ms(500), ms(1000), ms(2000), None]);
        let overloaded = complaint(Kind::Overloaded, Advice::default());
        assert_eq!(next(&overloaded, first()), ms(2000));
        assert_eq!(next(&server, Attempt { jitter: 1.0, ..first() }), ms(375));
    }

    #[test]
    fn nothing_is_tried_again_once_something_was_done() {
        let committed = Attempt { progress: Progress::Committed, ..first() };
        assert_eq!(next(&Error::Dropped, committed), None);
        assert!(next(&Error::Dropped, first()).is_some());
    }

    #[test]
    fn what_cannot_pass_is_told_at_once() {
        for kind in
            [Kind::Auth, Kind::Billing, Kind::BadRequest, Kind::ContextTooLong, Kind::NotFound, Kind::Refused]
        {
            assert_eq!(next(&complaint(kind, Advice::default()), first()), None, "{kind:?}");
        }
        assert_eq!(next(&Error::Cancelled, first()), None);
        assert_eq!(next(&Error::malformed("x"), first()), None);
    }

    #[test]
    fn the_providers_advice_wins() {
        let again = |again| Advice { again: Some(again), wait: None };
        assert_eq!(next(&complaint(Kind::Server, again(Again::No)), first()), None);
        assert!(next(&complaint(Kind::BadRequest, again(Again::Yes)), first()).is_some());
        let wait = |seconds| Advice { wait: Some(Wait::For(Duration::from_secs(seconds))), again: None };
        let limited = |seconds| next(&complaint(Kind::RateLimited, wait(seconds)), first());
        assert_eq!([limited(0), limited(7)], [0, 7].map(|seconds| Some(Duration::from_secs(seconds))));
        assert_eq!(limited(3600), None, "nobody waits an hour");
    }

    #[test]
    fn a_time_is_read_from_any_form_of_the_headers() {
        let seconds = |seconds| Some(Wait::For(Duration::from_secs_f64(seconds)));
        assert_eq!(Wait::from_headers(Some("1500"), Some("9")), seconds(1.5));
        assert_eq!(Wait::from_headers(None, Some("9")), seconds(9.0));
        let date = "Sun, 15 Nov 2026 10:37:39 GMT";
        assert_eq!(Wait::from_headers(Some("soon"), Some(date)), Some(Wait::Until(1_794_739_059)));
        for nonsense in ["-1", "NaN", "inf", "1e99", "tomorrow", "Sun, 99 Nov 2026 10:37:39 GMT", ""] {
            assert_eq!(Wait::from_headers(Some(nonsense), Some(nonsense)), None, "{nonsense}");
        }
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Tue, 29 Feb 2028 00:00:00 GMT"), Some(1_835_395_200));
    }

    #[test]
    fn a_date_is_waited_for_from_now_on_and_not_if_it_is_past() {
        let until = complaint(Kind::RateLimited, Advice { wait: Some(Wait::Until(100)), again: None });
        assert_eq!(next(&until, Attempt { now_ms: 95_500, ..first() }), Some(Duration::from_millis(4500)));
        assert_eq!(next(&until, Attempt { now_ms: 200_000, ..first() }), Some(Duration::ZERO));
    }
}
