//! How good a guess was. One command counts as a hit at 1, 3 or 5, with the reciprocal of its rank among five, and with
//! the keys that were needed: typed until it stood first, and one more to accept it.

use serde::Serialize;

use crate::command::Ran;
use crate::rank::{Ask, Engine};

/// How many suggestions anybody looks at.
const SHOWN: usize = 5;
/// Behind this many characters nobody waits for a suggestion.
const PATIENCE: usize = 60;

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Tally {
    pub(super) commands: u64,
    pub(super) top1: u64,
    pub(super) top3: u64,
    pub(super) top5: u64,
    pub(super) reciprocal_ranks: f64,
    /// Without any suggestion: every character, and Enter.
    pub(super) keys_plain: u64,
    pub(super) keys_used: u64,
}

impl Tally {
    /// `rank` counts from zero; `keys` is what was typed before it stood first.
    pub(super) fn count(&mut self, line: &str, rank: Option<usize>, keys: Option<usize>) {
        let plain = line.chars().count() + 1;
        self.commands += 1;
        self.keys_plain += plain as u64;
        // One key accepts and one runs it.
        self.keys_used += keys.map_or(plain, |keys| plain.min(keys + 2)) as u64;
        let Some(rank) = rank.filter(|rank| *rank < SHOWN) else { return };
        self.top1 += u64::from(rank < 1);
        self.top3 += u64::from(rank < 3);
        self.top5 += 1;
        self.reciprocal_ranks += 1.0 / (rank + 1) as f64;
    }

    pub(super) fn keys_saved(&self) -> u64 {
        self.keys_plain - self.keys_used
    }
}

/// What our engine said before the command was known.
pub(super) struct Guessed {
    pub(super) rank: Option<usize>,
    pub(super) keys: Option<usize>,
    /// Of the first suggestion.
    pub(super) confidence: f64,
}

pub(super) fn engine(engine: &Engine, ran: &Ran) -> Guessed {
    let mut passed: Vec<String> = Vec::new();
    let ask = |prefix: &str, limit, passed: &[String]| {
        engine.suggest(&Ask {
            session: &ran.session,
            place: &ran.place,
            now: ran.ts,
            prefix,
            limit,
            tasks: &[],
            passed,
        })
    };
    let first = ask("", SHOWN, &[]).suggestions;
    let rank = first.iter().position(|it| it.command == ran.line);
    let confidence = first.first().map_or(0.0, |it| it.confidence);
    let mut top = first.into_iter().next().map(|it| it.command);
    // The last character is never worth waiting for: typing it costs what accepting costs.
    let ends =
        ran.line.char_indices().map(|(start, _)| start).take(ran.line.chars().count().min(PATIENCE + 1) - 1);
    for (typed, end) in ends.enumerate() {
        if typed > 0 {
            top = ask(&ran.line[..end], 1, &passed).suggestions.into_iter().next().map(|it| it.command);
        }
        match &top {
            Some(line) if *line == ran.line => return Guessed { rank, keys: Some(typed), confidence },
            Some(line) if !passed.contains(line) => passed.push(line.clone()),
            _ => {}
        }
    }
    Guessed { rank, keys: None, confidence }
}
