//! How much each signal counts, learned from what was really run: after each command, the weights move a little
//! towards what would have put it first.

use super::pool::Candidate;
use super::signals::{ALL, EMPTY, NAMES, NONE_AND_TRUST, TYPED, Values};
use super::{Ask, Part, gather};
use crate::command::Ran;
use crate::model::Model;

/// How far the weights move at a time. Ten times as much forgets what all people have in common; nothing at all costs
/// half a point of the first three on the sample.
const RATE: f32 = 0.003;

/// The first commands of a person are all learned from, later ones ever more rarely: by then the weights are settled,
/// and taking in a command must not cost as much as foreseeing it.
const SETTLED_BY: u64 = 256;
const AT_LEAST_ONE_IN: u64 = 128;

#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    empty: Set,
    typed: Set,
    seen: u64,
    rate: f32,
}

/// What counts on an empty line, or on one that is begun.
#[derive(Debug, Clone, PartialEq)]
struct Set {
    signals: Values,
    /// For "none of these".
    none: f32,
    /// What a score is multiplied with before it becomes a probability. It does not touch the order.
    trust: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        let set = |signals, (none, trust)| Set { signals, none, trust };
        Weights {
            empty: set(EMPTY, NONE_AND_TRUST[0]),
            typed: set(TYPED, NONE_AND_TRUST[1]),
            seen: 0,
            rate: RATE,
        }
    }
}

impl Weights {
    /// The same weights with another pace and a fresh count, to learn from many people one after the other.
    pub fn at_rate(&self, rate: f32) -> Weights {
        Weights { rate, seen: 0, ..self.clone() }
    }

    /// Every signal's name with its weight on an empty line and on one that is begun; then "none of these", and trust.
    pub fn table(&self) -> Vec<(String, f32, f32)> {
        let mut rows: Vec<(String, f32, f32)> = Vec::new();
        for (at, signal) in ALL.iter().enumerate() {
            rows.push((
                format!("{signal:?} {:?}", NAMES[at]),
                self.empty.signals[at],
                self.typed.signals[at],
            ));
        }
        rows.push(("none".to_owned(), self.empty.none, self.typed.none));
        rows.push(("trust".to_owned(), self.empty.trust, self.typed.trust));
        rows
    }

    /// The probability of each candidate; what is missing to 1 is "none of these".
    pub(super) fn chances(&self, prefix: &str, candidates: &[Candidate]) -> Vec<f32> {
        let set = self.set(prefix);
        let mut chances: Vec<f32> = candidates.iter().map(|it| set.trust * set.score(&it.values)).collect();
        chances.push(set.none);
        softmax(&mut chances);
        chances.pop();
        chances
    }

    /// What each signal that speaks adds to the score; signals of one name together.
    pub(super) fn parts(&self, prefix: &str, candidate: &Candidate) -> Vec<Part> {
        let set = self.set(prefix);
        let mut parts: Vec<Part> = Vec::new();
        for (at, name) in NAMES.into_iter().enumerate().filter(|(at, _)| candidate.values[*at] != 0.0) {
            let score = f64::from(set.signals[at] * candidate.values[at]);
            match parts.iter_mut().find(|part| part.name == name) {
                Some(part) => part.score += score,
                None => parts.push(Part { name, score }),
            }
        }
        parts
    }

    /// Learns from a command that the model has not seen yet: as it was foreseen on an empty line, or after some of it
    /// was typed.
    pub(in crate::rank) fn learn(&mut self, model: &Model, ran: &Ran) {
        self.seen += 1;
        let pace = (1 + self.seen / SETTLED_BY).min(AT_LEAST_ONE_IN);
        if !self.seen.is_multiple_of(pace) {
            return;
        }
        let is_early = self.seen < SETTLED_BY;
        let turn = self.seen / pace;
        if is_early || turn.is_multiple_of(2) {
            self.learn_at(model, ran, "");
        }
        // Further than this nobody types before the rest is clear.
        let cuts: Vec<usize> = ran.line.char_indices().map(|(at, _)| at).skip(1).take(40).collect();
        if !cuts.is_empty() && (is_early || !turn.is_multiple_of(2)) {
            let cut = cuts[(self.seen as usize).wrapping_mul(7) % cuts.len()];
            self.learn_at(model, ran, &ran.line[..cut]);
        }
    }

    /// One step of gradient ascent, twice: the weights on the order of the candidates, when the command was among them;
    /// trust and "none of these" on how likely each of them is.
    fn learn_at(&mut self, model: &Model, ran: &Ran, prefix: &str) {
        let (session, place) = (&ran.session, &ran.place);
        let ask = Ask { session, place, now: ran.ts, prefix, limit: 0, tasks: &[], passed: &[] };
        let candidates = gather(model, &ask);
        let chances = self.chances(prefix, &candidates);
        let rate = self.rate;
        let set = if prefix.is_empty() { &mut self.empty } else { &mut self.typed };
        let scores: Vec<f32> = candidates.iter().map(|it| set.score(&it.values)).collect();
        let right = candidates.iter().position(|candidate| *candidate.text == *ran.line);
        let expected: f32 = chances.iter().zip(&scores).map(|(chance, score)| chance * score).sum();
        let (seen, none_seen) = right.map_or((0.0, 1.0), |at| (scores[at], 0.0));
        // Scores are some ten times as large as signals.
        set.trust = (set.trust + 0.1 * rate * (seen - expected)).clamp(0.1, 2.0);
        set.none += rate * (none_seen - (1.0 - chances.iter().sum::<f32>()));
        if let Some(right) = right {
            set.learn_order(&candidates, scores, &candidates[right].values, rate);
        }
    }

    fn set(&self, prefix: &str) -> &Set {
        if prefix.is_empty() { &self.empty } else { &self.typed }
    }
}

impl Set {
    fn score(&self, values: &Values) -> f32 {
        self.signals.iter().zip(values).map(|(weight, value)| weight * value).sum()
    }

    fn learn_order(&mut self, candidates: &[Candidate], mut scores: Vec<f32>, right: &Values, rate: f32) {
        softmax(&mut scores);
        let mut expected: Values = [0.0; NAMES.len()];
        for (candidate, share) in candidates.iter().zip(scores) {
            expected.iter_mut().zip(candidate.values).for_each(|(sum, value)| *sum += share * value);
        }
        for (at, signal) in ALL.iter().enumerate() {
            let weight = self.signals[at] + rate * (right[at] - expected[at]);
            self.signals[at] = if signal.may_oppose() { weight } else { weight.max(0.0) };
        }
    }
}

fn softmax(scores: &mut [f32]) {
    let top = scores.iter().fold(f32::NEG_INFINITY, |top, score| top.max(*score));
    scores.iter_mut().for_each(|score| *score = (*score - top).exp());
    let total: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= total);
}
