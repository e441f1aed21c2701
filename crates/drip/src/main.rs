//! The binary: all it does is in [`drip::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    drip::run(kit::Invocation::from_process()).into()
}
