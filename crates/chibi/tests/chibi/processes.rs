//! Several chibis at once, and one that was killed.

use std::process::{Child, Stdio};
use std::sync::{Condvar, Mutex};

use testkit::until;

use super::*;

/// A door that replies wait behind.
#[derive(Default)]
struct Door {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Door {
    fn wait(&self) {
        let open = self.open.lock().unwrap();
        // Longer than a busy machine takes for what a test does meanwhile.
        drop(self.changed.wait_timeout_while(open, 3 * PATIENCE, |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

fn start(chibi: &Chibi, args: &[&str]) -> Child {
    let mut command = chibi.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> (i32, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// A server whose first reply waits behind the door.
fn slow_first() -> (std::sync::Arc<Door>, Server) {
    let door = std::sync::Arc::new(Door::default());
    let behind = std::sync::Arc::clone(&door);
    let server = Server::answering(move |request| {
        if request.number == 0 {
            behind.wait();
        }
        says(&format!("reply {}", request.number))
    });
    (door, server)
}

#[test]
fn a_context_in_use_is_refused_at_once_or_waited_for() {
    let (door, server) = slow_first();
    let chibi = Chibi::asking(&server);
    let first = start(&chibi, &["one"]);
    assert!(until(PATIENCE, || server.requests().len() == 1));
    let output = chibi.run(&["two"]);
    assert_eq!(output.code, 5, "{}", output.transcript());
    assert!(output.stderr.contains("is in use by") && output.stderr.contains("--wait"), "{}", output.stderr);
    assert_eq!(chibi.told(&["-L"]), "* default [active]\n", "looking disturbs nobody");
    let queued = start(&chibi, &["--wait", "three"]);
    chibi.told(&["-C", "other", "elsewhere"]);
    door.open();
    assert_eq!(ended(first).1, "reply 0\n");
    assert_eq!(ended(queued).1, "reply 2\n");
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 4\n");
    drop(server);
}

#[test]
fn whatever_changes_a_context_in_use_is_refused_and_whatever_looks_is_not() {
    let (door, server) = slow_first();
    let chibi = Chibi::asking(&server);
    chibi.told(&["-c", "default"]);
    let first = start(&chibi, &["one"]);
    assert!(until(PATIENCE, || server.requests().len() == 1));
    let goals = r#"{"content": "win"}"#;
    let changes: [&[&str]; 15] = [
        &["-a"],
        &["-A", "default"],
        &["-z"],
        &["-Z", "default"],
        &["-r", "new"],
        &["-R", "default", "new"],
        &["--yes", "-d"],
        &["--yes", "-D", "default"],
        &["-y", "Be brief."],
        &["-Y", "default", "Be brief."],
        &["-u", "bob"],
        &["-P", "update_goals", goals],
        &["--pin", "x"],
        &["--unpin", "x"],
        &["--undo-compaction"],
    ];
    for args in changes {
        let output = chibi.run(args);
        assert_eq!(output.code, 5, "{args:?}: {}", output.transcript());
    }
    let looks: [&[&str]; 12] = [
        &["-l"],
        &["-L"],
        &["-g", "0"],
        &["-G", "default", "0"],
        &["-n", "todos"],
        &["-N", "default", "goals"],
        &["-n", "model"],
        &["--pins"],
        &["--search", "one"],
        &["--export", "json"],
        &["--usage"],
        &["--list-plugins"],
    ];
    looks.iter().for_each(|args| drop(chibi.told(args)));
    door.open();
    assert_eq!(ended(first).1, "reply 0\n");
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 2\n");
    drop(server);
}

#[test]
fn a_process_that_was_put_to_sleep_keeps_its_context() {
    let (door, server) = slow_first();
    let chibi = Chibi::asking(&server);
    let first = start(&chibi, &["one"]);
    assert!(until(PATIENCE, || server.requests().len() == 1));
    let pid = rustix::process::Pid::from_child(&first);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    // As if it had not given a sign for years.
    fs::write(chibi.path("contexts/default/.lock"), "1").unwrap();
    assert_eq!(chibi.run(&["two"]).code, 5);
    assert_eq!(chibi.told(&["-L"]), "* default [active]\n");
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    door.open();
    assert_eq!(ended(first).1, "reply 0\n");
    assert_eq!(chibi.told(&["-L"]), "* default\n");
    drop(server);
}

#[test]
fn the_next_run_after_a_kill_starts_at_once() {
    let (door, server) = slow_first();
    let chibi = Chibi::asking(&server);
    let mut first = start(&chibi, &["one"]);
    assert!(until(PATIENCE, || server.requests().len() == 1));
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(chibi.told(&["-L"]), "* default [stale]\n");
    assert_eq!(chibi.told(&["two"]), "reply 1\n", "whoever finds a lock does not wait for it");
    assert_eq!(spoken(&server.requests()[1]), ["user: two"], "what was never answered is not sent");
    door.open();
    drop(server);
}

#[test]
fn two_contexts_write_to_each_other_while_both_run() {
    let server = Server::answering(|request| {
        let body = request.json();
        let to = if body["messages"].to_string().contains("I am alice") { "bob" } else { "alice" };
        let said_last =
            body["messages"].as_array().unwrap().iter().rev().find(|said| said["role"] != "system");
        match said_last.unwrap()["role"] == "tool" {
            true => says("sent"),
            false => said(turn().call("send_message", &json!({"to": to, "content": format!("hello {to}")}))),
        }
    });
    let chibi = Chibi::asking(&server);
    for _ in 0..5 {
        let alice = start(&chibi, &["-C", "alice", "I am alice"]);
        let bob = start(&chibi, &["-C", "bob", "I am bob"]);
        let (one, other) = (ended(alice), ended(bob));
        assert_eq!((one.0, other.0), (0, 0), "{one:?} {other:?}");
    }
    chibi.run(&["-C", "alice", "I am alice"]).ok();
    chibi.run(&["-C", "bob", "I am bob"]).ok();
    // Alice wrote once more than she has read: every letter came exactly once.
    let letters = |context: &str| {
        let log = chibi.transcript(context);
        log.iter().map(|entry| entry.3.matches("[From: ").count()).sum::<usize>()
    };
    assert_eq!((letters("alice"), letters("bob")), (5, 6));
    drop(server);
}

#[test]
fn many_processes_queue_for_one_context_and_none_is_lost() {
    let server = Server::answering(|_| says("ok"));
    let chibi = Chibi::asking(&server);
    let children: Vec<Child> = (0..12)
        .map(|number| start(&chibi, &["--wait", "-C", "new_to_all", &format!("prompt {number}")]))
        .collect();
    for child in children {
        let (code, stdout, stderr) = ended(child);
        assert_eq!((code, stdout.as_str()), (0, "ok\n"), "{stderr}");
    }
    assert_eq!(chibi.told(&["-C", "new_to_all", "-l"]), "Context: new_to_all\nMessages: 24\n");
    let kinds: Vec<String> =
        chibi.transcript("new_to_all").into_iter().skip(1).map(|entry| entry.2).collect();
    let turns: Vec<&[String]> = kinds.chunks(2).collect();
    assert!(turns.iter().all(|turn| turn == &["new_to_all", "user"]), "no two turns are mixed: {kinds:?}");
    drop(server);
}

#[test]
fn a_polite_signal_ends_a_turn_as_ctrl_c_does() {
    let (door, server) = slow_first();
    let chibi = Chibi::asking(&server);
    let first = start(&chibi, &["one"]);
    assert!(until(PATIENCE, || server.requests().len() == 1));
    let pid = rustix::process::Pid::from_child(&first);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let (code, stdout, stderr) = ended(first);
    assert_eq!((code, stdout.as_str()), (130, ""), "{stderr}");
    assert_eq!(stderr, "error: interrupted\nhint: the context can be used as before\n");
    door.open();
    assert_eq!(chibi.told(&["-L"]), "* default\n", "and no lock is left");
    assert_eq!(chibi.told(&["two"]), "reply 1\n");
    drop(server);
}

#[test]
fn a_tool_that_runs_is_ended_with_the_turn_and_the_model_learns_of_it() {
    let server = Server::scripted([said(turn().call("sleepy", &json!({}))), says("I see.")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("sleepy", &bash_tool("sleepy", "echo begun > \"$CHIBI_HOME/begun\"; sleep 600"));
    let first = start(&chibi, &["one"]);
    assert!(until(PATIENCE, || chibi.path("begun").exists()));
    let pid = rustix::process::Pid::from_child(&first);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(ended(first).0, 130);
    assert_eq!(chibi.told(&["what happened?"]), "I see.\n");
    let last = server.finish().remove(1).json();
    let roles: Vec<&str> =
        last["messages"].as_array().unwrap().iter().map(|said| said["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"], "{last}");
}
