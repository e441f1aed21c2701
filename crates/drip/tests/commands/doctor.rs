//! `drip doctor`: every section, every status, and the exit that follows from them. Broken stores are in `broken`.

use std::fs;

use crate::person::{Person, lines};

const SECTIONS: [&str; 13] = [
    "binary",
    "database",
    "cache",
    "hooks_global",
    "hooks_project",
    "codex",
    "gemini_global",
    "gemini_project",
    "completions",
    "session",
    "settings",
    "rules",
    "log",
];

#[test]
fn a_good_home_has_nothing_wrong_and_every_section() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    let said = person.says(&["doctor"]);
    let findings = said.lines().filter(|line| line.starts_with(' ') && !line.contains("hint: "));
    assert!(findings.clone().count() > 9, "{said}");
    assert!(findings.clone().all(|line| line.starts_with(" ok ")), "{said}");
    assert!(said.contains("0700, ") && said.contains("no orphans"), "{said}");
    assert_eq!(person.says(&["doctor", "--quiet"]), "0 error(s), 0 warning(s)\n");
    let json = person.json(&["doctor", "--json"]);
    assert_eq!((&json["errors"], &json["warnings"]), (&0.into(), &0.into()));
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    for section in SECTIONS {
        let found = &json["sections"][section];
        assert_eq!(found["status"], "ok", "{section}: {found}");
        for check in found["checks"].as_array().unwrap() {
            for key in ["status", "label", "detail", "hint"] {
                assert!(check.get(key).is_some(), "{section}: no {key} in {check}");
            }
        }
    }
    assert_eq!(json["sections"]["session"]["meta"]["session_id"], "s1");
    assert_eq!(json["sections"]["database"]["meta"]["schema_version"], "11");
}

#[test]
fn a_project_without_hooks_is_covered_by_the_global_ones() {
    let person = Person::new();
    person.says(&["init", "-g"]);
    let said = person.says(&["doctor"]);
    assert!(said.contains("claude project  covered by the global set-up"), "{said}");
    assert!(said.contains("claude global   set up\n"), "{said}");
}

#[test]
fn a_missing_hook_that_keeps_answers_true_is_an_error_and_another_is_a_warning() {
    let person = Person::new();
    person.says(&["init"]);
    let path = person.project().join(".claude/settings.json");
    let whole = fs::read_to_string(&path).unwrap();
    let without = |event: &str| {
        let mut settings: serde_json::Value = serde_json::from_str(&whole).unwrap();
        settings["hooks"].as_object_mut().unwrap().remove(event).unwrap();
        fs::write(&path, settings.to_string()).unwrap();
        let said = person.drip(&["doctor", "--json"]);
        let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        (said.code, json["sections"]["hooks_project"]["status"].as_str().unwrap().to_owned())
    };
    assert_eq!(without("SessionStart"), (1, "error".to_owned()));
    assert_eq!(without("PreCompact"), (0, "warning".to_owned()));
    let said = person.drip(&["doctor"]).stdout;
    assert!(said.contains("warn  claude project  set up in part; missing: "), "{said}");
    assert_eq!(person.drip(&["doctor", "--quiet"]).stdout, "0 error(s), 1 warning(s)\n");
}

#[test]
fn hooks_that_run_a_program_that_is_gone_are_an_error() {
    let person = Person::new();
    let drip = person.home.install("drip");
    let mut command = person.home.command(&drip);
    let _ = person.home.run(command.arg("init").current_dir(person.project())).ok();
    assert!(person.drip(&["doctor"]).stdout.contains("not this program"));
    fs::remove_file(&drip).unwrap();
    let said = person.drip(&["doctor"]);
    assert_eq!(said.code, 1, "{}", said.transcript());
    assert!(
        said.stdout.contains("bin/drip` is gone") && said.stdout.contains("hint: `drip init"),
        "{}",
        said.stdout
    );
}

#[test]
fn variables_that_are_not_followed_are_told() {
    let person = Person::new();
    let said =
        person.drip_with(&[("DRIP_MAX_HUNKS", "many"), ("DRIP_DISABLE", "1")], &["doctor"]).ok().stdout;
    assert!(said.contains("warn  settings") && said.contains("DRIP_MAX_HUNKS is not followed"), "{said}");
    assert!(said.contains("DRIP_DISABLE is set"), "{said}");
}

#[test]
fn rules_that_are_not_followed_are_told() {
    let person = Person::new();
    person.file(".dripignore", b"*.log\nb\xe9ta\n{open\n".as_slice());
    let said = person.says(&["doctor"]);
    assert!(said.contains(" warn  rules") && said.contains(".dripignore:2: "), "{said}");
    assert!(said.contains(".dripignore:3: ") && said.ends_with("0 error(s), 2 warning(s)\n"), "{said}");
    assert_eq!(person.json(&["doctor", "--json"])["sections"]["rules"]["status"], "warning");
}

#[test]
fn hooks_that_are_switched_off_are_told() {
    let person = Person::new();
    person.says(&["init"]);
    for (file, off) in [
        (".claude/settings.local.json", "{\"disableAllHooks\": true}"),
        (".claude/settings.local.json", "{\"disableAllHooks\": false}"),
        ("../.claude/settings.json", "{\n  // for now\n  \"disableAllHooks\": true\n}"),
    ] {
        person.file(file, off);
        let said = person.says(&["doctor"]);
        let told = said.contains("disableAllHooks") && said.contains("1 warning(s)");
        assert_eq!(told, off.contains("true"), "{file}: {said}");
        fs::remove_file(person.project().join(file)).unwrap();
    }
}

#[test]
fn orphans_come_with_the_command_that_removes_them() {
    let person = Person::new();
    person.file("a.txt", lines(2_000));
    person.says(&["read", "a.txt"]);
    let cache = person.store().join("cache");
    fs::create_dir_all(cache.join("ab")).unwrap();
    fs::write(cache.join("ab").join("c".repeat(62)), "what a crash left").unwrap();
    let said = person.says(&["doctor"]);
    assert!(said.contains("1 orphan\n") && said.contains("hint: `drip cache gc`"), "{said}");
    person.says(&["cache", "gc"]);
    assert!(person.says(&["doctor"]).contains("no orphans"));
}
