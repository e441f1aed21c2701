//! One event of a shell, one line to the daemon, gone. Runs at every prompt: it waits for nobody longer than its
//! budget, says nothing, and always ends well. Knows no history and no database.
#![forbid(unsafe_code)]

mod ingest;
mod session;

use std::time::Duration;

use kit::invocation::Environment;
use kit::places::Variable;
use kit::{Exit, Invocation};
use wire::Deadline;

/// What connecting and writing may take together.
const BUDGET: Duration = Duration::from_millis(15);

const USAGE: &str = "\
usage: clai-hook ingest [--cmd-stdin]
       clai-hook session-start
Called by the shell; what it sends comes from CLAI_* variables, see `clai init`.
";

/// The variables in which a shell hands over an event.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "CLAI_CMD", meaning: "the command line, any bytes", default: "nothing is sent" },
    Variable { name: "CLAI_CWD", meaning: "where it ran", default: "nothing is sent" },
    Variable { name: "CLAI_EXIT", meaning: "its exit code", default: "0" },
    Variable { name: "CLAI_TS", meaning: "when it ended, Unix milliseconds", default: "now" },
    Variable { name: "CLAI_SHELL", meaning: "bash, zsh or fish", default: "nothing is sent" },
    Variable { name: "CLAI_SESSION_ID", meaning: "the shell's session", default: "nothing is sent" },
    Variable { name: "CLAI_DURATION_MS", meaning: "how long it ran", default: "unknown" },
    Variable { name: "CLAI_EPHEMERAL", meaning: "1: learn from it, never write it down", default: "0" },
    Variable { name: "CLAI_NO_RECORD", meaning: "1: send nothing", default: "0" },
    Variable { name: "CLAI_ACTOR", meaning: "who typed it, if not the person", default: "the person" },
    Variable {
        name: "CLAI_CONNECT_TIMEOUT_MS",
        meaning: "the budget for connecting and writing together, 10 to 20",
        default: "15",
    },
];

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
    let asked = env.text("CLAI_CONNECT_TIMEOUT_MS").and_then(|value| value.parse().ok());
    let budget = asked.filter(|ms| (10..=20).contains(ms)).map_or(BUDGET, Duration::from_millis);
    Deadline::after(budget)
}
