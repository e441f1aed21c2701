//! What is kept, what is left out, and what can be taken back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::{Home, PATIENCE, until};

use crate::rig::{Daemon, NOW, QUICK, count, event, kept};

fn with(line: &str, field: &str, value: impl Into<Value>) -> Value {
    let mut event = event(line, NOW);
    event[field] = value.into();
    event
}

fn is_on_disk(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => is_on_disk(&entry.path(), text),
        kind if kind.is_file() => fs::read(entry.path())
            .unwrap_or_default()
            .windows(text.len())
            .any(|window| window == text.as_bytes()),
        _ => false,
    })
}

#[test]
fn the_hook_itself_is_not_recorded_but_its_namesakes_are() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&[
        "clai-hook ingest",
        "/usr/bin/clai-hook session-start",
        "CLAI_CMD=x A=b clai-hook ingest --cmd-stdin",
        "   ",
        "clai-hooked",
        "echo clai-hook",
        "x=clai-hook",
    ]);
    assert_eq!(kept(&home), ["clai-hooked", "echo clai-hook", "x=clai-hook"]);
}

#[test]
fn a_command_that_names_what_is_to_be_forgotten_is_not_kept() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&[
        "clai forget hunter2",
        "scrimp clai forget hunter2",
        "A=b /x/clai forget hunter2",
        "clai why forget",
    ]);
    assert_eq!(kept(&home), ["clai why forget"]);
}

/// The file in which a shell waits for what follows a command that ended then.
fn made_for(home: &Home, ts: i64) -> PathBuf {
    let path = home.write("run/clai/next.s", "");
    let time = UNIX_EPOCH + Duration::from_millis(ts.try_into().unwrap());
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    path
}

#[test]
fn an_answer_that_comes_too_late_is_not_left() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    // The shell has gone on to a prompt ten milliseconds later.
    let path = made_for(&home, NOW + 10);
    let answered = |line: &str, ts: i64| {
        let mut talk = daemon.connect();
        talk.say(&event(line, ts));
        talk.ask(&json!({"type": "flush"}));
        fs::read_to_string(&path).unwrap()
    };
    assert_eq!(answered("git add -A", NOW + 9), "");
    let last = answered("git commit", NOW + 10);
    assert!(last.starts_with("git "), "{last:?}");
    // On another connection an earlier command may be heard after a later one.
    assert_eq!(answered("make", NOW + 9), last);
    assert_ne!(answered("make", NOW + 11), last);
}

#[test]
fn a_shell_that_made_a_file_for_it_finds_there_what_comes_next() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let lines = ["git add -A", "git commit", "git add -A", "git commit", "git add -A"];
    let path = made_for(&home, NOW);
    daemon.ran(&lines);
    let found = fs::read_to_string(&path).unwrap();
    let fields: Vec<&str> = found.split_terminator('\0').collect();
    assert_eq!(fields.first(), Some(&"git commit"), "{found:?}");
    assert_eq!(fields.len() % 2, 1, "commands, each with its reasons, and an empty field: {found:?}");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    fs::remove_file(&path).unwrap();
    daemon.ran(&["git status"]);
    assert!(!path.exists(), "who made no file is not answered");
}

#[test]
fn what_shells_left_long_ago_is_taken_away_and_nothing_else() {
    let home = Home::new();
    let paths =
        ["next.old", "session.1", "next.new", "kept"].map(|name| home.write(format!("run/clai/{name}"), "x"));
    for path in [&paths[0], &paths[1], &paths[3]] {
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
        fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    fs::set_permissions(home.path().join("run/clai"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    let _daemon = Daemon::start(&home);
    assert_eq!(paths.map(|path| path.exists()), [false, false, true, true]);
}

#[test]
fn secrets_are_taken_out_before_anything_is_written() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    daemon.ran(&[
        &format!("git clone https://x:{token}@github.com/a/b"),
        &format!("export GH_TOKEN={token}"),
        "ls",
    ]);
    assert_eq!(kept(&home).len(), 3);
    assert!(kept(&home)[0].contains("<secret:"), "{:?}", kept(&home));
    assert!(!is_on_disk(home.path(), "0123456789abcdefghij"));
    assert!(!daemon.suggestions().iter().any(|line| line.contains("0123456789")));
    assert!(daemon.left_out().iter().any(|(reason, _, count)| reason == "secret_redacted" && *count >= 1));
}

#[test]
fn a_line_with_a_secret_can_be_dropped_or_kept_as_it_is() {
    let home = Home::new();
    let line = "export GH_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let daemon = Daemon::start_with(&home, &[("CLAI_SECRETS", "drop")]);
    daemon.ran(&[line]);
    assert!(kept(&home).is_empty());
    assert_eq!(daemon.left_out()[0].0, "secret_dropped");
    daemon.terminate();
    let daemon = Daemon::start_with(&home, &[("CLAI_SECRETS", "off")]);
    daemon.ran(&[line]);
    assert_eq!(kept(&home), [line]);
}

#[test]
fn lines_and_directories_are_ignored_as_configured_and_why_not_says_so() {
    let home = Home::new();
    home.write(
        ".config/clai/config.toml",
        "ignore = [\"ssh *\", \"*--password*\"]\nignore_dirs = [\"~/private\"]\n",
    );
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    for line in ["ssh engine", "sshd", "mysql --password=x", "ls"] {
        talk.say(&event(line, NOW));
    }
    talk.say(&with("cat diary", "cwd", format!("{}/private/2026", home.path().display())));
    talk.say(&with("cat notes", "cwd", format!("{}/privateer", home.path().display())));
    talk.ask(&json!({"type": "flush"}));
    assert_eq!(kept(&home), ["sshd", "ls", "cat notes"]);
    let mut left_out = daemon.left_out();
    left_out.sort();
    let expected =
        [("ignored_directory", "~/private"), ("ignored_line", "*--password*"), ("ignored_line", "ssh *")];
    assert_eq!(left_out, expected.map(|(reason, detail)| (reason.to_owned(), detail.to_owned(), 1)));
}

#[test]
fn an_ephemeral_command_is_learned_and_never_written() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    for _ in 0..3 {
        talk.say(&event("ls", NOW));
        talk.say(&with("fleeting-thing now", "ephemeral", true));
    }
    talk.say(&event("ls", NOW));
    talk.ask(&json!({"type": "flush"}));
    assert_eq!(daemon.suggestions()[0], "fleeting-thing now");
    daemon.ask(&json!({"type": "rebuild_aggregates"}));
    assert!(!is_on_disk(home.path(), "fleeting-thing"));
    daemon.terminate();
    assert!(!is_on_disk(home.path(), "fleeting-thing"));
    let daemon = Daemon::start(&home);
    assert!(!daemon.suggestions().contains(&"fleeting-thing now".to_owned()));
}

#[test]
fn what_an_agent_ran_is_kept_apart_and_never_suggested() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    talk.say(&event("ls", NOW));
    for _ in 0..20 {
        talk.say(&with("robot-work --now", "actor", "claude"));
    }
    talk.ask(&json!({"type": "flush"}));
    assert_eq!(count(&home, "SELECT count(*) FROM event_actor WHERE actor = 'claude'"), 20);
    assert!(!daemon.suggestions().iter().any(|line| line.contains("robot-work")));
    assert_eq!(count(&home, "SELECT count(*) FROM command_score WHERE cmd_norm LIKE 'robot%'"), 0);
    daemon.terminate();
    let daemon = Daemon::start_with(&home, &[("CLAI_AGENTS", "drop")]);
    assert!(!daemon.suggestions().iter().any(|line| line.contains("robot-work")));
    daemon.connect().say(&with("more", "actor", "claude"));
    assert!(until(PATIENCE, || daemon.left_out().iter().any(|(reason, _, _)| reason == "agent")));
    assert_eq!(count(&home, "SELECT count(*) FROM event_actor"), 20);
}

#[test]
fn a_pause_ends_by_itself_and_survives_a_restart() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let half_an_hour = 30 * 60 * 1000;
    let until_when = home.clock().now_ms() + half_an_hour;
    let paused = daemon.ask(&json!({"type": "pause", "for_ms": half_an_hour}));
    assert_eq!(paused["paused_until"], until_when);
    daemon.ran(&["while paused"]);
    daemon.terminate();
    let daemon = Daemon::start(&home);
    daemon.ran(&["still paused"]);
    assert_eq!(daemon.ask(&json!({"type": "health"}))["paused_until"], until_when);
    assert!(kept(&home).is_empty());
    home.clock().advance(Duration::from_millis(half_an_hour.cast_unsigned()));
    daemon.ran(&["after"]);
    assert_eq!(kept(&home), ["after"]);
    daemon.ask(&json!({"type": "pause"}));
    daemon.ran(&["in an endless pause"]);
    assert_eq!(daemon.ask(&json!({"type": "resume"}))["paused_until"], Value::Null);
    daemon.ran(&["resumed"]);
    assert_eq!(kept(&home), ["after", "resumed"]);
    assert_eq!(daemon.left_out()[0], ("paused".to_owned(), String::new(), 3));
}

#[test]
fn what_is_forgotten_is_gone_from_the_disk_and_from_the_suggestions() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for _ in 0..30 {
        daemon.ran(&["ls", "psql xyzzy-plugh", "ls", "make"]);
    }
    let mut talk = daemon.connect();
    talk.say(&with("only-in-memory xyzzy-plugh", "ephemeral", true));
    assert!(is_on_disk(&home.data(), "xyzzy-plugh"));
    let forget = |dry_run: bool| json!({"type": "forget", "pattern": "xyzzy-plugh", "dry_run": dry_run});
    assert_eq!(talk.ask(&forget(true)), json!({"commands": 30, "dry_run": true}));
    assert_eq!(talk.ask(&forget(false)), json!({"commands": 30, "dry_run": false}));
    assert!(!is_on_disk(home.path(), "xyzzy-plugh"));
    assert!(!daemon.suggestions().iter().any(|line| line.contains("xyzzy")));
    assert_eq!(count(&home, "SELECT count(*) FROM command_event"), 90);
    daemon.ran(&["private thing", "make"]);
    assert_eq!(daemon.ask(&json!({"type": "forget", "last": 2}))["commands"], 2);
    assert!(!is_on_disk(home.path(), "private thing"));
    assert!(daemon.suggestions().contains(&"make".to_owned()), "`make` was run before as well");
    assert!(!daemon.suggestions().contains(&"private thing".to_owned()));
}

#[test]
fn a_dismissed_suggestion_is_remembered() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&["ls", "make a", "ls", "make a", "ls", "make b", "ls", "make a", "ls"]);
    assert_eq!(daemon.suggestions()[0], "make a");
    home.clock().advance(Duration::from_secs(1));
    for _ in 0..3 {
        daemon.ask(&json!({"type": "feedback", "line": "make a", "action": "dismissed"}));
    }
    let after = daemon.suggestions();
    assert_eq!(count(&home, "SELECT count(*) FROM feedback WHERE action = 'dismissed'"), 3);
    daemon.terminate();
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.suggestions(), after);
}

#[test]
fn an_imported_history_is_learned_in_the_order_of_time() {
    let home = Home::new();
    let daemon = Daemon::start_with(&home, QUICK);
    daemon.ran(&["ls"]);
    let old: Vec<Value> = (0..40)
        .map(|n| {
            let line = if n % 2 == 0 { "ls" } else { "git pull" };
            json!({"session_id": "old", "ts": NOW - 1_000_000 + n, "cmd_raw": line, "cwd": null, "exit_code": null,
                "duration_ms": null})
        })
        .collect();
    let import = json!({"type": "import", "shell": "bash", "commands": old});
    assert_eq!(daemon.ask(&import), json!({"new": 40, "left_out": 0, "secrets": 0}));
    assert_eq!(daemon.ask(&import), json!({"new": 0, "left_out": 0, "secrets": 0}));
    assert_eq!(daemon.ask(&json!({"type": "relearn"})), json!({"done": true}));
    assert_eq!(daemon.ask(&json!({"type": "health"}))["learned"], 41);
    assert_eq!(daemon.suggestions()[0], "git pull");
    let before = daemon.suggestions();
    daemon.terminate();
    assert_eq!(Daemon::start_with(&home, QUICK).suggestions(), before);
}

#[test]
fn why_shows_the_parts_of_a_score_and_tasks_what_a_project_offers() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&["ls", "make", "ls", "make", "ls"]);
    let why = daemon.ask(&json!({"type": "why", "session_id": "s", "cwd": "/"}));
    assert!(!why["suggestions"][0]["parts"].as_array().unwrap().is_empty(), "{why}");
    let repo = home.git_repo("site");
    fs::write(repo.join("justfile"), "build:\n  true\n'x; rm -rf ~':\n  true\n").unwrap();
    let tasks = daemon.ask(&json!({"type": "tasks", "cwd": repo}));
    assert_eq!(tasks["tasks"][0]["command"], "just build", "{tasks}");
    assert!(tasks["repo_key"].as_str().unwrap().len() == 64);
    daemon.flush();
    assert!(count(&home, "SELECT count(*) FROM project_task WHERE kind = 'just'") >= 1);
}

#[test]
fn make_is_asked_only_where_it_is_allowed() {
    let home = Home::new();
    let repo = home.git_repo("site");
    fs::write(
        repo.join("Makefile"),
        "NAMES := $(shell touch was-run; echo one two)\nall: $(NAMES)\n$(NAMES):\n\ttrue\n",
    )
    .unwrap();
    let daemon = Daemon::start(&home);
    let ask = json!({"type": "tasks", "cwd": repo});
    daemon.ask(&ask);
    assert!(!repo.join("was-run").exists());
    home.write(".config/clai/config.toml", format!("make_qp = [\"{}\"]\n", repo.display()));
    daemon.ask(&json!({"type": "reload"}));
    fs::write(
        repo.join("Makefile"),
        "NAMES := $(shell touch was-run; echo one two three)\nall: $(NAMES)\n$(NAMES):\n\ttrue\n",
    )
    .unwrap();
    assert!(until(PATIENCE, || daemon.ask(&ask).to_string().contains("make three")));
    assert!(repo.join("was-run").exists());
}

#[test]
fn a_repository_is_found_and_times_that_cannot_be_are_put_right() {
    let home = Home::new();
    let repo = home.git_repo("site");
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    let now = home.clock().now_ms();
    for (line, ts) in
        [("zero", 0), ("future", i64::MAX), ("past", i64::MIN), ("late", now - 5000), ("now", now)]
    {
        let mut event = with(line, "cwd", repo.to_str().unwrap());
        event["ts"] = ts.into();
        talk.say(&event);
    }
    talk.ask(&json!({"type": "flush"}));
    assert_eq!(
        count(&home, "SELECT count(*) FROM command_event WHERE branch = 'main' AND length(repo_key) = 64"),
        5
    );
    let ts = |line: &str| count(&home, &format!("SELECT ts FROM command_event WHERE cmd_raw = '{line}'"));
    assert_eq!(["zero", "future", "past", "late", "now"].map(ts), [now, now, now, now - 5000, now]);
}

#[test]
fn what_a_caller_knows_of_its_repository_is_believed() {
    let home = Home::new();
    let daemon = Daemon::start_with(&home, QUICK);
    let mut talk = daemon.connect();
    for _ in 0..2 {
        let mut event = with("make site", "repo_root", "/nowhere/site");
        event["remote_url"] = "HTTPS://Example.invalid/S.git".into();
        event["branch"] = "topic".into();
        event["dirty"] = true.into();
        talk.say(&event);
    }
    talk.ask(&json!({"type": "flush"}));
    let key = clai::repo::key(Path::new("/nowhere/site"), Some("https://example.invalid/s.git")).0;
    let rows = format!(
        "SELECT count(*) FROM command_event WHERE repo_key = '{key}' AND branch = 'topic' AND cwd = '/'"
    );
    assert_eq!(count(&home, &rows), 2);
    let mut asked = |repo_key: Value| {
        let answer =
            talk.ask(&json!({"type": "suggest", "session_id": "t", "cwd": "/", "repo_key": repo_key}));
        assert_eq!(answer["context"]["repo_key"], repo_key);
        let best = &answer["suggestions"][0];
        assert_eq!(best["cmd"], "make site");
        best["reasons"].to_string().contains("freq_repo")
    };
    assert!(asked(json!(key)) && !asked(Value::Null));
}

/// Everything that a question is answered with, numbers included.
fn answers(daemon: &Daemon<'_>) -> Vec<Value> {
    let ask = |session: &str, prefix: &str| {
        daemon.ask(&json!({"type": "why", "session_id": session, "cwd": "/", "limit": 20, "prefix": prefix}))
    };
    [("s", ""), ("t", ""), ("new", ""), ("s", "m"), ("t", "git ")]
        .map(|(session, prefix)| ask(session, prefix))
        .into()
}

#[test]
fn the_answer_after_a_restart_is_the_answer_before_it() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let lines =
        ["git add -A", "git commit -m x", "make", "make test", "git push", "ls", "vim a/b", "cargo run"];
    let say = |daemon: &Daemon<'_>, range: std::ops::Range<i64>| {
        let mut talk = daemon.connect();
        for n in range {
            // Two shells whose commands overlap: what began earlier may end later, and be told later.
            let mut event = event(lines[(n * n % 11 % 8) as usize], NOW + n * 1000 - n % 3 * 2500);
            event["session_id"] = json!(["s", "t"][(n % 2) as usize]);
            talk.say(&event);
        }
        talk.ask(&json!({"type": "flush"}));
    };
    for end in 1..=3 {
        say(&daemon, (end - 1) * 150..end * 150);
        let before = answers(&daemon);
        assert_eq!(count(&home, "SELECT count(*) FROM learned"), 1);
        // Killed it has nothing to say on its way out.
        if end == 2 {
            daemon.kill();
        } else {
            daemon.terminate();
        }
        daemon = Daemon::start(&home);
        assert_eq!(answers(&daemon), before, "after {end}");
    }
    let old: Vec<Value> = (0..200)
        .map(|n| json!({"session_id": "old", "ts": NOW - 900_000 + n, "cmd_raw": lines[n as usize % 5], "cwd": null,
            "exit_code": null, "duration_ms": null}))
        .collect();
    daemon.ask(&json!({"type": "import", "shell": "bash", "commands": old}));
    daemon.ask(&json!({"type": "relearn"}));
    say(&daemon, 450..500);
    let before = answers(&daemon);
    daemon.terminate();
    assert_eq!(answers(&Daemon::start(&home)), before, "after an import");
}
