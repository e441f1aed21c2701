//! What the model has seen is what its window shows now: after going on, taking back, summing up and leaving out, the next
//! read is what it needs to be.

use serde_json::{Value, json};
use testkit::model::Reply;
use testkit::terminal::{Key, Size, Terminal};
use testkit::{PATIENCE, bin};

use crate::rig::{Rig, calls, results, says};

fn look() -> Reply {
    calls("read_file", &json!({"path": "a.txt"}))
}

fn rig(replies: impl IntoIterator<Item = Reply>) -> Rig {
    let rig = Rig::new(replies);
    let text: String = (1..=60).map(|number| format!("this is line number {number}\n")).collect();
    rig.home.write("p/a.txt", text);
    rig
}

/// What the model was told about the file in the last message of a request: all of it, or that it knows it.
#[track_caller]
fn told(request: &Value) -> &'static str {
    let (text, failed) = results(request).remove(0);
    assert!(!failed, "{text}");
    match (text.contains("1: this is line number 1\n"), text.contains("nothing has changed")) {
        (true, false) => "all",
        (false, true) => "unchanged",
        _ => panic!("{text}"),
    }
}

#[test]
fn going_on_with_a_conversation_is_no_reason_to_read_again() {
    let rig = rig([look(), says("a"), look(), says("b"), look(), says("c")]);
    let _ = rig.run(&["look"]).ok();
    let _ = rig.run(&["--continue", "look again"]).ok();
    let _ = rig.run(&["look in a new one"]).ok();
    let requests = rig.requests();
    assert_eq!([1, 3, 5].map(|place| told(&requests[place])), ["all", "unchanged", "all"]);
}

#[test]
fn what_was_taken_back_or_summed_up_is_read_anew() {
    let rig = rig([
        look(),
        says("One."),
        look(),
        says("Two."),
        look(),
        says("Three."),
        says("Four."),
        says("They looked at a file."),
        look(),
        says("Five."),
    ]);
    let (project, agent, url) = (rig.project(), bin("agent"), rig.server.url());
    let args = ["-C", project.to_str().unwrap(), agent.to_str().unwrap(), "--api-url", &url];
    let terminal = Terminal::spawn(&rig.home, "env", &args, Size { rows: 60, cols: 100 });
    for (line, answer) in [
        ("look", "One."),
        ("/undo", "taken back: look"),
        ("look", "Two."),
        ("look again", "Three."),
        ("and now?", "Four."),
        ("/compact", "2 earlier exchanges became a summary"),
        ("look once more", "Five."),
    ] {
        terminal.wait_for(|screen: &str| screen.ends_with("\n> "), PATIENCE);
        terminal.send(line);
        terminal.key(Key::Enter);
        terminal.wait_for(answer, PATIENCE);
    }
    drop(terminal);
    let requests = rig.requests();
    let after = ["the first", "taking back", "nothing", "summing up"];
    let all: Vec<(&str, &str)> =
        after.into_iter().zip([1, 3, 5, 9].map(|place| told(&requests[place]))).collect();
    let wanted = ["all", "all", "unchanged", "all"];
    assert_eq!(all, after.into_iter().zip(wanted).collect::<Vec<_>>());
}

#[test]
fn what_no_longer_fits_is_read_anew() {
    let mut replies = vec![look(), says("seen")];
    replies.extend((0..5).map(|_| says("noted")));
    replies.extend([look(), says("seen again"), look(), says("still there")]);
    let rig = rig(replies);
    rig.home.write(".config/scrimp/config.toml", "[agent]\ncompact = false\n");
    let _ = rig.run(&["look"]).ok();
    for _ in 0..5 {
        let _ = rig.piped(&["--continue", "remember"], &"x".repeat(150_000)).ok();
    }
    let _ = rig.run(&["--continue", "look"]).ok();
    let _ = rig.run(&["--continue", "look"]).ok();
    let requests = rig.requests();
    assert!(!requests[7].to_string().contains("this is line number"), "the first look was left out");
    assert_eq!([1, 8, 10].map(|place| told(&requests[place])), ["all", "all", "unchanged"]);
}
