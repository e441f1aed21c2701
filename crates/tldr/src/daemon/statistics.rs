//! Who asked how much, and what hooks did. Pure: says when something should be written down, and does not write.

use std::collections::BTreeMap;

use kit::calendar::Moment;
use wire::tldr::{AllSessionsSummary, HookStats, SessionId, SessionStats};

use crate::usage::Increment;

/// As many requests are written down at once.
const REQUESTS: u64 = 10;
/// As many calls of hooks are.
const HOOK_CALLS: u64 = 5;
/// More conversations than one daemon lives to see; beyond it the one that asked least recently is only in the sums. Also
/// more hooks, and more figures of one hook, than anybody has: those beyond it are not told apart.
const MOST: usize = 1000;
/// What stands for all that are not told apart.
const OTHERS: &str = "others";
/// How much of a session's name tells it from others.
const NAME: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Statistics {
    sessions: BTreeMap<String, Session>,
    hooks: BTreeMap<String, HookStats>,
    all: AllSessionsSummary,
    /// What was not written down yet, by session and by hook.
    pending: BTreeMap<String, Increment>,
    pending_hooks: BTreeMap<String, HookStats>,
    requests: u64,
    hook_calls: u64,
}

#[derive(Debug)]
struct Session {
    stats: SessionStats,
    last: u64,
}

/// What one answer cost and what the files behind it would have cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) raw: u64,
    pub(super) ours: u64,
}

impl Statistics {
    /// Counts a request. What comes back is to be written down now.
    pub(super) fn asked(&mut self, session: Option<&SessionId>, tokens: Tokens, now: i64) -> Vec<Increment> {
        let name: String = session.map_or(String::new(), |id| id.0.chars().take(NAME).collect());
        self.all.total_requests += 1;
        self.all.total_raw_tokens += tokens.raw;
        self.all.total_tldr_tokens += tokens.ours;
        if !name.is_empty() {
            self.remember(&name, tokens, now);
        }
        let pending = self.pending.entry(name.clone()).or_default();
        pending.session_id = name;
        pending.requests += 1;
        pending.raw_tokens += tokens.raw;
        pending.tldr_tokens += tokens.ours;
        self.requests += 1;
        if self.requests >= REQUESTS { self.flush(now) } else { Vec::new() }
    }

    fn remember(&mut self, name: &str, tokens: Tokens, now: i64) {
        if self.sessions.len() >= MOST
            && !self.sessions.contains_key(name)
            && let Some(oldest) =
                self.sessions.iter().min_by_key(|(_, s)| s.last).map(|(name, _)| name.clone())
        {
            self.sessions.remove(&oldest);
        }
        let session = self.sessions.entry(name.to_owned()).or_insert_with(|| Session {
            stats: SessionStats {
                session_id: name.to_owned(),
                raw_tokens: 0,
                tldr_tokens: 0,
                requests: 0,
                started_at: moment(now),
            },
            last: 0,
        });
        session.stats.record_request(tokens.raw, tokens.ours);
        session.last = self.all.total_requests;
    }

    /// Counts a call of a hook; says how often it was called, and what is to be written down now, if anything is.
    pub(super) fn tracked(
        &mut self,
        hook: &str,
        success: bool,
        metrics: &BTreeMap<String, f64>,
        now: i64,
    ) -> (u64, Option<Vec<Increment>>) {
        let name = if self.hooks.contains_key(hook) || self.hooks.len() < MOST { hook } else { OTHERS };
        let stats = self.hooks.entry(name.to_owned()).or_insert_with(|| no_calls(name, now));
        let metrics = told_apart(metrics, &stats.metrics);
        stats.record_invocation(success, &metrics);
        let invocations = stats.invocations;
        let pending = self.pending_hooks.entry(name.to_owned()).or_insert_with(|| no_calls(name, now));
        pending.record_invocation(success, &metrics);
        self.hook_calls += 1;
        let flushed = (self.hook_calls >= HOOK_CALLS).then(|| self.flush(now));
        (invocations, flushed)
    }

    /// All that was not written down yet.
    pub(super) fn flush(&mut self, now: i64) -> Vec<Increment> {
        (self.requests, self.hook_calls) = (0, 0);
        let asked = std::mem::take(&mut self.pending).into_values();
        let hooks = std::mem::take(&mut self.pending_hooks).into_values();
        let hooks = hooks.map(|hook| Increment { hook: Some(hook), ..Increment::default() });
        asked.chain(hooks).map(|increment| Increment { timestamp: now / 1000, ..increment }).collect()
    }

    /// What could not be written down after all.
    pub(super) fn put_back(&mut self, increments: Vec<Increment>) {
        for increment in increments {
            if let Some(hook) = increment.hook {
                let pending = self.pending_hooks.entry(hook.hook_name.clone());
                let pending = pending.or_insert_with(|| no_calls(&hook.hook_name, 0));
                pending.invocations += hook.invocations;
                pending.successes += hook.successes;
                pending.failures += hook.failures;
                for (name, value) in hook.metrics {
                    *pending.metrics.entry(name).or_insert(0.0) += value;
                }
                pending.started_at = hook.started_at;
                continue;
            }
            let pending = self.pending.entry(increment.session_id.clone()).or_default();
            pending.session_id = increment.session_id;
            pending.requests += increment.requests;
            pending.raw_tokens += increment.raw_tokens;
            pending.tldr_tokens += increment.tldr_tokens;
        }
    }

    pub(super) fn session(&self, id: &SessionId) -> Option<&SessionStats> {
        let name: String = id.0.chars().take(NAME).collect();
        self.sessions.get(&name).map(|session| &session.stats)
    }

    pub(super) fn all(&self) -> AllSessionsSummary {
        AllSessionsSummary { active_sessions: self.sessions.len(), ..self.all }
    }

    pub(super) fn hooks(&self) -> &BTreeMap<String, HookStats> {
        &self.hooks
    }
}

fn no_calls(hook: &str, now: i64) -> HookStats {
    HookStats {
        hook_name: hook.to_owned(),
        invocations: 0,
        successes: 0,
        failures: 0,
        metrics: BTreeMap::new(),
        started_at: moment(now),
    }
}

/// Figures under a name of their own, as long as there are not too many.
fn told_apart(metrics: &BTreeMap<String, f64>, known: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut room = MOST.saturating_sub(known.len());
    let mut apart = BTreeMap::new();
    for (name, value) in metrics {
        let is_known = known.contains_key(name);
        let name = if is_known || room > 0 { name } else { OTHERS };
        room = room.saturating_sub(usize::from(!is_known));
        *apart.entry(name.to_owned()).or_insert(0.0) += value;
    }
    apart
}

/// A moment in milliseconds since 1970 as `2026-02-03T04:05:06Z`.
pub(super) fn moment(unix_ms: i64) -> String {
    let Moment { year, month, day, hour, minute, second } = Moment::at(unix_ms.div_euclid(1000));
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Tokens = Tokens { raw: 100, ours: 10 };

    #[test]
    fn increments_add_up_to_what_was_asked_and_each_is_given_once() {
        let mut statistics = Statistics::default();
        let session = SessionId("ab12cd34ef".to_owned());
        let mut written = Vec::new();
        for number in 0..25 {
            let whose = (number % 2 == 0).then_some(&session);
            written.extend(statistics.asked(whose, FEW, 1_000));
        }
        assert_eq!(written.len(), 4);
        written.extend(statistics.flush(2_000));
        assert_eq!(statistics.flush(3_000), []);
        assert_eq!(written.iter().map(|line| line.requests).sum::<u64>(), 25);
        assert_eq!(written.iter().map(|line| line.raw_tokens).sum::<u64>(), 2500);
        let ours = statistics.session(&session).unwrap();
        assert_eq!((&*ours.session_id, ours.requests, ours.savings_tokens()), ("ab12cd34", 13, 13 * 90));
        let all = statistics.all();
        assert_eq!((all.active_sessions, all.total_requests, all.total_tldr_tokens), (1, 25, 250));
    }

    #[test]
    fn every_fifth_call_of_a_hook_is_written_down() {
        let mut statistics = Statistics::default();
        let metrics = BTreeMap::from([("errors".to_owned(), 2.0)]);
        let flushed: Vec<bool> =
            (0..10).map(|_| statistics.tracked("h", true, &metrics, 0).1.is_some()).collect();
        assert_eq!(flushed.iter().filter(|flushed| **flushed).count(), 2);
        assert!(flushed[4] && flushed[9]);
        assert_eq!(statistics.hooks()["h"].metrics["errors"], 20.0);
    }

    #[test]
    fn what_could_not_be_written_is_written_the_next_time() {
        let mut statistics = Statistics::default();
        let metrics = BTreeMap::from([("errors".to_owned(), 2.0)]);
        statistics.asked(None, FEW, 0);
        statistics.tracked("h", true, &metrics, 0);
        let first = statistics.flush(1_000);
        statistics.put_back(first);
        statistics.asked(None, FEW, 0);
        statistics.tracked("h", false, &metrics, 0);
        let second = statistics.flush(2_000);
        assert_eq!((second.len(), second[0].requests, second[0].raw_tokens), (2, 2, 200));
        let hook = second[1].hook.as_ref().unwrap();
        assert_eq!((hook.invocations, hook.failures, hook.metrics["errors"]), (2, 1, 4.0));
    }

    #[test]
    fn a_flood_of_hooks_and_figures_is_not_told_apart() {
        let mut statistics = Statistics::default();
        for number in 0..2 * MOST {
            let metrics = BTreeMap::from([(format!("m{number}"), 1.0)]);
            statistics.tracked(&format!("h{number}"), true, &metrics, 0);
            statistics.tracked("one", true, &metrics, 0);
        }
        assert!(statistics.hooks().len() <= MOST + 1);
        assert!(statistics.hooks()["one"].metrics.len() <= MOST + 1);
        assert_eq!(statistics.hooks()["one"].metrics.values().sum::<f64>(), 2.0 * MOST as f64);
    }

    #[test]
    fn a_flood_of_sessions_is_forgotten_but_not_uncounted() {
        let mut statistics = Statistics::default();
        for number in 0..3000 {
            statistics.asked(Some(&SessionId(format!("{number:08}"))), FEW, 0);
        }
        assert_eq!((statistics.all().active_sessions, statistics.all().total_requests), (MOST, 3000));
        assert!(statistics.session(&SessionId("00002999".to_owned())).is_some());
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        assert_eq!(moment(0), "1970-01-01T00:00:00Z");
        assert_eq!(moment(-1), "1969-12-31T23:59:59Z");
        assert_eq!(moment(1_770_091_506_999), "2026-02-03T04:05:06Z");
    }
}
