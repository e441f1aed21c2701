//! `drip init` and `drip uninstall`: what they say, and that the program they register is the small one.

use std::fs;

use serde_json::Value;
use testkit::bin;

use crate::person::{Person, everything};

#[test]
fn init_says_what_it_changed_and_uninstall_gives_everything_back() {
    let person = Person::new();
    person.file("CLAUDE.md", "my words\n");
    person.file(".claude/settings.json", "{\n  // mine\n  \"model\": \"opus\"\n}\n");
    let before = everything(&person.project());
    let said = person.says(&["init"]);
    for words in
        ["made     drip.md", "changed  CLAUDE.md", "changed  .claude/settings.json", "Next:  drip doctor"]
    {
        assert!(said.contains(words), "no {words} in\n{said}");
    }
    let settings = fs::read_to_string(person.project().join(".claude/settings.json")).unwrap();
    let drip = bin("drip");
    assert!(settings.contains(&format!("{} hook claude-post-read", drip.display())), "{settings}");
    assert!(settings.contains("// mine"), "{settings}");
    assert!(person.says(&["init"]).starts_with("claude (project) is set up already\n"));
    let said = person.says(&["uninstall"]);
    assert!(said.contains("changed  CLAUDE.md") && said.contains("removed  drip.md"), "{said}");
    assert_eq!(everything(&person.project()), before);
    assert!(person.says(&["uninstall"]).starts_with("nothing of ours is in the files of claude (project)"));
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let person = Person::new();
    let before = everything(person.home.path());
    for args in [
        &["init", "--dry-run"][..],
        &["init", "-g", "--dry-run"],
        &["init", "--agent", "codex", "--dry-run"],
        &["init", "--agent", "gemini", "--dry-run"],
    ] {
        let said = person.says(args);
        assert!(said.contains("\n+") && said.contains("nothing was changed; this would be:"), "{said}");
    }
    assert!(person.says(&["init", "-g", "--dry-run"]).contains("Next:  drip init --agent claude -g"));
    assert_eq!(everything(person.home.path()), before);
}

#[test]
fn every_client_and_scope_has_its_files() {
    let person = Person::new();
    for (args, files) in [
        (
            &["--agent", "claude-code", "-g"][..],
            &[".claude/settings.json", ".claude/CLAUDE.md", ".claude/drip.md"][..],
        ),
        (&["--agent", "codex"], &[".codex/config.toml", ".codex/AGENTS.md"]),
        (&["--agent", "gemini-cli", "--global"], &[".gemini/settings.json", ".gemini/GEMINI.md"]),
    ] {
        let json = person.json(&[&["init", "--json"], args].concat());
        assert_eq!((&json["scope"], &json["dry_run"]), (&"global".into(), &false.into()));
        for file in files {
            assert!(person.home.path().join(file).is_file(), "{args:?}: no {file}");
            let listed = json["files"].as_array().unwrap().iter();
            assert!(listed.clone().any(|entry| entry["path"].as_str().unwrap().ends_with(file)), "{json}");
        }
        person.says(&[&["uninstall"], args].concat());
        for file in files {
            assert!(!person.home.path().join(file).exists(), "{args:?}: {file} is left");
        }
    }
}

#[test]
fn the_older_mechanism_is_there_for_those_who_ask() {
    let person = Person::new();
    person.says(&["init", "--mode", "deny"]);
    let settings: Value =
        serde_json::from_str(&fs::read_to_string(person.project().join(".claude/settings.json")).unwrap())
            .unwrap();
    assert!(settings["hooks"]["PreToolUse"].is_array(), "{settings}");
    assert!(settings["hooks"].get("PostToolBatch").is_none(), "{settings}");
}

#[test]
fn a_file_that_cannot_be_understood_stops_everything() {
    let person = Person::new();
    person.file(".claude/settings.json", "{ \"hooks\": [");
    let before = everything(&person.project());
    for command in ["init", "uninstall"] {
        let said = person.drip(&[command]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{}", said.transcript());
        assert!(
            said.stderr.starts_with("error: nothing was changed: cannot edit `"),
            "{}",
            said.transcript()
        );
        assert!(said.stderr.contains("\nhint: mend it: `${EDITOR:-vi} "), "{}", said.stderr);
    }
    assert_eq!(everything(&person.project()), before);
}

#[test]
fn without_the_small_program_beside_it_nothing_is_registered() {
    let person = Person::new();
    let drip = person.home.install("drip");
    let alone = drip.with_file_name("other");
    fs::rename(&drip, &alone).unwrap();
    let mut command = person.home.command(&alone);
    let said = person.home.run(command.arg("init").current_dir(person.project()));
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{}", said.transcript());
    assert!(
        said.stderr.contains("`drip` is not beside `other`\nhint: `cargo xtask install`"),
        "{}",
        said.stderr
    );
    assert_eq!(everything(&person.project()), []);
    let mut command = person.home.command(&alone);
    let _ = person.home.run(command.arg("uninstall").current_dir(person.project())).ok();
}
