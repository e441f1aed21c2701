//! Our engine, asked like an evaluator asks: on the empty line for five, then after every key for one.

use clai::command::Ran;
use clai::rank::{Ask, Engine, Scorer, Suggestion};

use crate::figures::{Figures, PATIENCE};
use crate::sample::Person;

pub(crate) fn replay(people: &[Person], scorer: Scorer) -> Figures {
    let mut figures = Figures::default();
    for person in people {
        figures.next_person();
        let mut engine = Engine::new(scorer);
        for ran in &person.commands {
            let first = suggest(&engine, ran, "", 5, &[]);
            for suggestion in &first {
                figures.on_empty.count(suggestion.confidence, suggestion.command == ran.line);
            }
            if let Some(begun) = begun(&ran.line, engine.model().commands())
                && let Some(top) = suggest(&engine, ran, begun, 1, &[]).first()
            {
                figures.on_begun.count(top.confidence, top.command == ran.line);
            }
            let offered: Vec<(&str, bool)> = first.iter().map(|it| (it.command.as_str(), true)).collect();
            figures.count(ran, &offered, keys(&engine, ran, &first));
            engine.learn(ran);
        }
    }
    figures
}

/// The line up to some place within it.
fn begun(line: &str, nth: u64) -> Option<&str> {
    let cuts: Vec<usize> = line.char_indices().map(|(at, _)| at).skip(1).take(PATIENCE).collect();
    Some(&line[..*cuts.get((nth.wrapping_mul(0x9e37_79b9) >> 8) as usize % cuts.len().max(1))?])
}

/// How much is typed until the line stands first.
fn keys(engine: &Engine, ran: &Ran, first: &[Suggestion]) -> Option<usize> {
    let mut passed: Vec<String> = Vec::new();
    let length = ran.line.chars().count();
    for (typed, (end, _)) in ran.line.char_indices().take((length - 1).min(PATIENCE)).enumerate() {
        let again;
        let top = if typed == 0 {
            first.first()
        } else {
            again = suggest(engine, ran, &ran.line[..end], 1, &passed);
            again.first()
        };
        match top {
            Some(top) if top.command == ran.line => return Some(typed),
            Some(top) if !passed.contains(&top.command) => passed.push(top.command.clone()),
            _ => {}
        }
    }
    None
}

pub(crate) fn suggest(
    engine: &Engine,
    ran: &Ran,
    prefix: &str,
    limit: usize,
    passed: &[String],
) -> Vec<Suggestion> {
    let ask =
        Ask { session: &ran.session, place: &ran.place, now: ran.ts, prefix, limit, tasks: &[], passed };
    engine.suggest(&ask).suggestions
}
