//! What may be done without a question, what is asked and what is refused.

use std::os::unix::fs::symlink;

use agent::permission::{Answer, BadRule, Decision, Mode, Request, Rule, Settings, Verdict, decide};
use serde_json::{Value, json};

use super::shop::{Shop, task};

fn request(shop: &Shop, tool: &str, arguments: Value) -> Request {
    let task = task(tool, arguments);
    Request::new(&task, shop.workshop.access(&task), &shop.workshop.project).unwrap()
}

/// One letter each: `+` allowed, `?` asked, `-` refused.
fn verdict(settings: &Settings, request: &Request) -> char {
    match decide(settings, request) {
        Decision::Allow => '+',
        Decision::Ask(_) => '?',
        Decision::Deny(_) => '-',
    }
}

#[test]
fn each_mode_allows_what_it_says() {
    let shop = Shop::new();
    shop.home.write("out/secret", "");
    symlink("../out", shop.file("door")).unwrap();
    let cases = [
        ("read_file", json!({"path": "a"}), "++++"),
        ("read_file", json!({"path": "../out/secret"}), "??+-"),
        ("read_file", json!({"path": "door/secret"}), "??+-"),
        ("read_file", json!({"path": "/etc/passwd"}), "??+-"),
        ("list_files", json!({}), "++++"),
        ("list_files", json!({"path": "/"}), "??+-"),
        ("code_search", json!({"pattern": "x", "path": "door"}), "??+-"),
        ("edit_file", json!({"path": "a", "old_str": "", "new_str": ""}), "?++-"),
        ("edit_file", json!({"path": "door/x", "old_str": "", "new_str": ""}), "??+-"),
        ("edit_file", json!({"path": ".git/hooks/pre-commit"}), "??+-"),
        ("edit_file", json!({"path": 3}), "?++-"),
        ("bash", json!({"command": "ls"}), "??+-"),
        ("mcp__server__tool", json!({}), "??+-"),
    ];
    let modes = [Mode::Ask, Mode::Edits, Mode::All, Mode::ReadOnly];
    for (tool, arguments, wanted) in cases {
        let request = request(&shop, tool, arguments.clone());
        let found: String =
            modes.map(|mode| verdict(&Settings::new(mode, Vec::new()).unwrap(), &request)).iter().collect();
        assert_eq!(found, wanted, "{tool} {arguments}");
    }
    let outside = request(&shop, "edit_file", json!({"path": "door/x"}));
    let told = decide(&Settings::default(), &outside);
    assert!(
        matches!(&told, Decision::Ask(it) if it.ends_with("/out/x, outside of the project?")),
        "{told:?}"
    );
    let denied = decide(
        &Settings::new(Mode::ReadOnly, Vec::new()).unwrap(),
        &request(&shop, "bash", json!({"command": "a\u{1b}[2J"})),
    );
    assert_eq!(
        denied,
        Decision::Deny("Not done (run `a<U+001B>[2J`): only reading is allowed in this session.".to_owned())
    );
}

fn rule(tool: &str, path: Option<&str>, command: Option<&str>, verdict: Verdict) -> Rule {
    Rule {
        tool: tool.to_owned(),
        path: path.map(str::to_owned),
        command: command.map(str::to_owned),
        verdict,
    }
}

#[test]
fn the_strictest_rule_that_fits_wins() {
    let shop = Shop::new();
    let settings = Settings::new(
        Mode::Ask,
        vec![
            rule("edit_file", Some("src/**"), None, Verdict::Allow),
            rule("*", Some("**/secret*"), None, Verdict::Deny),
            rule("bash", None, Some("cargo test"), Verdict::Allow),
            rule("bash", None, Some("git push"), Verdict::Deny),
            rule("read_file", Some("private/**"), None, Verdict::Ask),
        ],
    )
    .unwrap();
    let edit = |path: &str| verdict(&settings, &request(&shop, "edit_file", json!({"path": path})));
    assert_eq!(["src/a", "src/b/c", "a", "src/secret.txt"].map(edit), ['+', '+', '?', '-']);
    assert_eq!(verdict(&settings, &request(&shop, "read_file", json!({"path": "secrets"}))), '-');
    let bash = |command: &str| verdict(&settings, &request(&shop, "bash", json!({"command": command})));
    assert_eq!(["cargo test", "cargo test -p x", "cargo tester", "cargo"].map(bash), ['+', '+', '?', '?']);
    let sly = [
        "cargo test; rm x",
        "cargo test && x",
        "cargo test $(x)",
        "cargo test\nx",
        "cargo test > /x",
        "cargo test `x`",
    ];
    assert_eq!(sly.map(bash), ['?'; 6], "an allowance is for one plain command");
    assert_eq!(bash("cargo\u{a0}test"), '?', "to a shell that is one word");
    let pushes = [
        "git push",
        "git  push --force; true",
        "true && git push",
        "cd .\ngit push",
        "GIT_DIR=x git push",
        "echo $(git push)",
        "bash -c 'git push'",
        "/usr/bin/git push",
        "\"git\" pu\\sh",
        "{ git push; } > /dev/null",
    ];
    assert_eq!(pushes.map(bash), ['-'; 10], "what is denied is denied wherever it stands");
    assert_eq!(["git pushed", "git log push", "echo git"].map(bash), ['?'; 3]);
    let private = request(&shop, "read_file", json!({"path": "private/diary"}));
    assert_eq!(verdict(&settings, &private), '?');
    let mut settings = settings.clone();
    settings.mode = Mode::ReadOnly;
    assert_eq!(verdict(&settings, &request(&shop, "edit_file", json!({"path": "src/a"}))), '-');
    assert_eq!(verdict(&settings, &private), '-', "nobody is asked");
    settings.mode = Mode::All;
    assert_eq!(verdict(&settings, &private), '?');
    assert_eq!(verdict(&settings, &request(&shop, "edit_file", json!({"path": "src/secret"}))), '-');
}

#[test]
fn rules_that_mean_nothing_are_refused() {
    let bad = Settings::new(Mode::Ask, vec![rule("bash", Some("["), None, Verdict::Deny)]).unwrap_err();
    assert!(matches!(bad, BadRule::Glob(glob, _) if glob == "["));
    let wide = Settings::new(Mode::Ask, vec![rule("bash", None, Some(" "), Verdict::Allow)]).unwrap_err();
    assert_eq!(wide, BadRule::TooWide("bash".to_owned()));
}

#[test]
fn an_answer_is_remembered_for_what_was_asked_and_no_more() {
    let shop = Shop::new();
    shop.home.write("out/a", "");
    let mut settings = Settings::default();
    let test = request(&shop, "bash", json!({"command": "cargo test"}));
    let answer = settings.remember(&test);
    assert_eq!(answer, Answer { tool: "bash".to_owned(), about: Some("cargo test".to_owned()), at: None });
    assert_eq!(verdict(&settings, &test), '+');
    assert_eq!(verdict(&settings, &request(&shop, "bash", json!({"command": "cargo test; ls"}))), '?');
    settings.remember(&request(&shop, "edit_file", json!({"path": "a"})));
    let edit = |path: &str| verdict(&settings, &request(&shop, "edit_file", json!({"path": path})));
    assert_eq!(["b", "c/d", "../out/a", ".git/config"].map(edit), ['+', '+', '?', '?']);
    let mut again = Settings::default();
    settings.remembered().iter().for_each(|answer| again.recall(answer.clone()));
    assert_eq!(verdict(&again, &test), '+');
    again.mode = Mode::ReadOnly;
    assert_eq!(verdict(&again, &test), '-');
    let mut outside = Settings::default();
    outside.remember(&request(&shop, "read_file", json!({"path": "../out/a"})));
    let read = |path: &str| verdict(&outside, &request(&shop, "read_file", json!({"path": path})));
    assert_eq!(["../out/b", "../other", "/etc/passwd"].map(read), ['+', '?', '?']);
}

#[test]
fn our_own_output_may_be_read() {
    let shop = Shop::new();
    let settings = Settings::new(Mode::ReadOnly, Vec::new()).unwrap().readable(&shop.workshop.spill);
    let path = shop.workshop.spill.join("output-1.txt");
    assert_eq!(verdict(&settings, &request(&shop, "read_file", json!({"path": path}))), '+');
    assert_eq!(verdict(&settings, &request(&shop, "edit_file", json!({"path": path}))), '-');
}

#[test]
fn modes_have_the_names_of_the_command_line() {
    for (name, mode) in Mode::ALL {
        assert_eq!((Mode::named(name), mode.name()), (Some(mode), name));
        assert_eq!(serde_json::to_value(mode).unwrap(), json!(name));
    }
    assert_eq!(Mode::named("yolo"), None);
}

#[test]
fn a_command_is_allowed_where_it_was_allowed_and_nowhere_else() {
    let shop = Shop::new();
    shop.home.write("out/Makefile", "");
    shop.write("sub/Makefile", "");
    let make = |cwd: &str| request(&shop, "bash", json!({"command": "make", "cwd": cwd}));
    let rules = vec![rule("bash", None, Some("make"), Verdict::Allow)];
    let by_rule = Settings::new(Mode::Ask, rules).unwrap();
    assert_eq!([".", "sub", "../out"].map(|cwd| verdict(&by_rule, &make(cwd))), ['+', '+', '?']);
    let mut remembered = Settings::default();
    remembered.remember(&make("."));
    assert_eq!(
        [".", "sub/..", "sub", "../out"].map(|cwd| verdict(&remembered, &make(cwd))),
        ['+', '+', '?', '?']
    );
    remembered.remember(&make("sub"));
    assert_eq!(["sub", "../out"].map(|cwd| verdict(&remembered, &make(cwd))), ['+', '?']);
}

#[test]
fn a_question_shows_all_that_is_asked_for() {
    let shop = Shop::new();
    shop.home.write("out/a", "");
    let asked =
        |tool: &str, arguments: Value| match decide(&Settings::default(), &request(&shop, tool, arguments)) {
            Decision::Ask(question) => question,
            other => panic!("{other:?}"),
        };
    assert_eq!(asked("bash", json!({"command": "echo hi\nrm -rf x\n"})), "run `echo hi ⏎ rm -rf x`?");
    let out = shop.home.path().canonicalize().unwrap().join("out");
    assert_eq!(
        asked("bash", json!({"command": "make", "cwd": "../out"})),
        format!("run `make` in {}, outside of the project?", out.display())
    );
    assert_eq!(
        asked("box__run", json!({"command": "ls", "host": "prod"})),
        r#"use box__run with {"command":"ls","host":"prod"}?"#
    );
    assert_eq!(asked("dice__roll", json!({})), "use dice__roll?");
}

#[test]
fn yes_to_a_directory_outside_is_not_yes_to_the_one_above_it() {
    let shop = Shop::new();
    shop.home.write("out/a", "");
    shop.home.write("other/a", "");
    let mut settings = Settings::default();
    settings.remember(&request(&shop, "code_search", json!({"pattern": "x", "path": "../out"})));
    let search = |path: &str| verdict(&settings, &request(&shop, "code_search", json!({"path": path})));
    assert_eq!(["../out", "../out/a", "../other", ".."].map(search), ['+', '+', '?', '?']);
}

#[test]
fn what_a_rule_closes_is_not_come_upon_by_looking_around() {
    let mut shop = Shop::new();
    shop.write("secrets/key.txt", "token 1\n");
    shop.write("private/diary.txt", "token 2\n");
    shop.write("a.txt", "token 3\n");
    let rules = vec![
        rule("*", Some("secrets/**"), None, Verdict::Deny),
        rule("*", Some("private/**"), None, Verdict::Ask),
    ];
    shop.workshop.closed = Settings::new(Mode::All, rules).unwrap().closed();
    let left_out = "[2 left out: a rule of the user wants them named and asked about]";
    assert_eq!(shop.ok("code_search", json!({"pattern": "token"})), format!("a.txt:1:token 3\n{left_out}"));
    assert!(
        shop.ok("code_search", json!({"pattern": "token", "path": "secrets"}))
            .starts_with("No matches found\n[1 ")
    );
    let listed = shop.ok("list_files", json!({"recursive": true}));
    assert_eq!(listed, format!("[\"a.txt\",\"private/\",\"secrets/\"]\n{left_out}"));
}

#[test]
fn our_own_settings_are_no_file_like_others_even_in_the_project() {
    let shop = Shop::new();
    shop.write(".config/scrimp/config.toml", "");
    let settings = Settings::new(Mode::Edits, Vec::new()).unwrap().guarded(&shop.file(".config/scrimp"));
    let edit = |path: &str| verdict(&settings, &request(&shop, "edit_file", json!({"path": path})));
    assert_eq!(
        [".config/scrimp/config.toml", ".config/scrimp/new", ".config/other"].map(edit),
        ['?', '?', '+']
    );
}
