//! How well the next command is foreseen: each command of each person from those before it, ours beside ten baselines
//! in the same run, on a public sample. Then what the model weighs and how long an answer takes as history grows.
//!
//! `-- tune` prints the starting weights of the blend, learned from one half of the people.

#![allow(clippy::print_stdout, reason = "a benchmark's output is its product")]

#[path = "quality/baselines.rs"]
mod baselines;
#[path = "quality/figures.rs"]
mod figures;
#[path = "quality/ours.rs"]
mod ours;
#[path = "quality/sample.rs"]
mod sample;
#[path = "quality/scale.rs"]
mod scale;

use clai::rank::{Engine, Scorer, Weights};
use figures::{Figures, Ground};
use sample::{Half, Person};
use testkit::measure::Table;

fn main() {
    let people = sample::load();
    if std::env::args().any(|argument| argument == "tune") {
        return tune(&people);
    }
    let mut table = Table::default();
    let rows = quality(&people);
    let ground = Ground::of(&people);
    println!("{ground}");
    println!("{}", Figures::HEADING);
    for (name, figures) in &rows {
        println!("{}", figures.row(name));
        table.note(format!("quality {name}"), figures.to_json());
    }
    let [.., (_, seed), (_, blend)] = &rows[..] else { unreachable!("ours are the last two") };
    let verdict = if blend.beats(seed) { "beats" } else { "DOES NOT beat" };
    println!("\nblend {verdict} seed on full@3, full@5, MRR@5, tmpl@3 and keys saved together");
    table.note("blend beats seed on all five", blend.beats(seed));

    println!("\npeople whose commands the weights were not tuned on (the other half tuned them)");
    let unseen: Vec<Person> =
        people.iter().filter(|person| person.half() == Half::HeldOut).cloned().collect();
    let unseen = quality(&unseen);
    println!("{}", Figures::HEADING);
    for (name, figures) in unseen.iter().filter(|(name, _)| name.starts_with("ours")) {
        println!("{}", figures.row(name));
        table.note(format!("held out {name}"), figures.to_json());
    }

    for (whom, rows) in [("all people", &rows), ("people not tuned on", &unseen)] {
        println!("\nconfidence said → found (suggestions), {whom}");
        for (name, figures) in rows.iter().filter(|(name, _)| name.starts_with("ours")) {
            println!("{name:<12} empty {}", figures.on_empty);
            println!("{:<12} begun {}", "", figures.on_begun);
        }
    }
    println!();
    scale::measure(&mut table);
    table.print();
}

/// Everyone's figures, the seed scorer and the blend last.
fn quality(people: &[Person]) -> Vec<(&'static str, Figures)> {
    let mut rows = baselines::replay(people);
    rows.push(("ours: seed", ours::replay(people, Scorer::Seed)));
    rows.push(("ours: blend", ours::replay(people, Scorer::Blend)));
    rows
}

/// Learns from one person after the other, slower each round.
fn tune(people: &[Person]) {
    const ROUNDS: u16 = 6;
    let mut weights = Weights::default();
    for round in 1..=ROUNDS {
        for person in people.iter().filter(|person| person.half() == Half::Tuned) {
            let mut engine = Engine::with_weights(Scorer::Blend, weights.at_rate(0.01 / f32::from(round)));
            person.commands.iter().for_each(|ran| engine.learn(ran));
            weights = engine.learned_weights().expect("the blend learns them").clone();
        }
    }
    for (signal, empty, typed) in weights.table() {
        println!("{signal:<40} {empty:>6.2} {typed:>6.2}");
    }
}
