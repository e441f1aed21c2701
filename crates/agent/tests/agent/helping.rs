//! `task`: a helper with a budget and eyes of its own, whose every call can be found in the transcript of whoever sent it.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::model::turn;
use testkit::terminal::{Key, Size, Terminal};
use testkit::{PATIENCE, bin, until};

use crate::rig::{Rig, calls, results, says, stream};

/// What the transcript of the only conversation has of a helper: the tool, what it was given or how it ended, and the rest.
fn account(rig: &Rig) -> Vec<(String, String, Value)> {
    let folder = std::fs::read_dir(rig.home.path().join(".chibi/contexts")).unwrap().next().unwrap().unwrap();
    let transcript = std::fs::read_to_string(folder.path().join("transcript/active.jsonl")).unwrap();
    let entries = transcript.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let told = |entry: Value| match entry["entry_type"].as_str() {
        Some("tool_call") => (text(&entry["to"]), text(&entry["content"]), entry["metadata"].clone()),
        _ => (format!("{} gave", text(&entry["from"])), text(&entry["content"]), entry["metadata"].clone()),
    };
    entries.filter(|entry| entry["metadata"].get("helper_of").is_some()).map(told).collect()
}

#[test]
fn every_call_of_a_helper_stands_in_the_transcript_and_in_no_window() {
    let rig = Rig::new([
        calls("task", &json!({"prompt": "make it"})),
        stream(turn().call("read_file", &json!({"path": "a"})).call("code_search", &json!({"pattern": "x"}))),
        calls("bash", &json!({"command": "echo hi > made"})),
        calls("bash", &json!({"command": "touch forbidden"})),
        says("Made."),
        says("Done."),
        says("And again."),
    ]);
    let rule = "[[agent.rules]]\ntool = \"bash\"\ncommand = \"touch forbidden\"\nverdict = \"deny\"\n";
    rig.home.write(".config/scrimp/config.toml", rule);
    rig.home.write("p/a", "much of it\n".repeat(1000));
    let _ = rig.run(&["--permission", "all", "go"]).ok();
    let account = account(&rig);
    let told: Vec<&str> = account.iter().map(|(who, _, _)| who.as_str()).collect();
    let wanted = ["read_file", "code_search", "read_file gave", "code_search gave"];
    let more = ["bash", "bash gave", "bash", "bash gave"];
    assert_eq!(told, [wanted, more].concat());
    let said = |place: usize| account[place].1.as_str();
    assert_eq!((said(0), said(4)), (r#"{"path":"a"}"#, r#"{"command":"echo hi > made"}"#));
    assert!(said(2).starts_with("1: much of it") && said(2).len() < 1200, "the beginning is enough");
    assert!(said(7).contains("a rule of the user forbids it"), "{}", said(7));
    assert_eq!(account[7].2["outcome"], "failed", "{}", account[7].2);
    let found = rig.home.run(rig.home.command(bin("chibi")).args(["--search", "touch forbidden"])).ok();
    assert!(found.stdout.contains("touch forbidden"), "{}", found.transcript());
    let _ = rig.run(&["--continue", "once more"]).ok();
    let requests = rig.requests();
    assert_eq!(results(&requests[5]), [("Made.".to_owned(), false)], "the report alone");
    let sender = requests[5]["messages"][1]["content"][0]["id"].clone();
    assert!(account.iter().all(|(_, _, metadata)| metadata["helper_of"] == sender), "{account:?}");
    assert_eq!(requests[6]["messages"].as_array().unwrap().len(), 5, "{}", requests[6]);
}

#[test]
fn what_a_helper_did_is_known_though_it_was_killed_in_the_middle() {
    let rig = Rig::new([
        calls("task", &json!({"prompt": "look"})),
        calls("read_file", &json!({"path": "a"})),
        calls("bash", &json!({"command": "touch ../running; sleep 600"})),
        says("It died."),
    ]);
    rig.home.write("p/a", "text\n");
    let mut command = rig.command(&["--permission", "all", "--no-sandbox", "go"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(until(PATIENCE, || rig.home.path().join("running").exists()));
    child.kill().unwrap();
    child.wait().unwrap();
    let account = account(&rig);
    let told: Vec<&str> = account.iter().map(|(who, _, _)| who.as_str()).collect();
    assert_eq!(told, ["read_file", "read_file gave", "bash"]);
    assert_eq!(rig.run(&["--continue"]).ok().stdout, "It died.\n");
    let [(told, true)] = &results(&rig.requests()[3])[..] else { panic!() };
    assert!(told.contains("Interrupted before it gave a result"), "{told}");
}

#[test]
fn a_helper_works_for_the_conversation_as_it_is_now() {
    let rig = Rig::new([
        says("Hello."),
        calls("task", &json!({"prompt": "look"})),
        calls("list_files", &json!({})),
        says("Nothing."),
        says("Nothing there."),
    ]);
    let (project, agent, url) = (rig.project(), bin("agent"), rig.server.url());
    let args = ["-C", project.to_str().unwrap(), agent.to_str().unwrap(), "--api-url", &url];
    let terminal = Terminal::spawn(&rig.home, "env", &args, Size { rows: 40, cols: 100 });
    let enter = |line: &str, answer: &str| {
        terminal.wait_for(|screen: &str| screen.ends_with("\n> "), PATIENCE);
        terminal.send(line);
        terminal.key(Key::Enter);
        terminal.wait_for(answer, PATIENCE);
    };
    enter("hi", "Hello.");
    enter("/clear", "a new conversation");
    enter("/model another", "  another");
    enter("look", "Nothing there.");
    drop(terminal);
    let folders = std::fs::read_dir(rig.home.path().join(".chibi/contexts")).unwrap();
    let transcript = |folder: std::fs::DirEntry| folder.path().join("transcript/active.jsonl");
    let texts: Vec<String> =
        folders.map(|folder| std::fs::read_to_string(transcript(folder.unwrap())).unwrap()).collect();
    let noted = texts.iter().filter(|text| text.contains("helper_of")).collect::<Vec<_>>();
    assert!(noted.len() == 1 && !noted[0].contains("Hello."), "{noted:?}");
    assert!(rig.requests()[1..].iter().all(|request| request["model"] == "another"));
}

#[test]
fn a_helper_has_a_budget_of_its_own() {
    let rounds = (0..25).map(|round| calls("read_file", &json!({"path": format!("f{round}")})));
    let task = calls("task", &json!({"prompt": "look at everything"}));
    let rig = Rig::new([task].into_iter().chain(rounds).chain([says("It did not finish.")]));
    let output = rig.run(&["send a helper"]).ok();
    assert_eq!(output.stdout, "It did not finish.\n");
    let requests = rig.requests();
    let [(told, true)] = &results(requests.last().unwrap())[..] else { panic!("{requests:?}") };
    assert!(told.starts_with("The helper was stopped: ") && told.contains("25 rounds"), "{told}");
}

#[test]
fn what_a_helper_used_is_counted() {
    let rig = Rig::new([
        stream(turn().call("task", &json!({"prompt": "look"})).usage(100, 10)),
        stream(turn().say("Nothing.").usage(20_000, 2000)),
        stream(turn().say("Nothing there.").usage(300, 30)),
    ]);
    let output = rig.run(&["--json", "go"]).ok();
    let end: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&end["requests"], &end["usage"]["input"]), (&json!(3), &json!(20_400)), "{end}");
    assert_eq!(rig.requests().len(), 3);
}
