//! Random histories of reading and changing files, judged by a reader that believes every answer: no answer may leave it
//! with something in mind that is not in the file, and every delta must apply.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test: writes files and fails by panicking"
)]

#[path = "traces/claude.rs"]
mod claude;
#[path = "traces/mind.rs"]
mod mind;
#[path = "traces/plain.rs"]
mod plain;
#[path = "traces/world.rs"]
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use testkit::{Home, Random, crash};

/// How many traces the soak runs.
const SOAK: usize = 10_000;

/// Runs `trace` with many seeds; a failure names its seed, and `DRIP_TRACE_SEED` runs that one alone.
fn traces(usual: usize, trace: impl Fn(&Home, usize, &mut Random)) {
    let only: Option<usize> = std::env::var("DRIP_TRACE_SEED").ok().map(|seed| seed.parse().unwrap());
    let count = if crash::points(50) > 50 { SOAK } else { usual };
    let home = Home::new();
    home.clock();
    for seed in only.map_or(0..count, |seed| seed..seed + 1) {
        let run = || trace(&home, seed, &mut Random::new(seed as u64 + 1));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            eprintln!("DRIP_TRACE_SEED={seed} runs the trace that failed");
            resume_unwind(panic);
        }
    }
}

#[test]
fn no_trace_of_plain_reads_leaves_a_wrong_line_in_mind() {
    traces(250, plain::trace);
}

#[test]
fn no_trace_of_a_client_with_our_hooks_leaves_a_wrong_line_in_mind() {
    traces(250, claude::trace);
}
