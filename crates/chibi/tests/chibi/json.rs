//! Commands as JSON on standard input, and answers as JSON lines.

use super::*;

impl Chibi {
    /// The lines of standard output.
    #[track_caller]
    fn json(&self, input: &Value) -> Vec<Value> {
        let output = self.piped(&["--json-config", "--json-output"], &input.to_string()).ok();
        assert_eq!(output.stderr, "", "{input}");
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    fn command_result(&self, command: &Value) -> Value {
        let mut lines = self.json(&json!({"command": command}));
        assert_eq!(lines.len(), 1, "{lines:?}");
        let line = lines.remove(0);
        assert_eq!(
            (&line["from"], &line["to"], &line["entry_type"]),
            (&json!("system"), &json!("user"), &json!("result"))
        );
        line
    }
}

#[test]
fn a_prompt_is_answered_in_entries_in_their_order() {
    let server =
        Server::scripted([said(turn().call("update_todos", &json!({"content": "x"}))), says("done")]);
    let chibi = Chibi::asking(&server);
    let lines = chibi.json(
        &json!({"command": {"send_prompt": {"prompt": "go"}}, "username_override": {"transient": "ada"}}),
    );
    let kinds: Vec<&str> = lines.iter().map(|line| line["entry_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "tool_call", "tool_result", "message"]);
    assert_eq!((&lines[0]["from"], &lines[0]["content"]), (&json!("ada"), &json!("go")));
    assert_eq!(lines[3]["content"], "done");
    let ids: std::collections::BTreeSet<String> = lines.iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(ids.len(), 4);
    drop(server);
}

#[test]
fn every_command_can_be_told_as_json() {
    let server = Server::scripted([says("one"), says("two"), says("summary"), says("I have it.")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("hey", &bash_tool("hey", "echo \"hey $CHIBI_TOOL_ARGS\""));
    chibi
        .json(&json!({"command": {"send_prompt": {"prompt": "1"}}, "context": {"switch": {"name": "work"}}}));
    chibi.json(&json!({"command": {"send_prompt": {"prompt": "2"}}}));
    assert_eq!(
        chibi.json(&json!({"command": "no_op", "context": {"transient": {"name": "aside"}}})).len(),
        0
    );
    let list = chibi.command_result(&json!("list_contexts"));
    assert_eq!(list["content"], "  aside\n* work");
    assert_eq!(list["metadata"]["data"][1], json!({"name": "work", "current": true, "status": null}));
    let current = chibi.command_result(&json!("list_current_context"));
    assert_eq!(current["metadata"]["data"]["messages"], 4);
    assert!(chibi.command_result(&json!("show_help"))["content"].as_str().unwrap().contains("Usage: chibi"));
    assert!(chibi.command_result(&json!("show_version"))["content"].as_str().unwrap().starts_with("chibi "));
    let log = chibi.json(&json!({"command": {"show_log": {"count": 2}}}));
    assert_eq!((&log[0]["content"], &log[1]["content"]), (&json!("2"), &json!("two")));
    chibi.command_result(&json!({"set_system_prompt": {"prompt": "Be kind."}}));
    assert_eq!(chibi.command_result(&json!({"inspect": {"thing": "system_prompt"}}))["content"], "Be kind.");
    assert_eq!(
        chibi.command_result(&json!({"run_plugin": {"name": "hey", "args": ["you"]}}))["content"],
        "hey {\"args\":[\"you\"]}\n"
    );
    assert_eq!(
        chibi.command_result(&json!({"call_tool": {"name": "hey", "args": ["{}"]}}))["content"],
        "hey {}\n"
    );
    assert_eq!(chibi.json(&json!({"command": {"search": {"query": "two"}}}))[0]["content"], "two");
    assert_eq!(chibi.json(&json!({"command": "show_last"}))[0]["content"], "two");
    let plugins = chibi.command_result(&json!("list_plugins"));
    assert_eq!(plugins["metadata"]["data"][0]["tools"], json!(["hey"]));
    let compacted = chibi.json(&json!({"command": {"compact_context": {}}}));
    assert!(compacted[0]["content"].as_str().unwrap().starts_with("Compacted 2 exchanges"), "{compacted:?}");
    chibi.command_result(&json!("undo_compaction"));
    assert_eq!(chibi.command_result(&json!("list_pins"))["metadata"]["data"], json!([]));
    chibi.command_result(&json!("usage"));
    chibi.command_result(&json!({"rename_context": {"new": "renamed"}}));
    chibi.command_result(&json!({"archive_history": {}}));
    assert_eq!(chibi.command_result(&json!({"destroy_context": {"name": "aside"}}))["content"], "Aborted");
    let destroyed =
        chibi.json(&json!({"command": {"delete_context": {"name": "aside"}}, "flags": {"yes": true}}));
    assert_eq!(destroyed[0]["content"], "Destroyed context `aside`.");
    drop(server);
}

#[test]
fn what_is_wrong_is_an_entry_too() {
    let chibi = Chibi::bare();
    for (input, code) in [
        ("nonsense".to_owned(), 2),
        (json!({"command": {"send_prompt": {"prompt": "  "}}}).to_string(), 2),
        (json!({"command": {"show_log": {"context": "../x", "count": 1}}}).to_string(), 2),
        (json!({"command": {"show_log": {"context": "missing", "count": 1}}}).to_string(), 1),
        (json!({"command": {"inspect": {"thing": "nothing"}}}).to_string(), 2),
    ] {
        let output = chibi.piped(&["--json-config", "--json-output"], &input);
        assert_eq!(output.code, code, "{input}: {}", output.transcript());
        let entry: Value = serde_json::from_str(output.stderr.lines().last().unwrap()).unwrap();
        assert_eq!(entry["entry_type"], "error", "{input}");
        assert_eq!(entry["metadata"]["exit"], code);
    }
}

#[test]
fn diagnostics_are_entries_on_standard_error() {
    let server = Server::scripted([says("ok")]);
    let chibi = Chibi::asking(&server);
    let input = json!({"command": {"send_prompt": {"prompt": "go"}}, "flags": {"verbose": true, "json_output": true}});
    let output = chibi.piped(&["--json-config"], &input.to_string()).ok();
    for line in output.stderr.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["entry_type"], "diagnostic");
    }
    assert!(output.stderr.lines().count() > 0);
    drop(server);
}
