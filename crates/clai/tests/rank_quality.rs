//! A small part of the quality benchmark, so that a change for the worse is seen before anybody measures.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../benches/quality/sample.rs"]
mod sample;

use clai::normalise::normalise;
use clai::rank::{Ask, Engine, Scorer};
use sample::{Half, Person};

/// Commands, lines within three and five, templates within three, reciprocal ranks.
fn replay(people: &[Person], scorer: Scorer) -> [f64; 5] {
    let mut sums = [0.0; 5];
    for person in people {
        let mut engine = Engine::new(scorer);
        for ran in &person.commands {
            let (session, place, now) = (&ran.session, &ran.place, ran.ts);
            let ask = Ask { session, place, now, prefix: "", limit: 5, tasks: &[], passed: &[] };
            let offered = engine.suggest(&ask).suggestions;
            let rank = offered.iter().position(|it| it.command == ran.line);
            let template = offered.iter().take(3).any(|it| normalise(&it.command).template == ran.template);
            let hit = |is_hit: bool| f64::from(u8::from(is_hit));
            let reciprocal = rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
            let row =
                [1.0, hit(rank.is_some_and(|rank| rank < 3)), hit(rank.is_some()), hit(template), reciprocal];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            engine.learn(ran);
        }
    }
    sums
}

#[test]
fn the_blend_foresees_clearly_more_than_the_reference_on_real_histories() {
    let unseen = sample::load().into_iter().filter(|person| person.half() == Half::HeldOut);
    let people: Vec<Person> = unseen.step_by(3).collect();
    let [seed, blend] = [Scorer::Seed, Scorer::Blend].map(|scorer| replay(&people, scorer));
    assert_eq!(seed[0], blend[0]);
    assert!(seed[0] > 1500.0);
    for (what, (seed, blend)) in
        ["full@3", "full@5", "tmpl@3", "MRR@5"].iter().zip(seed.iter().zip(&blend).skip(1))
    {
        assert!(*blend > 1.07 * seed, "{what}: {blend} hits are not clearly more than {seed}");
    }
}
