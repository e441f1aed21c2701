//! Whatever is wrong, the client goes on as if we were not there: nothing on standard output that it would act on, exit
//! status 0, and the reason in the log.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::bin;
use testkit::hostile::{as_other_uid, give_away, nasty_bytes, nasty_strings};

use crate::claude::{Claude, Part, lines};

const SILENT: [&str; 11] = [
    "claude-post-read",
    "claude-post-batch",
    "claude-post-bash",
    "claude-post-search",
    "claude-compact",
    "codex-post",
    "codex-session",
    "gemini-after",
    "gemini-before",
    "gemini-turn",
    "gemini-session",
];
const EMPTY: [&str; 7] = [
    "claude",
    "claude-delivered",
    "claude-glob",
    "claude-grep",
    "claude-pre-edit",
    "claude-post-edit",
    "claude-session-start",
];

#[track_caller]
fn is_silent(claude: &Claude, input: impl AsRef<[u8]>) {
    for name in SILENT.iter().chain(&EMPTY) {
        let output = claude.hook_raw(name, input.as_ref());
        let wanted = if EMPTY.contains(name) { "{}\n" } else { "" };
        assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.code), (wanted, "", 0), "{name}");
    }
}

#[test]
fn what_is_not_a_payload_is_passed_over() {
    let claude = Claude::new();
    is_silent(&claude, "");
    for input in [
        "null",
        "7",
        "\"text\"",
        "[]",
        "{",
        "{}{}",
        "{\"session_id\":\"s\",\"tool_name\":\"Read\"",
        "{\"session_id\":7,\"tool_name\":7,\"cwd\":[],\"llm_request\":1}",
        "{\"session_id\":\"\",\"tool_name\":\"Read\",\"tool_input\":null,\"tool_response\":null}",
        "{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"\\ud800\"}}",
    ] {
        is_silent(&claude, input);
    }
    is_silent(&claude, "[".repeat(100_000));
    is_silent(&claude, format!("{{\"a\":{}", "{\"a\":".repeat(50_000)));
    let log = claude.log();
    assert!(
        log.lines().all(|line| line.contains("\"error\":\"what the client sent is not understood, at line "))
    );
    assert!(log.contains("\"hook\":\"claude-post-read\""));
}

#[test]
fn more_than_four_mebibytes_are_not_read() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(10));
    let mut payload = claude.call("PostToolUse", "Read", json!({"file_path": path}));
    payload["tool_response"] = json!({"type": "text", "file": {"content": "x".repeat(5 << 20)}});
    assert_eq!(claude.hook("claude-post-read", &payload).ok().stdout, "");
    assert!(claude.log().contains("larger than 4 MiB"));
}

#[test]
fn hostile_names_and_contents_break_nothing() {
    let claude = Claude::new();
    for nasty in nasty_strings() {
        for (hook, tool) in [("claude-post-read", "Read"), ("claude", "Read"), ("claude-post-edit", "Write")]
        {
            let mut payload = claude.call("PostToolUse", tool, json!({"file_path": nasty, "content": nasty}));
            payload["tool_response"] = json!({"type": "text", "originalFile": nasty, "file": {
                "filePath": nasty, "content": nasty, "numLines": 1, "startLine": 1, "totalLines": 1,
            }});
            payload["agent_id"] = json!(nasty);
            let output = claude.hook(hook, &payload).ok();
            assert!(
                output.stdout.lines().count() <= 1 && output.stderr.is_empty(),
                "{nasty:?}: {}",
                output.transcript()
            );
        }
    }
    for nasty in nasty_bytes() {
        let output = claude.hook_raw("claude-post-read", &nasty).ok();
        assert_eq!((output.stdout, output.stderr), (String::new(), String::new()));
    }
}

#[test]
fn numbers_that_make_no_sense_are_not_believed() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    for file in [
        json!({"content": lines(100), "numLines": 101, "startLine": 0, "totalLines": 101}),
        json!({"content": lines(100), "numLines": 101, "startLine": -1, "totalLines": 101}),
        json!({"content": lines(100), "numLines": 101, "startLine": u64::MAX, "totalLines": 101}),
        json!({"content": lines(100), "numLines": 7, "startLine": 50, "totalLines": 7}),
        json!({"content": "another text", "numLines": 1, "startLine": 5, "totalLines": 101}),
        json!({"content": lines(100), "numLines": 101, "startLine": 1}),
        json!({"content": null}),
    ] {
        let mut payload =
            claude.call("PostToolUse", "Read", json!({"file_path": path, "limit": 1e300, "offset": -5}));
        payload["tool_response"] = json!({"type": "text", "file": file});
        assert_eq!(claude.hook("claude-post-read", &payload).ok().stdout, "", "{payload}");
    }
    claude.end_round();
    claude.read("a.txt", Part::All).is_native();
}

#[test]
fn results_of_other_forms_are_passed_over() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    for response in [
        json!({"type": "image", "file": {"base64": "iVBORw0KGgo=", "type": "image/png", "originalSize": 8}}),
        json!({"type": "pdf", "file": {"filePath": path, "base64": "JVBERi0=", "originalSize": 8}}),
        json!({"type": "notebook", "file": {"filePath": path, "cells": []}}),
        json!({"type": "parts", "file": {"filePath": path, "count": 2}}),
        json!({"type": "of tomorrow", "file": {}}),
    ] {
        let mut payload = claude.call("PostToolUse", "Read", json!({"file_path": path}));
        payload["tool_response"] = response;
        assert_eq!(claude.hook("claude-post-read", &payload).ok().stdout, "");
    }
    assert_eq!(claude.log(), "");
}

#[test]
fn names_that_another_version_registered_are_answered() {
    let claude = Claude::new();
    for name in ["claude-bash", "", "..", "\u{1b}[2J", "codex"] {
        let output = claude.hook_raw(name, "x".repeat(100_000)).ok();
        assert_eq!(output.stdout, "{}\n");
        assert!(output.stderr.starts_with("drip: ignoring stale hook subcommand `"), "{}", output.stderr);
        assert!(!output.stderr.contains('\u{1b}'));
    }
}

#[test]
fn switched_off_it_does_nothing_at_all() {
    let mut claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.env.push(("DRIP_DISABLE", "1"));
    for _ in 0..2 {
        claude.read("a.txt", Part::All).is_native();
        claude.bash("cat a.txt").is_native();
        claude.edit("a.txt", "line 50 holds", "line 50 holds");
        assert_eq!(claude.session_starts("compact"), None);
    }
    assert!(!claude.home.data().join("drip").exists());
    claude.env[0].1 = "0";
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn a_store_that_cannot_be_used_leaves_every_read_to_the_client() {
    for broken in ["newer", "open", "occupied"] {
        let claude = Claude::new();
        claude.home.write("a.txt", lines(100));
        claude.read("a.txt", Part::All).is_native();
        let store = claude.home.data().join("drip");
        match broken {
            "newer" => {
                let newer = "PRAGMA user_version = 999";
                let _ = claude
                    .home
                    .run(claude.home.command("sqlite3").arg(store.join("sessions.db")).arg(newer))
                    .ok();
            }
            "open" => fs::set_permissions(&store, fs::Permissions::from_mode(0o777)).unwrap(),
            _ => {
                fs::remove_dir_all(&store).unwrap();
                fs::write(&store, "not a directory").unwrap();
            }
        }
        for _ in 0..3 {
            claude.read_in_round("a.txt", Part::All).is_native();
        }
        assert!(claude.log().contains("\"error\":"), "{broken}");
    }
}

#[test]
fn a_store_that_is_broken_is_set_aside_and_forgotten() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let store = claude.home.data().join("drip");
    for file in ["sessions.db", "sessions.db-wal"] {
        fs::write(store.join(file), "this is no database at all, however long one looks at it").unwrap();
    }
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    assert!(claude.log().contains(".corrupt-"), "{}", claude.log());
}

#[test]
fn a_home_that_cannot_be_written_is_no_trouble_for_the_client() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    let drip = claude.home.install("drip");
    let mut payload = claude.call("PostToolUse", "Read", json!({"file_path": path}));
    payload["tool_response"] = crate::claude::shown(&path, Part::All);
    payload.as_object_mut().unwrap().remove("tool_use_id");
    for _ in 0..2 {
        let mut command = claude.home.command(&drip);
        let output = claude
            .home
            .run_with(as_other_uid(command.args(["hook", "claude-post-read"])), payload.to_string());
        assert_eq!((output.stdout.as_str(), output.code), ("", 0), "{}", output.transcript());
    }
    // Nor is one that is not there.
    let mut command = claude.home.command(bin("drip"));
    command.args(["hook", "claude-post-read"]).env("HOME", "relative");
    assert_eq!(claude.home.run_with(&mut command, payload.to_string()).transcript(), "[exit status: 0]\n");
    // And one that can is used.
    give_away(claude.home.path());
    for beginning in ["", "{"] {
        let mut command = claude.home.command(&drip);
        let output = claude
            .home
            .run_with(as_other_uid(command.args(["hook", "claude-post-read"])), payload.to_string());
        assert!(output.stdout.starts_with(beginning) && output.stdout.is_empty() == beginning.is_empty());
    }
}
