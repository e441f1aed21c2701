//! The binary: all it does is in [`tldr::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tldr::run(kit::Invocation::from_process()).into()
}
