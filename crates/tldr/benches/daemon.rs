//! What the daemon costs on a large project, beside a cold command line in the same run: cached answers, answers after one
//! edit, a restart, fifty callers, and its memory over a long run of edits. The project is a copy of the folder given, or of
//! the corpus's Django.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark writes plain files, prints, and fails by panicking"
)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::{Value, json};
use testkit::measure::{Cost, Table};
use testkit::{Home, bin};

/// Answers of which the middle one counts.
const CACHED: usize = 100;
const EDITS: usize = 20;
/// Edits of the long run; every hundredth is followed by questions about all files.
const LONG_RUN: usize = 10_000;
const CLIENTS: usize = 50;
const RESTARTS: usize = 7;
/// As many files as the contract promises a quick restart for.
const FEWER: usize = 3_000;
const BUDGET: &str = "--max-tokens";
const ASKS: usize = 100;

fn main() {
    let given = env::args().skip(1).find(|arg| arg != "--bench").map(PathBuf::from);
    let corpus = || env::var_os("SCRIMP_CORPUS").map(|corpus| PathBuf::from(corpus).join("django-5.1.4"));
    let from = given.or_else(corpus).expect("a folder, or SCRIMP_CORPUS: `cargo xtask bench` says it");
    assert!(from.is_dir(), "{}: no project (`cargo xtask corpus django` fetches one)", from.display());
    let home = Home::new();
    let project = home.path().join("p");
    let mut bench = Bench { sources: Vec::new(), table: Table::default(), home, project };
    let to = bench.project.clone();
    bench.copy(&from, &to);
    bench.table.note("Python files", bench.sources.len());
    let cold = bench.cold();
    bench.start();
    bench.note_memory("after the first look");
    bench.cached(&cold);
    bench.edited(&cold);
    bench.restart();
    bench.clients();
    bench.long_run();
    bench.tldr(&["daemon", "stop"]);
    bench.table.print();
}

struct Bench {
    home: Home,
    project: PathBuf,
    sources: Vec<PathBuf>,
    table: Table,
}

/// A question, typed and sent.
struct Question {
    typed: Vec<String>,
    sent: Value,
}

impl Question {
    fn name(&self) -> String {
        let budget = if self.typed.iter().any(|word| word == BUDGET) { " in 2,500 tokens" } else { "" };
        format!("{}{budget}", self.typed[0])
    }
}

impl Bench {
    fn copy(&mut self, from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        let mut entries: Vec<PathBuf> =
            fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in entries.into_iter().filter(|entry| !entry.is_symlink()) {
            let target = to.join(entry.file_name().unwrap());
            if entry.is_dir() {
                self.copy(&entry, &target);
            } else {
                fs::copy(&entry, &target).unwrap();
                if target.extension().is_some_and(|ending| ending == "py") {
                    self.sources.push(target);
                }
            }
        }
    }

    fn questions(&self) -> Vec<Question> {
        let file = "django/db/models/query.py";
        let all: [(&[&str], Value); 17] = [
            (&["tree"], json!({"cmd": "tree"})),
            (&["structure"], json!({"cmd": "structure", "path": "."})),
            (&["search", "get_queryset"], json!({"cmd": "search", "pattern": "get_queryset"})),
            (&["extract", file], json!({"cmd": "extract", "file": file})),
            (&["imports", file], json!({"cmd": "imports", "file": file})),
            (&["importers", "django.urls"], json!({"cmd": "importers", "module": "django.urls"})),
            (
                &["cfg", file, "QuerySet.update"],
                json!({"cmd": "cfg", "file": file, "function": "QuerySet.update"}),
            ),
            (
                &["dfg", file, "QuerySet.update"],
                json!({"cmd": "dfg", "file": file, "function": "QuerySet.update"}),
            ),
            (&["context", "get_object_or_404"], json!({"cmd": "context", "entry": "get_object_or_404"})),
            (&["impact", "get_object_or_404"], json!({"cmd": "impact", "func": "get_object_or_404"})),
            (&["calls"], json!({"cmd": "calls"})),
            (&["dead"], json!({"cmd": "dead"})),
            // As a model asks.
            (&["structure", BUDGET, "2500"], json!({"cmd": "structure", "path": ".", "max_tokens": 2500})),
            (&["calls", BUDGET, "2500"], json!({"cmd": "calls", "max_tokens": 2500})),
            (&["dead", BUDGET, "2500"], json!({"cmd": "dead", "max_tokens": 2500})),
            (&["arch"], json!({"cmd": "arch"})),
            (&["semantic", "save a form"], json!({"cmd": "semantic", "query": "save a form"})),
        ];
        let owned = |typed: &[&str]| typed.iter().map(|word| (*word).to_owned()).collect();
        all.into_iter().map(|(typed, sent)| Question { typed: owned(typed), sent }).collect()
    }

    fn tldr<S: AsRef<str>>(&self, args: &[S]) -> String {
        let mut command = self.home.command(bin("tldr"));
        command.args(args.iter().map(AsRef::as_ref)).current_dir(&self.project);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The command line without a daemon and without anything kept, once each: it takes seconds.
    fn cold(&mut self) -> Vec<Cost> {
        let mut costs = Vec::new();
        for question in self.questions() {
            let (began, cpu) = (Instant::now(), children_cpu());
            self.tldr(&question.typed);
            let cost = Cost {
                cpu: (children_cpu() - cpu).as_nanos() as f64,
                wall: began.elapsed().as_nanos() as f64,
            };
            self.table.alone(format!("cold {}", question.name()), cost);
            costs.push(cost);
        }
        costs
    }

    fn start(&mut self) {
        self.tldr(&["daemon", "start"]);
        let mut talk = self.connect();
        while !talk.ask(&json!({"cmd": "status"})).contains("\"ready\"") {
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn cached(&mut self, cold: &[Cost]) {
        let mut talk = self.connect();
        for (question, cold) in self.questions().iter().zip(cold) {
            talk.time(&question.sent);
            let cost = self.middle_of(CACHED, |_| talk.time(&question.sent));
            self.table.row(format!("cached {}", question.name()), cost, *cold);
        }
        self.note_memory("after all questions");
    }

    /// Each question after one edit of a file in the middle that adds a function and a call.
    fn edited(&mut self, cold: &[Cost]) {
        let mut talk = self.connect();
        let file = self.sources[self.sources.len() / 2].clone();
        let text = fs::read_to_string(&file).unwrap();
        for (question, cold) in self.questions().iter().zip(cold) {
            let cost = self.middle_of(EDITS, |number| {
                fs::write(&file, format!("{text}\n\ndef edited_{number}():\n    return print({number})\n"))
                    .unwrap();
                talk.time(&question.sent)
            });
            self.table.row(format!("one edit, then {}", question.name()), cost, *cold);
        }
        fs::write(&file, text).unwrap();
    }

    /// From the start of a daemon to its first answer, for the whole project and for as many files as the contract names.
    fn restart(&mut self) {
        let all = self.project.clone();
        self.restarted(
            "restart to the first right answer",
            &json!({"cmd": "structure", "path": "django/urls"}),
        );
        let began = Instant::now();
        self.connect().ask(&json!({"cmd": "impact", "func": "get_object_or_404"}));
        self.table.note(
            "then the first question that needs the call graph, ms",
            began.elapsed().as_millis() as u64,
        );
        self.tldr(&["daemon", "stop"]);
        self.project = self.home.path().join("fewer");
        self.copy_some(&all, FEWER);
        self.start();
        self.restarted("the same for 3,000 files", &json!({"cmd": "structure", "path": "django/urls"}));
        self.tldr(&["daemon", "stop"]);
        self.project = all;
        self.start();
    }

    fn restarted(&mut self, name: &str, question: &Value) {
        let expected = self.connect().ask(question);
        let mut walls = Vec::new();
        for _ in 0..RESTARTS {
            self.tldr(&["daemon", "stop"]);
            let began = Instant::now();
            self.tldr(&["daemon", "start"]);
            let said = self.connect().ask(question);
            walls.push(began.elapsed().as_nanos() as f64);
            assert_eq!(said, expected);
        }
        let cpu = self.daemon_cpu().as_nanos() as f64;
        self.table.alone(name, Cost { cpu, wall: middle(&walls) });
    }

    /// Programs first, then whatever comes, until there are so many.
    fn copy_some(&self, from: &Path, count: usize) {
        let mut files = Vec::new();
        below(from, &mut files);
        files.sort_by_key(|file| (!self.sources.contains(file), file.clone()));
        for file in files.into_iter().take(count) {
            let target = self.project.join(file.strip_prefix(from).unwrap());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(&file, target).unwrap();
        }
    }

    fn clients(&mut self) {
        let question = json!({"cmd": "impact", "func": "get_object_or_404"});
        self.connect().ask(&question);
        let (began, cpu) = (Instant::now(), self.daemon_cpu());
        let callers: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let (mut talk, question) = (self.connect(), question.clone());
                thread::spawn(move || (0..ASKS).map(|_| talk.time(&question)).collect::<Vec<_>>())
            })
            .collect();
        let walls: Vec<f64> = callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect();
        let asked = walls.len() as f64;
        let cpu = (self.daemon_cpu() - cpu).as_nanos() as f64 / asked;
        self.table.note("answers a second with 50 callers", (asked / began.elapsed().as_secs_f64()) as u64);
        self.table.alone("one answer of those for 50 callers", Cost { cpu, wall: middle(&walls) });
        self.table.note("the slowest of a hundred of them, ms", percentile(&walls, 0.99) / 1e6);
    }

    fn long_run(&mut self) {
        let mut talk = self.connect();
        let step = (self.sources.len() / 100).max(1);
        let files: Vec<PathBuf> = self.sources.iter().step_by(step).cloned().collect();
        let texts: Vec<String> =
            files.iter().map(|file| fs::read_to_string(file).unwrap_or_default()).collect();
        let began = self.daemon_cpu();
        for number in 0..=LONG_RUN {
            let (file, text) = (&files[number % files.len()], &texts[number % files.len()]);
            fs::write(file, format!("{text}\n\ndef edited_{number}():\n    return helper_{number}()\n"))
                .unwrap();
            let said = talk.ask(&json!({"cmd": "extract", "file": file}));
            assert!(said.contains(&format!("edited_{number}")), "edit {number} was not seen");
            if number % 100 == 0 {
                talk.ask(&json!({"cmd": "calls"}));
                talk.ask(&json!({"cmd": "search", "pattern": format!("helper_{number}")}));
                talk.ask(&json!({"cmd": "semantic", "query": format!("helper {number}")}));
            }
            if number % (LONG_RUN / 10) == 0 {
                self.note_memory(&format!("after {number} edits"));
            }
        }
        let cpu = (self.daemon_cpu() - began).as_nanos() as f64 / LONG_RUN as f64;
        self.table.alone("an edit of the long run", Cost { cpu, wall: f64::NAN });
    }

    /// The cost of the middle one of several.
    fn middle_of(&self, times: usize, mut ask: impl FnMut(usize) -> f64) -> Cost {
        let cpu = self.daemon_cpu();
        let walls: Vec<f64> = (0..times).map(&mut ask).collect();
        let cpu = (self.daemon_cpu() - cpu).as_nanos() as f64 / times as f64;
        Cost { cpu, wall: middle(&walls) }
    }

    fn connect(&self) -> Talk {
        let stream = UnixStream::connect(self.socket()).unwrap();
        Talk { stream: BufReader::with_capacity(1 << 20, stream), said: String::new() }
    }

    /// Of the one daemon that runs: it goes with it, unlike the file with its number.
    fn socket(&self) -> PathBuf {
        let entries = fs::read_dir(self.home.temp()).unwrap().map(|entry| entry.unwrap().path());
        let mut sockets = entries.filter(|path| path.extension().is_some_and(|ending| ending == "sock"));
        sockets.next().unwrap()
    }

    fn pid(&self) -> u32 {
        let file = self.socket().with_extension("pid");
        fs::read_to_string(file).unwrap().lines().next().unwrap().parse().unwrap()
    }

    fn daemon_cpu(&self) -> Duration {
        ticks(&format!("/proc/{}/stat", self.pid()), 13)
    }

    fn note_memory(&mut self, when: &str) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let figure = |key: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        self.table.note(format!("memory {when}, kB"), figure("VmRSS:"));
        self.table.note(format!("most memory {when}, kB"), figure("VmHWM:"));
        println!("memory {when}: {} kB", figure("VmRSS:"));
    }
}

/// A caller with room for the largest answer it has had.
struct Talk {
    stream: BufReader<UnixStream>,
    said: String,
}

impl Talk {
    fn ask(&mut self, request: &Value) -> String {
        self.hear(request);
        self.said.clone()
    }

    /// How long the answer took, in nanoseconds.
    fn time(&mut self, request: &Value) -> f64 {
        let began = Instant::now();
        self.hear(request);
        let time = began.elapsed().as_nanos() as f64;
        assert!(self.said.starts_with("{\"status\":\"ok\""), "{}", self.said);
        time
    }

    fn hear(&mut self, request: &Value) {
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
        self.said.clear();
        self.stream.read_line(&mut self.said).unwrap();
    }
}

/// Every file, our own aside.
fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true if entry.ends_with(".tldr") => {}
            true => below(&entry, files),
            false => files.push(entry),
        }
    }
}

/// Time on a core of all children that have ended.
fn children_cpu() -> Duration {
    ticks("/proc/self/stat", 15)
}

/// Two neighbours in a line of the kernel's, user and system time, which come in hundredths of a second.
fn ticks(path: &str, at: usize) -> Duration {
    let stat = fs::read_to_string(path).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    // The first two are before the bracket.
    let ticks: u64 = fields[at - 2].parse::<u64>().unwrap() + fields[at - 1].parse::<u64>().unwrap();
    Duration::from_millis(10 * ticks)
}

fn middle(walls: &[f64]) -> f64 {
    percentile(walls, 0.5)
}

fn percentile(walls: &[f64], share: f64) -> f64 {
    let mut sorted = walls.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}
