//! `clai completions`: a script that completes our own commands.

use clap_complete::Shell;
use kit::{Exit, Failure};
use serde_json::json;

use super::Call;
use crate::cli;

pub(super) fn run(call: &mut Call<'_>, shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "clai", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    call.show(&json!({"shell": shell.to_string(), "script": script}), |_| script.clone())
}
