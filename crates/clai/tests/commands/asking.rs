//! What comes next, why, why not, and what the project offers: with a daemon, without one, with one that is stopped.

use insta::assert_snapshot;
use serde_json::json;

use crate::person::Person;

/// Somebody who adds, commits and pushes, many times over.
fn habit() -> Person {
    let person = Person::new();
    person.start();
    for _ in 0..6 {
        person.ran_all(&["git add -A", "git commit -m \"work\"", "git push"]);
    }
    person.ran("git add -A");
    person
}

#[test]
fn the_next_command_is_suggested_by_a_daemon_that_starts_on_demand() {
    let person = habit();
    assert!(person.says(&["suggest"]).contains("1  git commit -m \"work\""));
    person.says(&["daemon", "stop"]);
    let answer = person.json(&["suggest", "--json", "-n", "1"]);
    assert_eq!(answer["suggestions"][0]["cmd"], "git commit -m \"work\"");
    assert_eq!(answer["suggestions"][0]["cmd_norm"], "git commit -m <msg>");
    assert_eq!(answer["context"]["last_cmd_norm"], "git add -A");
    assert_eq!(person.json(&["status", "--json"])["running"], true);
}

#[test]
fn what_is_typed_so_far_is_kept_to() {
    let person = habit();
    let first = |args: &[&str]| person.json(args)["suggestions"][0]["cmd"].clone();
    assert_eq!(first(&["suggest", "--json", "--prefix", "git p"]), "git push");
    let mut command = person.command(&["suggest", "--json"]);
    let said = person.home.run(command.env("CLAI_PREFIX", "git pu")).ok().stdout;
    assert!(said.starts_with("{\"suggestions\":[{\"cmd\":\"git push\""), "{said}");
}

#[test]
fn a_shell_gets_fields_that_end_with_nul() {
    let person = habit();
    let said = person.clai(&["suggest", "--shell", "bash", "-n", "2"]).ok();
    let fields: Vec<&[u8]> = said.bytes.split(|byte| *byte == 0).collect();
    assert_eq!(fields[0], b"git commit -m \"work\"");
    assert!(!fields[1].is_empty() && fields.len() >= 5 && fields.last() == Some(&&b""[..]), "{fields:?}");
}

#[test]
fn where_no_daemon_can_be_started_the_history_answers() {
    let person = habit();
    person.says(&["daemon", "stop"]);
    let alone = person.home.install("clai");
    let said = person.home.run(&mut person.command_of(&alone, &["suggest"]));
    assert_eq!(said.code, 0, "{}", said.transcript());
    assert!(said.stdout.contains("1  git commit -m \"work\""), "{}", said.stdout);
    assert_snapshot!(said.stderr, @r"
    note: answered from the history alone: `clai-daemon` is not beside `clai`
    hint: `cargo xtask install`
    ");
    let quiet = person.home.run(&mut person.command_of(&alone, &["suggest", "--shell", "fish"])).ok();
    assert!(quiet.stdout.starts_with("git commit -m \"work\"\0") && quiet.stderr.is_empty());
}

#[test]
fn a_daemon_that_is_stopped_does_not_hold_a_shell_up() {
    let person = habit();
    let pid = person.daemon();
    person.signal("-STOP", &pid);
    let said = person.clai(&["suggest", "--shell", "bash"]).ok();
    assert!(said.stdout.starts_with("git commit -m \"work\"\0"), "{}", said.stdout);
    let failed = person.clai(&["status"]);
    person.signal("-CONT", &pid);
    assert!(failed.code == 1 && failed.stderr.contains("hint: `clai doctor`"), "{}", failed.transcript());
}

#[test]
fn why_shows_the_parts_of_the_score_of_one_or_all() {
    let person = habit();
    let said = person.says(&["why"]);
    assert!(said.starts_with("after  git add -A\n\n1  git commit -m \"work\"\n"), "{said}");
    assert!(said.contains("template") && said.contains("git commit -m <msg>"), "{said}");
    let one = person.json(&["why", "git push", "--json"]);
    let parts = one["suggestions"][0]["parts"].as_array().unwrap();
    assert!(one["suggestions"][0]["cmd"] == "git push" && !parts.is_empty(), "{one}");
    let sum: f64 = parts.iter().map(|part| part[1].as_f64().unwrap()).sum();
    let score = one["suggestions"][0]["score"].as_f64().unwrap();
    assert!((sum - score).abs() < 0.01 * score.abs().max(1.0), "{one}");
    let said = person.clai(&["why", "rm -rf /"]);
    assert!(said.code == 1 && said.stderr.contains("`rm -rf /` is not among"), "{}", said.transcript());
}

#[test]
fn a_line_that_was_waved_away_is_not_offered_until_it_was_run_again() {
    let person = habit();
    let first = || person.json(&["suggest", "--json"])["suggestions"][0]["cmd"].clone();
    person.says(&["dismiss", "1"]);
    assert_ne!(first(), "git commit -m \"work\"");
    person.ran_all(&["git commit -m \"work\"", "git push", "git add -A"]);
    assert_eq!(first(), "git commit -m \"work\"");
    let said = person.clai(&["dismiss", "99"]);
    assert!(said.code == 1 && said.stderr.contains("suggestions now"), "{}", said.transcript());
}

#[test]
fn why_not_tells_what_was_left_out() {
    let person = Person::new();
    person.home.write(person.home.config().join("clai/config.toml"), "ignore = [\"ls*\"]\n");
    person.start();
    assert_snapshot!(person.says(&["why-not"]), @"nothing was left out: every command that reached the daemon was kept as it was typed");
    person.ran("ls -la");
    person.ran("ls");
    person.ran("curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789' https://x.test");
    person.says(&["pause", "1h"]);
    person.ran("echo nobody sees this");
    let said = person.says(&["why-not"]);
    assert!(said.starts_with("paused for 60 min; `clai resume` ends it"), "{said}");
    assert!(said.contains("2  not kept: matches a pattern of `ignore`") && said.contains("ls*"), "{said}");
    assert!(said.contains("1  kept, with a secret taken out"), "{said}");
    assert!(said.contains("1  not kept: paused"), "{said}");
    person.says(&["daemon", "stop"]);
    let rows = person.json(&["why-not", "--json"])["left_out"].as_array().unwrap().len();
    assert_eq!(rows, 3, "without a daemon the database tells");
}

#[test]
fn tasks_are_found_with_and_without_a_daemon_and_names_cannot_drive_the_terminal() {
    let person = Person::new();
    let repo = person.home.git_repo("app");
    person.home.write("app/Makefile", "test: ## run them all\n\tcargo test\nbuild:\n\tcargo build\n");
    person
        .home
        .write("app/package.json", json!({"scripts": {"x; rm -rf ~": "evil", "dev": "vite"}}).to_string());
    let mut command = person.command(&["tasks"]);
    let without = person.home.run(command.current_dir(&repo)).ok().stdout;
    person.start();
    let mut command = person.command(&["tasks"]);
    let with = person.home.run(command.current_dir(&repo)).ok().stdout;
    assert_eq!(with, without);
    assert_snapshot!(with, @r"
      make  make test              run them all
      make  make build
      npm   npm run dev            vite
      npm   npm run 'x; rm -rf ~'  evil

    Next:  clai suggest    what you will probably run next
    ");
    let said = person.says(&["tasks", "app", "--json"]);
    assert!(said.contains("\"command\":\"make test\""), "{said}");
}
