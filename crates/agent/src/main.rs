//! The binary: all it does is in [`agent::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    agent::run(kit::Invocation::from_process()).into()
}
