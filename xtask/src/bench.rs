//! Benchmarks: each is a program in `crates/<package>/benches/` that prints its table with a baseline of the same
//! run and leaves the figures in `target/bench/<name>.json`.

use crate::shell::{self, Done, cargo, target};

/// Name, package, what it measures. A tool that moves in adds its lines here.
const BENCHES: &[(&str, &str, &str)] = &[
    ("foundation", "scrimp", "framing, sockets, journal, replace, SQLite opening and MCP, beside plain std"),
    ("clai", "clai", "clai's daemon: events taken per second, time to a suggestion, memory, at three sizes"),
    (
        "clai-prompt",
        "clai",
        "what a prompt costs in each shell, whatever the daemon is doing, beside an empty template",
    ),
    ("drip", "drip", "drip's hook and commands at three sizes, 64 at once, and the tokens of a history"),
    ("code", "code", "what it costs to understand Django, cold and after an edit, beside parsing it alone"),
    (
        "daemon",
        "tldr",
        "tldr's daemon on Django: cached, after one edit, restarted, for 50 callers, its memory over 10,000 edits",
    ),
    (
        "agent",
        "agent",
        "the agent's first request: when and how large; memory after long streams; bytes of a session, with and without deltas",
    ),
    (
        "chibi",
        "chibi",
        "chibi's start, a list with 15 plugins, the way to the first byte of a request, a turn",
    ),
    (
        "chibi-store",
        "chibi",
        "chibi's transcripts at three sizes: opening, appending, searching with filters and without",
    ),
    ("llm", "llm", "event streams of models: splitting, reading, first byte, memory"),
    ("clai-quality", "clai", "how well the next command is foreseen, beside ten baselines"),
];

pub(crate) fn list() -> Done {
    for (name, _, what) in BENCHES {
        println!("{name:<14} {what}");
    }
    Ok(())
}

pub(crate) fn run(name: &str) -> Done {
    let chosen: Vec<_> = BENCHES.iter().filter(|(known, _, _)| name == "all" || *known == name).collect();
    if chosen.is_empty() {
        return Err(format!("no benchmark `{name}`\nhint: `cargo xtask bench`"));
    }
    let folder = target().join("bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, package, _) in chosen {
        let mut bench = cargo(&["bench", "--locked", "--package", package, "--bench", name]);
        bench.env("SCRIMP_BENCH_JSON", folder.join(format!("{name}.json")));
        shell::run(&format!("bench {name}"), bench)?;
    }
    Ok(())
}
