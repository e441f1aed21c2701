//! The loop: what is sent, what is shown, and when it ends.

use serde_json::{Value, json};
use testkit::model::{Wire, turn};

use crate::rig::{Rig, calls, results, says, stream, words};

#[test]
fn a_word_gets_an_answer_and_the_first_request_is_small() {
    let rig = Rig::new([says("Hello there.")]);
    let output = rig.run(&["hi"]);
    assert_eq!((output.stdout.as_str(), output.code), ("Hello there.\n", 0), "{}", output.transcript());
    let request = rig.server.requests().remove(0);
    assert!(request.body.len() <= 6 << 10, "{} bytes", request.body.len());
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(request.header("anthropic-version"), Some("2026-10-21"));
    assert_eq!(
        (request.header("x-api-key"), request.header("authorization")),
        (None, None),
        "no key, no header"
    );
    let body = request.json();
    let keys = ["model", "max_tokens", "stream", "system", "messages", "tools"];
    assert!(keys.iter().all(|key| body.get(key).is_some()), "{body}");
    assert_eq!((&body["stream"], &body["max_tokens"]), (&json!(true), &json!(16384)));
    for tool in body["tools"].as_array().unwrap() {
        assert!(tool["input_schema"]["required"].is_array() || tool["name"] == "list_files", "{tool}");
    }
    let names: Vec<&str> =
        body["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["bash", "code_search", "edit_file", "list_files", "read_file"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let _ = rig.requests();
}

#[test]
fn the_prefix_of_a_conversation_never_changes() {
    let rig = Rig::new([says("one"), says("two")]);
    let _ = rig.run(&["first"]).ok();
    let _ = rig.run(&["--continue", "second"]).ok();
    let requests = rig.requests();
    for key in ["system", "tools", "model", "max_tokens"] {
        assert_eq!(requests[0][key], requests[1][key], "{key}");
    }
    assert_eq!(words(&requests[0]["messages"][0]), words(&requests[1]["messages"][0]));
    let all = requests[1]["messages"].as_array().unwrap();
    assert_eq!((all.len(), words(&all[1]), words(&all[2])), (3, "one".to_owned(), "second".to_owned()));
}

#[test]
fn the_guide_of_the_project_stands_before_the_first_prompt() {
    let rig = Rig::new([says("ok"), says("ok")]);
    rig.home.write("p/CLAUDE.md", "Use tabs.");
    let _ = rig.run(&["hi"]).ok();
    rig.home.write("p/AGENTS.md", "Use spaces.\n");
    let _ = rig.run(&["hi"]).ok();
    let requests = rig.requests();
    let first = |request: &Value| words(&request["messages"][0]);
    assert!(first(&requests[0]).contains("[CLAUDE.md of the project]\nUse tabs."), "{}", first(&requests[0]));
    assert!(first(&requests[1]).contains("[AGENTS.md of the project]\nUse spaces."));
    assert!(!first(&requests[1]).contains("tabs") && first(&requests[1]).ends_with("hi"));
    assert_eq!(requests[0]["system"], requests[1]["system"], "the prefix is the same in every project");
}

#[test]
fn a_guide_that_leads_out_of_the_project_is_not_sent() {
    let rig = Rig::new([says("ok"), says("ok")]);
    let secret = rig.home.write("out/secret", "hunter2");
    std::os::unix::fs::symlink(secret, rig.project().join("AGENTS.md")).unwrap();
    let _ = rig.run(&["hi"]).ok();
    std::fs::remove_file(rig.project().join("AGENTS.md")).unwrap();
    rig.home.write("p/docs/guide.md", "Use tabs.");
    std::os::unix::fs::symlink("docs/guide.md", rig.project().join("AGENTS.md")).unwrap();
    let _ = rig.run(&["hi"]).ok();
    let requests = rig.requests();
    let first = |request: &Value| words(&request["messages"][0]);
    assert!(
        first(&requests[0]).contains("leads out of the project") && !first(&requests[0]).contains("hunter2")
    );
    assert!(first(&requests[1]).contains("Use tabs."), "{}", first(&requests[1]));
}

#[test]
fn all_results_of_one_reply_go_back_in_one_message_in_order() {
    let two =
        turn().say("Looking.").call("list_files", &json!({})).call("read_file", &json!({"path": "none"}));
    let rig = Rig::new([stream(two), says("Done.")]);
    rig.home.write("p/b.txt", "b");
    rig.home.write("p/a.txt", "a");
    let output = rig.run(&["look"]).ok();
    assert_eq!(output.stdout, "Looking.\nDone.\n");
    assert!(
        output.stderr.contains("list_files") && output.stderr.contains("read_file none failed: "),
        "{}",
        output.stderr
    );
    let requests = rig.requests();
    let [(listing, false), (missing, true)] = &results(&requests[1])[..] else { panic!("{}", requests[1]) };
    assert!(
        listing.contains("[\"a.txt\",\"b.txt\"]") || listing.find("a.txt") < listing.find("b.txt"),
        "{listing}"
    );
    assert!(missing.contains("none"), "{missing}");
}

#[test]
fn a_tool_that_is_not_there_is_an_answer_and_the_loop_goes_on() {
    let rig = Rig::new([calls("raed_file", &json!({})), says("Sorry.")]);
    let output = rig.run(&["x"]).ok();
    assert!(output.stderr.contains("raed_file"), "{}", output.stderr);
    let requests = rig.requests();
    assert_eq!(
        results(&requests[1]),
        [("there is no tool `raed_file`; did you mean `read_file`?".to_owned(), true)]
    );
}

#[test]
fn arguments_that_are_no_json_are_told_and_nothing_runs() {
    let broken = turn().call_in("read_file", ["{\"path\": \"a", "\\q"]);
    let rig = Rig::new([stream(broken), says("Again.")]);
    let _ = rig.run(&["x"]).ok();
    let requests = rig.requests();
    let [(told, true)] = &results(&requests[1])[..] else { panic!("{}", requests[1]) };
    assert!(told.contains("no JSON object"), "{told}");
}

#[test]
fn fifty_rounds_are_enough_and_the_next_turn_is_valid() {
    let rounds = (0..50).map(|round| calls("read_file", &json!({"path": format!("f{round}")})));
    let rig = Rig::new(rounds.chain([says("fine")]));
    let output = rig.run(&["loop"]);
    assert_eq!(output.code, 4, "{}", output.transcript());
    assert!(output.stderr.contains("limit of 50 rounds"), "{}", output.stderr);
    let _ = rig.run(&["--continue", "and now?"]).ok();
    assert_eq!(rig.requests().len(), 51);
}

#[test]
fn what_is_typed_decides_what_is_asked() {
    let rig = Rig::new([calls("list_files", &json!({})), says("Ok.")]);
    let output = rig.run(&["-m", "other-1", "--max-tokens", "99", "-v", "hi"]).ok();
    assert_eq!(output.stdout, "Ok.\n");
    assert!(
        output.stderr.contains("list_files {}") && output.stderr.contains("2 requests"),
        "{}",
        output.stderr
    );
    let requests = rig.requests();
    assert_eq!((&requests[0]["model"], &requests[0]["max_tokens"]), (&json!("other-1"), &json!(99)));
}

#[test]
fn a_reply_without_words_or_without_its_calls_ends_the_turn_and_the_next_is_valid() {
    let rig = Rig::new([stream(turn()), stream(turn().say("Well.").stop("tool_use")), says("Ok.")]);
    let _ = rig.run(&["say nothing"]).ok();
    assert_eq!(rig.run(&["--continue", "call nothing"]).ok().stdout, "Well.\n");
    let _ = rig.run(&["--continue", "and now?"]).ok();
    let requests = rig.requests();
    assert_eq!(requests.len(), 3);
    let silent = words(&requests[1]["messages"][1]);
    assert!(!silent.is_empty(), "a provider takes no empty message");
}

#[test]
fn a_model_that_repeats_itself_is_told_so() {
    let same = || calls("list_files", &json!({"path": "."}));
    let rig = Rig::new([same(), same(), same(), says("Oh.")]);
    let output = rig.run(&["x"]).ok();
    assert!(output.stderr.contains("repeats the same call"), "{}", output.stderr);
    let requests = rig.requests();
    let [(told, true)] = &results(&requests[3])[..] else { panic!("{}", requests[3]) };
    assert!(told.contains("third time"), "{told}");
}

#[test]
fn thinking_and_what_nobody_knows_go_back_as_they_came() {
    let odd = testkit::model::anthropic::block_start(
        9,
        &json!({"type": "server_marvel", "data": {"b": 1, "a": [2]}}),
    );
    let end = testkit::model::anthropic::block_stop(9);
    let reply = turn().think("hm", "sig==").event(odd).event(end).call("list_files", &json!({}));
    let rig = Rig::new([stream(reply), says("ok")]);
    let _ = rig.run(&["x"]).ok();
    let requests = rig.requests();
    let said = requests[1]["messages"][1]["content"].as_array().unwrap().clone();
    assert_eq!(said[0], json!({"type": "thinking", "thinking": "hm", "signature": "sig=="}));
    assert!(said.contains(&json!({"type": "server_marvel", "data": {"b": 1, "a": [2]}})), "{said:?}");
}

#[test]
fn a_local_server_that_speaks_like_openai_is_asked_the_same() {
    let rig = Rig::new([
        turn().call("list_files", &json!({})).stream(Wire::OpenAi),
        turn().say("Nothing here.").stream(Wire::OpenAi),
    ]);
    let url = rig.server.url();
    let mut command = rig.home.command(testkit::bin("agent"));
    command
        .args(["--provider", "openai", "--api-url", &url, "--model", "local", "look"])
        .current_dir(rig.project());
    let output = rig.home.run(&mut command).ok();
    assert_eq!(output.stdout, "Nothing here.\n");
    let requests = rig.server.finish();
    assert_eq!(requests[1].json()["messages"].as_array().unwrap().last().unwrap()["role"], "tool");
}

#[test]
fn a_conversation_that_outgrows_the_window_is_summed_up_and_stays_valid() {
    let big = "x".repeat(150_000);
    let mut replies: Vec<_> = (0..6).map(|_| says("noted")).collect();
    replies.insert(4, says("SUMMARY: the user pasted much."));
    let rig = Rig::new(replies);
    for number in 0..6 {
        let mut args = vec!["remember"];
        if number > 0 {
            args.insert(0, "--continue");
        }
        let _ = rig.piped(&args, &format!("{number} {big}")).ok();
    }
    let requests = rig.requests();
    let asked = words(&requests[4]["messages"][0]);
    assert!(
        asked.starts_with("Sum up") && requests[4].get("tools").is_none_or(|tools| *tools == json!([])),
        "{asked:.100}"
    );
    let after = words(&requests[5]["messages"][0]);
    assert!(after.contains("SUMMARY: the user pasted much."), "{after:.300}");
    assert!(requests.iter().all(|request| request.to_string().len() < 760_000));
}

#[test]
fn what_reads_cost_and_would_have_cost_is_counted_once_for_each_turn() {
    let look = || calls("read_file", &json!({"path": "a.txt"}));
    let rig = Rig::new([look(), look(), says("Seen."), says("Nothing to see.")]);
    let text: String = (1..=100).map(|number| format!("line number {number} of many\n")).collect();
    rig.home.write("p/a.txt", &text);
    let _ = rig.run(&["look twice"]).ok();
    let _ = rig.run(&["do not look"]).ok();
    let kept = rig.home.read(".local/share/scrimp/agent/saved.jsonl");
    let Ok([count]) = <[Value; 1]>::try_from(
        kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>(),
    ) else {
        panic!("a turn without a read is no line: {kept}")
    };
    let requests = rig.requests();
    let tokens = |place: usize| results(&requests[place]).remove(0).0.len().div_ceil(4) as u64;
    let numbered: String =
        (1..).zip(text.lines()).map(|(number, line)| format!("{number}: {line}\n")).collect();
    assert_eq!(count["reads"], 2);
    assert_eq!(count["full"], 2 * numbered.len().div_ceil(4) as u64);
    assert_eq!(count["sent"], tokens(1) + tokens(2));
    assert!(tokens(2) * 10 < tokens(1), "the second look is a word");
}
