//! Running cargo and friends, with a line that says so.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What went wrong, in words for the developer.
pub(crate) type Done<T = ()> = Result<T, String>;

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies in the workspace").to_owned()
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

pub(crate) fn cargo(args: &[&str]) -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), args)
}

pub(crate) fn command(program: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs it in the open and fails if it fails.
pub(crate) fn run(what: &str, mut command: Command) -> Done {
    eprintln!("== {what}");
    let started = Instant::now();
    let status = command.status().map_err(|error| format!("cannot run {what}: {error}"))?;
    let seconds = started.elapsed().as_secs_f32();
    if status.success() {
        eprintln!("   {what}: {seconds:.1} s");
        return Ok(());
    }
    Err(format!("{what} failed after {seconds:.1} s ({status})"))
}

/// Runs it in silence and gives what it printed.
pub(crate) fn capture(mut command: Command) -> Done<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot run {name}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program of that name can be run.
pub(crate) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
