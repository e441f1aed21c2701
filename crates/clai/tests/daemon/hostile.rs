//! Callers that stall, flood, break off, or are somebody else.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::json;
use testkit::hostile::{as_other_uid, nasty_strings};
use testkit::{Home, PATIENCE, until};

use crate::rig::{Daemon, NOW, QUICK, event, kept, socket};

#[test]
fn a_caller_that_stalls_in_a_message_is_sent_away_and_one_that_is_silent_may_stay() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut silent = daemon.connect();
    assert_eq!(silent.ask(&json!({"type": "health"}))["status"], "ok");
    let mut stalled = daemon.connect();
    stalled.write(b"{\"type\":");
    let mut stalled_http = daemon.connect();
    stalled_http.write(b"POST /ingest HTTP/1.1\r\n");
    assert!(stalled.rest().is_empty());
    assert!(stalled_http.rest().starts_with(b"HTTP/1.1 408 "));
    assert_eq!(silent.ask(&json!({"type": "health"}))["status"], "ok");
}

#[test]
fn hundreds_of_callers_that_say_nothing_keep_nobody_out() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let silent: Vec<UnixStream> = (0..400).map(|_| UnixStream::connect(socket(&home)).unwrap()).collect();
    daemon.ran(&["ls"]);
    assert_eq!(kept(&home), ["ls"]);
    assert!(daemon.ask(&json!({"type": "health"}))["connections"].as_u64().unwrap() <= 256);
    // Who was silent the longest was sent away.
    let mut first = &silent[0];
    first.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(first.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_caller_that_never_reads_its_answers_holds_up_nobody() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut deaf = UnixStream::connect(socket(&home)).unwrap();
    deaf.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let question = b"{\"type\":\"health\"}\n".repeat(1000);
    // Until the pipe is full in both directions.
    while deaf.write_all(&question).is_ok() {}
    daemon.ran(&["ls"]);
    assert_eq!(kept(&home), ["ls"]);
}

#[test]
fn a_flood_on_many_connections_is_written_whole() {
    let home = Home::new();
    let daemon = Daemon::start_with(&home, QUICK);
    std::thread::scope(|scope| {
        for caller in 0..8 {
            let daemon = &daemon;
            scope.spawn(move || {
                let mut talk = daemon.connect();
                for n in 0..1000 {
                    talk.say(&event(&format!("echo {caller} {n}"), NOW + n));
                }
                assert_eq!(talk.ask(&json!({"type": "flush"})), json!({"done": true}));
            });
        }
    });
    assert_eq!(kept(&home).len(), 8000);
    assert_eq!(daemon.ask(&json!({"type": "health"}))["dropped"], 0);
}

#[test]
fn one_connection_for_each_event_loses_none() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for n in 0..300 {
        let mut hook = UnixStream::connect(socket(&home)).unwrap();
        hook.write_all(format!("{}\n", event(&format!("echo {n}"), NOW + n)).as_bytes()).unwrap();
    }
    assert!(until(PATIENCE, || {
        daemon.flush();
        kept(&home).len() == 300
    }));
}

#[test]
fn nasty_text_in_every_field_harms_nothing() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    for text in nasty_strings() {
        for field in ["cmd_raw", "cwd", "session_id", "branch", "actor", "repo_root", "remote_url"] {
            let mut event = event("nasty", NOW);
            event[field] = text.clone().into();
            talk.say(&event);
        }
        let ask =
            json!({"type": "suggest", "session_id": text, "cwd": text, "repo_key": text, "prefix": text});
        let answer = talk.ask(&ask);
        assert!(answer["suggestions"].is_array() || ask.to_string().len() > 262_144, "{answer}");
    }
    assert_eq!(talk.ask(&json!({"type": "flush"})), json!({"done": true}));
    assert!(kept(&home).len() > 100);
    daemon.terminate();
    assert!(!Daemon::start(&home).suggestions().is_empty());
}

#[test]
fn a_process_of_another_user_is_not_served() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    // Even when somebody has opened the way: the peer is asked who it is.
    use std::os::unix::fs::PermissionsExt;
    for path in [home.runtime(), home.runtime().join("clai")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(socket(&home), std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut curl = home.command("/usr/bin/curl");
    curl.args(["--silent", "--max-time", "10", "--unix-socket"])
        .arg(socket(&home))
        .arg("http://clai/healthz");
    let refused = home.run(as_other_uid(&mut curl));
    assert_ne!(refused.code, 0, "{}", refused.transcript());
    assert_eq!(refused.stdout, "");
    assert_eq!(daemon.ask(&json!({"type": "health"}))["status"], "ok");
}
