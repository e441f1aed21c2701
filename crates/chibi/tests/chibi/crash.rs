//! Killed in the middle of a turn, a rotation or a compaction: what was told is there, once, and the next run goes on.

use std::collections::BTreeSet;

use testkit::Crash;

use super::*;

/// Calls a tool and then answers; when it is asked to make room, it does.
fn worker() -> Server {
    Server::answering(|request| {
        let body = request.json();
        let messages = body["messages"].as_array().unwrap();
        let system = messages[0]["content"].as_str().unwrap_or_default();
        let last = messages.iter().rev().find(|said| said["role"] != "system").unwrap();
        match () {
            () if system.contains("may be archived") => says("[]"),
            () if system.contains("new summary") => says("They talked."),
            () if last["role"] == "tool" => says("done"),
            () => said(turn().say("Let me see.").call("update_todos", &json!({"content": "x"}))),
        }
    })
}

fn ids(lines: &str) -> Vec<String> {
    let whole = lines.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let entries = whole.map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_was_told_survives_a_kill_at_any_moment() {
    let server = worker();
    let chibi = Chibi::asking(&server);
    chibi.configure(
        &server,
        "auto_compact = true\nauto_compact_threshold = 0.0\n[storage]\npartition_max_entries = 7\n",
    );
    let mut told: BTreeSet<String> = BTreeSet::new();
    let report = Crash::new(0xc41b1).points(20).run(
        |number| chibi.command(&["--json-output", &format!("prompt {number}")]),
        |attempt| {
            told.extend(ids(&attempt.output.stdout));
            let exported: Value =
                serde_json::from_str(&chibi.run(&["--export", "json"]).ok().stdout).unwrap();
            let entries = exported["entries"].as_array().unwrap();
            let kept: Vec<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
            let unique: BTreeSet<&str> = kept.iter().copied().collect();
            assert_eq!(unique.len(), kept.len(), "an entry was written twice");
            let lost: Vec<&String> = told.iter().filter(|id| !unique.contains(id.as_str())).collect();
            assert!(lost.is_empty(), "{} of {} entries were lost", lost.len(), told.len());
        },
    );
    assert!(report.hits > 0);
    assert_eq!(chibi.run(&["are you there?"]).ok().stdout, "Let me see.\ndone\n");
    assert!(told.len() > 20, "{}", told.len());
    drop(server);
}
