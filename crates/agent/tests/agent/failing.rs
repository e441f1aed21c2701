//! What goes wrong on the way to the model, and what the conversation looks like afterwards.

use std::time::Duration;

use serde_json::json;
use testkit::model::{Server, Wire, anthropic, turn};
use testkit::{Home, PATIENCE, until};

use crate::rig::{Rig, calls, results, says, stream, words};

fn overloaded() -> testkit::model::Reply {
    Wire::Anthropic.failure(529, "overloaded_error", "Overloaded").header("retry-after", "0")
}

#[test]
fn an_overloaded_provider_is_asked_again_in_plain_sight() {
    let limited =
        Wire::Anthropic.failure(429, "rate_limit_error", "Slow down").header("retry-after-ms", "20");
    let busy = overloaded().header("retry-after-ms", "20");
    let rig = Rig::new([busy, limited, says("Here I am.")]);
    let output = rig.run(&["hi"]).ok();
    assert_eq!(output.stdout, "Here I am.\n");
    assert!(output.stderr.contains("Overloaded; trying again in 1 s (attempt 1)"), "{}", output.stderr);
    assert!(output.stderr.contains("Slow down; trying again"), "{}", output.stderr);
    assert_eq!(rig.requests().len(), 3);
}

#[test]
fn a_provider_that_stays_overloaded_is_given_up_and_the_next_prompt_works() {
    let rig = Rig::new([overloaded(), overloaded(), overloaded(), overloaded(), says("Back.")]);
    let output = rig.run(&["hi"]);
    assert_eq!(output.code, 3, "{}", output.transcript());
    assert!(output.stderr.contains("error: the model did not answer: the provider answered 529: Overloaded"));
    let output = rig.run(&["--continue", "again"]).ok();
    assert_eq!(output.stdout, "Back.\n");
    let requests = rig.requests();
    assert!(!requests[4].to_string().contains("\"hi\""), "what failed without any effect is not sent again");
}

#[test]
fn what_will_not_pass_is_told_at_once_with_a_hint() {
    let rig = Rig::new([Wire::Anthropic.failure(401, "authentication_error", "invalid x-api-key")]);
    let output = rig.run(&["hi"]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("the provider answered 401: invalid x-api-key"), "{}", output.stderr);
    assert!(output.stderr.contains("hint: set ANTHROPIC_API_KEY"), "{}", output.stderr);
    drop(rig.requests());
}

#[test]
fn who_is_told_to_wait_for_long_is_told_for_how_long() {
    let rig = Rig::new([Wire::Anthropic
        .failure(429, "rate_limit_error", "Slow down")
        .header("retry-after", "3600")]);
    let output = rig.run(&["hi"]);
    assert_eq!(output.code, 3);
    assert!(
        output.stderr.contains("429: Slow down\nhint: in 3600 s: `agent --continue`"),
        "{}",
        output.stderr
    );
    drop(rig.requests());
}

#[test]
fn nobody_there_is_an_error_of_the_provider() {
    let rig = Rig::new([]);
    let mut command = rig.home.command(testkit::bin("agent"));
    // The port of the discard service: nobody listens, and connections are refused at once.
    command.args(["--api-url", "http://127.0.0.1:9", "hi"]).current_dir(rig.project());
    let output = rig.home.run(&mut command);
    assert_eq!(output.code, 3, "{}", output.transcript());
    assert!(
        output.stderr.contains("error: the model did not answer: cannot reach 127.0.0.1"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_connection_that_drops_before_anything_is_complete_is_tried_again() {
    let rig = Rig::new([says("Half a sentence").drop_at("sentence"), says("A whole sentence.")]);
    let output = rig.run(&["hi"]).ok();
    assert!(output.stdout.ends_with("A whole sentence.\n"), "{}", output.stdout);
    assert!(output.stderr.contains("does not count"), "{}", output.stderr);
    assert_eq!(rig.requests().len(), 2);
}

#[test]
fn a_connection_that_drops_after_a_complete_block_is_not_tried_again() {
    let two = turn().say("First.").call("bash", &json!({"command": "touch done"}));
    let rig = Rig::new([stream(two).drop_at("input_json_delta"), says("Fine.")]);
    let output = rig.run(&["--permission", "all", "go"]);
    assert_eq!(output.code, 3, "{}", output.transcript());
    assert!(!rig.project().join("done").exists());
    let _ = rig.run(&["--continue", "again"]).ok();
    assert_eq!(rig.requests().len(), 2);
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_told_in_the_providers_words() {
    let rig = Rig::new([stream(turn().say("Well").fail("api_error", "the cluster is on fire")), says("Ok.")]);
    let output = rig.run(&["hi"]);
    assert_eq!(output.code, 3, "{}", output.transcript());
    assert!(output.stderr.contains("the cluster is on fire"), "{}", output.stderr);
    let _ = rig.run(&["--continue", "again"]).ok();
    drop(rig.requests());
}

#[test]
fn after_tools_ran_their_results_stay_and_the_turn_is_closed() {
    let bad = Wire::Anthropic.failure(400, "invalid_request_error", "no");
    let rig = Rig::new([calls("bash", &json!({"command": "echo made > made"})), bad, says("I see.")]);
    let output = rig.run(&["--permission", "all", "go"]);
    assert_eq!((output.code, rig.home.read("p/made").as_str()), (3, "made\n"), "{}", output.transcript());
    let _ = rig.run(&["--continue", "what happened?"]).ok();
    let requests = rig.requests();
    let messages = requests[2]["messages"].as_array().unwrap();
    assert!(words(&messages[3]).starts_with("[This turn ended here: "), "{}", requests[2]);
    assert_eq!((messages.len(), words(&messages[4])), (5, "what happened?".to_owned()));
}

#[test]
fn a_reply_that_was_cut_off_is_said_to_be_and_its_half_call_is_not_kept() {
    let events = [
        anthropic::message_start("m", &json!({})),
        anthropic::block_start(0, &json!({"type": "text", "text": ""})),
        anthropic::block_delta(0, &json!({"type": "text_delta", "text": "I will"})),
        anthropic::block_stop(0),
        anthropic::block_start(1, &json!({"type": "tool_use", "id": "t1", "name": "bash", "input": {}})),
        anthropic::block_delta(1, &json!({"type": "input_json_delta", "partial_json": "{\"comm"})),
        anthropic::message_delta("max_tokens", &json!({"output_tokens": 5})),
        anthropic::message_stop(),
    ];
    let rig = Rig::new([testkit::model::Reply::sse(events), says("Now then.")]);
    let output = rig.run(&["hi"]);
    assert_eq!((output.stdout.as_str(), output.code), ("I will\n", 4), "{}", output.transcript());
    assert!(output.stderr.contains("warning: the reply was cut off (max_tokens)"), "{}", output.stderr);
    let _ = rig.run(&["--continue", "go on"]).ok();
    assert!(!rig.requests()[1].to_string().contains("tool_use"));
}

#[test]
fn unusual_ends_are_named_by_the_providers_word() {
    for (reason, code) in [("refusal", 3), ("model_context_window_exceeded", 3), ("sunspots", 0)] {
        let rig = Rig::new([stream(turn().say("Hm.").stop(reason))]);
        let output = rig.run(&["hi"]);
        assert_eq!(output.code, code, "{}", output.transcript());
        assert!(output.stderr.contains(reason), "{reason}: {}", output.stderr);
        drop(rig.requests());
    }
}

#[test]
fn a_pause_goes_on_by_itself() {
    let rig = Rig::new([stream(turn().say("Thinking it over. ").stop("pause_turn")), says("Done.")]);
    let output = rig.run(&["hi"]).ok();
    assert!(output.stdout.contains("Done."), "{}", output.stdout);
    let requests = rig.server.finish();
    assert_eq!(
        requests[1].json()["messages"].as_array().unwrap().len(),
        2,
        "what was said so far is the last message"
    );
}

#[test]
fn an_interrupt_in_the_middle_of_a_reply_leaves_a_valid_conversation() {
    let rig = Rig::new([says("one two three").pause_at("three", Duration::from_secs(600)), says("Ok.")]);
    let mut child = rig
        .command(&["hi"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    assert!(until(PATIENCE, || rig.server.requests().len() == 1));
    let pid = rustix::process::Pid::from_child(&child);
    // Until it listens for signals it would just end; it asks after that.
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(rig.run(&["--continue", "again"]).ok().stdout, "Ok.\n");
    drop(rig.requests());
}

#[test]
fn an_interrupt_ends_a_command_and_everything_it_started() {
    let command = "sleep 300 & echo $! > pid; sleep 300";
    let rig = Rig::new([calls("bash", &json!({"command": command})), says("Ok.")]);
    let mut child =
        rig.command(&["--permission", "all", "hi"]).stdin(std::process::Stdio::null()).spawn().unwrap();
    let pid_file = rig.project().join("pid");
    assert!(until(PATIENCE, || std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n'))));
    let grandchild: i32 = rig.home.read("p/pid").trim().parse().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let gone = || !std::path::Path::new(&format!("/proc/{grandchild}")).exists();
    assert!(until(PATIENCE, gone), "the command's child lives on");
    let _ = rig.run(&["--continue", "again"]).ok();
    let requests = rig.requests();
    let told = &requests[1]["messages"][2]["content"][0];
    assert_eq!(told["is_error"], true, "{told}");
    assert!(
        matches!(&results(&json!({"messages": [requests[1]["messages"][2]]}))[..], [(text, true)] if text.contains("interrupted"))
    );
}

#[test]
fn a_place_that_cannot_be_written_ends_the_turn_before_anything_is_done() {
    // Whether the model is asked before that is found out depends on who is faster.
    let server = Server::answering(|_| calls("bash", &json!({"command": "touch made"})));
    let rig = Rig { home: Home::new(), server };
    rig.home.write("p/a", "");
    rig.home.write(".chibi/contexts", "a file where a directory is needed");
    let output = rig.run(&["--permission", "all", "go"]);
    assert_eq!(output.code, 1, "{}", output.transcript());
    assert!(output.stderr.contains("error: the conversation cannot be kept: "), "{}", output.stderr);
    assert!(!rig.project().join("made").exists());
}
