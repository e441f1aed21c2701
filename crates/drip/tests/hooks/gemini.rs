//! Gemini: it takes the reason of a refusal as an error, compacts without a word, and does not name its sub-agents.

use std::fs;

use serde_json::{Value, json};

use crate::claude::{Claude, lines};

fn event(home: &Claude, name: &str) -> Value {
    json!({
        "session_id": "gem-1", "transcript_path": "/t/g.json", "cwd": home.home.path(), "hook_event_name": name,
        "timestamp": "2026-11-15T10:00:00Z",
    })
}

/// A read goes through the hook; gives what the model is told instead.
fn read(home: &Claude, input: Value, shown: &str) -> Option<String> {
    let mut payload = event(home, "AfterTool");
    payload["tool_name"] = json!("read_file");
    payload["tool_input"] = input;
    payload["tool_response"] = json!({"llmContent": shown, "returnDisplay": ""});
    let said = home.hook("gemini-after", &payload).ok().stdout;
    let answer: Value = if said.is_empty() { return None } else { serde_json::from_str(&said).unwrap() };
    assert_eq!(answer["decision"], "deny");
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("\n(not an error: this is the result of the read)"), "{reason}");
    Some(reason.to_owned())
}

/// The model is asked; its request holds these messages.
fn turn(home: &Claude, messages: &Value) {
    let mut payload = event(home, "BeforeModel");
    payload["llm_request"] = json!({"model": "gemini", "messages": messages, "config": {}});
    assert_eq!(home.hook("gemini-turn", &payload).ok().stdout, "");
}

fn hello() -> Value {
    json!([{"role": "user", "content": "hello"}])
}

fn a() -> Value {
    json!({"file_path": "a.txt"})
}

#[test]
fn a_file_that_was_shown_is_told_in_a_line_or_as_what_changed() {
    let home = Claude::new();
    let path = home.home.write("a.txt", lines(100));
    turn(&home, &hello());
    assert_eq!(read(&home, a(), &lines(100)), None);
    turn(&home, &hello());
    assert!(read(&home, a(), &lines(100)).unwrap().starts_with("[DRIP: unchanged since last read | "));
    let changed = lines(100).replace("line 50 ", "LINE 50 ");
    fs::write(path, &changed).unwrap();
    turn(&home, &hello());
    let delta = read(&home, a(), &changed).unwrap();
    assert!(delta.starts_with("[DRIP: delta only | ") && delta.contains("\n+LINE 50 holds"), "{delta}");
}

#[test]
fn only_the_lines_of_a_page_count() {
    let home = Claude::new();
    home.home.write("a.txt", lines(3000));
    let page = |first: usize, last: usize, cut: &str| {
        let shown: Vec<String> =
            lines(last).lines().skip(first - 1).map(|line| line.replace(cut, "... [truncated]")).collect();
        format!(
            "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines {first}-{last} of 3001 total lines.\n\
             Action: To read more of the file, use start_line: {}.\n\n--- FILE CONTENT (truncated) ---\n{}",
            last + 1,
            shown.join("\n")
        )
    };
    let from =
        |first: usize, last: usize| json!({"file_path": "a.txt", "start_line": first, "end_line": last});
    turn(&home, &hello());
    assert_eq!(read(&home, a(), &page(1, 2000, "\0")), None);
    turn(&home, &hello());
    assert_eq!(read(&home, from(2001, 2600), &page(2001, 2600, "\0")), None);
    turn(&home, &hello());
    let seen = read(&home, from(100, 400), &page(100, 400, "\0")).unwrap();
    assert!(seen.starts_with("[DRIP: unchanged (lines 100-400)"), "{seen}");
    assert_eq!(read(&home, from(2590, 2700), &page(2590, 2700, "\0")), None);
    // A line that was cut was not shown.
    assert_eq!(read(&home, from(2800, 2900), &page(2800, 2900, "2850 holds some text of its own")), None);
    turn(&home, &hello());
    assert_eq!(read(&home, from(2800, 2900), &page(2800, 2900, "\0")), None);
}

#[test]
fn a_snapshot_among_the_messages_is_a_compaction() {
    let home = Claude::new();
    home.home.write("a.txt", lines(100));
    let snapshot =
        |text: &str| json!([{"role": "user", "content": format!("<state_snapshot>{text}</state_snapshot>")}]);
    for messages in [hello(), snapshot("one"), snapshot("two")] {
        turn(&home, &messages);
        assert_eq!(read(&home, a(), &lines(100)), None, "{messages}");
        turn(&home, &messages);
        assert!(read(&home, a(), &lines(100)).is_some(), "{messages}");
    }
}

#[test]
fn without_the_requests_nothing_is_built_upon() {
    let home = Claude::new();
    home.home.write("a.txt", lines(100));
    for _ in 0..3 {
        assert_eq!(read(&home, a(), &lines(100)), None);
    }
}

#[test]
fn what_a_sub_agent_reads_is_its_own() {
    let home = Claude::new();
    home.home.write("a.txt", lines(100));
    home.home.write("b.txt", lines(100));
    let agent = |hook: &str| {
        let mut payload = event(&home, "BeforeTool");
        payload["tool_name"] = json!("invoke_agent");
        payload["tool_input"] = json!({"agent_name": "helper", "prompt": "look"});
        payload["tool_response"] = json!({"llmContent": "done"});
        assert_eq!(home.hook(hook, &payload).ok().stdout, "");
    };
    turn(&home, &hello());
    assert_eq!(read(&home, a(), &lines(100)), None);
    turn(&home, &hello());
    agent("gemini-before");
    // Its own requests know nothing of the main agent's past.
    turn(&home, &json!([{"role": "user", "content": "look"}]));
    for file in ["a.txt", "b.txt"] {
        assert_eq!(read(&home, json!({"file_path": file}), &lines(100)), None);
        assert_eq!(read(&home, json!({"file_path": file}), &lines(100)), None);
    }
    agent("gemini-after");
    turn(&home, &hello());
    assert!(read(&home, a(), &lines(100)).is_some());
    assert_eq!(read(&home, json!({"file_path": "b.txt"}), &lines(100)), None);
}

#[test]
fn a_session_that_starts_again_forgets() {
    let home = Claude::new();
    home.home.write("a.txt", lines(100));
    for source in ["resume", "startup"] {
        turn(&home, &hello());
        assert_eq!(read(&home, a(), &lines(100)), None);
        turn(&home, &hello());
        assert!(read(&home, a(), &lines(100)).is_some());
        let mut start = event(&home, "SessionStart");
        start["source"] = json!(source);
        assert_eq!(home.hook("gemini-session", &start).ok().stdout, "");
    }
}

#[test]
fn the_seeds_own_hook_gives_the_text_of_a_read() {
    let home = Claude::new();
    home.home.write("a.txt", lines(100));
    let said = || home.hook("gemini", &json!({"file_path": "a.txt"})).ok().stdout;
    assert!(said().starts_with("[DRIP: full read | "));
    assert!(said().starts_with("[DRIP: unchanged since last read | "));
    for input in ["", "{}", "{\"sessionId\":\"x\"}"] {
        assert_eq!(home.hook_raw("gemini-compress", input).ok().stdout, "{}\n");
    }
    assert!(said().starts_with("[DRIP: full read | "));
    assert_eq!(home.hook("gemini", &json!({"file_path": "missing"})).ok().stdout, "");
    let mut off = Claude::new();
    off.env.push(("DRIP_DISABLE", "1"));
    off.home.write("a.txt", "raw\n");
    assert_eq!(off.hook("gemini", &json!({"file_path": "a.txt"})).ok().stdout, "raw\n");
}
