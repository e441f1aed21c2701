//! Codex: it reads through its shell, and takes the reason of a refusal as the output.

use std::fs;

use serde_json::{Value, json};

use crate::claude::{Claude, lines};

/// A command and its output go through the hook; gives what the model is told instead.
fn ran(home: &Claude, command: &str, shown: &str) -> Option<String> {
    let payload = json!({
        "session_id": "0198-codex", "turn_id": "t1", "transcript_path": "/t/rollout.jsonl", "cwd": home.home.path(),
        "hook_event_name": "PostToolUse", "model": "gpt-5.1-codex", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_response": shown,
    });
    let said = home.hook("codex-post", &payload).ok().stdout;
    let answer: Value = if said.is_empty() { return None } else { serde_json::from_str(&said).unwrap() };
    assert_eq!(answer["decision"], "block");
    assert_eq!(answer.as_object().unwrap().len(), 2);
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.len() < 10_000 && reason.len() < shown.len());
    Some(reason.to_owned())
}

#[test]
fn a_file_that_was_shown_is_told_in_a_line_or_as_what_changed() {
    let home = Claude::new();
    let path = home.home.write("a.txt", lines(100));
    assert_eq!(ran(&home, "cat a.txt", &lines(100)), None);
    assert!(ran(&home, "cat a.txt", &lines(100)).unwrap().starts_with("[DRIP: unchanged since last read | "));
    let part: String = lines(60).lines().skip(19).map(|line| format!("{line}\n")).collect();
    assert!(
        ran(&home, "sed -n '20,60p' a.txt", &part).unwrap().starts_with("[DRIP: unchanged (lines 20-60)")
    );
    let changed = lines(100).replace("line 50 ", "LINE 50 ");
    fs::write(path, &changed).unwrap();
    let delta = ran(&home, "cat a.txt", &changed).unwrap();
    assert!(delta.starts_with("[DRIP: delta only | ") && delta.contains("\n+LINE 50 holds"), "{delta}");
}

#[test]
fn output_that_was_cut_is_no_proof() {
    let home = Claude::new();
    home.home.write("a.txt", lines(1000));
    let cut = format!("{}\n[... omitted ...]\n{}", lines(100), lines(10));
    assert_eq!(ran(&home, "cat a.txt", &cut), None);
    assert_eq!(ran(&home, "cat a.txt", &cut), None);
    let part: String = lines(1000).lines().skip(899).map(|line| format!("{line}\n")).collect();
    assert_eq!(ran(&home, "sed -n 900,1000p a.txt", &part), None);
    assert!(ran(&home, "sed -n 900,1000p a.txt", &part).is_some());
}

#[test]
fn a_compaction_or_a_resumed_session_forgets() {
    let home = Claude::new();
    home.home.write("a.txt", lines(100));
    for event in [
        json!({"hook_event_name": "PostCompact", "trigger": "auto"}),
        json!({"hook_event_name": "SessionStart", "source": "compact"}),
        json!({"hook_event_name": "SessionStart", "source": "resume"}),
    ] {
        assert_eq!(ran(&home, "cat a.txt", &lines(100)), None);
        assert!(ran(&home, "cat a.txt", &lines(100)).is_some());
        let mut event = event;
        event["session_id"] = json!("0198-codex");
        event["cwd"] = json!(home.home.path());
        assert_eq!(home.hook("codex-session", &event).ok().stdout, "");
    }
}

#[test]
fn the_answer_is_never_too_long_to_be_shown_whole() {
    let home = Claude::new();
    let path = home.home.write("a.txt", lines(220));
    assert_eq!(ran(&home, "cat a.txt", &lines(220)), None);
    let long = "x".repeat(11_000);
    let changed = lines(220).replace("line 50 ", &long);
    fs::write(path, &changed).unwrap();
    assert_eq!(ran(&home, "cat a.txt", &changed), None);
    assert!(ran(&home, "cat a.txt", &changed).unwrap().starts_with("[DRIP: unchanged"));
}
