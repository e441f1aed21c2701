//! NDJSON and raw fields: what is said, what is answered, and what nonsense costs.

use std::io::Write;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};
use testkit::{Home, PATIENCE, until};

use crate::rig::{Daemon, NOW, Talk, count, event, kept, socket};

#[test]
fn a_command_is_kept_and_comes_back_as_a_suggestion() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&[
        "git status",
        "git add -A",
        "make test",
        "git status",
        "git add -A",
        "make test",
        "git status",
    ]);
    assert_eq!(kept(&home).len(), 7);
    let answer = daemon.ask(&json!({"type": "suggest", "session_id": "s", "cwd": "/"}));
    assert_eq!(answer["context"]["last_cmd_norm"], "git status");
    assert_eq!(answer["suggestions"][0]["cmd"], "git add -A");
    assert!(answer["suggestions"].as_array().unwrap().len() <= 3);
    let confidence = answer["suggestions"][0]["confidence"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&confidence));
}

#[test]
fn what_was_learned_survives_a_restart() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&["git status", "git add -A", "git status", "git add -A", "git status"]);
    let before = daemon.suggestions();
    daemon.terminate();
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.suggestions(), before);
    assert_eq!(daemon.ask(&json!({"type": "health"}))["learned"], 5);
}

#[test]
fn a_suggestion_sees_the_event_said_before_it_on_the_same_connection() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    for n in 0..50 {
        talk.say(&event(&format!("tool-{n}x --now"), NOW + n));
        let answer = talk.ask(&json!({"type": "suggest", "session_id": "s", "cwd": "/"}));
        assert_eq!(answer["context"]["last_cmd_norm"], format!("tool-{n}x --now"));
    }
}

#[test]
fn a_session_gets_an_id_of_its_own_and_a_row() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let start = json!({"type": "session_start", "shell": "fish", "pid": 7, "ts": NOW, "host": "engine", "user": "ada"});
    let ids: Vec<Value> = (0..3).map(|_| daemon.ask(&start)["session_id"].clone()).collect();
    assert!(ids[0].as_str().unwrap().len() >= 16);
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
    daemon.flush();
    let rows = "SELECT count(*) FROM session WHERE shell = 'fish' AND host = 'engine' AND user = 'ada'";
    assert_eq!(count(&home, rows), 3);
}

#[test]
fn an_event_of_an_unannounced_session_gets_the_machines_name() {
    let home = Home::new();
    let daemon = Daemon::start_with(&home, &[("USER", "ada")]);
    daemon.ran(&["ls"]);
    assert_eq!(
        count(&home, "SELECT count(*) FROM session WHERE id = 's' AND user = 'ada' AND host <> ''"),
        1
    );
}

#[test]
fn nonsense_is_answered_with_why_and_the_next_line_is_read() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    for (line, why) in [
        ("{", "EOF while parsing"),
        ("{\"type\":\"sing\"}", "unknown variant `sing`"),
        ("{\"type\":\"command_end\",\"cmd_raw\":\"ls\"}", "missing field `session_id`"),
        ("{\"type\":\"suggest\",\"session_id\":\"s\",\"cwd\":\"/\",\"limit\":-1}", "invalid value"),
        ("{\"type\":\"forget\"}", "exactly one of"),
        ("{\"type\":\"forget\",\"last\":1,\"pattern\":\"x\"}", "exactly one of"),
        ("[]", "not a request"),
        ("\u{1}\u{2}", "not a request"),
    ] {
        talk.write(format!("{line}\n").as_bytes());
        let answer = talk.hear();
        assert!(answer["error"].as_str().unwrap().contains(why), "{line}: {answer}");
    }
    talk.write(
        format!("{{\"type\":\"health\",\"x\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000)).as_bytes(),
    );
    assert!(talk.hear()["error"].as_str().unwrap().contains("recursion limit"));
    talk.write(b"{\"type\":\"health\xff\xfe\"}\n");
    assert!(talk.hear()["error"].is_string());
    assert_eq!(talk.ask(&json!({"type": "health", "of_tomorrow": [1, {"x": 2}]}))["status"], "ok");
    let mut from_tomorrow = event("ls", NOW);
    from_tomorrow["of_tomorrow"] = json!({"x": [1]});
    from_tomorrow["v"] = json!(2);
    talk.say(&from_tomorrow);
    assert_eq!(talk.ask(&json!({"type": "flush"})), json!({"done": true}));
    assert_eq!(kept(&home), ["ls"]);
    assert!(
        daemon
            .left_out()
            .iter()
            .any(|(reason, detail, _)| (reason.as_str(), detail.as_str()) == ("malformed", "ndjson"))
    );
}

#[test]
fn a_line_of_a_megabyte_is_refused_and_the_next_one_is_read() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    talk.say(&event(&"x".repeat(1 << 20), NOW));
    assert_eq!(talk.hear()["error"], "a message is longer than 262144 bytes");
    talk.say(&event(&"y".repeat(200_000), NOW));
    assert_eq!(talk.ask(&json!({"type": "flush"})), json!({"done": true}));
    assert_eq!(kept(&home).iter().map(String::len).collect::<Vec<_>>(), [200_000]);
    assert_eq!(daemon.suggestions().iter().filter(|line| line.starts_with('y')).count(), 0);
}

#[test]
fn half_a_line_is_dropped_and_a_last_line_without_its_newline_is_taken() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let whole = event("whole", NOW).to_string();
    for bytes in [&whole.as_bytes()[..whole.len() / 2], whole.as_bytes()] {
        let mut stream = UnixStream::connect(socket(&home)).unwrap();
        stream.write_all(bytes).unwrap();
    }
    assert!(until(PATIENCE, || {
        daemon.flush();
        !kept(&home).is_empty()
    }));
    assert_eq!(kept(&home), ["whole"]);
}

#[test]
fn any_text_arrives_as_it_was_typed_but_for_nuls() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let lines = [
        "git commit -m \"fix: \\\"quoted\\\" work\"",
        "printf 'a\nb' | cat > /tmp/x && echo $(date) `id`",
        "echo é日🦀 \u{202e}x \u{1b}[31m",
        "echo 'unbalanced",
    ];
    daemon.ran(&lines);
    daemon.ran(&["a\0b"]);
    let kept = kept(&home);
    assert_eq!(kept[..4], lines);
    assert_eq!(kept[4], "a\u{fffd}b");
}

/// What zsh's `print -rN` makes of it, two empty fields in front.
fn raw(fields: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0, 0];
    for field in fields {
        bytes.extend_from_slice(field);
        bytes.push(0);
    }
    bytes.push(0);
    bytes
}

#[test]
fn a_shell_speaks_raw_fields_and_hears_suggestions() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = Talk::to(&home);
    let said = |line: &[u8]| {
        raw(&[
            b"session_id=s",
            b"shell=zsh",
            b"ts=1767225600000",
            b"cwd=/",
            b"exit_code=0",
            &[b"cmd_raw=", line].concat(),
        ])
    };
    for line in [&b"git status"[..], b"make a=b", b"git status", b"make a=b", b"ls \xff\xfe", b"git status"] {
        talk.write(&said(line));
    }
    talk.write(&raw(&[b"nonsense"]));
    talk.write(&raw(&[b"type=suggest", b"session_id=s", b"cwd=/", b"limit=2"]));
    let mut fields = Vec::new();
    loop {
        let mut field = Vec::new();
        std::io::BufRead::read_until(&mut talk.0, 0, &mut field).unwrap();
        field.pop();
        if field.is_empty() {
            break;
        }
        fields.push(String::from_utf8(field).unwrap());
    }
    assert_eq!(fields.len(), 4, "a command and its reasons, twice: {fields:?}");
    assert_eq!(fields[0], "make a=b");
    daemon.flush();
    assert_eq!(kept(&home)[4], "ls \u{fffd}\u{fffd}");
    assert_eq!(daemon.left_out(), [("malformed".to_owned(), "raw".to_owned(), 1)]);
}

#[test]
fn a_first_byte_of_no_dialect_ends_the_connection() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    talk.write(b"SSH-2.0-OpenSSH_9\r\n");
    assert!(talk.rest().is_empty());
    assert_eq!(daemon.ask(&json!({"type": "health"}))["status"], "ok");
}

#[test]
fn what_a_person_ran_in_a_project_is_told_to_who_may_ask() {
    let home = Home::new();
    let repo = home.git_repo("p");
    let (repo, below) = (repo.to_str().unwrap().to_owned(), format!("{}/src", repo.display()));
    let daemon = Daemon::start(&home);
    let mut talk = daemon.connect();
    let said = [
        ("make", 2, repo.as_str(), None),
        ("export TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz", 0, &below, None),
        ("ls", 0, "/elsewhere", None),
        ("make check", 0, &repo, Some("claude")),
        ("git status", 0, &below, None),
    ];
    for (place, (line, exit_code, cwd, actor)) in said.into_iter().enumerate() {
        let mut event = event(line, NOW + place as i64);
        event["cwd"] = json!(cwd);
        event["exit_code"] = json!(exit_code);
        event["actor"] = json!(actor);
        talk.say(&event);
    }
    let ask = |cwd: &str, limit: usize| json!({"type": "recent", "cwd": cwd, "limit": limit});
    // At once: what was said before the question is in the answer.
    let answer = talk.ask(&ask(&repo, 10));
    let told = |answer: &Value| -> Vec<(String, i64)> {
        let row = |row: &Value| (row["cmd"].as_str().unwrap().to_owned(), row["exit_code"].as_i64().unwrap());
        answer["commands"].as_array().unwrap().iter().map(row).collect()
    };
    let commands = told(&answer);
    assert_eq!(commands.len(), 3, "{answer}");
    assert_eq!((&commands[0], &commands[2]), (&("make".to_owned(), 2), &("git status".to_owned(), 0)));
    assert!(!answer.to_string().contains("ghp_0123"), "secrets are never kept: {answer}");
    assert_eq!(told(&talk.ask(&ask(&below, 1))), [("git status".to_owned(), 0)]);
    assert_eq!(told(&talk.ask(&ask("/elsewhere", 10))), [("ls".to_owned(), 0)]);
    assert_eq!(told(&talk.ask(&ask("/nowhere", usize::MAX))), []);
    assert!(talk.ask(&json!({"type": "recent"}))["error"].as_str().unwrap().contains("cwd"));
}
