//! The agent as a process: when its first request leaves and how large it is, what it weighs after long streams and long
//! output, how fast a command's tree is gone, and what a session sends with and without deltas.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark: fixtures are plain files and processes"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent::undo::Undo;
use kit::process::Cancel;
use llm::CallId;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::measure::Table;
use testkit::model::{Reply, Request, Server, Wire, turn};
use testkit::{Home, PATIENCE, until};

const AGENT: &str = env!("CARGO_BIN_EXE_agent");

fn main() {
    let mut table = Table::default();
    undoing(&mut table);
    starting(&mut table);
    streaming(&mut table);
    printing(&mut table);
    killing(&mut table);
    conversing(&mut table);
    table.print();
}

fn agent(home: &Home, url: &str, args: &[&str]) -> Command {
    let mut command = home.command(AGENT);
    command.args(["--api-url", url]).args(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// From the start of the process to the first byte that a server sees, in a home that was used before.
fn starting(table: &mut Table) {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut times: Vec<Duration> = (0..30)
        .map(|_| {
            let start = Instant::now();
            let mut child = agent(&home, &url, &["hi"]).spawn().unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0]).unwrap();
            let took = start.elapsed();
            end(&mut child);
            took
        })
        .collect();
    times.sort();
    table.note(
        "start to the first byte of a request, ms (best, median of 30)",
        format!("{:.1} {:.1}", ms(times[0]), ms(times[15])),
    );
    let mut plain: Vec<Duration> = (0..30)
        .map(|_| {
            let start = Instant::now();
            let status = home.command(AGENT).arg("--version").stdout(Stdio::null()).status().unwrap();
            assert!(status.success());
            start.elapsed()
        })
        .collect();
    plain.sort();
    table.note(
        "beside `--version`, ms (best, median of 30)",
        format!("{:.1} {:.1}", ms(plain[0]), ms(plain[15])),
    );
    let server = Server::scripted([turn().say("ok").stream(Wire::Anthropic)]);
    let fresh = Home::new();
    assert!(agent(&fresh, &server.url(), &["hi"]).status().unwrap().success());
    table.note("first request for one word, bytes", server.finish()[0].body.len() as u64);
}

/// 10 MB in small deltas; the server keeps the end back until the agent was weighed.
fn streaming(table: &mut Table) {
    const SIZE: usize = 10 << 20;
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut child = agent(&home, &url, &["hi"]).spawn().unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    read_request(&mut stream);
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n")
        .unwrap();
    let start =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    write!(stream, "data: {start}\n\n").unwrap();
    let delta =
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}});
    let delta = format!("event: content_block_delta\ndata: {delta}\n\n");
    let some = delta.repeat(100);
    (0..SIZE / some.len()).for_each(|_| stream.write_all(some.as_bytes()).unwrap());
    // It has heard all of it when it neither works nor grows any more.
    let settled = || resident_kb(&child, "VmRSS");
    let mut last = (0, 0);
    let _ = until(Duration::from_secs(10), || {
        let now = (busy(&child), settled());
        std::mem::replace(&mut last, now) == now
    });
    table.note(
        "resident after 10 MB of small deltas, KB (now, highest)",
        format!("{} {}", settled(), resident_kb(&child, "VmHWM")),
    );
    end(&mut child);
}

/// A command that prints 10 MB.
fn printing(table: &mut Table) {
    let home = Home::new();
    let script = [
        turn()
            .call("bash", &json!({"command": "head -c 10000000 /dev/zero | tr '\\0' x | fold"}))
            .stream(Wire::Anthropic),
        turn().say("ok").stream(Wire::Anthropic).delay_before(PATIENCE),
    ];
    let server = Server::scripted(script);
    let mut child = agent(&home, &server.url(), &["--permission", "all", "go"]).spawn().unwrap();
    assert!(until(PATIENCE, || server.requests().len() == 2));
    table.note(
        "resident after 10 MB of a command's output, KB (now, highest)",
        format!("{} {}", resident_kb(&child, "VmRSS"), resident_kb(&child, "VmHWM")),
    );
    table.note("what of it the model is sent, bytes", server.requests()[1].body.len() as u64);
    end(&mut child);
    drop(server.finish());
}

/// From Ctrl-C to the moment at which nothing of the command is left.
fn killing(table: &mut Table) {
    let home = Home::new();
    let command = "trap '' TERM; (setsid sleep 600 & echo $! > pid); sleep 600";
    let server =
        Server::scripted([turn().call("bash", &json!({"command": command})).stream(Wire::Anthropic)]);
    let mut child = agent(&home, &server.url(), &["--permission", "all", "go"]).spawn().unwrap();
    let pid = home.path().join("pid");
    assert!(until(PATIENCE, || fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'))));
    let grandchild = format!("/proc/{}", home.read("pid").trim());
    let start = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(until(PATIENCE, || !Path::new(&grandchild).exists()));
    table.note("from Ctrl-C to no descendant of a stubborn command, ms", ms(start.elapsed()));
    child.wait().unwrap();
    drop(server.finish());
}

/// Twenty turns of work on one file: look, change, look again.
fn conversing(table: &mut Table) {
    let home = Home::new();
    let lines: String = (1..=300)
        .map(|line| format!("    let value_{line} = compute({line}, \"a little text\");\n"))
        .collect();
    home.write("main.rs", &lines);
    let server = Server::answering(answer);
    for number in 0..20 {
        let mut args = vec!["--permission", "edits", "next"];
        if number > 0 {
            args.insert(0, "--continue");
        }
        assert!(agent(&home, &server.url(), &args).status().unwrap().success());
    }
    let (mut sent, mut whole) = (0, 0);
    let full = json!(numbered(&lines)).to_string().len();
    for request in server.finish() {
        sent += request.body.len();
        whole += request.body.len();
        for result in read_results(&request.json()) {
            whole += full.saturating_sub(json!(result).to_string().len());
        }
    }
    table.note("bytes of 20 turns on one file of 300 lines, with deltas", sent as u64);
    table.note("the same with every read in full", whole as u64);
    table.note("sent, in percent of that", (sent * 100 / whole) as u64);
}

/// What it costs to be able to take back a command, in trees of ordinary and of large projects.
fn undoing(table: &mut Table) {
    for count in [3_000, 30_000] {
        let home = Home::new();
        let text = "    let value = compute(first, second);\n".repeat(75);
        for number in 0..count {
            home.write(format!("p/src{}/file{number}.rs", number % 100), format!("// {number}\n{text}"));
        }
        let project = home.path().join("p").canonicalize().unwrap();
        let mut undo = Undo::open(&home.path().join("undo"), "bench", &project).unwrap();
        let (call, cancel) = (CallId("call".to_owned()), Cancel::default());
        let first = cpu(|| undo.before_command(&call, &cancel));
        // On a busy machine the first look may run out of time, and the next ones go on with it.
        (0..5).for_each(|_| undo.before_command(&call, &cancel));
        let again = cpu(|| undo.before_command(&call, &cancel));
        home.write("p/src7/file7.rs", "changed\n");
        let after = cpu(|| assert_eq!(undo.after_command(&call), 1));
        let back = cpu(|| assert_eq!(undo.restore(&[call.clone()].into()).unwrap().restored.len(), 1));
        table.note(
            format!(
                "undo in {count} files of 3 KB, ms of CPU: first command, later ones before, after, back"
            ),
            format!("{first:.0} {again:.0} {after:.0} {back:.0}"),
        );
    }
}

/// Milliseconds of CPU, of this process.
fn cpu(work: impl FnOnce()) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
    };
    let start = now();
    work();
    now() - start
}

/// Within each turn: read, edit another line, read again, done.
fn answer(request: &Request) -> Reply {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    let replies = messages.iter().filter(|message| message["role"] == "assistant").count();
    let (round, step) = (replies / 4, replies % 4);
    let reply = match step {
        0 | 2 => turn().call("read_file", &json!({"path": "main.rs"})),
        1 => {
            let line = round * 7 + 1;
            let (old, new) = (format!("compute({line}, "), format!("compute({line} + 1, "));
            turn().call("edit_file", &json!({"path": "main.rs", "old_str": old, "new_str": new}))
        }
        _ => turn().say("Done."),
    };
    reply.stream(Wire::Anthropic)
}

/// The results of `read_file` in a request.
fn read_results(body: &Value) -> Vec<String> {
    let blocks = || {
        body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|message| message["content"].as_array().cloned().unwrap_or_default())
    };
    let reads: Vec<Value> =
        blocks().filter(|block| block["name"] == "read_file").map(|block| block["id"].clone()).collect();
    let text = |block: Value| match &block["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    blocks().filter(|block| reads.contains(&block["tool_use_id"])).map(text).collect()
}

fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(number, line)| format!("{}: {line}\n", number + 1)).collect()
}

fn read_request(stream: &mut TcpStream) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(8).any(|window| window == b"\"stream\"") {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "the agent went away");
        request.extend_from_slice(&buffer[..read]);
    }
}

/// Clock ticks that the process has worked.
fn busy(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn resident_kb(child: &Child, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn end(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}
