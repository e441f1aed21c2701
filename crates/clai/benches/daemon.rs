//! The daemon as a process, at 10,000, 100,000 and 1,000,000 commands of a generated history (50,000 distinct lines of
//! 10,000 templates in 20 projects): how fast it takes events that come without a pause, and how long it is busy with
//! them afterwards; how fast it answers, how much memory it holds (after the burst, and started again), and how long it
//! takes to start. `SCRIMP_BENCH_EVENTS` ends it earlier.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark starts a bare child and prints"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clai::import::{self, Source};
use clai::tasks::Discovery;
use serde_json::{Value, json};
use testkit::measure::{Table, cost};
use testkit::{Home, PATIENCE, Random, bin, until};

const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
const QUESTIONS: usize = 2_000;
const SINGLE_CONNECTIONS: u64 = 5_000;

fn main() {
    let most: u64 =
        std::env::var("SCRIMP_BENCH_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let home = Home::new();
    let mut history = History::new(&home);
    let mut table = Table::default();
    let mut daemon = Daemon::start(&home);
    println!(
        "{:>9}  {:>9} {:>7} {:>10} {:>12} {:>11} {:>11} {:>10} {:>8} {:>8} {:>8} {:>7}",
        "commands",
        "ingest/s",
        "settled",
        "cpu each",
        "1 call each",
        "suggest p50",
        "suggest p99",
        "health p99",
        "RSS",
        "again",
        "database",
        "start"
    );
    for size in SIZES.into_iter().filter(|size| *size <= most) {
        let (before, cpu) = (history.next, daemon.cpu());
        let (on_one, settled) = daemon.ingest(&mut history, size - SINGLE_CONNECTIONS);
        let cpu = (daemon.cpu() - cpu).as_secs_f64() * 1e6 / (history.next - before) as f64;
        let each_alone = daemon.ingest_alone(&mut history, size);
        let (p50, p99) = daemon.questions(&mut history, |n, history| {
            let cwd = &history.directories[n % 20 * 2];
            json!({"type": "suggest", "session_id": format!("session-{}", n % 20), "cwd": cwd})
        });
        // What a question costs that needs no thought: on a busy machine most of the tail is waiting for a core.
        let (_, idle_p99) = daemon.questions(&mut history, |_, _| json!({"type": "health"}));
        let (rss, stored) = (daemon.rss_kb(), database_kb(&home));
        daemon.stop();
        let started = Instant::now();
        daemon = Daemon::start(&home);
        let start = started.elapsed();
        let fresh = daemon.rss_kb();
        println!(
            "{size:>9}  {on_one:>9.0} {:>5.2} s {cpu:>7.1} µs {each_alone:>10.0}/s {:>11} {:>11} {:>10} {:>5.1} MB {:>5.1} MB {:>5.0} MB {:>5.2} s",
            settled.as_secs_f64(),
            micros(p50),
            micros(p99),
            micros(idle_p99),
            rss as f64 / 1024.0,
            fresh as f64 / 1024.0,
            stored as f64 / 1024.0,
            start.as_secs_f64()
        );
        table.note(
            format!("at {size} commands"),
            json!({"ingest_per_s": on_one, "settled_ms": settled.as_millis() as u64, "ingest_cpu_us": cpu, "health_p99_us": idle_p99.as_micros() as u64, "ingest_per_s_one_connection_each": each_alone,
                "suggest_p50_us": p50.as_micros() as u64, "suggest_p99_us": p99.as_micros() as u64, "rss_kb": rss,
                "rss_kb_after_restart": fresh, "database_kb": stored, "start_ms": start.as_millis() as u64}),
        );
    }
    daemon.stop();
    let rate = lines_read_per_second(&home);
    println!("a history of zsh is read at {rate:.0} lines/s of processor time");
    table.note("import, lines per second of processor time", rate);
    let again = tasks_again(&home);
    println!("the tasks of a project that has not changed: {again:.0} µs");
    table.note("tasks of an unchanged project, µs", again);
    table.print();
}

fn tasks_again(home: &Home) -> f64 {
    let soon = || Instant::now() + PATIENCE;
    let project = home.path().join("src/p0");
    let mut discovery = Discovery::default();
    assert!(!discovery.look(&project, soon()).tasks.is_empty());
    cost(1000, || drop(discovery.look(&project, soon()))).cpu / 1e3
}

fn lines_read_per_second(home: &Home) -> f64 {
    const LINES: u64 = 250_000;
    let line =
        |n: u64| format!(": {}:0;git commit -m 'change {n}' \\\n  --verbose\n", 1_600_000_000 + n * 60);
    let file = home.write("history", (0..LINES).map(line).collect::<String>());
    let cost = cost(1, || {
        let history = import::open(Source::Zsh, &file).expect("it was just written");
        assert_eq!(history.count() as u64, LINES);
    });
    LINES as f64 * 1e9 / cost.cpu
}

fn micros(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}

/// What somebody might have typed: three times in four one of four lines that usually follow the last one in this
/// project, else a favourite of the project, and now and then something from anywhere.
struct History {
    random: Random,
    directories: Vec<String>,
    next: u64,
    first_ts: i64,
    last: [u64; 20],
}

impl History {
    const LINES: usize = 50_000;
    /// The lines of one of the twenty projects that sessions are in.
    const OWN_LINES: usize = Self::LINES / 20;
    const LINES_OF_A_TEMPLATE: u64 = 5;

    fn new(home: &Home) -> History {
        let directories = (0..40).map(|n| {
            let repo = home.path().join(format!("src/p{n}"));
            fs::create_dir_all(repo.join(".git")).expect("a home can be furnished");
            fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a home can be furnished");
            fs::write(repo.join("Makefile"), "check:\n\ttrue\n").expect("a home can be furnished");
            repo.to_string_lossy().into_owned()
        });
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
        History {
            random: Random::new(1),
            directories: directories.collect(),
            next: 0,
            first_ts: now.as_millis() as i64 - 80 * 86_400_000,
            last: [0; 20],
        }
    }

    /// The next event as a line.
    fn event(&mut self) -> String {
        let session = self.random.below(20);
        let own = (session * Self::OWN_LINES) as u64;
        let line = match self.random.fraction() {
            habit if habit < 0.75 => {
                let follower = self.random.below(4) as u64;
                own + (self.last[session] * 31 + 7 + 997 * follower) % Self::OWN_LINES as u64
            }
            // The fourth power favours small numbers as people favour few commands.
            own_work if own_work < 0.95 => {
                own + (self.random.fraction().powi(4) * Self::OWN_LINES as f64) as u64
            }
            _ => (self.random.fraction().powi(4) * Self::LINES as f64) as u64,
        };
        self.last[session] = line;
        let (template, variant) = (line / Self::LINES_OF_A_TEMPLATE, line % Self::LINES_OF_A_TEMPLATE);
        let ts = self.first_ts + (self.next * 80 * 86_400_000 / 1_100_000) as i64;
        self.next += 1;
        let cwd = &self.directories[session * 2 % 40];
        format!(
            "{{\"type\":\"command_end\",\"session_id\":\"session-{session}\",\"shell\":\"zsh\",\"ts\":{ts},\"cwd\":\"{cwd}\",\
             \"cmd_raw\":\"tool{} step{} --level {}\",\"exit_code\":{},\"duration_ms\":12}}\n",
            template / 25,
            template % 25,
            variant + 10,
            u8::from(self.random.below(12) == 0)
        )
    }
}

struct Daemon<'a> {
    home: &'a Home,
    socket: PathBuf,
    pid: u64,
}

impl Daemon<'_> {
    /// As a shell does it.
    fn start(home: &Home) -> Daemon<'_> {
        let started = home.command(bin("clai-daemon")).stdin(Stdio::null()).status();
        assert!(started.expect("the daemon can be started").success(), "the daemon does not answer");
        let mut daemon = Daemon { home, socket: home.runtime().join("clai/daemon.sock"), pid: 0 };
        daemon.pid =
            ask(&mut daemon.connect(), &json!({"type": "health"}))["pid"].as_u64().expect("it has one");
        daemon
    }

    fn stop(&self) {
        ask(&mut self.connect(), &json!({"type": "stop"}));
        assert!(
            until(4 * PATIENCE, || self.proc("stat").is_none_or(|stat| stat.contains(") Z "))),
            "it does not end"
        );
    }

    fn connect(&self) -> BufReader<UnixStream> {
        BufReader::new(UnixStream::connect(&self.socket).expect("the daemon listens"))
    }

    /// Events per second on one connection, until there are `size` and all are written; and how long it took from there
    /// until all was counted and the log folded into the database.
    fn ingest(&self, history: &mut History, size: u64) -> (f64, Duration) {
        let mut talk = self.connect();
        let count = size.saturating_sub(history.next);
        // Made before the clock runs.
        let lines: String = (0..count).map(|_| history.event()).collect();
        let started = Instant::now();
        talk.get_mut().write_all(lines.as_bytes()).expect("the daemon reads");
        ask(&mut talk, &json!({"type": "flush"}));
        let spent = started.elapsed();
        let log = self.home.data().join("clai/clai.db-wal");
        let settled = Instant::now();
        assert!(
            until(4 * PATIENCE, || log.metadata().is_ok_and(|log| log.len() == 0)),
            "it does not come to rest"
        );
        let settled = settled.elapsed();
        let health = ask(&mut talk, &json!({"type": "health"}));
        assert_eq!(health["dropped"], 0, "{health}");
        (count as f64 / spent.as_secs_f64(), settled)
    }

    /// The same with a connection for each event, as the hook does it.
    fn ingest_alone(&self, history: &mut History, size: u64) -> f64 {
        let lines: Vec<String> = (history.next..size).map(|_| history.event()).collect();
        let learned =
            || ask(&mut self.connect(), &json!({"type": "health"}))["learned"].as_u64().unwrap_or(0);
        let before = learned();
        let started = Instant::now();
        for line in &lines {
            let mut hook = UnixStream::connect(&self.socket).expect("the daemon listens");
            hook.write_all(line.as_bytes()).expect("the daemon reads");
        }
        assert!(until(PATIENCE, || learned() >= before + lines.len() as u64), "events were lost");
        ask(&mut self.connect(), &json!({"type": "flush"}));
        lines.len() as f64 / started.elapsed().as_secs_f64()
    }

    /// Median and 99th percentile of a question and its answer.
    fn questions(
        &self,
        history: &mut History,
        question: impl Fn(usize, &History) -> Value,
    ) -> (Duration, Duration) {
        let mut talk = self.connect();
        let mut times: Vec<Duration> = (0..QUESTIONS)
            .map(|n| {
                // Each after another command, as at a prompt.
                talk.get_mut().write_all(history.event().as_bytes()).expect("the daemon reads");
                let question = question(n, history);
                ask(&mut talk, &json!({"type": "flush"}));
                let started = Instant::now();
                let answer = ask(&mut talk, &question);
                assert!(answer.get("error").is_none(), "{answer}");
                started.elapsed()
            })
            .collect();
        times.sort();
        (times[QUESTIONS / 2], times[QUESTIONS * 99 / 100])
    }

    /// Time on a core so far, of all threads.
    fn cpu(&self) -> Duration {
        /// What Linux counts in, on every machine that we know.
        const TICKS_PER_SECOND: u64 = 100;
        let stat = self.proc("stat").expect("the daemon runs");
        let fields = stat.rsplit(") ").next().expect("it has a name").split(' ');
        let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
    }

    fn rss_kb(&self) -> u64 {
        let status = self.proc("status").expect("the daemon runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it has memory");
        line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("in kilobytes")
    }

    fn proc(&self, file: &str) -> Option<String> {
        fs::read_to_string(format!("/proc/{}/{file}", self.pid)).ok()
    }
}

fn ask(talk: &mut BufReader<UnixStream>, question: &Value) -> Value {
    talk.get_mut().write_all(format!("{question}\n").as_bytes()).expect("the daemon reads");
    let mut answer = String::new();
    talk.read_line(&mut answer).expect("the daemon answers");
    serde_json::from_str(&answer).expect("in JSON")
}

fn database_kb(home: &Home) -> u64 {
    let entries = fs::read_dir(home.data().join("clai")).expect("the daemon has made it").flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len() / 1024).sum()
}
