//! `drip completions`: a script for a shell.

use clap_complete::{Shell, generate};
use kit::{Exit, Failure};
use serde_json::json;

use super::Call;
use crate::cli;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// bash, zsh, fish, powershell or elvish
    shell: String,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let shell = parse(&args.shell).ok_or_else(|| {
        Failure::usage(format!("unsupported shell: {}", args.shell))
            .hint("one of bash, zsh, fish, powershell, elvish")
    })?;
    let mut script = Vec::new();
    generate(shell, &mut cli::command(), "drip", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    call.show(&json!({"shell": shell.to_string(), "script": script}), |_| script.clone())
}

fn parse(name: &str) -> Option<Shell> {
    match name {
        "bash" => Some(Shell::Bash),
        "zsh" => Some(Shell::Zsh),
        "fish" => Some(Shell::Fish),
        "powershell" | "pwsh" => Some(Shell::PowerShell),
        "elvish" => Some(Shell::Elvish),
        _ => None,
    }
}
