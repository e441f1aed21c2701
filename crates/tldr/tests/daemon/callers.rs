//! Callers: many, slow, rude.

use std::sync::Arc;
use std::thread;

use serde_json::json;

use crate::rig::{Rig, ping};

#[test]
fn everything_that_arrives_is_answered_on_the_same_line() {
    let rig = Rig::served();
    let mut talk = rig.connect();
    for (said, answer) in [
        ("{", "invalid IPC message: "),
        ("[]", "invalid IPC message: "),
        ("{}", "missing required parameter: cmd"),
        (r#"{"cmd":"zzz"}"#, "unknown command: zzz"),
        (r#"{"cmd":"extract"}"#, "missing required parameter: file"),
        (r#"{"cmd":7}"#, "invalid IPC message: "),
    ] {
        talk.say(format!("{said}\n").as_bytes());
        let heard = talk.hear().unwrap();
        assert_eq!(heard["status"], "error", "{said}");
        assert!(heard["message"].as_str().unwrap().starts_with(answer), "{said}: {heard}");
    }
    talk.say(b"\xff\xfe{}\n");
    assert_eq!(talk.hear().unwrap()["status"], "error");
    talk.say(&[b'x'; 65 * 1024]);
    assert_eq!(talk.hear().unwrap()["message"], "invalid IPC message: a message is longer than 65536 bytes");
    talk.say(b"\n");
    assert_eq!(talk.ask(&ping())["status"], "ok");
    talk.say(b"{\"cmd\":\"ping\"}");
    talk.0.get_mut().shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(talk.hear().unwrap()["status"], "ok");
    assert_eq!(talk.hear(), None);
}

#[test]
fn fifty_at_once_and_some_that_stall_are_all_served() {
    let rig = Arc::new(Rig::served());
    let mut half = rig.connect();
    half.say(b"{\"cmd\":");
    let _silent = rig.connect();
    // Never reads: its answers fill the pipe, and then it is let go.
    let mut deaf = rig.connect();
    deaf.0.get_mut().set_nonblocking(true).unwrap();
    for _ in 0..2_000 {
        use std::io::Write;
        if deaf.0.get_mut().write_all(b"{\"cmd\":\"structure\",\"path\":\".\"}\n").is_err() {
            break;
        }
    }
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let rig = Arc::clone(&rig);
            thread::spawn(move || {
                let mut talk = rig.connect();
                (0..20).all(|_| talk.ask(&ping())["status"] == "ok")
                    && talk.ask(&json!({"cmd": "calls"}))["status"] == "ok"
            })
        })
        .collect();
    assert!(callers.into_iter().all(|caller| caller.join().unwrap()));
    half.say(b"\"ping\"}\n");
    assert_eq!(half.hear().unwrap()["status"], "ok");
}

#[test]
fn what_was_told_is_counted_and_the_twentieth_file_makes_it_look_at_all() {
    let rig = Rig::served();
    let mut talk = rig.connect();
    for number in 1..=20 {
        let file = rig.project.join(format!("f{number}.py"));
        let said = talk.ask(&json!({"cmd": "notify", "file": file}));
        let expected = json!({"status": "ok", "dirty_count": number, "threshold": 20, "reindex_triggered": number == 20});
        assert_eq!(said, expected);
    }
    let said = talk.ask(&json!({"cmd": "notify", "file": rig.project.join("app.py")}));
    assert_eq!(said["dirty_count"], 1);
    let text = rig.tldr(&["daemon", "notify", "app.py", "--format", "text"]).ok();
    assert_eq!(text.stdout, "Tracked: 1/20 files\n");
}

#[test]
fn hooks_are_tracked_and_every_fifth_call_is_written_down() {
    let rig = Rig::served();
    let mut talk = rig.connect();
    for number in 1..=6 {
        let said = talk
            .ask(&json!({"cmd": "track", "hook": "h", "success": number != 2, "metrics": {"errors": 1.5}}));
        let expected =
            json!({"status": "ok", "hook": "h", "total_invocations": number, "flushed": number == 5});
        assert_eq!(said, expected);
    }
    let hook = &rig.status()["hook_stats"]["h"];
    assert_eq!(
        (&hook["successes"], &hook["failures"], &hook["metrics"]["errors"]),
        (&json!(5), &json!(1), &json!(9.0))
    );
}

#[test]
fn a_crowd_that_says_nothing_keeps_nobody_out() {
    let rig = Rig::served();
    let crowd: Vec<_> = (0..200).map(|_| rig.connect()).collect();
    let mut talk = rig.connect();
    assert_eq!(talk.ask(&ping())["status"], "ok");
    drop(crowd);
    assert_eq!(rig.ask(&ping())["status"], "ok");
}

#[test]
fn a_caller_that_hangs_up_in_the_middle_of_a_question_or_an_answer_is_forgotten() {
    let rig = Rig::served();
    for said in [&b"{\"cmd\":"[..], b"{\"cmd\":\"structure\",\"path\":\".\"}\n", b"\xff", b"\n\n\n"] {
        for _ in 0..20 {
            rig.connect().say(said);
        }
    }
    assert_eq!(rig.ask(&ping())["status"], "ok");
}
