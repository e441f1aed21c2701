//! `drip mcp` as a client meets it: over its standard streams, one JSON line at a time.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "a test: starts a child, is given fresh JSON, and fails by panicking"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use testkit::{Home, bin};

struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    fn start(home: &Home, env: &[(&str, &str)]) -> Server {
        let mut server = Server::unopened(home, env);
        let client = json!({"name": "test", "version": "1"});
        server.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn unopened(home: &Home, env: &[(&str, &str)]) -> Server {
        let mut command = home.command(bin("drip"));
        command.arg("mcp").envs(env.iter().copied()).current_dir(home.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Server { stdin: child.stdin.take(), child, stdout, next: 0 }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(reply["id"], self.next);
        reply
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// What a read said.
    fn read(&mut self, arguments: Value) -> String {
        let reply = self.call("read_file", arguments);
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn refused(&mut self, arguments: Value) -> String {
        let reply = self.call("read_file", arguments);
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success(), "a client that hangs up is no failure");
    }
}

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line number {number} of the file\n")).collect()
}

#[test]
fn a_second_read_is_one_line_and_a_change_is_a_delta() {
    let home = Home::new();
    home.write("a.txt", numbered(200));
    let mut server = Server::start(&home, &[]);
    assert!(server.read(json!({"file_path": "a.txt"})).starts_with("[DRIP: full read | "));
    assert!(server.read(json!({"file_path": "a.txt"})).starts_with("[DRIP: unchanged since last read | "));
    home.write("a.txt", numbered(200).replace("number 100 ", "NUMBER 100 "));
    let delta = server.read(json!({"file_path": "a.txt"}));
    assert!(delta.starts_with("[DRIP: delta only | "), "{delta}");
    assert!(delta.contains("\n+line NUMBER 100 of the file\n"), "{delta}");
    let whole = server.read(json!({"file_path": "a.txt", "full": true}));
    assert_eq!(whole.split_once('\n').unwrap().1, home.read("a.txt"));
}

/// Scenario D: another conversation in the same folder and on the same branch.
#[test]
fn a_new_connection_has_seen_nothing() {
    let home = Home::new();
    home.write("a.txt", numbered(100));
    for _ in 0..2 {
        let mut server = Server::start(&home, &[("DRIP_SESSION_ID", "the same")]);
        assert!(server.read(json!({"file_path": "a.txt"})).starts_with("[DRIP: full read | "));
    }
    let (mut one, mut other) = (Server::start(&home, &[]), Server::start(&home, &[]));
    one.read(json!({"file_path": "a.txt"}));
    assert!(other.read(json!({"file_path": "a.txt"})).starts_with("[DRIP: full read | "));
}

#[test]
fn a_second_handshake_and_a_stateless_call_have_seen_nothing() {
    let home = Home::new();
    home.write("a.txt", numbered(100));
    let mut server = Server::start(&home, &[]);
    server.read(json!({"file_path": "a.txt"}));
    server.request("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
    assert!(server.read(json!({"file_path": "a.txt"})).starts_with("[DRIP: full read | "));
    let mut server = Server::unopened(&home, &[]);
    for _ in 0..2 {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let reply = server.request(
            "tools/call",
            json!({"name": "read_file", "arguments": {"file_path": "a.txt"}, "_meta": meta}),
        );
        let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
        assert!(text.starts_with("[DRIP: full read | "), "{text}");
    }
}

/// Scenario E: what was left out of a first read comes in one call.
#[test]
fn what_was_elided_is_one_call_away() {
    let home = Home::new();
    let body: String = (0..40).map(|number| format!("    step({number});\n")).collect();
    home.write("a.rs", format!("fn long() {{\n{body}}}\n\nfn other() {{\n{body}}}\n"));
    let mut server = Server::start(&home, &[]);
    let first = server.read(json!({"file_path": "a.rs"}));
    assert!(first.contains("[DRIP-elided long: lines 2-41, "), "{first}");
    let symbol = server.read(json!({"file_path": "a.rs", "symbol": "long"}));
    assert!(symbol.contains("    step(39);\n"), "{symbol}");
    let lines = server.read(json!({"file_path": "a.rs", "offset": 45, "limit": 2}));
    assert!(lines.contains("step(0)") || lines.contains("step(1)"), "{lines}");
    let whole = server.read(json!({"file_path": "a.rs", "full": true}));
    assert_eq!(whole.matches("step(39)").count(), 2, "{whole}");
    assert!(server.refused(json!({"file_path": "a.rs", "symbol": "none"})).contains("it has long, other"));
}

#[test]
fn several_files_come_at_once_and_one_that_is_missing_spoils_nothing() {
    let home = Home::new();
    home.write("a.txt", numbered(60));
    home.write("b.txt", numbered(80));
    let mut server = Server::start(&home, &[]);
    let many = json!({"file_paths": ["a.txt", "missing", "b.txt"]});
    let reply = server.call("read_many", many.clone());
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.matches("[DRIP: full read | ").count(), 2);
    assert!(text.contains("DRIP error: file not found: "));
    let again = server.call("read_many", many);
    let again = again["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(again.matches("[DRIP: unchanged since last read | ").count(), 2, "{again}");
    assert_eq!(server.call("read_many", json!({"file_paths": ["nope"]}))["result"]["isError"], true);
    assert_eq!(server.call("read_many", json!({"file_paths": []}))["error"]["code"], -32602);
}

#[test]
fn refresh_makes_the_next_read_whole() {
    let home = Home::new();
    home.write("a.txt", numbered(60));
    let mut server = Server::start(&home, &[]);
    server.read(json!({"file_path": "a.txt"}));
    let reply = server.call("refresh", json!({"file_path": "a.txt"}));
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    assert!(server.read(json!({"file_path": "a.txt"})).starts_with("[DRIP: full read | "));
}

#[test]
fn bad_arguments_are_invalid_params() {
    let home = Home::new();
    home.write("a.txt", "x\n");
    let mut server = Server::start(&home, &[]);
    for arguments in [
        json!({}),
        json!({"file_path": 7}),
        json!({"file_path": "a.txt", "offset": 0}),
        json!({"file_path": "a.txt", "limit": 0}),
        json!({"file_path": "a.txt", "offset": -1}),
        json!({"file_path": "a.txt", "full": true, "symbol": "x"}),
        json!({"file_path": "a.txt", "unknown": 1}),
    ] {
        assert_eq!(server.call("read_file", arguments.clone())["error"]["code"], -32602, "{arguments}");
    }
    let last = server.read(json!({"file_path": "a.txt", "offset": 9, "limit": u64::MAX >> 1}));
    assert!(last.starts_with("[DRIP: no line 9 | the file has 1 lines | "), "{last}");
}

#[test]
fn what_does_not_fit_into_a_reply_was_not_shown() {
    let home = Home::new();
    home.write("a.txt", "0123456789abcdef\n".repeat(300_000));
    let mut server = Server::start(&home, &[]);
    let refused = server.refused(json!({"file_path": "a.txt"}));
    assert!(refused.contains("ask for some of its lines"), "{refused}");
    let part = server.read(json!({"file_path": "a.txt", "offset": 1, "limit": 100}));
    assert!(part.starts_with("[DRIP: lines 1-100 of 300000 | "), "{part}");
}

#[test]
fn a_workspace_root_keeps_reads_inside() {
    let home = Home::new();
    home.write("inside/a.txt", numbered(10));
    home.write("outside.txt", numbered(10));
    std::os::unix::fs::symlink(home.path().join("outside.txt"), home.path().join("inside/link")).unwrap();
    let root = home.path().join("inside");
    let mut server = Server::start(&home, &[("DRIP_WORKSPACE_ROOT", root.to_str().unwrap())]);
    server.read(json!({"file_path": "inside/a.txt"}));
    for outside in ["outside.txt", "inside/../outside.txt", "inside/link", "/etc/passwd"] {
        let refused = server.refused(json!({"file_path": outside}));
        assert!(refused.starts_with("DRIP refused read: ") && refused.contains("outside"), "{refused}");
    }
    assert!(
        server.refused(json!({"file_path": "inside/none"})).starts_with("DRIP refused read: cannot resolve ")
    );
    let mut server = Server::start(&home, &[("DRIP_WORKSPACE_ROOT", "/does/not/exist")]);
    assert!(server.refused(json!({"file_path": "inside/a.txt"})).starts_with("DRIP refused read: "));
}

#[test]
fn a_store_that_cannot_be_used_costs_the_savings_and_not_the_read() {
    let home = Home::new();
    home.write("a.txt", numbered(60));
    fs::create_dir_all(home.data()).unwrap();
    home.write(home.data().strip_prefix(home.path()).unwrap().join("drip"), "a file, not a folder");
    let mut server = Server::start(&home, &[]);
    for _ in 0..2 {
        assert!(server.read(json!({"file_path": "a.txt"})).starts_with("[DRIP: full read | "));
    }
}

#[test]
fn when_disabled_the_file_comes_as_it_is() {
    let home = Home::new();
    home.write("a.txt", numbered(60));
    let mut server = Server::start(&home, &[("DRIP_DISABLE", "1")]);
    for _ in 0..2 {
        assert_eq!(server.read(json!({"file_path": "a.txt"})), numbered(60));
    }
}
