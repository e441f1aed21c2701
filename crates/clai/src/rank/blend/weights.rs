//! How much each signal counts, learned from what was really run: after each command, the weights move a little
//! towards what would have put it first.

use super::pool::Candidate;
use super::signals::{ALL, EMPTY, NAMES, NONE_AND_TRUST, SLOPE_AND_SHIFT, Signal, TYPED, Values};
use super::{Ask, Part, gather};
use crate::command::Ran;
use crate::model::{Model, hashed};

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
    /// Of lines that were run before, and of those that were made.
    shown: [Shown; 2],
}

/// How a probability is shown: a candidate that comes out on top has often got there by chance, so the best are less
/// likely than the mixture says. A line through the logarithms of the odds, which keeps the order of each kind.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shown {
    slope: f32,
    shift: f32,
}

impl Default for Weights {
    fn default() -> Weights {
        let set = |signals, at: usize| {
            let (none, trust) = NONE_AND_TRUST[at];
            let shown = SLOPE_AND_SHIFT[at].map(|(slope, shift)| Shown { slope, shift });
            Set { signals, none, trust, shown }
        };
        Weights { empty: set(EMPTY, 0), typed: set(TYPED, 1), rate: RATE }
    }
}

impl Weights {
    /// The same weights with another pace, to learn from many people one after the other.
    pub fn at_rate(&self, rate: f32) -> Weights {
        Weights { rate, ..self.clone() }
    }

    /// What [`Weights::from_bytes`] reads: numbers only, and of which signals they are.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [&self.empty, &self.typed].into_iter().flat_map(Set::numbers);
        fingerprint().to_le_bytes().into_iter().chain(numbers.flat_map(f32::to_le_bytes)).collect()
    }

    /// `None` when they belong to other signals than ours, or are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Option<Weights> {
        let numbers = bytes.strip_prefix(&fingerprint().to_le_bytes())?;
        let (numbers, rest) = numbers.as_chunks::<4>();
        let mut numbers =
            numbers.iter().map(|number| f32::from_le_bytes(*number)).filter(|it| it.is_finite());
        let (empty, typed) = (Set::read(&mut numbers)?, Set::read(&mut numbers)?);
        (rest.is_empty() && numbers.next().is_none()).then_some(Weights { empty, typed, rate: RATE })
    }

    /// Every signal's name with its weight on an empty line and on one that is begun; then "none of these",
    /// trust, and how a probability is shown.
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
        for (kind, (empty, typed)) in
            ["run", "made"].iter().zip(self.empty.shown.iter().zip(&self.typed.shown))
        {
            rows.push((format!("slope, {kind}"), empty.slope, typed.slope));
            rows.push((format!("shift, {kind}"), empty.shift, typed.shift));
        }
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

    /// How likely a candidate of this probability turned out to be when it was among the best.
    pub(super) fn confidence(&self, prefix: &str, candidate: &Candidate, chance: f64) -> f64 {
        f64::from(self.set(prefix).shown[kind(candidate)].of(odds(chance as f32)))
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
        let nth = model.commands() + 1;
        let pace = (1 + nth / SETTLED_BY).min(AT_LEAST_ONE_IN);
        if !nth.is_multiple_of(pace) {
            return;
        }
        let is_early = nth < SETTLED_BY;
        let turn = nth / pace;
        if is_early || turn.is_multiple_of(2) {
            self.learn_at(model, ran, "");
        }
        // Further than this nobody types before the rest is clear.
        let cuts: Vec<usize> = ran.line.char_indices().map(|(at, _)| at).skip(1).take(40).collect();
        if !cuts.is_empty() && (is_early || !turn.is_multiple_of(2)) {
            let cut = cuts[(nth as usize).wrapping_mul(7) % cuts.len()];
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
        // What is shown: some on an empty line, one on a line that is begun.
        set.learn_shown(&candidates, &chances, if prefix.is_empty() { 5 } else { 1 }, right);
        if let Some(right) = right {
            set.learn_order(&candidates, scores, &candidates[right].values, rate);
        }
    }

    fn set(&self, prefix: &str) -> &Set {
        if prefix.is_empty() { &self.empty } else { &self.typed }
    }
}

impl Set {
    fn numbers(&self) -> impl Iterator<Item = f32> {
        let shown = self.shown.into_iter().flat_map(|shown| [shown.slope, shown.shift]);
        self.signals.into_iter().chain([self.none, self.trust]).chain(shown)
    }

    fn read(numbers: &mut impl Iterator<Item = f32>) -> Option<Set> {
        let mut signals = [0.0; NAMES.len()];
        for signal in &mut signals {
            *signal = numbers.next()?;
        }
        let (none, trust) = (numbers.next()?, numbers.next()?);
        let mut shown = || Some(Shown { slope: numbers.next()?, shift: numbers.next()? });
        Some(Set { signals, none, trust, shown: [shown()?, shown()?] })
    }

    fn score(&self, values: &Values) -> f32 {
        self.signals.iter().zip(values).map(|(weight, value)| weight * value).sum()
    }

    /// From each of the best `count`.
    fn learn_shown(&mut self, candidates: &[Candidate], chances: &[f32], count: usize, right: Option<usize>) {
        let mut best: Vec<usize> = (0..chances.len()).collect();
        best.sort_unstable_by(|a, b| chances[*b].total_cmp(&chances[*a]).then(a.cmp(b)));
        for at in best.into_iter().take(count) {
            self.shown[kind(&candidates[at])].learn(odds(chances[at]), right == Some(at));
        }
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

impl Shown {
    /// Some hundred commands are needed to tell a careful person from a playful one.
    const RATE: f32 = 0.005;

    fn of(self, odds: f32) -> f32 {
        1.0 / (1.0 + (-self.slope * odds - self.shift).exp())
    }

    /// One step towards what would have said best how likely a candidate of these odds was.
    fn learn(&mut self, odds: f32, was_right: bool) {
        let surprise = f32::from(u8::from(was_right)) - self.of(odds);
        self.slope = (self.slope + Self::RATE * surprise * odds).clamp(0.2, 2.0);
        self.shift = (self.shift + Self::RATE * surprise).clamp(-4.0, 4.0);
    }
}

/// Which of a [`Set::shown`] is for it. A line that nobody has run has few signals, so its score says less than it is
/// worth once it comes out on top: among such lines of the sample 0.35 was said and 0.58 found.
fn kind(candidate: &Candidate) -> usize {
    usize::from(candidate.values[Signal::Composed as usize] != 0.0)
}

/// The logarithm of the odds, where it is still a number worth having.
fn odds(chance: f32) -> f32 {
    let chance = chance.clamp(1e-6, 1.0 - 1e-6);
    (chance / (1.0 - chance)).ln()
}

/// Another set of signals, or another order of them, has another one.
fn fingerprint() -> u64 {
    hashed(format!("{ALL:?}"))
}

fn softmax(scores: &mut [f32]) {
    let top = scores.iter().fold(f32::NEG_INFINITY, |top, score| top.max(*score));
    scores.iter_mut().for_each(|score| *score = (*score - top).exp());
    let total: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= total);
}
