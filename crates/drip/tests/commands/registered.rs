//! What `init` registers, and nothing else, driven as the client would: whatever a hook needs to be told must be in there.

use std::fs;

use serde_json::{Value, json};

use crate::person::{Person, lines};

/// A client with the hooks of its settings file.
struct Client {
    person: Person,
    hooks: Value,
}

impl Client {
    fn new(init: &[&str], settings: &str) -> Client {
        let person = Person::new();
        person.says(init);
        let text = fs::read_to_string(person.project().join(settings)).unwrap();
        let hooks = serde_json::from_str::<Value>(&text).unwrap()["hooks"].take();
        Client { person, hooks }
    }

    /// An event; gives what the hooks that are registered for it answered.
    fn fire(&self, event: &str, details: &Value) -> Vec<Value> {
        let mut payload = json!({"session_id": "c-1", "transcript_path": "/t/c.json", "cwd": self.person.project(),
            "hook_event_name": event, "timestamp": "2026-11-15T10:00:00Z"});
        payload.as_object_mut().unwrap().extend(details.as_object().unwrap().clone());
        let groups = self.hooks[event].as_array().cloned().unwrap_or_default();
        let wanted = groups.iter().filter(|group| match (&group["matcher"], &details["tool_name"]) {
            // Names between bars, with or without anchors: all that we register.
            (Value::String(matcher), Value::String(tool)) => {
                matcher.trim_matches(['^', '$', '(', ')']).split('|').any(|name| name == tool)
            }
            (matcher, _) => matcher.is_null(),
        });
        let commands = wanted.flat_map(|group| group["hooks"].as_array().unwrap());
        commands
            .filter_map(|hook| {
                let mut shell = self.person.home.command("sh");
                shell.args(["-c", hook["command"].as_str().unwrap()]).current_dir(self.person.project());
                let said = self.person.home.run_with(&mut shell, payload.to_string()).ok();
                assert_eq!(said.stderr, "", "{hook}");
                (!said.stdout.is_empty()).then(|| serde_json::from_str(&said.stdout).unwrap())
            })
            .collect()
    }
}

#[test]
fn gemini_is_told_that_a_file_is_unchanged() {
    let client = Client::new(&["init", "--agent", "gemini"], ".gemini/settings.json");
    client.person.file("a.txt", lines(100));
    let turn = || {
        let messages = json!([{"role": "user", "content": "hello"}]);
        client.fire("BeforeModel", &json!({"llm_request": {"model": "gemini", "messages": messages}}))
    };
    let read = || {
        client.fire(
            "AfterTool",
            &json!({"tool_name": "read_file", "tool_input": {"file_path": "a.txt"},
                "tool_response": {"llmContent": lines(100), "returnDisplay": ""}}),
        )
    };
    client.fire("SessionStart", &json!({"source": "startup"}));
    turn();
    assert_eq!(read(), [] as [Value; 0]);
    turn();
    let said = read();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["decision"], "deny");
    assert!(said[0]["reason"].as_str().unwrap().starts_with("[DRIP: unchanged since last read | "));
}

#[test]
fn a_client_that_cannot_rewrite_is_answered_from_the_second_read_on() {
    let client = Client::new(&["init", "--mode", "deny"], ".claude/settings.json");
    let path = client.person.file("a.txt", lines(100));
    // Refused with an answer, or shown by the client itself.
    let read = || {
        let input = json!({"file_path": path});
        let before = client.fire("PreToolUse", &json!({"tool_name": "Read", "tool_input": input}));
        let reason =
            before.iter().find_map(|said| said["hookSpecificOutput"]["permissionDecisionReason"].as_str());
        if let Some(reason) = reason {
            return Some(reason.to_owned());
        }
        let file = json!({"filePath": path, "content": lines(100), "numLines": 101, "startLine": 1, "totalLines": 101});
        client.fire(
            "PostToolUse",
            &json!({"tool_name": "Read", "tool_input": input, "tool_response": {"type": "text", "file": file}}),
        );
        None
    };
    client.fire("SessionStart", &json!({"source": "startup"}));
    let reads: Vec<bool> = (0..4).map(|_| read().is_some()).collect();
    assert_eq!(reads, [false, true, true, true]);
    // A summary may have dropped the text.
    client.fire("PreCompact", &json!({"trigger": "auto"}));
    assert_eq!(read(), None);
}
