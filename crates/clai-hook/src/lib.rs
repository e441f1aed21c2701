//! One event of a shell, one line to the daemon, gone. Runs at every prompt: it waits for nobody longer than its
//! budget, says nothing, and always ends well. Knows no history and no database.
#![forbid(unsafe_code)]

mod ingest;
mod session;

use std::time::Duration;

use kit::invocation::Environment;
use kit::{Exit, Invocation};
use wire::Deadline;

/// What connecting and writing may take together.
const BUDGET: Duration = Duration::from_millis(15);

const USAGE: &str = "\
usage: clai-hook ingest [--cmd-stdin]
       clai-hook session-start
Called by the shell; what it sends comes from CLAI_* variables, see `clai init`.
";

/// Runs `clai-hook`.
pub fn run(mut invocation: Invocation) -> Exit {
    let args: Vec<&str> = invocation.args.iter().filter_map(|arg| arg.to_str()).collect();
    // A lost event is not worth a word at the prompt, so what is `None` here stays unsaid.
    let _ = match args.as_slice() {
        ["ingest"] => ingest::send(&mut invocation, ingest::Source::Variable),
        ["ingest", "--cmd-stdin"] => ingest::send(&mut invocation, ingest::Source::Stdin),
        ["session-start"] => session::start(&invocation),
        ["--version"] => invocation.print(concat!("clai-hook ", env!("CARGO_PKG_VERSION"), "\n")).ok(),
        _ => invocation.print(USAGE).ok(),
    };
    Exit::Done
}

fn deadline(env: &Environment) -> Deadline {
    let asked = env.text("CLAI_HOOK_TIMEOUT_MS").and_then(|value| value.parse().ok());
    let budget = asked.filter(|ms| (10..=20).contains(ms)).map_or(BUDGET, Duration::from_millis);
    Deadline::after(budget)
}
