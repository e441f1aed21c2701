//! A count that fades: each use adds one, and what was added fades by a factor e per `TAU_MS`.

/// Seven days: a week without use leaves a third.
pub(crate) const TAU_MS: f64 = 7.0 * 24.0 * 3600.0 * 1000.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decayed {
    pub(crate) score: f64,
    pub(crate) last_ts: i64,
}

impl Decayed {
    pub(crate) fn first(ts: i64) -> Decayed {
        Decayed { score: 1.0, last_ts: ts }
    }

    /// `score * exp(-(now - last) / tau) + 1`. A use that comes late in the stream but happened before counts as
    /// what is left of it: the clock of the score never runs backwards, so nothing already there can grow.
    pub(crate) fn add(&mut self, ts: i64) {
        if ts >= self.last_ts {
            self.score = self.at(ts) + 1.0;
            self.last_ts = ts;
        } else {
            self.score += fade(self.last_ts, ts);
        }
    }

    /// Orders scores as they are at any one time, without asking what time it is: all fade at the same pace.
    pub(crate) fn heat(&self) -> f64 {
        self.score.ln() + self.last_ts as f64 / TAU_MS
    }

    /// What is left at `now`; a `now` before the last use takes nothing away and adds nothing.
    pub(crate) fn at(&self, now: i64) -> f64 {
        self.score * fade(now.max(self.last_ts), self.last_ts)
    }
}

fn fade(later: i64, earlier: i64) -> f64 {
    (-(later.saturating_sub(earlier) as f64) / TAU_MS).exp()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_formula_of_the_specification() {
        let mut score = Decayed::first(0);
        score.add(TAU_MS as i64);
        assert!((score.score - (1.0 + (-1.0_f64).exp())).abs() < 1e-12);
        assert_eq!(score.last_ts, TAU_MS as i64);
    }

    proptest! {
        #[test]
        fn an_event_out_of_order_never_grows_what_is_there(stamps in prop::collection::vec(any::<i64>(), 1..50)) {
            let mut score = Decayed::first(stamps[0]);
            for ts in &stamps[1..] {
                let before = score;
                score.add(*ts);
                prop_assert!(score.score <= before.score + 1.0);
                prop_assert_eq!(score.last_ts, before.last_ts.max(*ts));
                prop_assert!(score.score.is_finite() && score.score > 0.0);
            }
        }
    }
}
