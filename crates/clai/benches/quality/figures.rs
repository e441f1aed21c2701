//! What is counted: hits among the first one, three and five, over all commands and as the mean over people; the mean
//! reciprocal rank; the keys that would not have been pressed.

use std::collections::HashSet;
use std::fmt;

use clai::command::Ran;
use clai::normalise::normalise;
use serde_json::{Value, json};

use crate::sample::Person;

/// Behind this many characters nobody waits for a suggestion.
pub(crate) const PATIENCE: usize = 60;

/// Counts of one person.
#[derive(Clone, Copy, Default)]
struct Counts {
    commands: f64,
    full: [f64; 3],
    template3: f64,
    program3: f64,
    reciprocal_rank: f64,
    keys_plain: f64,
    keys_used: f64,
}

/// Everybody's counts.
#[derive(Clone, Default)]
pub(crate) struct Figures {
    people: Vec<Counts>,
    /// Of the first five on the empty line.
    pub(crate) on_empty: Reliability,
    /// Of the first one somewhere in each line, for who has seen no other before.
    pub(crate) on_begun: Reliability,
}

impl Figures {
    pub(crate) const HEADING: &str = "                  full@1  full@3  full@5  tmpl@3  stub@3  MRR@5  keys saved | mean of people: full@1  full@3  full@5";

    pub(crate) fn next_person(&mut self) {
        self.people.push(Counts::default());
    }

    /// `offered` is what stood first to fifth, and whether each could be run as it stood; `keys` what had to be typed
    /// until the line stood first.
    pub(crate) fn count(&mut self, wanted: &Ran, offered: &[(&str, bool)], keys: Option<usize>) {
        let counts = self.people.last_mut().expect("a person was begun");
        let length = wanted.line.chars().count();
        counts.commands += 1.0;
        counts.keys_plain += (length + 1) as f64;
        counts.keys_used += keys.map_or(length + 1, |keys| (length + 1).min(keys + 2)) as f64;
        let first3 = || offered.iter().take(3).map(|(line, _)| *line);
        let hit = |is_hit: bool| f64::from(u8::from(is_hit));
        counts.template3 += hit(first3().any(|line| normalise(line).template == wanted.template));
        counts.program3 += hit(first3().any(|line| program(line) == program(&wanted.line)));
        let rank = offered.iter().position(|(line, whole)| *whole && *line == wanted.line);
        for (full, within) in counts.full.iter_mut().zip([1, 3, 5]) {
            *full += hit(rank.is_some_and(|rank| rank < within));
        }
        counts.reciprocal_rank += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    }

    /// On what a scorer has to win to become the default.
    pub(crate) fn beats(&self, other: &Figures) -> bool {
        let judged = |figures: &Figures| {
            let total = figures.total();
            [total.full[1], total.full[2], total.reciprocal_rank, total.template3, -total.keys_used]
        };
        judged(self).iter().zip(judged(other)).all(|(ours, theirs)| *ours > theirs)
    }

    pub(crate) fn row(&self, name: &str) -> String {
        let total = self.total();
        let percent = |hits: f64| 100.0 * hits / total.commands;
        let [one, three, five] = total.full.map(percent);
        let [mean1, mean3, mean5] = self.means();
        format!(
            "{name:<16} {one:>7.1} {three:>7.1} {five:>7.1} {:>7.1} {:>7.1} {:>6.3} {:>10.1}  | {mean1:>22.1} {mean3:>7.1} {mean5:>7.1}",
            percent(total.template3),
            percent(total.program3),
            total.reciprocal_rank / total.commands,
            self.keys_saved(),
        )
    }

    pub(crate) fn to_json(&self) -> Value {
        let total = self.total();
        let percent = |hits: f64| 100.0 * hits / total.commands;
        let means = self.means();
        json!({
            "full@1": percent(total.full[0]), "full@3": percent(total.full[1]), "full@5": percent(total.full[2]),
            "tmpl@3": percent(total.template3), "stub@3": percent(total.program3),
            "MRR@5": total.reciprocal_rank / total.commands, "keys saved %": self.keys_saved(),
            "macro": {"full@1": means[0], "full@3": means[1], "full@5": means[2]},
        })
    }

    fn keys_saved(&self) -> f64 {
        let total = self.total();
        100.0 * (1.0 - total.keys_used / total.keys_plain)
    }

    fn means(&self) -> [f64; 3] {
        let mean = |at: usize| self.people.iter().map(|it| it.full[at] / it.commands).sum::<f64>();
        [0, 1, 2].map(|at| 100.0 * mean(at) / self.people.len() as f64)
    }

    fn total(&self) -> Counts {
        let mut total = Counts::default();
        for person in &self.people {
            total.commands += person.commands;
            total.full.iter_mut().zip(person.full).for_each(|(sum, full)| *sum += full);
            total.template3 += person.template3;
            total.program3 += person.program3;
            total.reciprocal_rank += person.reciprocal_rank;
            total.keys_plain += person.keys_plain;
            total.keys_used += person.keys_used;
        }
        total
    }
}

/// How often a suggestion was right, by how sure it was.
#[derive(Clone, Default)]
pub(crate) struct Reliability {
    /// Suggestions, the sum of their confidence, those that were right; by tenths.
    tenths: [(f64, f64, f64); 10],
}

impl Reliability {
    pub(crate) fn count(&mut self, confidence: f64, right: bool) {
        let tenth = &mut self.tenths[((confidence * 10.0) as usize).min(9)];
        tenth.0 += 1.0;
        tenth.1 += confidence;
        tenth.2 += f64::from(u8::from(right));
    }
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: f64 = self.tenths.iter().map(|(count, ..)| count).sum();
        let mut distance = 0.0;
        for (count, said, right) in self.tenths.iter().filter(|(count, ..)| *count > 0.0) {
            write!(f, "  {:.2} → {:.2} ({count})", said / count, right / count)?;
            distance += (said - right).abs() / all;
        }
        write!(f, "  mean distance {distance:.3}")
    }
}

/// What the sample allows at best to those that only repeat.
pub(crate) struct Ground {
    people: usize,
    commands: usize,
    lines: f64,
    templates: f64,
    programs: f64,
}

impl Ground {
    pub(crate) fn of(people: &[Person]) -> Ground {
        let mut seen = [0_usize; 3];
        for person in people {
            let mut before: [HashSet<&str>; 3] = Default::default();
            for ran in &person.commands {
                for (at, text) in [&*ran.line, &*ran.template.0, program(&ran.line)].into_iter().enumerate() {
                    seen[at] += usize::from(!before[at].insert(text));
                }
            }
        }
        let commands = people.iter().map(|person| person.commands.len()).sum();
        let [lines, templates, programs] = seen.map(|seen| 100.0 * seen as f64 / commands as f64);
        Ground { people: people.len(), commands, lines, templates, programs }
    }
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ground { people, commands, lines, templates, programs } = self;
        writeln!(
            f,
            "{commands} commands of {people} people; run before by the same person (the ceiling of those who repeat):"
        )?;
        write!(f, "lines {lines:.1} %, templates {templates:.1} %, programs {programs:.1} %")
    }
}

pub(crate) fn program(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}
