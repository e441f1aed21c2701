//! The binary of the user's side: all it does is in [`clai::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    clai::run(kit::Invocation::from_process()).into()
}
