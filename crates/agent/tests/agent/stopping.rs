//! Ctrl-C and `kill -9` at every stage of a turn: nothing is done that was not begun, and the conversation goes on with
//! a request that any provider takes.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::model::{Reply, Wire, turn};
use testkit::{PATIENCE, until};

use crate::rig::{Rig, calls, says, stream, words};

/// For ever, as far as a test is concerned.
const NEVER: Duration = Duration::from_secs(600);

/// A moment of a turn.
struct Stage {
    /// What the model says up to then.
    replies: Vec<Reply>,
    config: &'static str,
    /// When it has come.
    reached: fn(&Rig) -> bool,
}

fn requests(rig: &Rig, count: usize) -> bool {
    rig.server.requests().len() == count
}

/// Each is stopped in one way and in the other.
#[track_caller]
fn check(stage: impl Fn() -> Stage) {
    for signal in [Signal::INT, Signal::KILL] {
        let Stage { replies, config, reached } = stage();
        let rig = Rig::new(replies.into_iter().chain([says("Fine.")]));
        rig.home.write(".config/scrimp/config.toml", config);
        let mut child = start(&rig);
        assert!(until(PATIENCE, || reached(&rig)), "{signal:?}: {}", rig.home.read("said"));
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(until(PATIENCE, || child.try_wait().unwrap().is_some()), "{signal:?} does not end it");
        let status = child.wait().unwrap();
        match signal {
            Signal::INT => assert_eq!(status.code(), Some(130), "{}", rig.home.read("said")),
            _ => assert_eq!(status.signal(), Some(9)),
        }
        let output = rig.run(&["--continue", "and now?"]).ok();
        assert_eq!(output.stdout, "Fine.\n", "{signal:?}");
        assert!(!rig.project().join("made").exists(), "{signal:?}: what was not allowed to begin was done");
        let last = rig.requests().pop().unwrap();
        let prompt = words(last["messages"].as_array().unwrap().last().unwrap());
        assert!(prompt.ends_with("and now?"), "{signal:?}: {prompt}");
    }
}

fn start(rig: &Rig) -> Child {
    let said = File::create(rig.home.path().join("said")).unwrap();
    let mut command = rig.command(&["--permission", "all", "--no-sandbox", "go"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().unwrap()
}

#[test]
fn before_the_first_byte_of_a_reply() {
    check(|| Stage {
        replies: vec![says("never").delay_before(NEVER)],
        config: "",
        reached: |rig| requests(rig, 1),
    });
}

#[test]
fn in_the_middle_of_the_arguments_of_a_call() {
    let cut = || turn().say("I will.").call_in("bash", ["{\"command\": \"touch ", "made\"}"]);
    check(|| Stage {
        replies: vec![stream(cut()).pause_at("made", NEVER)],
        config: "",
        reached: |rig| requests(rig, 1),
    });
}

#[test]
fn while_it_waits_to_try_again() {
    let busy = || Wire::Anthropic.failure(529, "overloaded_error", "later").header("retry-after", "20");
    check(|| Stage {
        replies: vec![busy()],
        config: "",
        reached: |rig| rig.home.read("said").contains("trying again in"),
    });
}

#[test]
fn while_a_hook_is_asked() {
    const HOOK: &str =
        "[[agent.hooks.PreToolUse]]\nhooks = [{ command = \"touch ../asked; sleep 600\", timeout = 600 }]\n";
    check(|| Stage {
        replies: vec![calls("bash", &json!({"command": "touch made"}))],
        config: HOOK,
        reached: |rig| rig.home.path().join("asked").exists(),
    });
}

#[test]
fn while_a_command_runs() {
    check(|| Stage {
        replies: vec![calls("bash", &json!({"command": "touch ../running; sleep 60; touch made"}))],
        config: "",
        reached: |rig| rig.home.path().join("running").exists(),
    });
}

#[test]
fn between_two_calls_of_one_reply() {
    let two = || {
        let calls = turn().call("list_files", &json!({}));
        calls
            .call("bash", &json!({"command": "touch ../running; sleep 60"}))
            .call("bash", &json!({"command": "touch made"}))
    };
    check(|| Stage {
        replies: vec![stream(two())],
        config: "",
        reached: |rig| rig.home.path().join("running").exists(),
    });
}

#[test]
fn after_a_tool_and_before_the_next_reply() {
    check(|| Stage {
        replies: vec![calls("list_files", &json!({})), says("never").delay_before(NEVER)],
        config: "",
        reached: |rig| requests(rig, 2),
    });
}

#[test]
fn while_a_helper_works() {
    check(|| Stage {
        replies: vec![calls("task", &json!({"prompt": "look"})), says("never").delay_before(NEVER)],
        config: "",
        reached: |rig| requests(rig, 2),
    });
}

#[test]
fn requests_that_were_sent_are_counted_though_nothing_came_back() {
    let task = || calls("task", &json!({"prompt": "look"}));
    for (replies, sent) in [(vec![], 1), (vec![calls("list_files", &json!({}))], 2), (vec![task()], 2)] {
        let rig = Rig::new(replies.into_iter().chain([says("never").delay_before(NEVER)]));
        let said = File::create(rig.home.path().join("said")).unwrap();
        let mut command = rig.command(&["--json", "go"]);
        let mut child = command.stdin(Stdio::null()).stdout(said).stderr(Stdio::null()).spawn().unwrap();
        assert!(until(PATIENCE, || requests(&rig, sent)), "{}", rig.home.read("said"));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert!(until(PATIENCE, || child.try_wait().unwrap().is_some()));
        let end: Value = serde_json::from_str(rig.home.read("said").lines().last().unwrap()).unwrap();
        assert_eq!((&end["reason"], &end["requests"]), (&json!("interrupted"), &json!(sent)), "{end}");
        drop(rig.server.finish());
    }
}
