//! What the ground costs, beside the plain standard library in the same run.

#![allow(clippy::disallowed_methods, reason = "baselines are plain calls")]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kit::process::Job;
use mcp::client::{ClientInfo, Opening};
use mcp::{Client, Server, ServerInfo, Tool, ToolResult};
use serde_json::{Map, json};
use store::Durability;
use store::journal::Journal;
use store::sqlite::{self, Policy, Schema, Synchronous, rusqlite};
use testkit::measure::{Table, cost};
use wire::Deadline;
use wire::endpoint::SocketPath;
use wire::frame::{Cap, LineReader};
use wire::transport::{Connection, Listener, Transport, Unix};

fn main() {
    let home = testkit::Home::new();
    let mut table = Table::default();
    framing(&mut table);
    journals(&mut table, home.path());
    replacing(&mut table, home.path());
    databases(&mut table, home.path());
    sockets(&mut table, &home.runtime());
    protocol(&mut table);
    processes(&mut table);
    table.print();
}

/// Lines of 200 bytes; the baseline is `BufRead::read_line`, which has no cap.
fn framing(table: &mut Table) {
    for lines in [100, 10_000, 100_000] {
        let text = format!("{{\"x\":\"{}\"}}\n", "y".repeat(191)).repeat(lines);
        let ours = cost(3, || {
            let mut reader = LineReader::new(Cursor::new(&text), Cap(1 << 16));
            while reader.next_line().expect("the text has no bad line").is_some() {}
        });
        let plain = cost(3, || {
            let mut reader = BufReader::new(Cursor::new(&text));
            while reader.read_line(&mut String::new()).expect("the text is UTF-8") > 0 {}
        });
        table.row(format!("frame {lines} lines of 200 B"), ours, plain);
    }
}

/// One entry of 200 bytes behind logs of growing length; the baseline is one `write` in append mode.
fn journals(table: &mut Table, folder: &Path) {
    let entry = format!("{{\"x\":\"{}\"}}", "y".repeat(191));
    for megabytes in [0, 10, 100] {
        let path = folder.join(format!("journal-{megabytes}"));
        let line = format!("{entry}\n");
        fs::write(&path, line.repeat(megabytes << 20 >> 8)).expect("the disk has room");
        let (mut journal, _) = Journal::open(&path, Durability::Cached).expect("a whole log opens");
        let ours = cost(2000, || {
            journal.append(entry.as_bytes()).expect("the disk has room");
        });
        let mut plain = OpenOptions::new().append(true).open(&path).expect("it is there");
        let plain = cost(2000, || plain.write_all(line.as_bytes()).expect("the disk has room"));
        table.row(format!("append 200 B to a log of {megabytes} MB"), ours, plain);
        let opening = cost(200, || drop(Journal::open(&path, Durability::Cached)));
        table.row(format!("open a log of {megabytes} MB"), opening, cost(200, || drop(File::open(&path))));
    }
}

/// The baseline is `fs::write`, which can leave half a file.
fn replacing(table: &mut Table, folder: &Path) {
    for (name, size) in [("1 KB", 1 << 10), ("1 MB", 1 << 20)] {
        let (path, bytes) = (folder.join("replaced"), vec![b'x'; size]);
        let plain = cost(50, || fs::write(&path, &bytes).expect("the disk has room"));
        for durability in [Durability::Cached, Durability::Fsync] {
            let ours = cost(50, || store::replace(&path, &bytes, durability).expect("the disk has room"));
            table.row(format!("replace {name}, {durability:?}"), ours, plain);
        }
    }
}

/// Opening a database that is up to date and reading one row; the baseline is a raw connection.
fn databases(table: &mut Table, folder: &Path) {
    let (path, read) = (folder.join("db/bench.db"), "SELECT count(*) FROM t");
    let schema =
        Schema { application: "bench", migrations: &["CREATE TABLE t (x INTEGER) STRICT"], mirror: None };
    let policy = Policy { busy: Duration::from_millis(500), synchronous: Synchronous::Normal };
    let open = || sqlite::open(&path, &policy, &schema, 0).expect("a good database opens").connection;
    let keeper = open();
    let count = |db: &rusqlite::Connection| {
        let rows: i64 = db.query_row(read, [], |row| row.get(0)).expect("it has a row");
        assert_eq!(rows, 0);
    };
    let ours = cost(200, || count(&open()));
    let plain = cost(200, || count(&rusqlite::Connection::open(&path).expect("it opens")));
    table.row("open a database and read", ours, plain);
    drop(keeper);
}

/// Connecting and sending one line without waiting; the baseline is std, which cannot give up.
fn sockets(table: &mut Table, folder: &Path) {
    let path = folder.join("s");
    let unix = Unix { uid: rustix::process::geteuid().as_raw() };
    let endpoint = SocketPath::new(&path).expect("a throw-away home is short");
    let listener = unix.listen(&endpoint).expect("the name is free");
    thread::spawn(move || {
        while let Ok(Some(mut caller)) = listener.accept(Deadline::after(Duration::from_secs(60))) {
            let _ = caller.read_to_end(&mut Vec::new());
        }
    });
    let line = format!("{{\"x\":\"{}\"}}\n", "y".repeat(191));
    let send = |budget| {
        let deadline = Deadline::after(budget);
        let caller = unix.connect(&endpoint, deadline)?;
        caller.send_within(line.as_bytes(), deadline).map_err(|error| wire::transport::ConnectError::Io {
            path: path.clone(),
            source: std::io::Error::other(error),
        })
    };
    let ours = cost(500, || send(Duration::from_secs(5)).expect("somebody listens"));
    let plain = cost(500, || {
        let mut caller = UnixStream::connect(&path).expect("somebody listens");
        caller.write_all(line.as_bytes()).expect("somebody reads");
    });
    table.row("connect, check the peer, send 200 B", ours, plain);
    full_backlog(table, folder);
}

/// A listener that takes nobody: how long a budget of 15 ms really lasts.
fn full_backlog(table: &mut Table, folder: &Path) {
    let path = folder.join("deaf");
    let listener = UnixListener::bind(&path).expect("the name is free");
    rustix::net::listen(&listener, 0).expect("a listener can listen");
    let _waiting = UnixStream::connect(&path).expect("the first may wait");
    let unix = Unix { uid: rustix::process::geteuid().as_raw() };
    let endpoint = SocketPath::new(&path).expect("a throw-away home is short");
    let mut waits: Vec<f64> = (0..50)
        .map(|_| {
            let asked = Instant::now();
            let refused = unix.connect(&endpoint, Deadline::after(Duration::from_millis(15)));
            assert!(refused.is_err(), "nobody takes calls there");
            asked.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    waits.sort_by(f64::total_cmp);
    table.note("full backlog, budget 15 ms: waited ms p50", waits[25]);
    table.note("full backlog, budget 15 ms: waited ms max", waits[49]);
}

/// A tool call; the baseline is an echo of a line as long over the same kind of socket.
fn protocol(table: &mut Table) {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let answer =
        Tool::new("t", "Answer", json!({"type": "object"}), |(): &mut (), _| Ok(ToolResult::text("yes")));
    let server = Server::new(ServerInfo::default(), vec![answer], || ());
    let reading = theirs.try_clone().expect("a second handle");
    thread::spawn(move || mcp::serve(reading, theirs, &server));
    let me = ClientInfo { name: "bench".into(), version: "0".into() };
    let far = Deadline::after(Duration::from_secs(600));
    let reading = ours.try_clone().expect("a second handle");
    let client = Client::connect(reading, ours, me, Opening::Handshake, far).expect("it answers");
    let call = cost(2000, || drop(client.call_tool("t", Map::new(), far).expect("it answers")));
    let (mut near, mut other) = UnixStream::pair().expect("a pair of sockets");
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = other.read(&mut buffer) {
            let _ = other.write_all(&buffer[..read]);
        }
    });
    let echo = cost(2000, || {
        near.write_all(&[b'x'; 80]).expect("the echo lives");
        near.read_exact(&mut [0; 80]).expect("the echo lives");
    });
    table.row("call a tool over MCP", call, echo);
}

/// Running a program; the baseline is `Command::output`, which owns nothing of it.
fn processes(table: &mut Table) {
    let ours = cost(30, || drop(Job::new("/bin/true").run().expect("it runs")));
    let plain = cost(30, || drop(Command::new("/bin/true").env_clear().stdin(Stdio::null()).output()));
    table.row("run /bin/true", ours, plain);
    let script = "trap '' TERM; for i in 1 2 3 4 5 6 7 8 9 10; do setsid sleep 60 & done; sleep 60";
    let mut late: Vec<f64> = (0..20)
        .map(|_| {
            let allowed = Duration::from_millis(100);
            let job = Job::new("/bin/sh").args(["-c", script]).env("PATH", "/usr/bin:/bin");
            let outcome = job.deadline(allowed).run().expect("it runs");
            assert!(outcome.survivors.is_empty(), "a survivor");
            (outcome.elapsed - allowed).as_secs_f64() * 1e3
        })
        .collect();
    late.sort_by(f64::total_cmp);
    table.note("ten detached children that ignore SIGTERM: gone after ms p50", late[10]);
    table.note("ten detached children that ignore SIGTERM: gone after ms max", late[19]);
}
