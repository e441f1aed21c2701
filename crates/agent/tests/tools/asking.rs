//! `code_…` over the socket of a daemon that is played here, and `recent_commands` where somebody answers.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use agent::tools::code::{Absent, Socket};
use agent::tools::recent::{Ran, Recent};
use serde_json::{Value, json};
use wire::endpoint::ProjectHash;

use super::shop::Shop;

/// Answers every question with what `answer` makes of it, and tells what was asked.
fn daemon(path: &Path, answer: impl Fn(&Value) -> String + Send + 'static) -> Receiver<Value> {
    let listener = UnixListener::bind(path).unwrap();
    let (sender, asked) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            // Who went away has asked nothing.
            let Ok(question) = serde_json::from_str(&line) else { continue };
            let reply = answer(&question);
            if sender.send(question).is_err() {
                return;
            }
            let _ = stream.write_all(format!("{reply}\n").as_bytes());
        }
    });
    asked
}

fn socket(shop: &Shop) -> PathBuf {
    ProjectHash::of(shop.workshop.project.root()).socket(&shop.home.temp()).unwrap().as_path().to_owned()
}

fn find(shop: &Shop) -> Result<Socket, Absent> {
    Socket::find(shop.workshop.project.root(), &shop.home.temp(), rustix::process::geteuid().as_raw())
}

#[test]
fn a_daemon_that_answers_brings_its_tools() {
    let mut shop = Shop::new();
    assert_eq!(find(&shop).unwrap_err(), Absent::Nobody);
    let root = shop.workshop.project.root().to_owned();
    let asked = daemon(&socket(&shop), move |question| match question["cmd"].as_str().unwrap() {
        "ping" => json!({"status": "ok", "project": root}).to_string(),
        "context" => json!({"status": "ok", "functions": ["helper"], "as_of": "now"}).to_string(),
        _ => json!({"status": "error", "message": "function not found: mian", "near": ["main"]}).to_string(),
    });
    shop.workshop.index = Some(Box::new(find(&shop).unwrap()));
    let names: Vec<&str> = shop.workshop.tools().iter().map(|tool| tool.name).collect();
    assert_eq!(names[5..], ["code_context", "code_callers", "code_impact"]);
    assert_eq!(
        shop.ok("code_context", json!({"function": "main", "depth": 2})),
        r#"{"functions":["helper"]}"#
    );
    assert_eq!(
        shop.failed("code_callers", json!({"function": "mian"})),
        r#"the code index has no answer: function not found: mian: {"near":["main"]}; use code_search"#
    );
    shop.failed("code_impact", json!({"function": "mian", "depth": 3}));
    let questions: Vec<Value> = asked.try_iter().filter(|question| question["cmd"] != "ping").collect();
    assert_eq!(questions[0], json!({"cmd": "context", "entry": "main", "depth": 2, "max_tokens": 4000}));
    assert_eq!(questions[1], json!({"cmd": "impact", "func": "mian", "depth": 1, "max_tokens": 4000}));
    assert_eq!(questions[2], json!({"cmd": "impact", "func": "mian", "depth": 3, "max_tokens": 4000}));
}

#[test]
fn a_daemon_of_another_project_or_of_nonsense_brings_none() {
    for reply in
        [r#"{"status":"ok","project":"/elsewhere"}"#, "nonsense", r#"{"status":"error","message":"no"}"#]
    {
        let shop = Shop::new();
        let reply = reply.to_owned();
        let _asked = daemon(&socket(&shop), move |_| reply.clone());
        assert_eq!(find(&shop).unwrap_err(), Absent::Nobody);
    }
}

#[test]
fn a_daemon_that_says_nothing_is_not_waited_for_without_end() {
    let shop = Shop::new();
    let _listener = UnixListener::bind(socket(&shop)).unwrap();
    assert_eq!(find(&shop).unwrap_err(), Absent::Mute);
}

#[test]
fn a_daemon_that_is_gone_is_an_answer_too() {
    let mut shop = Shop::new();
    let path = socket(&shop);
    let _asked = daemon(&path, |_| json!({"status": "ok"}).to_string());
    shop.workshop.index = Some(Box::new(find(&shop).unwrap()));
    std::fs::remove_file(&path).unwrap();
    let told = shop.failed("code_context", json!({"function": "main"}));
    assert!(
        told.starts_with("the code index has no answer: ") && told.ends_with("; use code_search"),
        "{told}"
    );
}

struct History(Vec<Ran>);

impl Recent for History {
    fn last(&self, limit: usize) -> Result<Vec<Ran>, String> {
        Ok(self.0[self.0.len().saturating_sub(limit)..].to_vec())
    }
}

#[test]
fn what_was_run_is_told_with_how_it_ended() {
    let mut shop = Shop::new();
    let ran = |command: &str, exit_code: Option<i32>| Ran { command: command.to_owned(), exit_code };
    shop.workshop.recent = Some(Box::new(History(vec![
        ran("make", None),
        ran("ls", Some(0)),
        ran("cargo test\u{1b}[2J", Some(101)),
    ])));
    assert_eq!(shop.ok("recent_commands", json!({})), "[?] make\n[0] ls\n[101] cargo test[2J");
    assert_eq!(shop.ok("recent_commands", json!({"limit": 1})), "[101] cargo test[2J");
    shop.workshop.recent = Some(Box::new(History(Vec::new())));
    assert_eq!(shop.ok("recent_commands", json!({"limit": -1})), "nothing was run here yet");
}
