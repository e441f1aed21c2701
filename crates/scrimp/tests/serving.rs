//! `scrimp mcp` as a client meets it: one server, and the tools of all of them behind it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test: fixtures are plain files")]

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Home, bin};

/// What comes back for these calls on one connection, after the handshake's answer.
fn replies(home: &Home, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut command = home.command(bin("scrimp"));
    command.arg("mcp").current_dir(home.path().join("project"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let all = [("initialize", hello)].into_iter().chain(calls.iter().cloned());
    for (id, (method, params)) in all.enumerate() {
        writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn project() -> Home {
    let home = Home::new();
    let lines: String = (0..200).map(|number| format!("# line {number}\n")).collect();
    home.write("project/a.py", format!("def parse():\n    pass\n\ndef run():\n    parse()\n{lines}"));
    home
}

#[test]
fn a_read_and_a_question_are_answered_on_one_connection() {
    let home = project();
    let call = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let read = || call("read_file", json!({"file_path": "a.py"}));
    let said = replies(&home, &[read(), read(), call("impact", json!({"func": "parse"}))]);
    let text = |reply: &Value| reply["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text(&said[0]).contains("# line 199"), "{}", said[0]);
    assert!(text(&said[1]).contains("unchanged") && text(&said[1]).len() < 300, "{}", said[1]);
    let answer: Value = serde_json::from_str(&text(&said[2])).unwrap();
    assert_eq!(answer["status"], "ok");
    assert!(text(&said[2]).contains("\"run\""), "{answer}");
}

#[test]
fn every_tool_has_a_name_of_its_own_and_an_unknown_one_is_an_error() {
    let home = project();
    let said = replies(&home, &[("tools/list", json!({})), ("tools/call", json!({"name": "rm"}))]);
    let tools = said[0]["result"]["tools"].as_array().unwrap();
    let names: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), tools.len(), "{names:?}");
    assert!(["read_file", "read_many", "refresh", "impact", "slice"].iter().all(|name| names.contains(name)));
    assert_eq!(said[1]["error"]["message"], "unknown tool: rm");
}
