//! Starting, ending, and what a death leaves behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};
use testkit::{PATIENCE, bin, until};

use crate::rig::{Rig, is_alive, ping};

#[test]
fn a_daemon_starts_tells_where_it_is_and_ends() {
    let rig = Rig::new();
    let started: Value = serde_json::from_str(&rig.tldr(&["daemon", "start"]).ok().stdout).unwrap();
    assert_eq!(started["status"], "ok");
    assert_eq!(started["pid"], rig.pid());
    assert_eq!(started["socket"], rig.named("sock").to_str().unwrap());
    assert_eq!(fs::metadata(rig.named("sock")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(rig.project.join(".tldrignore").exists());
    assert_eq!(rig.ask(&ping()), json!({"status": "ok", "project": fs::canonicalize(&rig.project).unwrap()}));
    assert!(until(PATIENCE, || rig.status()["status"] == "ready"));
    assert_eq!(rig.status()["files"], 3);
    let pid = rig.pid();
    assert_eq!(
        rig.tldr(&["daemon", "stop"]).ok().stdout,
        "{\"message\":\"Daemon stopped\",\"status\":\"ok\"}\n"
    );
    assert!(!is_alive(pid));
    assert!(
        !fs::read_dir(rig.home.temp()).unwrap().any(|entry| entry
            .unwrap()
            .path()
            .extension()
            .is_some_and(|e| e == "sock"))
    );
}

#[test]
fn without_a_daemon_every_command_says_so_in_its_own_way() {
    let rig = Rig::new();
    let said = |args: &[&str]| {
        let output = rig.tldr(args);
        (output.code, format!("{}{}", output.stdout, output.stderr))
    };
    assert_eq!(said(&["daemon", "stop"]), (0, "{\"message\":\"Daemon not running\"}\n".to_owned()));
    assert_eq!(said(&["daemon", "status", "--format", "text"]), (0, "Daemon not running\n".to_owned()));
    assert_eq!(said(&["daemon", "notify", "app.py"]), (0, String::new()));
    let (code, words) = said(&["daemon", "query", "ping"]);
    assert_eq!((code, words.lines().next()), (1, Some("error: Daemon not running")));
    assert_eq!(said(&["stats"]), (0, "{\"message\":\"No usage recorded yet\"}\n".to_owned()));
    assert_eq!(said(&["cache", "stats"]), (0, "{\"message\":\"No cache statistics found\"}\n".to_owned()));
    assert_eq!(said(&["cache", "clear"]), (0, "{\"message\":\"No cache directory found\"}\n".to_owned()));
}

#[test]
fn a_second_start_says_who_runs() {
    let rig = Rig::served();
    let pid = rig.pid();
    let second = rig.tldr(&["daemon", "start"]);
    assert_eq!(second.code, 1);
    assert!(
        second.stderr.starts_with(&format!("error: Daemon already running (PID: {pid})\n")),
        "{}",
        second.stderr
    );
    assert!(is_alive(pid) && rig.runs());
}

#[test]
fn of_twenty_that_start_at_once_one_does() {
    let rig = Rig::new();
    let starts: Vec<_> = (0..20)
        .map(|_| {
            let mut command = rig.home.command(bin("tldr"));
            command.args(["daemon", "start"]).current_dir(&rig.project);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    let started = starts
        .into_iter()
        .map(|mut child| child.wait().unwrap())
        .filter(std::process::ExitStatus::success)
        .count();
    assert_eq!(started, 1);
    assert_eq!(rig.ask(&ping())["status"], "ok");
}

#[test]
fn what_a_killed_one_left_is_in_nobodys_way() {
    let rig = Rig::served();
    for _ in 0..3 {
        rig.kill();
        assert!(!rig.runs());
        rig.tldr(&["daemon", "start"]).ok();
        assert_eq!(rig.ask(&ping())["status"], "ok");
    }
}

#[test]
fn a_pid_file_with_somebody_elses_number_means_nothing() {
    let rig = Rig::served();
    let (pid_file, pid) = (rig.named("pid"), rig.pid());
    rig.tldr(&["daemon", "stop"]).ok();
    for text in
        [format!("{}\n", std::process::id()), "1\n".to_owned(), "\u{0}garbage".to_owned(), String::new()]
    {
        fs::write(&pid_file, text).unwrap();
        assert!(!rig.runs());
        rig.tldr(&["daemon", "start"]).ok();
        assert_ne!(rig.pid(), pid);
        rig.tldr(&["daemon", "stop"]).ok();
    }
}

#[test]
fn a_socket_that_is_not_ours_is_not_believed() {
    let rig = Rig::served();
    let socket = rig.named("sock");
    rig.tldr(&["daemon", "stop"]).ok();
    let stranger = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    let start = rig.tldr(&["daemon", "start"]);
    assert_eq!(start.code, 1, "{}", start.transcript());
    drop(stranger);
    // Its listener is gone, its name has stayed: a start takes it over.
    rig.tldr(&["daemon", "start"]).ok();
    assert_eq!(rig.ask(&ping())["status"], "ok");
}

#[test]
fn it_ends_when_nobody_asks_and_when_its_project_is_gone() {
    let rig = Rig::new();
    rig.write(".tldr/config.json", r#"{"idle_timeout_secs": 1}"#);
    rig.tldr(&["daemon", "start"]).ok();
    let pid = rig.pid();
    assert!(until(PATIENCE, || !is_alive(pid)));
    rig.write(".tldr/config.json", "{}");
    rig.tldr(&["daemon", "start"]).ok();
    let pid = rig.pid();
    assert!(until(PATIENCE, || rig.status()["status"] == "ready"));
    fs::remove_dir_all(&rig.project).unwrap();
    assert!(until(PATIENCE, || !is_alive(pid)));
    assert!(!rig.project.exists());
}

#[test]
fn a_signal_ends_it_with_everything_written_down() {
    let rig = Rig::served();
    rig.ask(&json!({"cmd": "structure", "path": ".", "session": "ab12cd34ef"}));
    let status = std::process::Command::new("kill").arg(rig.pid().to_string()).status().unwrap();
    assert!(status.success());
    assert!(until(PATIENCE, || !rig.runs()));
    let line: Value = serde_json::from_str(&rig.home.read(".tldr/stats.jsonl")).unwrap();
    assert_eq!((&line["requests"], &line["session_id"]), (&json!(1), &json!("ab12cd34")));
    let stats: Value = serde_json::from_str(&rig.tldr(&["stats"]).ok().stdout).unwrap();
    assert_eq!(stats["total_invocations"], 1);
    let kept: Value = serde_json::from_str(&rig.tldr(&["cache", "stats"]).ok().stdout).unwrap();
    // Facts, and what uses mean.
    assert_eq!(kept["cache_files"]["file_count"], 2);
    assert!(kept["salsa_stats"]["misses"].as_u64().unwrap() > 0);
}

#[test]
fn a_restart_goes_on_from_what_was_worked_out() {
    let rig = Rig::served();
    rig.write("far.py", "def callee():\n    pass\n");
    rig.write("near.py", "from far import callee\n\ndef caller():\n    callee()\n");
    let impact = json!({"cmd": "impact", "func": "callee"});
    let misses = || rig.ask(&json!({"cmd": "status"}))["salsa_stats"]["misses"].as_u64().unwrap();
    let before = rig.ask(&impact);
    assert_eq!(before["callers"][0]["function"], "caller");
    let known = misses();
    rig.tldr(&["daemon", "stop"]).ok();
    rig.tldr(&["daemon", "start"]).ok();
    assert_eq!(rig.ask(&impact), before);
    // The answer is made again, what it stands on is not.
    assert_eq!(misses(), known + 1);
    // What changed in the meantime is looked at all the same, and cut bytes are as good as none.
    rig.tldr(&["daemon", "stop"]).ok();
    rig.write("near.py", "from far import callee\n\ndef another():\n    callee()\n");
    rig.tldr(&["daemon", "start"]).ok();
    assert_eq!(rig.ask(&impact)["callers"][0]["function"], "another");
    rig.tldr(&["daemon", "stop"]).ok();
    let meaning = rig.project.join(".tldr/cache/meaning.bin");
    let bytes = fs::read(&meaning).unwrap();
    fs::write(&meaning, &bytes[..bytes.len() / 2]).unwrap();
    rig.tldr(&["daemon", "start"]).ok();
    assert_eq!(rig.ask(&impact)["callers"][0]["function"], "another");
}
