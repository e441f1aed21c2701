//! A generated history of growing length: what the model weighs, how long a command takes to learn and an answer to
//! give, in CPU time.

use std::time::Duration;

use clai::command::{Place, Ran, RepoKey, SessionId, Template};
use clai::rank::{Engine, Scorer};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use testkit::measure::Table;

use crate::ours::suggest;

const QUESTIONS: usize = 2000;

pub(crate) fn measure(table: &mut Table) {
    println!("generated history, at most 50,000 lines of 10,000 templates; µs of CPU time per command");
    println!(
        "                     model    resident   learn   suggest p50    p99   with a prefix p50    p99"
    );
    for scorer in [Scorer::Seed, Scorer::Blend] {
        let (mut engine, mut life) = (Engine::new(scorer), Life::default());
        for size in [10_000, 100_000, 1_000_000] {
            let (start, before) = (cpu(), life.commands);
            while life.commands < size {
                engine.learn(&life.next());
            }
            let learn = micros(cpu() - start) / (size - before) as f64;
            let (empty, typed) = answers(&engine, &mut life);
            let name = format!("{scorer:?} {size}");
            let (model, resident) = (engine.model().bytes() as f64 / 1e6, resident_mb());
            println!(
                "{name:<16} {model:>7.1} MB {resident:>7.1} MB {learn:>7.1} {:>13.0} {:>6.0} {:>19.0} {:>6.0}",
                empty[0], empty[1], typed[0], typed[1]
            );
            table.note(
                format!("scale {name}"),
                json!({"model_mb": model, "resident_mb": resident, "learn_us": learn, "suggest_us_p50_p99": empty,
                    "prefix_us_p50_p99": typed}),
            );
        }
    }
}

/// The median and the 99th percentile of an answer on an empty line, and after one to eight keys.
fn answers(engine: &Engine, life: &mut Life) -> ([f64; 2], [f64; 2]) {
    let mut times = [Vec::new(), Vec::new()];
    for question in 0..QUESTIONS {
        let next = life.imagine();
        for (times, prefix) in times.iter_mut().zip(["", &next.line[..1 + question % 8]]) {
            let start = cpu();
            std::hint::black_box(suggest(engine, &next, prefix, 3, &[]));
            times.push(micros(cpu() - start));
        }
    }
    let [empty, typed] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        [times[QUESTIONS / 2], times[QUESTIONS * 99 / 100]]
    });
    (empty, typed)
}

/// Somebody's work: a few habits that follow each other, many rare commands, forty repositories, four terminals.
struct Life {
    commands: u64,
    dice: u64,
    last: u64,
}

impl Default for Life {
    fn default() -> Life {
        Life { commands: 0, dice: 0x9e37_79b9_7f4a_7c15, last: 0 }
    }
}

impl Life {
    const TEMPLATES: f64 = 10_000.0;
    const LINES_OF_A_TEMPLATE: f64 = 5.0;

    fn next(&mut self) -> Ran {
        let ran = self.imagine();
        self.commands += 1;
        ran
    }

    /// What might come now, without its having happened.
    fn imagine(&mut self) -> Ran {
        // Half the commands are one of three that follow the last one, the others fall off like words in a text.
        let template = if self.roll() < 0.5 {
            (self.last * 7 + 1 + (self.roll() * 3.0) as u64) % Life::TEMPLATES as u64
        } else {
            Life::TEMPLATES.powf(self.roll()) as u64 - 1
        };
        self.last = template;
        let file = (Life::LINES_OF_A_TEMPLATE * self.roll() * self.roll()) as u64;
        let program = template % 97;
        let (terminal, repo) = (self.commands % 4, self.commands / 400 % 40);
        Ran {
            session: SessionId(format!("{terminal}-{}", self.commands / 300)),
            ts: 1_700_000_000_000 + self.commands as i64 * 20_000,
            duration_ms: None,
            exit_code: Some(i32::from(self.roll() < 0.05)),
            place: Place {
                cwd: format!("/home/me/work/{repo}/{}", template % 5),
                repo: Some(RepoKey(format!("{repo:064}"))),
                branch: None,
            },
            line: format!("tool{program} do-{template} --verbose src/part/file{file}.rs"),
            template: Template(format!("tool{program} do-{template} --verbose <path>")),
        }
    }

    /// xorshift: the same life in every run.
    fn roll(&mut self) -> f64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

/// What the process holds of the machine's memory.
fn resident_mb() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(f64::NAN);
    pages * rustix::param::page_size() as f64 / 1e6
}
