//! What the shipped binaries weigh and what their start costs, beside an empty `main` in the same run. CPU time
//! and not wall time, since machines are noisy.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::binaries::{BINARIES, Binary};
use crate::install::build;
use crate::shell::{Done, capture, command, run, target};

/// Enough runs that the kernel's ticks of 10 ms become hundredths of a millisecond for one.
const RUNS: u32 = 500;

pub(crate) fn check() -> Done {
    let empty = empty_main()?;
    let base = cpu_ms(&empty, &[])?;
    println!(
        "{:<12} {:>10} {:>10} {:>10} {:>10}  verdict",
        "binary", "bytes", "at most", "start ms", "at most"
    );
    println!("{:<12} {:>10} {:>10} {base:>10.2} {:>10}  baseline", "empty main", size(&empty)?, "", "");
    let mut over = Vec::new();
    for binary in BINARIES {
        let built = build(binary)?;
        let (bytes, start) = (size(&built)?, cpu_ms(&built, &["--version"])? - base);
        let fits = fits(binary, bytes, start);
        let limit = binary.size.map_or("-".to_owned(), |size| size.to_string());
        let verdict = if fits { "ok" } else { "over" };
        println!(
            "{:<12} {bytes:>10} {limit:>10} {start:>10.2} {:>10.2}  {verdict}",
            binary.name, binary.start_ms
        );
        if !fits {
            over.push(binary.name);
        }
    }
    if over.is_empty() { Ok(()) } else { Err(format!("over budget: {}", over.join(", "))) }
}

fn fits(binary: &Binary, bytes: u64, start: f64) -> bool {
    binary.size.is_none_or(|limit| bytes < limit) && start < binary.start_ms
}

fn empty_main() -> Done<std::path::PathBuf> {
    let folder = target().join("budget");
    let source = folder.join("empty.rs");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&source, "fn main() {}\n"))
        .map_err(|e| e.to_string())?;
    let binary = folder.join("empty");
    let mut rustc = command("rustc", &["-O", "-C", "strip=symbols", "-C", "panic=abort", "-o"]);
    rustc.arg(&binary).arg(&source);
    run("empty main", rustc)?;
    Ok(binary)
}

fn size(path: &Path) -> Done<u64> {
    fs::metadata(path).map(|file| file.len()).map_err(|error| format!("{}: {error}", path.display()))
}

/// CPU time of one start, on average, user and system.
fn cpu_ms(binary: &Path, args: &[&str]) -> Done<f64> {
    let before = children_ticks()?;
    for _ in 0..RUNS {
        let mut start = command(binary, args);
        let status = start.stdout(Stdio::null()).status().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("{} {} failed", binary.display(), args.join(" ")));
        }
    }
    let ticks_per_second: f64 =
        capture(command("getconf", &["CLK_TCK"]))?.trim().parse().map_err(|_| "no CLK_TCK".to_owned())?;
    Ok((children_ticks()? - before) as f64 / ticks_per_second * 1000.0 / f64::from(RUNS))
}

/// CPU time of all children that have ended, in the kernel's ticks: fields 16 and 17 of `stat`.
fn children_ticks() -> Done<u64> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| format!("/proc/self/stat: {error}"))?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    Ok(fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum())
}
