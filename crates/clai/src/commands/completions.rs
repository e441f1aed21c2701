//! `clai completions`: a script that completes our own commands.

use clap_complete::Shell;
use kit::{Exit, Failure, usage};
use serde_json::json;

use super::Call;
use crate::cli;

pub(super) fn run(call: &mut Call<'_>, shell: Shell) -> Result<Exit, Failure> {
    let script = usage::completions(cli::command(), shell);
    call.show(&json!({"shell": shell.to_string(), "script": script}), |_| script.clone())
}
