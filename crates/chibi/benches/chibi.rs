//! What chibi costs as a process, beside an empty one of the same run: its start, a list with 15 plugins, the way to the
//! first byte of a request, and a whole turn. What its transcripts cost is in `chibi-store`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark starts bare children, prints, and fails by panicking"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::measure::Table;
use testkit::{Home, bin};

const PLUGINS: usize = 15;

fn main() {
    let mut table = Table::default();
    started(&mut table);
    table.print();
}

/// Whole processes, beside an empty `main`.
fn started(table: &mut Table) {
    let home = Home::new();
    let empty = Cost::of(50, |_| empty_main(&home).spawn().unwrap());
    println!("\n{:<34} {:>9} {:>9} {:>9}", "", "cpu ms", "over", "wall ms");
    println!("{:<34} {:>9.2} {:>9} {:>9.2}", "an empty main", empty.cpu, "", empty.wall);
    let version = Cost::of(50, |_| quiet(&home, &["--version"]).spawn().unwrap());
    report(table, "chibi --version", version, empty);
    home.write(".chibi/config.toml", "model = 'm'\n");
    for number in 0..PLUGINS {
        let path = home.write(
            format!(".chibi/plugins/plugin{number}"),
            format!(
                "#!/bin/sh\necho '{{\"name\": \"tool{number}\", \"description\": \"d\", \"parameters\": {{\"type\": \"object\", \"properties\": {{}}}}}}'\n"
            ),
        );
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert!(quiet(&home, &["-L"]).status().unwrap().success());
    let listed = Cost::of(50, |_| quiet(&home, &["-L"]).spawn().unwrap());
    report(table, &format!("chibi -L with {PLUGINS} plugins"), listed, empty);
    let script = home.write("play.txt", "data: {\"say\": \"hello\"}\n\ndata: [DONE]\n\n");
    let model = format!("script:{}", script.display());
    let turn = Cost::of(50, |_| quiet(&home, &["-C", "t", "--model", &model, "hello"]).spawn().unwrap());
    report(table, "a turn with a scripted model", turn, empty);
    let first = first_byte(20);
    println!("{:<34} {:>9} {:>9} {first:>9.2}", "first byte of a request", "", "");
    table.note("first byte of a request: wall ms", first);
    table.note("first byte of a request: wall ms over an empty main", first - empty.wall);
}

/// From the start of the process to the first byte on a socket of the loopback; the middle of so many.
fn first_byte(times: usize) -> f64 {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    home.write(
        ".chibi/config.toml",
        format!("model = 'm'\nbase_url = 'http://{address}/v1/chat/completions'\n"),
    );
    let mut spent = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        let mut child = quiet(&home, &["hello"]).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0]).unwrap();
        spent.push(ms(began.elapsed()));
        // A refusal that is not tried again.
        let _ = stream.write_all(b"HTTP/1.1 401 No\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
        child.wait().unwrap();
    }
    middle(&mut spent)
}

fn quiet(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(bin("chibi"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn empty_main(home: &Home) -> Command {
    let mut command = home.command("true");
    command.stdin(Stdio::null());
    command
}

/// CPU time is the children's, in ticks of 10 ms, so that it takes many of them.
#[derive(Debug, Clone, Copy)]
struct Cost {
    cpu: f64,
    wall: f64,
}

impl Cost {
    fn of(times: usize, mut start: impl FnMut(usize) -> Child) -> Cost {
        let (before, began) = (children_ticks(), Instant::now());
        for round in 0..times {
            assert!(start(round).wait().unwrap().success());
        }
        let cpu = (children_ticks() - before) as f64 * 10.0 / times as f64;
        Cost { cpu, wall: ms(began.elapsed()) / times as f64 }
    }
}

fn children_ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    fields.skip(13).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

fn report(table: &mut Table, what: &str, cost: Cost, empty: Cost) {
    println!("{what:<34} {:>9.2} {:>9.2} {:>9.2}", cost.cpu, cost.cpu - empty.cpu, cost.wall);
    table.note(format!("{what}: cpu ms over an empty main"), cost.cpu - empty.cpu);
    table.note(format!("{what}: wall ms"), cost.wall);
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
