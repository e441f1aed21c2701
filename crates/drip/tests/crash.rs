//! Death at any moment, many at once, and a disk that is full: what was written down stays true, and reads go on.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: starts children and fails by panicking"
)]

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::crash::Crash;
use testkit::{Home, Output, bin, hostile};

fn text(version: usize) -> String {
    (0..400).map(|number| format!("line {number} {}\n", if number % 97 == 3 { version } else { 0 })).collect()
}

fn drip(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(bin("drip"));
    command.args(args).env("DRIP_SESSION_ID", "s").current_dir(home.path());
    command
}

fn says(home: &Home, args: &[&str]) -> Output {
    home.run(&mut drip(home, args)).ok()
}

/// A reader may be told something twice after a crash. It must never be told of something that it did not get.
#[test]
fn a_read_that_is_killed_leaves_a_store_that_tells_the_truth() {
    let home = Home::new();
    let version = Cell::new(0);
    let held = Cell::new(None);
    let report = Crash::new(0xd41b).run(
        |_| {
            version.set(version.get() + 1);
            fs::write(home.path().join("a.txt"), text(version.get())).unwrap();
            let mut shell = home.command("/bin/sh");
            // Several in a row, so that a kill finds one at work.
            let script = format!("for i in 1 2 3; do '{}' read a.txt; done", bin("drip").display());
            shell.args(["-c", &script]).env("DRIP_SESSION_ID", "s").current_dir(home.path());
            shell
        },
        |attempt| {
            for heading in attempt.output.stdout.lines().filter(|line| line.starts_with("[DRIP: ")) {
                if heading.starts_with("[DRIP: unchanged since") {
                    assert_eq!(held.get(), Some(version.get()), "{heading}");
                }
                held.set(Some(version.get()));
            }
            let verdict: Value = serde_json::from_str(&says(&home, &["verify", "--json"]).stdout).unwrap();
            assert_eq!(verdict["wrong"], serde_json::json!([]), "{verdict}");
            assert_eq!(says(&home, &["doctor", "--quiet"]).stdout, "0 error(s), 0 warning(s)\n");
        },
    );
    assert!(report.hits > 0);
}

#[test]
fn many_hooks_at_once_lose_nothing() {
    let home = Home::new();
    let mut children: Vec<_> = (0..32)
        .map(|number| {
            let path = home.write(format!("{number}.txt"), text(number));
            let content = text(number);
            let event = serde_json::json!({
                "session_id": "s", "cwd": home.path(), "hook_event_name": "PostToolUse", "tool_name": "Read",
                "tool_input": {"file_path": path},
                "tool_response": {"type": "text", "file": {
                    "filePath": path, "content": content, "numLines": 401, "startLine": 1, "totalLines": 401}},
            });
            let mut command = drip(&home, &["hook", "claude-post-read"]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
            child
        })
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let meter: Value = serde_json::from_str(&says(&home, &["meter", "--json"]).stdout).unwrap();
    assert_eq!(meter["total_reads"], 32, "{meter}");
    assert_eq!(meter["files_tracked"], 32, "{meter}");
}

#[test]
fn on_a_full_disk_the_file_is_read_all_the_same() {
    hostile::small_disk(256 * 1024, |disk| {
        let home = Home::new();
        home.write("a.txt", text(1));
        let store = disk.join("store");
        fs::write(disk.join("filler"), vec![b'x'; 230 * 1024]).unwrap();
        for _ in 0..3 {
            let said = home.run(drip(&home, &["read", "a.txt"]).env("DRIP_DATA_DIR", &store)).ok();
            assert!(said.stdout.starts_with("[DRIP: "), "{}", said.stdout);
            assert!(
                said.stdout.contains("line 399 0") || said.stdout.contains("unchanged"),
                "{}",
                said.stdout
            );
        }
    });
}
