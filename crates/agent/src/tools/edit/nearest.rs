//! Where a model may have meant, when what it wrote is not in the file: the lines that are most like it. Pure.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use drip::lines::{Span, Text};
use similar::TextDiff;

/// After this long what was found so far is the answer.
const PATIENCE: Duration = Duration::from_millis(200);

/// Of 1: less alike than this is not meant.
const ALIKE: f32 = 0.6;

/// Longer lines are not compared: they are data, and take long.
const WIDEST: usize = 2_000;

/// Longer strings are not looked for: nobody writes them again by hand.
const LONGEST: usize = 20_000;

/// The most similar lines, as many as `wanted` has. Lines count as the same whatever their spaces; if none is, the one
/// line that is most like the first wanted one tells.
pub(super) fn window(text: &Text, wanted: &str) -> Option<Span> {
    if wanted.trim().is_empty() || wanted.len() > LONGEST {
        return None;
    }
    let wanted: Vec<String> = wanted.lines().map(bare).collect();
    let lines: Vec<String> = text.lines().into_iter().map(bare).collect();
    let first = by_equal_lines(&lines, &wanted).or_else(|| by_likeness(&lines, &wanted))?;
    text.clip(Span::new(first + 1, first + wanted.len())?)
}

/// Where most of the wanted lines are, at their distance from each other. Lines that are everywhere count little.
fn by_equal_lines(lines: &[String], wanted: &[String]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        places.entry(line).or_default().push(at);
    }
    let mut weights: HashMap<usize, f64> = HashMap::new();
    for (offset, line) in wanted.iter().enumerate() {
        let Some(found) = places.get(line.as_str()) else { continue };
        // A lone bracket is no hint.
        let weight = line.len().min(40) as f64 / found.len() as f64;
        for at in found.iter().filter(|at| **at >= offset).take(1000) {
            *weights.entry(at - offset).or_default() += weight;
        }
    }
    let best =
        weights.into_iter().max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))?;
    (best.1 >= 3.0).then_some(best.0)
}

fn by_likeness(lines: &[String], wanted: &[String]) -> Option<usize> {
    let until = Instant::now() + PATIENCE;
    let usual = wanted.iter().enumerate().filter(|(_, line)| line.len() <= WIDEST);
    let (offset, longest) = usual.max_by_key(|(_, line)| line.len())?;
    let counts = Counts::of(longest);
    let mut best = (ALIKE, None);
    for (at, line) in lines.iter().enumerate().skip(offset) {
        if Instant::now() > until {
            break;
        }
        if line.len() > WIDEST || Counts::of(line).most_alike(&counts) <= best.0 {
            continue;
        }
        let ratio = TextDiff::configure().deadline(until).diff_chars(line.as_str(), longest.as_str()).ratio();
        if ratio > best.0 {
            best = (ratio, Some(at - offset));
        }
    }
    best.1
}

/// How often each byte is in a line: two lines are at most as alike as their bytes in any order. Far cheaper than
/// comparing them, and most lines need no more.
struct Counts {
    bytes: [u16; 256],
    total: usize,
}

impl Counts {
    fn of(line: &str) -> Counts {
        let mut bytes = [0; 256];
        line.bytes().for_each(|byte| bytes[usize::from(byte)] += 1);
        Counts { bytes, total: line.len() }
    }

    fn most_alike(&self, other: &Counts) -> f32 {
        let shared: u32 =
            self.bytes.iter().zip(&other.bytes).map(|(one, two)| u32::from(*one.min(two))).sum();
        2.0 * shared as f32 / (self.total + other.total).max(1) as f32
    }
}

/// A line without its spaces at both ends, and with single ones inside.
fn bare(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "fn one() {\n    let a = 1;\n}\n\nfn two() {\n    let total = sum(&items);\n    print(total);\n}\n";

    fn found(wanted: &str) -> Option<&'static str> {
        let text = Text::new(FILE);
        window(&text, wanted).map(|span| {
            let start = FILE.find(text.slice(span)).unwrap();
            &FILE[start..start + text.slice(span).len()]
        })
    }

    #[test]
    fn lines_that_differ_in_spaces_or_in_one_word_are_found() {
        assert_eq!(found("let a  =  1;"), Some("    let a = 1;\n"));
        assert_eq!(
            found("fn two() {\n  let total = add(&items);\n"),
            Some("fn two() {\n    let total = sum(&items);\n")
        );
        assert_eq!(found("let totals = sum(items);"), Some("    let total = sum(&items);\n"));
    }

    #[test]
    fn nothing_like_it_is_not_found() {
        for wanted in ["import numpy as np", "", " \n ", "];", &"x".repeat(LONGEST + 1)] {
            assert_eq!(found(wanted), None, "{wanted:?}");
        }
        assert_eq!(window(&Text::new(""), "a"), None);
    }
}
