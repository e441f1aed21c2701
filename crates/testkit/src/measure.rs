//! Figures for benchmarks: CPU time of the best of several rounds, beside a baseline of the same run, as a table on
//! standard output and as JSON where `SCRIMP_BENCH_JSON` says.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Rounds of which the best counts: noise only ever adds.
const ROUNDS: usize = 7;

/// What one operation cost, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Time on a core, user and system, of all threads of this process.
    pub cpu: f64,
    pub wall: f64,
}

/// The cost of one `operation` when it is done `times` in a row.
pub fn cost(times: u32, mut operation: impl FnMut()) -> Cost {
    let mut best = Cost { cpu: f64::MAX, wall: f64::MAX };
    for _ in 0..ROUNDS {
        let (cpu, wall) = (cpu_ns(), Instant::now());
        for _ in 0..times {
            operation();
        }
        let times = f64::from(times);
        best.wall = best.wall.min(wall.elapsed().as_nanos() as f64 / times);
        best.cpu = best.cpu.min((cpu_ns() - cpu) / times);
    }
    best
}

/// Waits for a child and says how long its first thread was on a core, to the nanosecond: what the kernel adds up for
/// all children comes in ticks of 10 ms, which is more than most of ours take. The child is left to be waited for.
pub fn cpu_of(child: &Child) -> Duration {
    let pid = Pid::from_child(child);
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("it is our child");
    let path = format!("/proc/{}/schedstat", pid.as_raw_nonzero());
    let schedstat = fs::read_to_string(path).expect("it is still listed");
    let on_a_core =
        schedstat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("it begins with a number");
    Duration::from_nanos(on_a_core)
}

fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// A table of what was measured. Figures under a heading belong together.
#[derive(Default)]
pub struct Table {
    rows: Vec<(String, Cost, Option<Cost>)>,
    notes: Vec<(String, Value)>,
}

impl Table {
    pub fn row(&mut self, what: impl Into<String>, ours: Cost, baseline: Cost) {
        self.rows.push((what.into(), ours, Some(baseline)));
    }

    /// A row that is a baseline itself, or has none.
    pub fn alone(&mut self, what: impl Into<String>, ours: Cost) {
        self.rows.push((what.into(), ours, None));
    }

    /// A count or a sentence that is no time.
    pub fn note(&mut self, what: impl Into<String>, value: impl Into<Value>) {
        self.notes.push((what.into(), value.into()));
    }

    #[allow(clippy::print_stdout, reason = "a benchmark's output is its product")]
    pub fn print(&self) {
        let width = self.rows.iter().map(|(what, _, _)| what.chars().count()).max().unwrap_or(0);
        println!("{:<width$}  {:>12} {:>12} {:>12} {:>7}", "", "cpu", "wall", "baseline cpu", "ratio");
        for (what, ours, baseline) in &self.rows {
            let beside = match baseline {
                Some(other) => format!("{:>12} {:>7.2}", human(other.cpu), ours.cpu / other.cpu),
                None => String::new(),
            };
            println!("{what:<width$}  {:>12} {:>12} {beside}", human(ours.cpu), human(ours.wall));
        }
        for (what, value) in &self.notes {
            println!("{what}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        if let Some(path) = std::env::var_os("SCRIMP_BENCH_JSON") {
            fs::write(&path, self.to_json().to_string()).expect("the folder for figures was made before");
        }
    }

    fn to_json(&self) -> Value {
        let cost = |cost: &Cost| json!({"cpu_ns": cost.cpu, "wall_ns": cost.wall});
        let rows = self.rows.iter().map(|(what, ours, baseline)| {
            json!({"what": what, "ours": cost(ours), "baseline": baseline.as_ref().map(cost)})
        });
        let notes = self.notes.iter().map(|(what, value)| json!({"what": what, "value": value}));
        json!({"rows": rows.collect::<Vec<_>>(), "notes": notes.collect::<Vec<_>>()})
    }
}

fn human(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_work_costs_more() {
        let fill = |size: usize| cost(20, || drop(std::hint::black_box(vec![7_u8; size])));
        assert!(fill(1 << 22).cpu > fill(1 << 10).cpu);
    }

    #[test]
    fn times_are_told_in_a_unit_that_fits() {
        assert_eq!([999.0, 1500.0, 2_500_000.0].map(human), ["999 ns", "1.5 µs", "2.50 ms"]);
    }
}
