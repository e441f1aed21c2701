//! The hook's binary: it only calls the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    clai_hook::run(kit::Invocation::from_process()).into()
}
