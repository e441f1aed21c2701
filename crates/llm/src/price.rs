//! The one table of models: which we take when nobody says, and what their tokens cost. Knows no wire.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::Usage;

/// What is asked when no model is named. Only Anthropic has one: what other endpoints serve is theirs to say.
pub const DEFAULT_ANTHROPIC_MODEL: &str = "claude-opus-5-5";

/// Dollars for a million tokens: name, input, output. A name stands for its dated and prefixed forms too. Models whose
/// price depends on more than that are left out: no figure is better than a wrong one.
const PRICES: &[(&str, u64, u64)] = &[
    ("claude-fable-5-1", 10, 50),
    ("claude-opus-5-5", 4, 20),
    ("claude-opus-5", 5, 25),
    ("claude-sonnet-5-5", 2, 10),
];

/// Money in billionths of a dollar: a token costs a whole number of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Cost {
    pub nanodollars: u64,
}

impl Cost {
    /// From the dollars that a provider tells. Nonsense is none.
    pub fn from_dollars(dollars: f64) -> Option<Cost> {
        let nanodollars = (dollars * 1e9).round();
        // 2^63 billionths are nine thousand million dollars.
        (0.0..9.2e18).contains(&nanodollars).then_some(Cost { nanodollars: nanodollars as u64 })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths_of_a_cent = self.nanodollars.div_ceil(100_000);
        write!(f, "${}.{:04}", hundredths_of_a_cent / 10_000, hundredths_of_a_cent % 10_000)
    }
}

/// What a reply of `model` cost, if the table has it. Reading the cache costs a tenth of fresh input, writing it a
/// quarter more (for five minutes, the only kind we ask for).
pub fn cost(model: &str, usage: &Usage) -> Option<Cost> {
    let (_, input, output) = PRICES.iter().find(|(name, _, _)| is(model, name))?;
    // A dollar for a million tokens is a thousand billionths for one.
    let (input, output) = (input * 1000, output * 1000);
    let parts = [
        (usage.input, input),
        (usage.cache_read, input / 10),
        (usage.cache_write, input * 5 / 4),
        (usage.output, output),
    ];
    let total =
        parts.iter().fold(0_u64, |sum, (tokens, price)| sum.saturating_add(tokens.saturating_mul(*price)));
    Some(Cost { nanodollars: total })
}

/// `anthropic/claude-opus-5.5` and `claude-opus-5-5-20261001` are `claude-opus-5-5`; `claude-opus-5-7` is not
/// `claude-opus-5`.
fn is(model: &str, name: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model).replace('.', "-");
    match model.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|date| {
            date == "latest" || date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())
        }),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_costs_what_its_four_counters_say() {
        let usage =
            Usage { input: 1000, cache_read: 10_000, cache_write: 100, output: 500, ..Usage::default() };
        // 1000 × 4 + 10,000 × 0.4 + 100 × 5 + 500 × 20 dollars, for a million each.
        assert_eq!(cost("claude-opus-5-5", &usage), Some(Cost { nanodollars: 18_500_000 }));
        assert_eq!(cost("claude-opus-5-5", &usage).unwrap().to_string(), "$0.0185");
        assert_eq!(cost("llama-4", &usage), None);
    }

    #[test]
    fn a_model_is_known_by_its_dated_and_prefixed_names_and_by_no_other() {
        let known = |model| cost(model, &Usage { input: 1, ..Usage::default() }).map(|cost| cost.nanodollars);
        assert_eq!(known("anthropic/claude-opus-5.5"), Some(4000));
        assert_eq!(known("claude-opus-5-20260901"), Some(5000));
        assert_eq!(known("claude-opus-5-9"), None);
        assert_eq!(known("claude-opus-50"), None);
    }

    #[test]
    fn the_default_model_has_a_price() {
        assert!(cost(DEFAULT_ANTHROPIC_MODEL, &Usage::default()).is_some());
    }

    #[test]
    fn money_is_told_in_hundredths_of_a_cent_and_never_as_nothing() {
        let told = |nanodollars| Cost { nanodollars }.to_string();
        assert_eq!([told(0), told(1), told(1_234_500_000)], ["$0.0000", "$0.0001", "$1.2345"]);
        assert_eq!(Cost::from_dollars(0.00012), Some(Cost { nanodollars: 120_000 }));
        assert_eq!(
            [Cost::from_dollars(f64::NAN), Cost::from_dollars(-1.0), Cost::from_dollars(1e300)],
            [None; 3]
        );
    }
}
