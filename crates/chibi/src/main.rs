//! The binary: all it does is in [`chibi::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    chibi::run(kit::Invocation::from_process()).into()
}
