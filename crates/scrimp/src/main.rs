//! The front door's binary: it only calls the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    scrimp::run(kit::Invocation::from_process()).into()
}
