//! Finding the binaries of this workspace, which lie beside the running test.

use std::env;
use std::path::PathBuf;

/// The path of one of our binaries. Panics with the command that builds it when it is not there: cargo builds
/// those of the tested package by itself, those of others it does not.
#[track_caller]
pub fn bin(name: &str) -> PathBuf {
    let directory = profile_directory();
    let path = directory.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    if path.is_file() {
        return path;
    }
    let profile = match directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => String::new(),
        Some(profile) => format!(" --profile {profile}"),
    };
    panic!("`{}` is not there: run `cargo build --workspace --bin {name}{profile}`", path.display());
}

/// `target/`, where failing inputs are left.
pub(crate) fn target_directory() -> PathBuf {
    let directory = profile_directory();
    directory.parent().expect("a profile's directory lies in the target directory").to_owned()
}

/// `target/<profile>`: a test runs as `target/<profile>/deps/<name>-<hash>`.
fn profile_directory() -> PathBuf {
    let exe = env::current_exe().expect("the system tells which file is running");
    let parent = exe.parent().expect("a file lies in a directory");
    parent.parent().expect("a test lies in `deps` of its profile").to_owned()
}
