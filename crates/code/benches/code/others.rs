//! Programs that look at the same files: ctags, which only lists definitions, and ast-grep, which parses everything to
//! find the calls. Each is run on the files as they are on disk, as a process of its own. And our own work, measured as
//! theirs is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use testkit::measure::Cost;

/// The best of so many runs: noise only ever adds, and each takes seconds.
const ROUNDS: usize = 2;

/// Every tick of the kernel's count of time on a core, in nanoseconds.
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

/// What work of ours costs that takes long.
pub(crate) fn heavy(work: impl FnMut()) -> Cost {
    best(work, Whose::Ours)
}

/// What a program costs; nothing where it is not installed.
fn run(command: impl Fn() -> Command) -> Option<Cost> {
    let quiet = || {
        let mut command = command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status()
    };
    quiet().ok()?;
    Some(best(|| assert!(quiet().is_ok_and(|status| status.success()), "{:?}", command()), Whose::Children))
}

fn best(mut work: impl FnMut(), whose: Whose) -> Cost {
    let mut best = Cost { cpu: f64::MAX, wall: f64::MAX };
    for _ in 0..ROUNDS {
        let (before, began) = (cpu(whose), Instant::now());
        work();
        best.cpu = best.cpu.min(cpu(whose) - before);
        best.wall = best.wall.min(began.elapsed().as_nanos() as f64);
    }
    best
}

/// Whose time is meant: that of this process, or of all children that were waited for.
#[derive(Clone, Copy)]
enum Whose {
    Ours,
    Children,
}

/// By the kernel's line, of which the second field may hold spaces: fields 14 and 15, or 16 and 17. In nanoseconds.
fn cpu(whose: Whose) -> f64 {
    let line = fs::read_to_string("/proc/self/stat").expect("the kernel's line about us");
    let fields = line.rsplit(')').next().expect("a line").split_whitespace();
    let before = match whose {
        Whose::Ours => 11,
        Whose::Children => 13,
    };
    fields.skip(before).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() * TICK
}
