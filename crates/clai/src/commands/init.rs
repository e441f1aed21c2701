//! `clai init`: the script that a shell loads.

use kit::{Exit, Failure};
use serde_json::json;

use super::Call;
use crate::cli::Shell;
use crate::shells::{self, Hints, Loaded, Options};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell that loads it
    shell: Shell,
}

/// What the script calls is the small binaries beside us, or nothing is printed that a shell could load.
pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let config = call.config()?;
    let sibling = |name| call.invocation.program.sibling(name);
    let (clai, hook, daemon) = (sibling("clai")?, sibling("clai-hook")?, sibling("clai-daemon")?);
    let folder = hook.parent().expect("a sibling lies in a directory").to_owned();
    let shown = match args.shell {
        Shell::Zsh => config.ghost,
        Shell::Bash | Shell::Fish => config.hints,
    };
    let options = Options {
        clai,
        hook,
        daemon,
        timeout_ms: u16::try_from(config.hook_timeout_ms).unwrap_or(u16::MAX),
        oversize: config.oversize,
        hints: if shown { Hints::Shown } else { Hints::OnKey },
        shells: if config.non_interactive { Loaded::Everywhere } else { Loaded::WithAPerson },
        ..Options::beside(&folder)
    };
    let script = shells::template(args.shell.into(), &options);
    call.show(&json!({"shell": args.shell.name(), "script": script}), |_| script.clone())
}

/// The line that loads it, and the file where that line belongs.
pub(super) fn loading(shell: Shell, spoken: &str) -> (String, &'static str) {
    match shell {
        Shell::Bash => (format!("eval \"$({spoken} init bash)\""), "~/.bashrc"),
        Shell::Zsh => (format!("eval \"$({spoken} init zsh)\""), "~/.zshrc"),
        Shell::Fish => (format!("{spoken} init fish | source"), "~/.config/fish/config.fish"),
    }
}
