//! What is learned: the two tables against a plain fold over the same commands, and forgetting.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use clai::command::{Place, Ran, RepoKey, SessionId};
use clai::model::{Model, SAME_REPO_WINDOW_MS};
use clai::normalise::normalise;
use clai::rank::{Ask, Engine, Scorer, Weights};
use proptest::prelude::*;

const WEEK_MS: f64 = 7.0 * 86_400_000.0;

fn ran(session: u8, repo: Option<u8>, ts: i64, line: &str, exit_code: Option<i32>) -> Ran {
    Ran {
        session: SessionId(format!("session {session}")),
        ts,
        duration_ms: None,
        exit_code,
        place: Place {
            cwd: format!("/p/{repo:?}"),
            repo: repo.map(|repo| RepoKey(format!("repo {repo}"))),
            branch: None,
        },
        line: line.to_owned(),
        template: normalise(line).template,
    }
}

fn commands() -> impl Strategy<Value = Vec<Ran>> {
    let line = prop::sample::select(vec![
        "ls",
        "cat a/b",
        "cat c/d",
        "git push origin main",
        "git commit -m 'x y'",
        "make",
        "sleep 5",
        "kill 77",
    ]);
    let minutes = 60_000;
    let command = (0..3_u8, prop::option::of(0..2_u8), 0..40_i64, line, prop::option::of(0..3_i32));
    prop::collection::vec(command, 0..30).prop_map(move |rows| {
        let at = |(session, repo, time, line, exit)| ran(session, repo, time * minutes, line, exit);
        rows.into_iter().map(at).collect()
    })
}

/// The tables, computed the long way: `score` as the sum of what is left of each use at the time of the latest one.
#[derive(Default)]
struct Tables {
    uses: BTreeMap<(String, String), Vec<i64>>,
    transitions: BTreeMap<(String, String, String), (u64, i64)>,
}

fn fold(commands: &[Ran]) -> Tables {
    let mut tables = Tables::default();
    for (index, ran) in commands.iter().enumerate() {
        let before = &commands[..index];
        let own = before.iter().rfind(|other| other.session == ran.session);
        let of_repo =
            || before.iter().rfind(|other| other.place.repo == ran.place.repo && ran.place.repo.is_some());
        let in_time = |other: &&Ran| (0..=SAME_REPO_WINDOW_MS).contains(&(ran.ts - other.ts));
        let previous = own.or_else(|| of_repo().filter(in_time));
        let repo = ran.place.repo.iter().map(|repo| repo.0.clone());
        for scope in ["global".to_owned()].into_iter().chain(repo) {
            let template = ran.template.0.clone();
            tables.uses.entry((scope.clone(), template.clone())).or_default().push(ran.ts);
            if let Some(previous) = previous {
                let row =
                    tables.transitions.entry((scope, previous.template.0.clone(), template)).or_default();
                *row = (row.0 + 1, row.1.max(ran.ts));
            }
        }
    }
    tables
}

proptest! {
    #[test]
    fn the_tables_are_the_fold_of_the_commands(commands in commands()) {
        let mut model = Model::new();
        commands.iter().for_each(|ran| model.learn(ran));
        let tables = fold(&commands);
        let transitions: BTreeMap<_, _> = model
            .transitions()
            .into_iter()
            .map(|row| ((row.scope, row.previous.0, row.next.0), (row.count, row.last_ts)))
            .collect();
        prop_assert_eq!(transitions, tables.transitions);
        let scores = model.scores();
        prop_assert_eq!(scores.len(), tables.uses.len());
        for (row, (key, uses)) in scores.iter().zip(&tables.uses) {
            prop_assert_eq!((&row.scope, &row.template.0), (&key.0, &key.1));
            let latest = *uses.iter().max().unwrap();
            let score: f64 = uses.iter().map(|ts| (-((latest - ts) as f64) / WEEK_MS).exp()).sum();
            prop_assert_eq!(row.last_ts, latest);
            prop_assert!((row.score - score).abs() < 1e-9, "{} is not {score}", row.score);
        }
    }

    #[test]
    fn bytes_that_are_no_weights_are_none(mut bytes in prop::collection::vec(any::<u8>(), 0..500), cut in any::<prop::sample::Index>()) {
        prop_assert_eq!(Weights::from_bytes(&bytes), None);
        let whole = Weights::default().to_bytes();
        prop_assert_eq!(Weights::from_bytes(&whole), Some(Weights::default()));
        prop_assert_eq!(Weights::from_bytes(&whole[..cut.index(whole.len())]), None);
        bytes.splice(0..0, whole);
        prop_assert_eq!(Weights::from_bytes(&bytes).is_some(), bytes.len() == Weights::default().to_bytes().len());
    }
}

proptest! {
    // Whole engines learn in each of these: some seconds for so many without optimisation.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_learned_does_not_depend_on_what_was_asked_between(commands in commands()) {
        let (mut asked, mut rebuilt) = (Engine::new(Scorer::Blend), Engine::new(Scorer::Blend));
        for ran in &commands {
            answer(&asked, ran);
            asked.learn(ran);
        }
        commands.iter().for_each(|ran| rebuilt.learn(ran));
        prop_assert_eq!(asked.model().scores(), rebuilt.model().scores());
        prop_assert_eq!(asked.model().transitions(), rebuilt.model().transitions());
        prop_assert_eq!(asked.learned_weights(), rebuilt.learned_weights());
        if let Some(last) = commands.last() {
            prop_assert_eq!(answer(&asked, last), answer(&rebuilt, last));
        }
    }

    #[test]
    fn weights_that_were_kept_and_a_replay_give_the_same_answers(commands in commands()) {
        let mut before = Engine::new(Scorer::Blend);
        commands.iter().for_each(|ran| before.learn(ran));
        let kept = before.learned_weights().unwrap().to_bytes();
        let mut after = Engine::with_weights(Scorer::Blend, Weights::from_bytes(&kept).unwrap());
        commands.iter().for_each(|ran| after.take_in(ran));
        prop_assert_eq!(before.learned_weights(), after.learned_weights());
        for ran in &commands {
            prop_assert_eq!(answer(&before, ran), answer(&after, ran));
            // Also in how they go on.
            before.learn(ran);
            after.learn(ran);
        }
        prop_assert_eq!(before.learned_weights(), after.learned_weights());
    }

    #[test]
    fn forgetting_leaves_no_byte_of_the_text(commands in commands(), scorer in prop::sample::select(vec![Scorer::Seed, Scorer::Blend])) {
        let mut engine = Engine::new(scorer);
        commands.iter().for_each(|ran| engine.learn(ran));
        engine.learn(&ran(1, Some(1), 1, "deploy --key hunter2/x now", None));
        engine.learn(&ran(1, Some(1), 2, "hunter2", None));
        engine.dismiss("hunter2");
        prop_assert!(tells(&engine));
        prop_assert_eq!(engine.forget(|text| text.contains("hunter2")), 2);
        prop_assert!(!tells(&engine));
        let after = ran(1, Some(1), 3, "ls", None);
        prop_assert!(!tells(&answer(&engine, &after)));
        engine.learn(&after);
        commands.iter().for_each(|ran| engine.learn(ran));
    }
}

/// Whether the secret can be reached from here: the debug form shows every field.
fn tells(value: &impl std::fmt::Debug) -> bool {
    format!("{value:?}").contains("hunter2")
}

fn answer(engine: &Engine, now: &Ran) -> clai::rank::Answer {
    engine.suggest(&Ask {
        session: &now.session,
        place: &now.place,
        now: now.ts,
        prefix: "",
        limit: 5,
        tasks: &[],
        passed: &[],
    })
}

#[test]
fn what_is_only_taken_in_teaches_no_weights() {
    let mut engine = Engine::new(Scorer::Blend);
    for ts in 0..20 {
        engine.take_in(&ran(1, Some(1), ts, if ts % 2 == 0 { "ls" } else { "make" }, None));
    }
    assert_eq!(engine.learned_weights(), Some(&Weights::default()));
    assert_eq!(engine.model().commands(), 20);
    engine.learn(&ran(1, Some(1), 20, "ls", None));
    assert_ne!(engine.learned_weights(), Some(&Weights::default()));
    assert_eq!(Engine::new(Scorer::Seed).learned_weights(), None);
}

#[test]
fn a_template_lives_on_with_the_lines_that_were_not_forgotten() {
    let mut engine = Engine::new(Scorer::Seed);
    for (ts, line) in ["cat notes/open", "make", "cat notes/private", "make"].into_iter().enumerate() {
        engine.learn(&ran(1, Some(1), ts as i64, line, None));
    }
    engine.forget(|text| text.contains("private"));
    let answer = answer(&engine, &ran(1, Some(1), 9, "", None));
    assert_eq!(answer.suggestions[0].command, "cat notes/open");
    assert_eq!(answer.suggestions[0].template.0, "cat <path>");
}

#[test]
fn the_tables_of_the_seed_are_exported_in_both_scopes() {
    let mut model = Model::new();
    model.learn(&ran(1, Some(1), 1000, "git status", None));
    model.learn(&ran(1, Some(1), 2000, "git push origin main", None));
    model.learn(&ran(1, None, 3000, "ls", None));
    let scores: Vec<_> = model.scores().into_iter().map(|row| (row.scope, row.template.0)).collect();
    let expected = [
        ("global", "git push <remote> <branch>"),
        ("global", "git status"),
        ("global", "ls"),
        ("repo 1", "git push <remote> <branch>"),
        ("repo 1", "git status"),
    ];
    assert_eq!(scores, expected.map(|(scope, template)| (scope.to_owned(), template.to_owned())));
    let rows: Vec<String> = model
        .transitions()
        .iter()
        .map(|row| {
            format!("{}: {} > {} x{} at {}", row.scope, row.previous, row.next, row.count, row.last_ts)
        })
        .collect();
    assert_eq!(
        rows,
        [
            "global: git push <remote> <branch> > ls x1 at 3000",
            "global: git status > git push <remote> <branch> x1 at 2000",
            "repo 1: git status > git push <remote> <branch> x1 at 2000",
        ]
    );
}
