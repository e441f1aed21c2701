//! Gives every entry a time and a session, in one pass and in constant memory. Knows no format.

use super::{Entry, Imported, Source};
use crate::command::SessionId;

/// A longer pause begins a new session.
const PAUSE_MS: i64 = 30 * 60 * 1000;

/// Entries without a time before the first that has one (or before the end of the file).
#[derive(Debug, Clone, Copy)]
pub(super) struct Lead {
    /// All of them were before.
    pub(super) ts: i64,
    /// Where the lead ends.
    pub(super) offset: u64,
}

impl Lead {
    /// About what a person types: 8 KB a day.
    const MS_PER_BYTE: u64 = 10_000;
    /// However long the file: what is imported should not be old enough to be purged at once (after 90 days).
    const LONGEST_MS: u64 = 60 * 24 * 60 * 60 * 1000;

    fn guess(self, offset: u64) -> i64 {
        let span = self.offset.saturating_mul(Self::MS_PER_BYTE).min(Self::LONGEST_MS);
        let before = u128::from(self.offset.saturating_sub(offset)) * u128::from(span)
            / u128::from(self.offset.max(1));
        // `before` is at most the longest span.
        self.ts.saturating_sub(1).saturating_sub_unsigned(before as u64)
    }
}

#[derive(Debug)]
pub(super) struct Settle {
    source: Source,
    lead: Lead,
    last: Option<(i64, Time)>,
    session: Option<SessionId>,
}

/// Whether the source has a time for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// Or for one shortly before.
    Known,
    Guessed,
}

/// In the names of sessions, so that they are found when the same history is imported again.
pub(super) const UNDATED: &str = "undated-";

impl Settle {
    pub(super) fn new(source: Source, lead: Lead) -> Settle {
        Settle { source, lead, last: None, session: None }
    }

    pub(super) fn settle(&mut self, entry: Entry) -> Imported {
        let (ts, time) = match (entry.ts, self.last) {
            (Some(ts), _) => (ts, Time::Known),
            (None, Some((last, Time::Known))) => (last.saturating_add(1), Time::Known),
            (None, Some((last, Time::Guessed))) => {
                (self.lead.guess(entry.offset).max(last.saturating_add(1)), Time::Guessed)
            }
            (None, None) => (self.lead.guess(entry.offset), Time::Guessed),
        };
        let session = match entry.session {
            Some(session) => SessionId(session),
            None => self.rebuilt(ts, time),
        };
        self.last = Some((ts, time));
        let Entry { line, exit_code, cwd, duration_ms, .. } = entry;
        Imported { ts, time, line, exit_code, cwd, duration_ms, session }
    }

    /// Guessed times say nothing about pauses.
    fn rebuilt(&mut self, ts: i64, time: Time) -> SessionId {
        let goes_on = self.last.is_some_and(|(last, before)| {
            before == time && (time == Time::Guessed || ts.abs_diff(last) <= PAUSE_MS.unsigned_abs())
        });
        match &self.session {
            Some(session) if goes_on => session.clone(),
            _ => {
                let undated = if time == Time::Guessed { UNDATED } else { "" };
                self.session.insert(SessionId(format!("{}-{undated}{ts}", self.source.name()))).clone()
            }
        }
    }
}
