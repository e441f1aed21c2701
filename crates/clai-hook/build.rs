//! Takes the unwinder from the static library: to load `libgcc_s.so` is a tenth of what the hook costs at each prompt, and
//! it is never called. Where there is no static one, or the linker prefers the shared one, all stays as it is.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "this is how cargo and a build script speak to each other"
)]

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let var = |name: &str| env::var(name).unwrap_or_default();
    let is_ours = var("HOST") == var("TARGET") && var("TARGET").ends_with("-linux-gnu");
    // The linker answers with a path if it has the file, else with the bare name.
    let answer = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    if is_ours && answer.is_ok_and(|answer| answer.stdout.starts_with(b"/")) {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}
