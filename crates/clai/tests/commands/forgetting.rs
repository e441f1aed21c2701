//! What is forgotten is gone: from the tables, the raw files, and the running model.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use testkit::{Key, PATIENCE, Shell, bin};

use crate::person::Person;

/// Every file below a directory in which the bytes stand.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|it| it == text.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

fn with_a_slip() -> Person {
    let person = Person::new();
    person.start();
    for number in 0..40 {
        person.ran(&format!("echo {number}"));
        person.ran(&format!("deploy --to hunter2-{}", number % 3));
    }
    person
}

#[test]
fn what_matches_leaves_no_byte_and_is_not_suggested() {
    let person = with_a_slip();
    assert!(!holding(&person.home.data(), "hunter2").is_empty());
    let said = person.says(&["forget", "hunter2", "--yes"]);
    assert!(said.starts_with("forgot 40 commands: no byte is left"), "{said}");
    assert_eq!(holding(person.home.path(), "hunter2"), Vec::<String>::new());
    let offered = person.says(&["suggest", "-n", "20", "--json"]);
    assert!(
        !offered.contains("hunter2")
            && !person.says(&["suggest", "--prefix", "dep", "--json"]).contains("hunter2")
    );
    assert_eq!(person.json(&["stats", "--json"])["commands"], 40);
    // Not even by who is asked next.
    person.says(&["daemon", "stop"]);
    assert_eq!(holding(person.home.path(), "hunter2"), Vec::<String>::new());
}

#[test]
fn what_is_to_be_forgotten_need_not_stand_in_a_command_line() {
    let person = with_a_slip();
    let said =
        person.home.run_with(&mut person.command(&["forget", "-", "--yes", "--json"]), "hunter2\n").ok();
    assert_eq!(said.stdout, "{\"commands\":40,\"dry_run\":false}\n");
    assert_eq!(holding(person.home.path(), "hunter2"), Vec::<String>::new());
    let said = person.home.run_with(&mut person.command(&["forget", "-", "--yes"]), "");
    assert!(said.code == 2 && said.stderr.contains("an empty pattern"), "{}", said.transcript());
}

#[test]
fn a_dead_daemon_is_started_to_forget() {
    let person = with_a_slip();
    person.kill();
    let said = person.says(&["forget", "*hunter2-1", "--yes"]);
    assert!(said.starts_with("forgot 13 commands"), "{said}");
    assert_eq!(holding(person.home.path(), "hunter2-1"), Vec::<String>::new());
    assert!(!holding(person.home.path(), "hunter2-2").is_empty());
}

#[test]
fn the_last_ones_and_those_since_are_forgotten() {
    let person = with_a_slip();
    assert_eq!(person.json(&["forget", "--last", "2", "--yes", "--json"])["commands"], 2);
    // Two commands a minute, and the last minute is already gone.
    assert_eq!(person.json(&["forget", "--since", "5m", "--dry-run", "--json"])["commands"], 8);
    assert_eq!(person.json(&["stats", "--json"])["commands"], 78);
}

#[test]
fn nobody_is_forgotten_for_without_a_yes() {
    let person = with_a_slip();
    assert_snapshot!(person.clai(&["forget", "echo"]).transcript(), @r"
    --- stderr
    error: 40 commands would be forgotten, and nobody is here to say yes
    hint: add `--yes`
    [exit status: 2]
    ");
    assert_snapshot!(person.clai(&["forget", "echo", "--dry-run"]).transcript(), @r"
    40 commands would be forgotten
    [exit status: 0]
    ");
    assert_snapshot!(person.clai(&["forget", "no such thing", "-y"]).transcript(), @r"
    no such command is kept: there is nothing to forget
    [exit status: 1]
    ");
    assert_snapshot!(person.clai(&["forget", ""]).transcript(), @r"
    --- stderr
    error: an empty pattern describes nothing
    hint: `clai forget --since 1h`
    [exit status: 2]
    ");
    assert_eq!(person.json(&["stats", "--json"])["commands"], 80);
}

#[test]
fn at_a_terminal_the_person_is_asked() {
    let person = with_a_slip();
    for (answer, left) in [("n", 80), ("y", 40)] {
        let shell = Shell::bash(&person.home);
        shell.send(&format!("{} forget echo", bin("clai").display()));
        shell.key(Key::Enter);
        shell.wait_for("forget 40 commands? [y/N]", PATIENCE);
        shell.send(answer);
        shell.key(Key::Enter);
        shell.wait_for(if left == 80 { "nothing was forgotten" } else { "forgot 40 commands" }, PATIENCE);
        assert_eq!(person.json(&["stats", "--json"])["commands"], left);
    }
}
