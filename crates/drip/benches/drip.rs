//! What drip costs as a process, for files of 400, 3,000 and 50,000 lines: CPU and wall time beside an empty `main` of the
//! same run, and how often it waits for the disk; 64 hooks at once; and the tokens that the history of this repository
//! would have cost, read as an agent reads.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark starts bare children, prints, and fails by panicking"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drip::history;
use drip::plan::{Limits, Policy};
use kit::invocation::Environment;
use serde_json::{Value, json};
use testkit::measure::{Table, cpu_of};
use testkit::{Home, bin};

const SIZES: [usize; 3] = [400, 3_000, 50_000];

fn main() {
    let mut table = Table::default();
    let home = Home::new();
    let mut empty = empty_main(&home);
    let empty = Cost::of(100, |_| empty.spawn().unwrap());
    println!("{:<34} {:>9} {:>9} {:>9} {:>7}", "", "cpu ms", "over", "wall ms", "fsyncs");
    println!("{:<34} {:>9.2} {:>9} {:>9.2}", "an empty main", empty.cpu, "", empty.wall);
    table.note("empty main: cpu ms", empty.cpu);
    let version = Cost::of(100, |_| drip(&home, &["--version"]).spawn().unwrap());
    report(&mut table, "drip --version", version, empty, 0);
    for lines in SIZES {
        println!();
        for case in CASES {
            outcome(&mut table, lines, *case, empty);
        }
    }
    at_once(&mut table);
    of_a_history(&mut table);
    table.print();
}

/// The median of many, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Cost {
    cpu: f64,
    wall: f64,
}

impl Cost {
    fn of(times: usize, mut start: impl FnMut(usize) -> Child) -> Cost {
        let mut each: Vec<(Duration, Duration)> = Vec::new();
        for round in 0..times {
            let began = Instant::now();
            let mut child = start(round);
            let cpu = cpu_of(&child);
            each.push((cpu, began.elapsed()));
            assert!(child.wait().unwrap().success());
        }
        let median = |of: fn(&(Duration, Duration)) -> Duration| {
            let mut all: Vec<Duration> = each.iter().map(of).collect();
            all.sort();
            all[times / 2].as_secs_f64() * 1e3
        };
        Cost { cpu: median(|(cpu, _)| *cpu), wall: median(|(_, wall)| *wall) }
    }
}

fn report(table: &mut Table, what: &str, cost: Cost, empty: Cost, fsyncs: usize) {
    println!("{what:<34} {:>9.2} {:>9.2} {:>9.2} {fsyncs:>7}", cost.cpu, cost.cpu - empty.cpu, cost.wall);
    table.note(format!("{what}: cpu ms over an empty main"), cost.cpu - empty.cpu);
    table.note(format!("{what}: fsyncs"), fsyncs);
}

/// What is asked, and what happened to the file since the last time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    HookOfAnotherTool,
    HookFirst,
    HookUnchanged,
    HookChanged,
    ReadFirst,
    ReadUnchanged,
    ReadChanged,
}

const CASES: &[Case] = &[
    Case::HookOfAnotherTool,
    Case::HookFirst,
    Case::HookUnchanged,
    Case::HookChanged,
    Case::ReadFirst,
    Case::ReadUnchanged,
    Case::ReadChanged,
];

fn outcome(table: &mut Table, lines: usize, case: Case, empty: Cost) {
    let home = Home::new();
    let path = home.write("f.txt", text(lines, 0));
    let mut version = 0;
    let mut start = |round: usize, traced: bool| {
        let fresh = matches!(case, Case::HookFirst | Case::ReadFirst);
        let session = if fresh { format!("s{round}-{traced}") } else { "s".to_owned() };
        if matches!(case, Case::HookChanged | Case::ReadChanged) {
            version += 1;
            fs::write(&path, text(lines, version)).unwrap();
        }
        ask(&home, &path, case, (&session, round), traced)
    };
    // The first two make the store and what there is to know again.
    for round in 0..2 {
        assert!(start(round, false).wait().unwrap().success());
    }
    let times = if lines > 10_000 { 20 } else { 50 };
    let cost = Cost::of(times, |round| start(round + 2, false));
    says_what_it_should(&home, case, start(times + 2, false));
    let mut traced = start(times + 3, true);
    assert!(traced.wait().unwrap().success());
    let counted = fs::read_to_string(home.path().join("trace")).unwrap_or_default();
    let fsyncs =
        counted.lines().filter(|line| line.contains("fsync(") || line.contains("fdatasync(")).count();
    report(table, &format!("{lines} lines, {case:?}"), cost, empty, fsyncs);
}

/// A benchmark of hooks that have nothing to say would be quick.
fn says_what_it_should(home: &Home, case: Case, mut child: Child) {
    assert!(child.wait().unwrap().success());
    let said = fs::read_to_string(home.path().join("said")).unwrap();
    let word = match case {
        Case::HookOfAnotherTool | Case::HookFirst => return assert_eq!(said, ""),
        Case::ReadFirst => "full read",
        Case::HookUnchanged | Case::ReadUnchanged => "unchanged since last read",
        Case::HookChanged | Case::ReadChanged => "delta only",
    };
    assert!(said.contains(word), "{case:?}: {said}");
}

/// One call of one session; each has a number of its own, as the client gives it.
fn ask(home: &Home, path: &Path, case: Case, (session, call): (&str, usize), traced: bool) -> Child {
    let hook =
        matches!(case, Case::HookOfAnotherTool | Case::HookFirst | Case::HookUnchanged | Case::HookChanged);
    let args: &[&str] = if hook { &["hook", "claude-post-read"] } else { &["read", "f.txt"] };
    let mut command = if traced {
        let mut strace = home.command("strace");
        strace
            .args(["-f", "-e", "trace=fsync,fdatasync", "-o"])
            .arg(home.path().join("trace"))
            .arg(bin("drip"));
        strace.args(args);
        strace
    } else {
        drip(home, args)
    };
    command.env("DRIP_SESSION_ID", session).env("DRIP_DIFF_POLICY", "cheapest").current_dir(home.path());
    let said = fs::File::create(home.path().join("said")).unwrap();
    command.stdin(Stdio::piped()).stdout(said);
    let mut child = command.spawn().unwrap();
    if hook {
        let tool = if case == Case::HookOfAnotherTool { "Task" } else { "Read" };
        let payload = payload(path, session, tool, call).to_string();
        child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    }
    drop(child.stdin.take());
    child
}

/// What Claude Code sends after it has read a file.
fn payload(path: &Path, session: &str, tool: &str, call: usize) -> Value {
    let content = fs::read_to_string(path).unwrap();
    let lines = content.lines().count() + 1;
    json!({
        "session_id": session, "transcript_path": "/t", "cwd": path.parent().unwrap(),
        "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {"file_path": path},
        "tool_response": {"type": "text", "file": {
            "filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": lines,
        }},
        "tool_use_id": format!("t{call}"),
    })
}

/// Lines like those of a program; each version has one of them changed.
fn text(lines: usize, version: usize) -> String {
    let line = |number: usize| match number == lines / 2 {
        true => format!("    let value = version({version});\n"),
        false => format!("    let line_{number} = compute({}, \"text\");\n", number * 7919 % 1000),
    };
    (0..lines).map(line).collect()
}

fn drip(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(bin("drip"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn empty_main(home: &Home) -> Command {
    let binary = home.path().join("empty");
    if !binary.exists() {
        let source = home.write("empty.rs", "fn main() {}\n");
        let mut rustc = Command::new("rustc");
        let done = rustc.args(["-O", "-C", "strip=symbols", "-o"]).arg(&binary).arg(&source).status();
        assert!(done.unwrap().success());
    }
    home.command(binary)
}

/// 64 hooks of one session, each about a file of its own: none may be lost.
fn at_once(table: &mut Table) {
    let home = Home::new();
    let paths: Vec<PathBuf> =
        (0..64).map(|number| home.write(format!("{number}.txt"), text(400, number))).collect();
    let began = Instant::now();
    let children: Vec<Child> = paths
        .iter()
        .enumerate()
        .map(|(number, path)| ask(&home, path, Case::HookFirst, ("together", number), false))
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let wall = began.elapsed();
    let meter = drip(&home, &["meter", "--json"]).stdout(Stdio::piped()).output().unwrap();
    let meter: Value = serde_json::from_slice(&meter.stdout).unwrap();
    table
        .note("64 hooks at once, on a new store: reads that were written down", meter["total_reads"].clone());
    table.note("64 hooks at once: wall ms", wall.as_secs_f64() * 1e3);
}

/// The last commits of the repository that this is run in.
fn of_a_history(table: &mut Table) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let env = Environment::of(std::env::vars_os());
    let commits = match history::commits(here, &env, 300, Duration::from_secs(60)) {
        Ok(commits) => commits,
        Err(error) => {
            table.note("tokens of a history", format!("not measured: {error}"));
            return;
        }
    };
    let gated = history::replay(&commits, &Limits::default());
    let cheapest = history::replay(&commits, &Limits { policy: Policy::Cheapest, ..Limits::default() });
    println!(
        "\n{} reads of {} files over {} commits of this repository",
        gated.reads, gated.files, gated.commits
    );
    println!("{:<10} {:>12} tokens", "full", gated.native);
    for (name, replayed) in [("gated", &gated), ("cheapest", &cheapest)] {
        println!("{name:<10} {:>12} tokens  {} % less", replayed.sent, replayed.percent());
        table.note(format!("a history, {name}: tokens"), replayed.sent);
    }
    table.note("a history, full: tokens", gated.native);
    let repeats: usize = gated.reads - gated.files;
    table.note("a history: reads of a file again", repeats);
}
