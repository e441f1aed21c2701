//! Takes the unwinder from the static library: to load `libgcc_s.so` is a tenth of what the hook costs at each prompt, and
//! it is never called. Where the linker prefers the shared one, all stays as it is.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "this is how cargo and a build script speak to each other"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}
