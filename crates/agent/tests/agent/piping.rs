//! Pipes: what comes in, what goes out, and nothing in between.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model::turn;

use crate::rig::{Rig, calls, results, says, stream, words};

#[test]
fn all_of_a_pipe_is_one_prompt() {
    let rig = Rig::new([says("ok")]);
    let _ = rig.piped(&[], "first line\n\n  second line\nthird\n").ok();
    let requests = rig.requests();
    assert!(words(&requests[0]["messages"][0]).ends_with("first line\n\n  second line\nthird"));
}

#[test]
fn an_argument_and_a_pipe_are_both_sent() {
    let rig = Rig::new([says("ok")]);
    let _ = rig.piped(&["explain", "this"], "fn main() {}\n").ok();
    assert!(words(&rig.requests()[0]["messages"][0]).ends_with("explain this\n\nfn main() {}"));
}

#[test]
fn an_empty_pipe_asks_nobody() {
    let rig = Rig::new([]);
    for nothing in ["", "\n \n\t"] {
        let output = rig.piped(&[], nothing);
        assert_eq!(output.transcript(), "[exit status: 0]\n");
    }
    assert_eq!(rig.requests().len(), 0);
}

#[test]
fn bytes_that_are_no_text_are_sent_as_text() {
    let rig = Rig::new([says("ok")]);
    let mut command = rig.command(&[]);
    let output = rig.home.run_with(&mut command, b"caf\xe9 \0 ok").ok();
    assert_eq!(output.stdout, "ok\n");
    assert!(words(&rig.requests()[0]["messages"][0]).contains("caf\u{fffd}"));
}

#[test]
fn words_are_on_standard_output_and_everything_else_is_not() {
    let rig = Rig::new([stream(turn().say("A.").call("bash", &json!({"command": "echo out"}))), says("B.")]);
    let output = rig.run(&["--permission", "all", "x"]).ok();
    assert_eq!(output.stdout, "A.\nB.\n");
    assert!(output.stderr.contains("bash echo out"), "{}", output.stderr);
    assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'));
    drop(rig.requests());
}

#[test]
fn text_is_written_while_it_arrives() {
    let pause = Duration::from_secs(600);
    let rig = Rig::new([stream(turn().say_in(["first\n", "second"])).pause_at("second", pause)]);
    let mut child = rig
        .command(&["x"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "first\n");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(rig.server.finish());
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let rig = Rig::new([says(&"many words ".repeat(20_000))]);
    let mut shell = rig.home.command("bash");
    let line = format!(
        "set -o pipefail; {} --api-url {} x | head -c 5",
        testkit::bin("agent").display(),
        rig.server.url()
    );
    let output = rig.home.run(shell.args(["-c", &line]).current_dir(rig.project()));
    assert_eq!((output.stdout.as_str(), output.code), ("many ", 0), "{}", output.transcript());
    drop(rig.server.finish());
}

#[test]
fn a_pipe_may_read_and_not_write_unless_it_is_told_so() {
    let edit = || calls("edit_file", &json!({"path": "a.txt", "old_str": "", "new_str": "hello\n"}));
    let rig = Rig::new([
        edit(),
        says("no"),
        edit(),
        says("yes"),
        calls("bash", &json!({"command": "echo x > b.txt"})),
        says("no"),
    ]);
    let _ = rig.run(&["x"]).ok();
    assert!(!rig.project().join("a.txt").exists());
    let _ = rig.run(&["--permission", "edits", "x"]).ok();
    assert_eq!(rig.home.read("p/a.txt"), "hello\n");
    let _ = rig.run(&["--permission", "edits", "x"]).ok();
    assert!(!rig.project().join("b.txt").exists());
    let requests = rig.requests();
    let [(told, true)] = &results(&requests[1])[..] else { panic!("{}", requests[1]) };
    assert!(told.contains("only reading is allowed"), "{told}");
    assert!(matches!(&results(&requests[3])[..], [(_, false)]));
    assert!(matches!(&results(&requests[5])[..], [(_, true)]));
}

#[test]
fn events_for_programs_are_json_lines_from_the_first_to_the_last() {
    let rig = Rig::new([stream(turn().think("hm", "s").call("list_files", &json!({}))), says("Empty.")]);
    let output = rig.run(&["--json", "look"]).ok();
    let events: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds.first(), Some(&"session"));
    let wanted = ["session", "thinking", "reply", "tool_call", "tool_result", "text", "reply", "end"];
    assert_eq!(kinds, wanted, "{}", output.transcript());
    let end = events.last().unwrap();
    assert_eq!((&end["reason"], &end["exit"], &end["requests"]), (&json!("done"), &json!(0), &json!(2)));
    assert_eq!(output.stderr, "");
    drop(rig.requests());
}

#[test]
fn a_failure_for_programs_is_json_too() {
    let rig =
        Rig::new([testkit::model::Wire::Anthropic.failure(401, "authentication_error", "invalid x-api-key")]);
    let output = rig.run(&["--json", "x"]);
    assert_eq!(output.code, 3);
    let failure: Value = serde_json::from_str(output.stderr.lines().last().unwrap()).unwrap();
    assert!(failure["error"].as_str().unwrap().contains("invalid x-api-key"), "{failure}");
    assert_eq!(failure["exit"], 3);
    drop(rig.server.finish());
}
