//! History, search and numbers.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;

use crate::person::Person;

fn worked() -> Person {
    let person = Person::new();
    let repo = person.home.git_repo("app");
    person.start();
    person.ran("make");
    person.ran_so("cargo test", &json!({"cwd": repo, "exit_code": 101, "duration_ms": 61_000}));
    person.ran_so("cargo test", &json!({"cwd": repo, "duration_ms": 1400}));
    person.ran_so("git push", &json!({"cwd": repo, "session_id": "s2"}));
    person.ran_so("cargo build --release", &json!({"cwd": repo, "actor": "agent"}));
    person.ran("echo '\u{1b}]0;owned\u{7}\u{202e}'");
    person
}

#[test]
fn history_lists_the_newest_last_and_cannot_drive_the_terminal() {
    let person = worked();
    assert_snapshot!(person.says(&["history"]), @r"
       3m            40 ms  ~      make
       2m  exit 101  1 min  ~/app  cargo test
       2m            1.4 s  ~/app  cargo test
       1m            40 ms  ~/app  git push
      30s            40 ms  ~      echo ']0;owned'

    Next:  clai search TEXT    find one among all of them
    ");
}

#[test]
fn history_is_narrowed_by_place_outcome_session_time_and_who_typed() {
    let person = worked();
    let lines = |args: &[&str]| -> Vec<String> {
        let args = [&["history", "--json"], args].concat();
        let mut command = person.command(&args);
        let said = person.home.run(command.current_dir(person.home.path().join("app"))).ok().stdout;
        let found: serde_json::Value = serde_json::from_str(&said).unwrap();
        found.as_array().unwrap().iter().map(|it| it["cmd"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(lines(&["--failed"]), ["cargo test"]);
    assert_eq!(lines(&["--cwd", "--worked"]), ["cargo test", "git push"]);
    assert_eq!(lines(&["--repo", "-n", "2"]), ["cargo test", "git push"]);
    assert_eq!(lines(&["--session"]).len(), 4);
    assert_eq!(lines(&["--agents"]), ["cargo build --release"]);
    person.home.clock().advance(Duration::from_secs(3600));
    person.ran("date");
    assert_eq!(lines(&["--since", "30m"]), ["date"]);
    let outside = person.clai(&["history", "--repo"]);
    assert!(
        outside.code == 1 && outside.stderr.contains("no repository around here"),
        "{}",
        outside.transcript()
    );
}

#[test]
fn search_shows_each_line_once_and_finding_nothing_is_not_found() {
    let person = worked();
    assert_snapshot!(person.says(&["search", "cargo"]), @r"
      2m  2×, 1 failed  cargo test

    Next:  clai forget TEXT    if they should never have been kept
    ");
    assert_snapshot!(person.clai(&["search", "rsync"]).transcript(), @r"
    no line with `rsync` was kept

    Next:  clai why-not    what was left out, and why
    [exit status: 1]
    ");
    let hits = person.json(&["search", "cargo test", "--json"]);
    assert_eq!((&hits[0]["count"], &hits[0]["failed"]), (&json!(2), &json!(1)));
}

#[test]
fn a_search_without_capitals_finds_any() {
    let person = worked();
    person.ran("make README.html");
    assert!(person.says(&["search", "readme"]).contains("make README.html"));
    assert!(person.says(&["search", "README"]).contains("make README.html"));
    assert_eq!(person.clai(&["search", "Readme"]).code, 1, "a capital is meant");
}

#[test]
fn a_search_that_finds_more_than_it_shows_says_so() {
    let person = Person::new();
    person.start();
    for number in 0..5 {
        person.ran(&format!("echo {number}"));
    }
    let said = person.says(&["search", "echo", "-n", "2"]);
    assert!(said.contains("echo 3\n") && said.contains("echo 4\n  3 more; `-n 5` shows them"), "{said}");
}

#[test]
fn stats_say_what_is_kept_in_numbers() {
    let person = worked();
    let said = person.says(&["stats"]);
    let (numbers, _) = said.split_once("  on disk").unwrap();
    // How wide the columns are depends on the size of the database, which stands below.
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    let numbers: String = numbers.lines().take(5).map(words).collect();
    assert_snapshot!(numbers, @r"
    commands 6 the first 3 min ago, the last 30 s ago
    lines 5 different ones, of 5 templates
    failed 1 17 % of what was run
    by agents 1 kept apart from yours
    sessions 2 in 1 repo
    ");
    assert!(said.contains("most often\n  2  cargo test\n"), "{said}");
    assert_eq!(person.json(&["stats", "--json"])["by_agents"], 1);
}

#[test]
fn who_has_nothing_yet_is_told_how_to_begin() {
    let person = Person::new();
    for (args, words) in
        [(&["history"][..], "no such commands were kept"), (&["stats"], "nothing is kept yet")]
    {
        let said = person.says(args);
        assert!(said.starts_with(words) && said.contains("\nNext:  clai "), "{said}");
    }
    assert_eq!(person.says(&["stats", "--json"]), "null\n");
    assert_eq!(person.says(&["history", "--json"]), "[]\n");
    assert!(!person.database().exists(), "looking makes nothing");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let person = worked();
    let script = format!(
        "{} history -n 100 | head -n 1 >/dev/null; exit ${{PIPESTATUS[0]}}",
        testkit::bin("clai").display()
    );
    let _ = person.home.run(person.home.command("bash").args(["-c", &script])).ok();
}
