//! The payloads of the real clients, as they were recorded, and the answers that were seen to work.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::claude::Claude;

/// A recorded payload, with `[HOME]` for the working directory.
fn payload(home: &Claude, name: &str) -> Value {
    let text = match name {
        "claude-325-read" => include_str!("payloads/claude-325-read.json"),
        "claude-325-read-cut" => include_str!("payloads/claude-325-read-cut.json"),
        "claude-197-read" => include_str!("payloads/claude-197-read.json"),
        "claude-197-unchanged" => include_str!("payloads/claude-197-unchanged.json"),
        "claude-325-sub-agent" => include_str!("payloads/claude-325-sub-agent.json"),
        "claude-325-edit" => include_str!("payloads/claude-325-edit.json"),
        "claude-325-bash" => include_str!("payloads/claude-325-bash.json"),
        "claude-325-batch" => include_str!("payloads/claude-325-batch.json"),
        "claude-325-compact" => include_str!("payloads/claude-325-compact.json"),
        "codex-cat" => include_str!("payloads/codex-cat.json"),
        "gemini-read" => include_str!("payloads/gemini-read.json"),
        "gemini-turn" => include_str!("payloads/gemini-turn.json"),
        other => panic!("no payload {other}"),
    };
    let home = home.home.path().to_str().unwrap();
    serde_json::from_str(&text.replace("[HOME]", home)).unwrap()
}

fn alpha() -> String {
    (1..=10).map(|line| format!("line {line} alpha\n")).collect()
}

#[track_caller]
fn said(home: &Claude, hook: &str, name: &str) -> Value {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let mut payload = payload(home, name);
    if payload.get("tool_use_id").is_some() {
        payload["tool_use_id"] = json!(format!("call_{}", CALLS.fetch_add(1, Ordering::Relaxed)));
    }
    let output = home.hook(hook, &payload).ok();
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() { Value::Null } else { serde_json::from_str(&output.stdout).unwrap() }
}

#[test]
fn both_versions_of_claude_code_take_the_answer_to_a_read() {
    for name in ["claude-325-read", "claude-197-read"] {
        let home = Claude::new();
        home.home.write("a.txt", alpha());
        assert_eq!(said(&home, "claude-post-read", name), Value::Null);
        assert_eq!(said(&home, "claude-post-batch", "claude-325-batch"), Value::Null);
        let path = home.path("a.txt");
        let unchanged =
            format!("[DRIP: unchanged since last read | 0 tokens sent (39 saved) | {}]", path.display());
        assert_eq!(
            said(&home, "claude-post-read", name),
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {
                "type": "text",
                "file": {"filePath": path, "content": unchanged, "numLines": 1, "startLine": 0, "totalLines": 11},
            }}})
        );
    }
}

#[test]
fn the_mark_of_a_cut_page_is_not_in_any_answer() {
    let home = Claude::new();
    home.home.write("a.txt", crate::claude::lines(40));
    for _ in 0..2 {
        assert_eq!(said(&home, "claude-post-read", "claude-325-read-cut"), Value::Null);
        assert_eq!(said(&home, "claude-post-batch", "claude-325-batch"), Value::Null);
    }
}

#[test]
fn an_older_client_that_shows_nothing_is_answered_only_where_its_own_word_would_mislead() {
    let home = Claude::new();
    let path = home.home.write("a.txt", crate::claude::lines(100));
    let next = || assert_eq!(said(&home, "claude-post-batch", "claude-325-batch"), Value::Null);
    // Nothing was shown as far as we know.
    assert_eq!(said(&home, "claude-post-read", "claude-197-unchanged"), Value::Null);
    home.read("a.txt", crate::claude::Part::All).is_native();
    // The text is where the client says it is.
    let unchanged = |home: &Claude| {
        let mut payload = payload(home, "claude-197-unchanged");
        payload["session_id"] = json!("3f1c9a52-main");
        let output = home.hook("claude-post-read", &payload).ok().stdout;
        if output.is_empty() { Value::Null } else { serde_json::from_str(&output).unwrap() }
    };
    assert_eq!(unchanged(&home), Value::Null);
    fs::write(&path, crate::claude::lines(100).replace("line 50 ", "LINE 50 ")).unwrap();
    home.read("a.txt", crate::claude::Part::All).is_ours("46\t[DRIP: delta only");
    // The last result was a delta: the client's word would send the model to look for a file there.
    let answer = unchanged(&home);
    let file = &answer["hookSpecificOutput"]["updatedToolOutput"]["file"];
    assert!(file["content"].as_str().unwrap().starts_with("[DRIP: unchanged since last read | "), "{answer}");
    assert_eq!((&file["startLine"], &file["totalLines"]), (&json!(0), &json!(101)));
    next();
    // It says so after a change that it did not notice: we do not.
    fs::write(&path, crate::claude::lines(100)).unwrap();
    assert_eq!(unchanged(&home), Value::Null);
}

#[test]
fn a_sub_agent_is_told_apart_by_its_id() {
    let home = Claude::new();
    home.home.write("a.txt", alpha());
    assert_eq!(said(&home, "claude-post-read", "claude-325-read"), Value::Null);
    assert_eq!(said(&home, "claude-post-batch", "claude-325-batch"), Value::Null);
    assert_eq!(said(&home, "claude-post-read", "claude-325-sub-agent"), Value::Null);
}

#[test]
fn an_edit_moves_what_is_known_and_a_compaction_ends_it() {
    let home = Claude::new();
    let path = home.home.write("a.txt", alpha());
    assert_eq!(said(&home, "claude-post-read", "claude-325-read"), Value::Null);
    fs::write(&path, alpha().replace("line 3 alpha", "line 3 beta")).unwrap();
    assert_eq!(said(&home, "claude-post-edit", "claude-325-edit"), json!({}));
    assert_eq!(said(&home, "claude-post-batch", "claude-325-batch"), Value::Null);
    let bash = said(&home, "claude-post-bash", "claude-325-bash");
    let response = &bash["hookSpecificOutput"]["updatedToolOutput"];
    assert!(response["stdout"].as_str().unwrap().contains(" | as your edit left it | "), "{bash}");
    assert_eq!(response["stderr"], "");
    assert_eq!(said(&home, "claude-compact", "claude-325-compact"), Value::Null);
    assert_eq!(said(&home, "claude-post-bash", "claude-325-bash"), Value::Null);
}

#[test]
fn codex_and_gemini_take_the_answer_to_a_read() {
    let home = Claude::new();
    home.home.write("a.txt", alpha());
    assert_eq!(said(&home, "codex-post", "codex-cat"), Value::Null);
    let path = "a.txt";
    let line = format!("[DRIP: unchanged since last read | 0 tokens sent (33 saved) | {path}]\n");
    assert_eq!(said(&home, "codex-post", "codex-cat"), json!({"decision": "block", "reason": line}));
    for _ in 0..2 {
        assert_eq!(said(&home, "gemini-turn", "gemini-turn"), Value::Null);
        let _ = said(&home, "gemini-after", "gemini-read");
    }
    assert_eq!(said(&home, "gemini-turn", "gemini-turn"), Value::Null);
    let reason = format!("{line}(not an error: this is the result of the read)");
    assert_eq!(said(&home, "gemini-after", "gemini-read"), json!({"decision": "deny", "reason": reason}));
}
