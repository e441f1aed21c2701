//! The HTTP door, mostly with real curl.

use std::fs;

use serde_json::{Value, json};
use testkit::Home;

use crate::rig::{Daemon, NOW, QUICK, event, kept};

fn without_type(line: &str, ts: i64) -> Value {
    let mut event = event(line, ts);
    event.as_object_mut().unwrap().remove("type");
    event
}

#[test]
fn curl_asks_for_health() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let (status, health) = daemon.curl(&[], "/healthz", "");
    assert_eq!(status, 200);
    assert_eq!((health["status"].as_str(), health["pid"].as_u64()), (Some("ok"), Some(daemon.pid().into())));
    assert_eq!(health["version"], "0.1.0");
}

#[test]
fn curl_ingests_one_event_or_a_stream_and_gets_suggestions() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let one = serde_json::to_string_pretty(&without_type("git status", NOW)).unwrap();
    let (status, answer) = daemon.curl(&["--data-binary", "@-"], "/ingest", &one);
    assert_eq!((status, answer), (202, json!({"accepted": 1, "refused": 0, "errors": []})));
    let lines = ["git add -A", "git status", "git add -A", "git status"];
    let stream: String =
        lines.iter().enumerate().map(|(n, line)| format!("{}\n", event(line, NOW + 1 + n as i64))).collect();
    let (status, answer) = daemon.curl(&["--data-binary", "@-"], "/ingest", &stream);
    assert_eq!((status, &answer["accepted"]), (202, &json!(4)));
    daemon.flush();
    assert_eq!(kept(&home).len(), 5);
    let ask = json!({"session_id": "s", "cwd": "/", "limit": 50}).to_string();
    let (status, answer) = daemon.curl(&["--data", &ask], "/suggest", "");
    assert_eq!(status, 200);
    let suggestions = answer["suggestions"].as_array().unwrap();
    assert!(suggestions.len() <= 3 && suggestions[0]["cmd"] == "git add -A", "{answer}");
    for field in ["cmd", "cmd_norm", "score", "reasons", "confidence"] {
        assert!(suggestions[0].get(field).is_some(), "{field}");
    }
    for field in ["repo_key", "last_cmd_norm", "used_sources"] {
        assert!(answer["context"].get(field).is_some(), "{field}");
    }
}

#[test]
fn a_stream_of_chunks_and_a_body_of_megabytes_are_taken_as_they_come() {
    let home = Home::new();
    let daemon = Daemon::start_with(&home, QUICK);
    let padding = "x".repeat(3000);
    let stream: String =
        (0..1000).map(|n| format!("{}\n", event(&format!("echo {n} {padding}"), NOW + n))).collect();
    assert!(stream.len() > 3_000_000);
    let chunked = ["--header", "Transfer-Encoding: chunked", "--data-binary", "@-"];
    for args in [&chunked[..], &["--data-binary", "@-"]] {
        let (status, answer) = daemon.curl(args, "/ingest", &stream);
        assert_eq!((status, &answer["accepted"], &answer["refused"]), (202, &json!(1000), &json!(0)));
    }
    daemon.flush();
    assert_eq!(kept(&home).len(), 2000);
}

#[test]
fn bad_lines_are_counted_and_named_and_the_others_taken() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let stream =
        format!("{}\nnonsense\n\n{}\n{}", event("a", NOW), json!({"type": "health"}), event("b", NOW));
    let (status, answer) = daemon.curl(&["--data-binary", "@-"], "/ingest", &stream);
    assert_eq!((status, &answer["accepted"], &answer["refused"]), (202, &json!(2), &json!(2)));
    assert!(answer["errors"][1].as_str().unwrap().contains("`health` is not ingested"), "{answer}");
    let (status, answer) = daemon.curl(&["--data-binary", "nonsense"], "/ingest", "");
    assert_eq!((status, &answer["refused"]), (400, &json!(1)));
    daemon.flush();
    assert_eq!(kept(&home), ["a", "b"]);
}

#[test]
fn every_wrong_request_has_its_status() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.curl(&[], "/nowhere", "").0, 404);
    assert_eq!(daemon.curl(&["--request", "POST", "--data", "x"], "/healthz", "").0, 405);
    assert_eq!(daemon.curl(&[], "/ingest", "").0, 405);
    assert_eq!(daemon.curl(&["--request", "PUT", "--data", "x"], "/suggest", "").0, 405);
    assert_eq!(daemon.curl(&["--data", "{"], "/suggest", "").0, 400);
    let long = format!("{{\"session_id\":\"{}\"}}", "x".repeat(300_000));
    assert_eq!(daemon.curl(&["--data-binary", "@-"], "/suggest", &long).0, 413);
    for (request, status) in [
        ("POST /suggest HTTP/1.1\r\nHost: x\r\n\r\n", 411),
        ("POST /suggest HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST /suggest HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST /suggest HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ("POST /suggest HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("GET /healthz HTTP/3.0\r\n\r\n", 505),
        ("GET\r\n\r\n", 400),
        ("POST\0/suggest\r\n\r\n", 400),
    ] {
        let mut talk = daemon.connect();
        talk.write(request.as_bytes());
        let answer = String::from_utf8(talk.rest()).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
    }
    let mut talk = daemon.connect();
    talk.write(format!("GET /healthz HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000)).as_bytes());
    assert!(talk.rest().starts_with(b"HTTP/1.1 431 "));
    let mut talk = daemon.connect();
    talk.write(format!("GET /healthz HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(65)).as_bytes());
    assert!(talk.rest().starts_with(b"HTTP/1.1 431 "));
}

#[test]
fn a_connection_is_kept_for_the_next_request_unless_told_otherwise() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    let health = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    let last = "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n";
    talk.write(format!("{health}POST /healthz HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /{last}").as_bytes());
    let answers = String::from_utf8(talk.rest()).unwrap();
    let statuses: Vec<&str> = answers.lines().filter(|line| line.starts_with("HTTP/1.1")).collect();
    assert_eq!(statuses, ["HTTP/1.1 200 OK", "HTTP/1.1 405 Method Not Allowed", "HTTP/1.1 200 OK"]);
    let mut old = daemon.connect();
    old.write(b"GET /healthz HTTP/1.0\r\n\r\n");
    assert!(String::from_utf8(old.rest()).unwrap().contains("Connection: close"));
}

#[test]
fn the_tables_are_shown_only_when_debugging_is_on() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let repo = home.git_repo("site");
    fs::write(repo.join("Makefile"), "check:\n\ttrue\n").unwrap();
    let mut talk = daemon.connect();
    for (n, line) in ["git status", "make check", "git status", "make check"].into_iter().enumerate() {
        let mut event = event(line, NOW + n as i64);
        event["cwd"] = json!(repo);
        talk.say(&event);
    }
    talk.ask(&json!({"type": "suggest", "session_id": "s", "cwd": repo}));
    talk.ask(&json!({"type": "flush"}));
    assert_eq!(daemon.curl(&[], "/debug/scores", "").0, 404);
    home.write(".config/clai/config.toml", "debug = true\nretension_days = 3\n");
    let reloaded = daemon.ask(&json!({"type": "reload"}));
    assert_eq!(reloaded["warnings"], json!(["unknown key `retension_days`, perhaps `retention_days`"]));
    let (status, scores) = daemon.curl(&[], "/debug/scores?scope=global", "");
    assert_eq!((status, scores.as_array().unwrap().len()), (200, 2));
    let scoped = daemon.curl(&[], "/debug/transitions", "").1;
    assert!(scoped.as_array().unwrap().iter().any(|row| row["scope"] != "global"), "{scoped}");
    let tasks = daemon.curl(&[], "/debug/tasks", "").1;
    assert_eq!((&tasks[0]["kind"], &tasks[0]["command"]), (&json!("make"), &json!("make check")), "{tasks}");
    assert_eq!(daemon.curl(&[], "/debug/scores?scope=nowhere", "").1, json!([]));
}

#[test]
fn a_configuration_that_cannot_be_read_leaves_the_old_one_in_force() {
    let home = Home::new();
    home.write(".config/clai/config.toml", "ignore = [\"secret *\"]\n");
    let daemon = Daemon::start(&home);
    home.write(".config/clai/config.toml", "ignore = \"oops\"\n");
    let refused = daemon.ask(&json!({"type": "reload"}));
    assert!(refused["error"].as_str().unwrap().contains("`ignore` is \"oops\""), "{refused}");
    daemon.ran(&["secret thing", "ls"]);
    assert_eq!(kept(&home), ["ls"]);
}
