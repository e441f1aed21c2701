//! The binary of the daemon: all it does is in [`clai::daemon`].

use std::process::ExitCode;

fn main() -> ExitCode {
    clai::daemon::run_daemon(kit::Invocation::from_process()).into()
}
