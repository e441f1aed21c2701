//! Programs that look at the same files: ctags, which only lists definitions, and ast-grep, which parses everything to
//! find the calls. Each is run on the files as they are on disk, as a process of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use testkit::measure::Cost;

/// The best of so many runs: noise only ever adds.
const ROUNDS: usize = 3;

/// Every tick of the kernel's count of a child's time, in nanoseconds.
const TICK: f64 = 1e7;

pub(crate) fn ctags(root: &Path, language: &str) -> Option<Cost> {
    run(|| {
        let mut ctags = Command::new("ctags");
        ctags.args(["--recurse", "-f", "-", &format!("--languages={language}")]).arg(root);
        ctags
    })
}

pub(crate) fn ast_grep(corpus: &Path, root: &Path, language: &str) -> Option<Cost> {
    let program = corpus.join("ast-grep-cli-0.32.0/ast_grep_cli-0.32.0.data/scripts/ast-grep");
    // A wheel does not say which of its files are programs.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).ok()?;
    run(|| {
        let mut grep = Command::new(&program);
        grep.args(["run", "--json=stream", "--lang", language, "--pattern", "$F($$$A)"]).arg(root);
        grep
    })
}

/// What a program costs; nothing where it is not installed.
fn run(command: impl Fn() -> Command) -> Option<Cost> {
    let mut best: Option<Cost> = None;
    for _ in 0..ROUNDS {
        let (before, began) = (children(), Instant::now());
        let status =
            command().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        let cost = Cost { cpu: children() - before, wall: began.elapsed().as_nanos() as f64 };
        assert!(status.success(), "{:?}", command());
        best = Some(match best {
            Some(best) => Cost { cpu: best.cpu.min(cost.cpu), wall: best.wall.min(cost.wall) },
            None => cost,
        });
    }
    best
}

/// The time of all children that were waited for, in nanoseconds: fields 16 and 17 of the kernel's line, of which the
/// second may hold spaces.
fn children() -> f64 {
    let line = fs::read_to_string(PathBuf::from("/proc/self/stat")).expect("the kernel's line about us");
    let fields = line.rsplit(')').next().expect("a line").split_whitespace();
    let ticks = fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() * TICK
}
