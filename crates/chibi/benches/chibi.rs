//! What chibi costs: keeping an entry behind 1,000, 100,000 and 1,000,000 others, finding words among them with filters
//! and without, starting with 15 plugins, and the way to the first byte of a request. `SCRIMP_BENCH_ENTRIES` makes the
//! largest transcript smaller.
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

use chibi::context::{ChibiHome, Context, ContextName, Entry, EntryKind, Filters, Ids, Query, Wait};
use kit::invocation::Clock;
use testkit::measure::Table;
use testkit::{Home, Random, bin};

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
const BATCH: usize = 1_000;
const PLUGINS: usize = 15;

fn main() {
    let mut table = Table::default();
    kept_and_found(&mut table);
    started(&mut table);
    table.print();
}

fn largest() -> usize {
    let told = std::env::var("SCRIMP_BENCH_ENTRIES").ok().and_then(|text| text.parse().ok());
    told.unwrap_or(SIZES[2])
}

/// One transcript that grows; at each size, what one more entry costs, and what a search does.
fn kept_and_found(table: &mut Table) {
    let home = Home::new();
    let chibi = ChibiHome::new(home.path().join(".chibi"), Clock::system(), Ids::random());
    let name = ContextName::new("long").unwrap();
    let mut random = Random::new(1);
    let mut entries = 0;
    println!("{:>10}  {:>12} {:>12}  search p50 ms: rare, medium, common; without filters", "entries", "append p50", "open ms");
    for size in SIZES.into_iter().filter(|size| *size <= largest()) {
        grow(&chibi, &name, entries, size, &mut random);
        entries = size;
        let began = Instant::now();
        let mut context = Context::open(&chibi, &name, Wait::No).unwrap();
        let opened = ms(began.elapsed());
        let appended = p50(200, || context.append(vec![message(&chibi, "one more")]).unwrap());
        let search = |words: &str, filters| {
            let query = Query::new(words);
            p50(20, || drop(context.reader().search(&query, 20, filters).unwrap()))
        };
        // The first search of a process reads what the others find warm.
        search("needle", Filters::Consult);
        let words = [format!("rare{}", size / 2), "medium7".to_owned(), "common".to_owned()];
        let with: Vec<f64> = words.iter().map(|word| search(word, Filters::Consult)).collect();
        let without = search(&words[0], Filters::Ignore);
        println!(
            "{size:>10}  {appended:>9.3} ms {opened:>9.2} ms  {:.2}, {:.2}, {:.2}; {without:.2}",
            with[0], with[1], with[2]
        );
        table.note(format!("{size} entries: append p50 ms"), appended);
        table.note(format!("{size} entries: open ms"), opened);
        for (what, time) in ["rare", "medium", "common"].iter().zip(&with) {
            table.note(format!("{size} entries: search {what} p50 ms"), *time);
        }
        table.note(format!("{size} entries: search rare without filters p50 ms"), without);
        context.archive().unwrap();
    }
}

fn grow(chibi: &ChibiHome, name: &ContextName, from: usize, to: usize, random: &mut Random) {
    let mut context = Context::open(chibi, name, Wait::No).unwrap();
    for first in (from..to).step_by(BATCH) {
        let batch = (first..(first + BATCH).min(to)).map(|number| {
            let noise: Vec<String> = (0..30).map(|_| format!("w{}", random.below(20_000))).collect();
            let medium = format!("medium{}", number % 1_000);
            message(chibi, &format!("common rare{number} {medium} {}", noise.join(" ")))
        });
        context.append(batch.collect()).unwrap();
        // The window is what a model is shown, and never that long.
        context.archive().unwrap();
    }
}

fn message(chibi: &ChibiHome, text: &str) -> Entry {
    Entry::new(chibi.fresh_id(), chibi.now(), EntryKind::Message, "user", "long", text)
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
    home.write(".chibi/config.toml", format!("model = 'm'\nbase_url = 'http://{address}/v1/chat/completions'\n"));
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

/// The middle of so many times, in milliseconds.
fn p50(times: usize, mut operation: impl FnMut()) -> f64 {
    let mut spent: Vec<f64> = (0..times)
        .map(|_| {
            let began = Instant::now();
            operation();
            ms(began.elapsed())
        })
        .collect();
    middle(&mut spent)
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
