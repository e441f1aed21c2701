//! What the specification says of the nine commands, where programs that claimed to follow it did not.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{PATIENCE, bin, until};

use crate::rig::{Rig, is_alive};

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn lines_of(rig: &Rig) -> Vec<Value> {
    let text = fs::read_to_string(rig.home.path().join(".tldr/stats.jsonl")).unwrap_or_default();
    text.lines().map(json_of).collect()
}

#[test]
fn the_names_in_the_temporary_directory_are_those_of_the_projects_md5() {
    let rig = Rig::served();
    let project = fs::canonicalize(&rig.project).unwrap();
    let output = std::process::Command::new("sh")
        .args(["-c", "printf %s \"$1\" | md5sum | cut -c1-8", "sh"])
        .arg(&project)
        .output()
        .unwrap();
    let hash = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    assert_eq!(rig.named("sock"), rig.home.temp().join(format!("tldr-{hash}.sock")));
    assert_eq!(rig.named("pid"), rig.home.temp().join(format!("tldr-{hash}.pid")));
    assert!(is_alive(rig.pid()));
}

#[test]
fn starting_and_ending_are_told_to_people_too() {
    let rig = Rig::new();
    let started = rig.tldr(&["daemon", "start", "--format", "text"]).ok().stdout;
    let expected =
        format!("Daemon started with PID {}\nSocket: {}\n", rig.pid(), rig.named("sock").display());
    assert_eq!(started, expected);
    assert_eq!(rig.tldr(&["daemon", "stop", "--format", "text"]).ok().stdout, "Daemon stopped\n");
    assert_eq!(rig.tldr(&["daemon", "stop", "--format", "text"]).ok().stdout, "Daemon not running\n");
}

#[test]
fn in_the_foreground_it_is_the_process_that_was_started() {
    let rig = Rig::new();
    let mut command = rig.home.command(bin("tldr"));
    command.args(["daemon", "start", "-f"]).current_dir(&rig.project).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!((&json_of(&line)["status"], &json_of(&line)["pid"]), (&json!("ok"), &json!(child.id())));
    assert_eq!(rig.ask(&json!({"cmd": "shutdown"})), json!({"status": "shutting_down"}));
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_dir(rig.home.temp()).unwrap().count(), 1, "only the lock has stayed");
}

#[test]
fn the_status_has_every_field_for_programs_and_every_heading_for_people() {
    let rig = Rig::served();
    assert!(until(PATIENCE, || rig.status()["status"] == "ready"));
    rig.write("copy.py", "def helper():\n    return 1\n");
    let ask = json!({"cmd": "extract", "file": "lib.py", "session": "abcdefgh-rest"});
    rig.ask(&ask);
    rig.ask(&ask);
    rig.ask(&json!({"cmd": "track", "hook": "save", "metrics": {"found": 2}}));
    let status = json_of(&rig.tldr(&["daemon", "status", "--session", "abcdefgh"]).ok().stdout);
    let salsa = status["salsa_stats"].as_object().unwrap();
    let keys: Vec<&str> = salsa.keys().map(String::as_str).collect();
    assert_eq!(keys, ["hit_rate", "hits", "invalidations", "misses", "recomputations"]);
    assert!(salsa["hits"].as_u64().unwrap() > 0);
    assert_eq!(status["files"], 4, "the two programs, the copy, and the rules that a start writes");
    assert_eq!(
        status["dedup_stats"],
        json!({"unique_hashes": 2, "duplicates_avoided": 1, "bytes_saved": 27})
    );
    assert_eq!(
        (&status["all_sessions"]["active_sessions"], &status["all_sessions"]["total_requests"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        (&status["session_stats"]["session_id"], &status["session_stats"]["requests"]),
        (&json!("abcdefgh"), &json!(2))
    );
    assert_eq!(
        (&status["hook_stats"]["save"]["invocations"], &status["hook_stats"]["save"]["metrics"]["found"]),
        (&json!(1), &json!(2.0))
    );
    assert!(status["uptime"].is_number() && status["uptime_human"].as_str().unwrap().starts_with("0h 0m "));
    let text = rig.tldr(&["daemon", "status", "--format", "text"]).ok().stdout;
    for heading in [
        "TLDR Daemon Status\n==================\nStatus: running\n",
        "\nCache Statistics\n----------------\nHits: ",
        "\nSession Summary\n---------------\nActive Sessions: 1\nTotal Requests: 2\n",
    ] {
        assert!(text.contains(heading), "{heading}\n{text}");
    }
}

#[test]
fn a_query_passes_its_parameters_on_and_an_error_reply_is_one() {
    let rig = Rig::served();
    let found = rig.tldr(&["daemon", "query", "search", "--json", r#"{"pattern": "def helper"}"#]).ok();
    assert_eq!(json_of(&found.stdout)["results"][0]["file"], "lib.py");
    assert_eq!(json_of(&rig.tldr(&["daemon", "query", "ping"]).ok().stdout)["status"], "ok");
    for (args, code, words) in [
        (vec!["zzz"], 1, "unknown command: zzz"),
        (vec!["extract"], 1, "missing required parameter: file"),
        (vec!["search", "-j", r#"{"pattern": 7}"#], 1, "invalid IPC message: "),
    ] {
        let said = rig.tldr(&[&["daemon", "query"][..], &args].concat());
        assert_eq!(said.code, code, "{args:?}");
        assert!(json_of(&said.stdout)["message"].as_str().unwrap().starts_with(words), "{}", said.stdout);
    }
    let broken = rig.tldr(&["daemon", "query", "search", "--json", "{"]);
    assert_eq!(broken.code, 1);
    assert!(broken.stderr.starts_with("error: Invalid JSON parameters: "), "{}", broken.stderr);
}

#[test]
fn a_project_says_how_its_daemon_behaves() {
    let rig = Rig::new();
    rig.write(
        ".claude/settings.json",
        r#"{"tldr": {"semantic_enabled": false, "auto_reindex_threshold": 9}}"#,
    );
    rig.write(".tldr/config.json", r#"{"auto_reindex_threshold": 2}"#);
    rig.tldr(&["daemon", "start"]).ok();
    let said = rig.ask(&json!({"cmd": "semantic", "query": "help"}));
    assert_eq!(said["status"], "error");
    assert!(said["message"].as_str().unwrap().contains("semantic_enabled"));
    let notify = |file: &str| rig.tldr(&["daemon", "notify", file, "--format", "text"]).ok().stdout;
    assert_eq!(notify("app.py"), "Tracked: 1/2 files\n");
    assert_eq!(notify("app.py"), "Tracked: 1/2 files\n");
    assert_eq!(notify("lib.py"), "Reindex triggered (2/2 files)\n");
    assert_eq!(notify("lib.py"), "Tracked: 1/2 files\n");
    assert!(until(PATIENCE, || rig.status()["status"] == "ready"));
}

#[test]
fn an_answer_of_twelve_megabytes_comes_whole() {
    let rig = Rig::new();
    let line = "x".repeat(450);
    rig.write("data.txt", &format!("{line}\n").repeat(25_000));
    rig.tldr(&["daemon", "start"]).ok();
    let said = rig.tldr(&["daemon", "query", "search", "--json", r#"{"pattern": "^x"}"#]).ok();
    assert!(said.stdout.len() > 12_000_000, "{}", said.stdout.len());
    assert_eq!(json_of(&said.stdout)["results"].as_array().unwrap().len(), 25_000);
}

#[test]
fn usage_is_written_as_what_was_added_and_a_killed_daemon_loses_less_than_ten() {
    let rig = Rig::served();
    let mut talk = rig.connect();
    let mut ask = || talk.ask(&json!({"cmd": "extract", "file": "lib.py", "session": "12345678"}));
    for _ in 0..25 {
        ask();
    }
    let sum = || lines_of(&rig).iter().map(|line| line["requests"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum(), 20);
    rig.tldr(&["daemon", "stop"]).ok();
    assert_eq!(sum(), 25);
    let stats = json_of(&rig.tldr(&["stats"]).ok().stdout);
    assert_eq!(stats["total_invocations"], 25);
    let (raw, ours) =
        (stats["raw_tokens_total"].as_i64().unwrap(), stats["tldr_tokens_total"].as_i64().unwrap());
    assert_eq!(stats["estimated_tokens_saved"], raw - ours);
    let text = rig.tldr(&["stats", "--format", "text"]).ok().stdout;
    assert!(
        text.starts_with("TLDR Usage Statistics\n=====================\nTotal Invocations: 25\n"),
        "{text}"
    );
    rig.tldr(&["daemon", "start"]).ok();
    let mut talk = rig.connect();
    for _ in 0..19 {
        talk.ask(&json!({"cmd": "extract", "file": "lib.py"}));
    }
    rig.kill();
    assert_eq!(sum(), 35);
}

#[test]
fn what_hooks_did_is_written_with_every_fifth_call() {
    let rig = Rig::served();
    let mut talk = rig.connect();
    for number in 0..7 {
        talk.ask(&json!({"cmd": "track", "hook": "h", "success": number != 0, "metrics": {"errors": 1}}));
    }
    let hook = |line: &Value| line["hook"].clone();
    let lines = lines_of(&rig);
    assert_eq!(lines.len(), 1);
    assert_eq!((&hook(&lines[0])["invocations"], &hook(&lines[0])["failures"]), (&json!(5), &json!(1)));
    rig.tldr(&["daemon", "stop"]).ok();
    let lines = lines_of(&rig);
    assert_eq!((lines.len(), &hook(&lines[1])["invocations"]), (2, &json!(2)));
    assert_eq!(rig.tldr(&["stats"]).ok().stdout, "{\"message\":\"No usage recorded yet\"}\n");
}

#[test]
fn cache_statistics_outlive_the_daemon_and_clearing_reaches_a_running_one() {
    let rig = Rig::served();
    let misses = || rig.status()["salsa_stats"]["misses"].as_u64().unwrap();
    rig.ask(&json!({"cmd": "calls"}));
    rig.ask(&json!({"cmd": "calls"}));
    let before = misses();
    rig.tldr(&["daemon", "stop"]).ok();
    rig.tldr(&["daemon", "start"]).ok();
    assert!(misses() >= before);
    rig.ask(&json!({"cmd": "calls"}));
    assert!(misses() > before);
    rig.tldr(&["warm", "."]).ok();
    let kept = json_of(&rig.tldr(&["cache", "stats"]).ok().stdout);
    assert_eq!(kept["cache_files"]["file_count"], 1);
    let cleared = json_of(&rig.tldr(&["cache", "clear"]).ok().stdout);
    assert_eq!(cleared["status"], "ok");
    let removed = cleared["files_removed"].as_u64().unwrap();
    assert!(removed >= 2, "{cleared}");
    assert_eq!(cleared["message"], format!("Cache cleared: {removed} file(s) removed"));
    assert_eq!(rig.status()["salsa_stats"]["hits"], 0);
    assert_eq!(rig.ask(&json!({"cmd": "calls"}))["status"], "ok");
}

#[test]
fn warming_writes_edges_between_files_with_a_daemon_and_without() {
    let rig = Rig::new();
    let read = || json_of(&fs::read_to_string(rig.project.join(".tldr/cache/call_graph.json")).unwrap());
    let warmed = json_of(&rig.tldr(&["warm", "."]).ok().stdout);
    assert_eq!((&warmed["files"], &warmed["languages"]), (&json!(2), &json!(["python"])));
    assert_eq!(warmed["cache_path"], ".tldr/cache/call_graph.json");
    let alone = read();
    let across =
        json!({"from_file": "app.py", "from_func": "main", "to_file": "lib.py", "to_func": "helper"});
    let has = |graph: &Value, edge: &Value| {
        graph["edges"]
            .as_array()
            .unwrap()
            .iter()
            .any(|found| edge.as_object().unwrap().iter().all(|(key, value)| found[key] == *value))
    };
    assert!(has(&alone, &across), "{alone}");
    assert!(rig.project.join(".tldrignore").exists());
    rig.tldr(&["daemon", "start"]).ok();
    let text = rig.tldr(&["warm", ".", "--format", "text"]).ok().stdout;
    assert!(text.starts_with("Warming call graph cache...\nIndexed 2 files, found "), "{text}");
    assert!(text.ends_with("Languages: python\nCache written to: .tldr/cache/call_graph.json\n"), "{text}");
    assert_eq!(read()["edges"], alone["edges"]);
    fs::remove_file(rig.project.join(".tldr/cache/call_graph.json")).unwrap();
    let said = rig.tldr(&["warm", ".", "--background", "--format", "text"]).ok().stdout;
    assert_eq!(said, "Warming cache in background...\n");
    assert!(until(PATIENCE, || rig.project.join(".tldr/cache/call_graph.json").exists()));
}

#[test]
fn the_command_line_asks_the_daemon_and_says_so() {
    let rig = Rig::new();
    let alone = rig.tldr(&["calls", "-v"]).ok();
    assert_eq!(alone.stderr, "answered here: no daemon runs for this project\n");
    rig.write(".tldrignore", "*.log\n");
    let alone = rig.tldr(&["calls", "-v"]).ok();
    rig.tldr(&["daemon", "start"]).ok();
    let asked = rig.tldr(&["calls", "-v"]).ok();
    assert_eq!((asked.stderr.as_str(), asked.stdout), ("answered by the daemon\n", alone.stdout));
}

#[test]
fn a_restart_knows_what_the_last_one_learned() {
    let rig = Rig::served();
    rig.ask(&json!({"cmd": "calls"}));
    rig.tldr(&["daemon", "stop"]).ok();
    let facts = rig.project.join(".tldr/cache/facts.bin");
    let written = fs::metadata(&facts).unwrap().modified().unwrap();
    rig.tldr(&["daemon", "start"]).ok();
    assert!(until(PATIENCE, || rig.status()["status"] == "ready"));
    assert_eq!(rig.status()["files"], 3);
    // Whoever finds something new keeps it at once: this one found nothing.
    assert_eq!(fs::metadata(&facts).unwrap().modified().unwrap(), written);
}

#[test]
fn scrimp_needs_no_binary_beside_it_to_start_a_daemon() {
    let rig = Rig::new();
    let alone = rig.home.path().join("bin/other-name");
    fs::create_dir_all(alone.parent().unwrap()).unwrap();
    fs::copy(bin("tldr"), &alone).unwrap();
    let run = |program: &Path, args: &[&str]| {
        rig.home.run(rig.home.command(program).args(args).current_dir(&rig.project))
    };
    run(&alone, &["daemon", "start"]).ok();
    assert!(rig.runs());
    run(&alone, &["warm", ".", "--background"]).ok();
    assert!(until(PATIENCE, || rig.project.join(".tldr/cache/call_graph.json").exists()));
}
