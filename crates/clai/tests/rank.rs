//! What is offered, by either scorer.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use clai::command::{Place, Ran, RepoKey, SessionId};
use clai::normalise::normalise;
use clai::rank::{Answer, Ask, Engine, Scorer, Suggestion, Task};
use proptest::prelude::*;

const BOTH: [Scorer; 2] = [Scorer::Seed, Scorer::Blend];
const NOW: i64 = 1_700_000_000_000;

fn place(repo: &str) -> Place {
    Place { cwd: format!("/work/{repo}"), repo: Some(RepoKey(repo.to_owned())), branch: None }
}

fn session() -> SessionId {
    SessionId("s".to_owned())
}

/// A second of somebody's day in one repository.
struct Day {
    engine: Engine,
    ts: i64,
}

impl Day {
    fn new(scorer: Scorer) -> Day {
        Day { engine: Engine::new(scorer), ts: NOW }
    }

    fn runs(&mut self, line: &str) -> &mut Day {
        self.ran("here", line, Some(0))
    }

    fn ran(&mut self, repo: &str, line: &str, exit_code: Option<i32>) -> &mut Day {
        self.ts += 1000;
        self.engine.learn(&Ran {
            session: session(),
            ts: self.ts,
            duration_ms: None,
            exit_code,
            place: place(repo),
            line: line.to_owned(),
            template: normalise(line).template,
        });
        self
    }

    fn ask(&self, prefix: &str, limit: usize, tasks: &[Task]) -> Answer {
        let (session, place) = (session(), place("here"));
        let ask = Ask { session: &session, place: &place, now: self.ts, prefix, limit, tasks, passed: &[] };
        self.engine.suggest(&ask)
    }

    fn offers(&self, prefix: &str) -> Vec<String> {
        self.ask(prefix, 20, &[]).suggestions.into_iter().map(|it| it.command).collect()
    }

    fn offer(&self, line: &str) -> Option<Suggestion> {
        self.ask("", 50, &[]).suggestions.into_iter().find(|it| it.command == line)
    }
}

fn task(command: &str) -> Task {
    Task { command: command.to_owned(), template: normalise(command).template }
}

fn close(score: f64, expected: f64) {
    assert!((score - expected).abs() < 0.01, "{score} is not {expected}");
}

#[test]
fn the_reference_scorer_adds_up_as_by_hand() {
    let mut day = Day::new(Scorer::Seed);
    // `make test` followed `git pull` twice here and once elsewhere.
    day.runs("git pull").runs("make test").runs("git pull").runs("make test");
    day.ran("there", "git pull", Some(0)).ran("there", "make test", Some(0));
    day.runs("git pull");
    let answer = day.ask("", 3, &[task("make test")]);
    let best = &answer.suggestions[0];
    assert_eq!(best.command, "make test");
    let part = |name: &str| best.why.iter().find(|part| part.name == name).map_or(0.0, |part| part.score);
    close(part("repo_transition"), 80.0 * 3.0_f64.ln());
    close(part("global_transition"), 60.0 * 4.0_f64.ln());
    // Two uses within seconds: nothing has faded.
    close(part("freq_repo"), 30.0 * 3.0_f64.ln());
    close(part("project_task"), 20.0);
    close(best.score, 80.0 * 3.0_f64.ln() + 60.0 * 4.0_f64.ln() + 30.0 * 3.0_f64.ln() + 20.0);
    assert_eq!(best.reasons[..4], ["repo_transition", "global_transition", "freq_repo", "project_task"]);
    assert_eq!(answer.last.unwrap().0, "git pull");
    assert!(answer.used_sources.starts_with(&[
        "repo_transition",
        "global_transition",
        "freq_repo",
        "project_task"
    ]));
}

#[test]
fn danger_costs_fifty_points_and_is_named() {
    let mut day = Day::new(Scorer::Seed);
    day.runs("make").runs("sudo rm -rf build/out").runs("make").runs("make test").runs("make");
    let (rm, test) = (day.offer("sudo rm -rf build/out").unwrap(), day.offer("make test").unwrap());
    // Both followed `make` once and ran once.
    let harmless = 80.0 * 2.0_f64.ln() + 60.0 * 2.0_f64.ln() + 30.0 * 2.0_f64.ln();
    close(test.score, harmless);
    close(rm.score, harmless - 50.0);
    assert!(rm.reasons.contains(&"dangerous") && !test.reasons.contains(&"dangerous"));
}

#[test]
fn danger_ranks_lower_in_the_blend_too() {
    let mut day = Day::new(Scorer::Blend);
    day.runs("make").runs("make test").runs("make").runs("rm -rf build/out").runs("make");
    let (rm, test) = (day.offer("rm -rf build/out").unwrap(), day.offer("make test").unwrap());
    assert!(rm.confidence < test.confidence / 5.0, "{} {}", rm.confidence, test.confidence);
    assert!(rm.reasons.contains(&"dangerous"));
}

#[test]
fn one_template_is_offered_once_among_the_first_three() {
    for scorer in BOTH {
        let mut day = Day::new(scorer);
        for file in ["a/1", "a/2", "a/3", "a/4"] {
            day.runs(&format!("cat {file}")).runs("ls -l").runs("make").runs("git push");
        }
        let first: Vec<String> =
            day.ask("", 3, &[]).suggestions.into_iter().map(|it| it.template.0).collect();
        assert_eq!(first.iter().collect::<std::collections::BTreeSet<_>>().len(), 3, "{scorer:?} {first:?}");
    }
}

#[test]
fn arguments_come_from_this_repository_else_from_anywhere_with_less_confidence() {
    let mut day = Day::new(Scorer::Seed);
    day.ran("there", "git push theirs main", Some(0)).ran("there", "vim src/theirs.rs", Some(0));
    day.runs("git push mine topic").ran("there", "ls", Some(0));
    let offers = day.offers("");
    assert!(
        offers.contains(&"git push mine topic".to_owned())
            && !offers.contains(&"git push theirs main".to_owned())
    );
    let elsewhere = day.offer("vim src/theirs.rs").unwrap();
    assert_eq!(elsewhere.template.0, "vim <path>");
    let mut here = Day::new(Scorer::Seed);
    here.runs("vim src/theirs.rs").runs("ls");
    assert!(elsewhere.confidence < here.offer("vim src/theirs.rs").unwrap().confidence);
}

#[test]
fn what_failed_is_not_offered_as_if_it_had_worked() {
    for scorer in BOTH {
        let mut day = Day::new(scorer);
        day.runs("ls")
            .ran("here", "gti status", Some(127))
            .runs("ls")
            .ran("here", "make al", Some(2))
            .runs("ls");
        let offers = day.offers("");
        assert!(!offers.contains(&"gti status".into()) && !offers.contains(&"make al".into()), "{offers:?}");
        // Interrupted is not failed; and what is run again and again is meant, failing or not.
        day.ran("here", "tail -f log", Some(130)).runs("ls");
        for _ in 0..3 {
            day.ran("here", "cargo test", Some(101)).runs("ls");
        }
        let offers = day.offers("");
        assert!(
            offers.contains(&"tail -f log".into()) && offers.contains(&"cargo test".into()),
            "{offers:?}"
        );
    }
}

#[test]
fn after_a_failure_comes_what_helped_the_last_time() {
    let mut day = Day::new(Scorer::Blend);
    for _ in 0..3 {
        day.runs("make deploy").runs("git push").runs("ls").runs("clear");
    }
    day.ran("here", "make deploy", Some(2))
        .runs("ssh-add")
        .runs("make deploy")
        .runs("git push")
        .runs("ls")
        .runs("clear");
    day.runs("make deploy");
    assert_eq!(day.offers("")[0], "git push", "it worked");
    day.ran("here", "make deploy", Some(2));
    let best = &day.ask("", 3, &[]).suggestions[0];
    assert_eq!(best.command, "ssh-add", "it failed");
    assert!(best.reasons.contains(&"recovery"));
}

#[test]
fn what_was_waved_away_stays_away_until_it_is_run() {
    for scorer in BOTH {
        let mut day = Day::new(scorer);
        day.runs("ls").runs("make lint").runs("ls");
        day.engine.dismiss("make lint");
        assert!(day.offer("make lint").is_none());
        day.runs("make lint").runs("ls");
        assert!(day.offer("make lint").is_some());
    }
}

#[test]
fn a_blank_line_is_never_offered() {
    for scorer in BOTH {
        let mut day = Day::new(scorer);
        day.runs("\n").runs("  ").runs("").runs("\n");
        assert!(day.offers("").iter().chain(&day.offers(" ")).all(|line| !line.trim().is_empty()));
    }
}

#[test]
fn a_line_with_a_hole_where_a_secret_was_is_never_offered() {
    for scorer in BOTH {
        let mut day = Day::new(scorer);
        day.runs("ls").runs("curl -H <secret:bearer> https://h/x").runs("ls");
        assert!(day.offers("").iter().chain(&day.offers("curl")).all(|line| !line.contains("<secret:")));
    }
}

#[test]
fn the_project_and_the_world_speak_when_history_is_silent() {
    for scorer in BOTH {
        let day = Day::new(scorer);
        let answer = day.ask("", 20, &[task("just bake")]);
        let bake = answer.suggestions.iter().find(|it| it.command == "just bake").unwrap();
        assert_eq!(bake.reasons[0], "project_task");
        assert!(
            answer.used_sources.contains(&"project_task") && answer.used_sources.contains(&"context_default")
        );
        assert!(answer.suggestions.iter().any(|it| it.command == "ls"));
        let mut day = Day::new(scorer);
        day.runs("mkdir -p new/place");
        assert!(day.offers("").contains(&"cd new/place".into()));
        day.runs("git add src/lib.rs");
        assert!(day.offers("").contains(&"git commit".into()));
    }
}

#[test]
fn a_word_that_is_begun_is_finished_with_words_of_other_lines() {
    let mut day = Day::new(Scorer::Blend);
    day.runs("ping db7.example.org").runs("ls");
    let first = |prefix: &str| day.offers(prefix).into_iter().next();
    assert_eq!(first("ssh db").as_deref(), Some("ssh db7.example.org"));
    assert!(day.ask("ssh db", 1, &[]).suggestions[0].reasons.contains(&"composed"));
    assert_eq!(first("ssh root@db").as_deref(), Some("ssh root@db7.example.org"));
    let mut day = Day::new(Scorer::Blend);
    day.runs("rm -r target/old").runs("git status");
    let offers = day.offers("rm -rf t");
    assert!(offers.is_empty(), "nobody has deleted that yet: {offers:?}");
}

#[test]
fn a_habit_in_one_terminal_is_not_disturbed_by_another() {
    for scorer in BOTH {
        let mut day = Day::new(scorer);
        for _ in 0..4 {
            day.runs("git add -A").runs("git commit").runs("git push");
        }
        day.runs("git add -A");
        let place = place("elsewhere");
        day.engine.learn(&Ran {
            session: SessionId("another".into()),
            ts: day.ts + 1,
            duration_ms: None,
            exit_code: Some(0),
            place,
            line: "htop".into(),
            template: normalise("htop").template,
        });
        assert_eq!(day.offers("")[0], "git commit", "{scorer:?}");
    }
}

fn anything() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c<>\"' /=@:.\\\\\n-]{0,12}", "(ls|cat|rm -rf|git push) [a-c/.]{0,6}", any::<String>()]
}

proptest! {
    // A whole engine learns in each.
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_answer_keeps_its_promises(
        lines in prop::collection::vec((anything(), prop::option::of(0..4_i32), any::<i64>()), 0..30),
        prefix in anything(),
        limit in 0..8_usize,
        seed in any::<bool>(),
    ) {
        let mut day = Day::new(if seed { Scorer::Seed } else { Scorer::Blend });
        for (line, exit_code, ts) in &lines {
            day.ts = *ts / 2;
            day.ran("here", line, *exit_code);
        }
        let some = lines.first().map_or("", |(line, ..)| line);
        let half = &some[..some.floor_char_boundary(some.len() / 2)];
        for prefix in ["", half, &prefix] {
            let answer = day.ask(prefix, limit, &[task("make test")]);
            prop_assert!(answer.suggestions.len() <= limit);
            let mut sum = 0.0;
            for (index, it) in answer.suggestions.iter().enumerate() {
                prop_assert!(it.command.starts_with(prefix) && it.command != prefix);
                prop_assert!((0.0..=1.0).contains(&it.confidence));
                prop_assert!(answer.suggestions[..index].iter().all(|other| other.command != it.command));
                let parts: f64 = it.why.iter().map(|part| part.score).sum();
                prop_assert!((parts - it.score).abs() < 1e-6);
                prop_assert!(!it.reasons.is_empty());
                prop_assert_eq!(&it.template, &normalise(&it.command).template);
                sum += it.confidence;
            }
            prop_assert!(seed || sum <= 1.001);
        }
    }
}
