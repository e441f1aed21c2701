//! Whether the shells load clai, and whether something took its place after it was loaded. A shell is asked by opening
//! it once with the user's own start-up files; what it answers is judged here without it.

mod ask;
mod judge;

use std::fs;
use std::path::{Path, PathBuf};

use kit::doctor::Check;
use kit::{Invocation, Places, process};

use crate::cli::Shell;
use ask::Asked;
use judge::judge;

/// The user's own shell is always asked; another one if its start-up file speaks of us.
pub(super) fn checks(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let own = invocation.env.text("SHELL").and_then(Shell::of_path);
    // The front door's doctor speaks of us, too.
    let spoken = Some(invocation.program.spoken()).filter(|spoken| spoken.ends_with("clai"));
    let spoken = spoken.unwrap_or_else(|| "clai".to_owned());
    let mut checks = Vec::new();
    for shell in Shell::ALL {
        let file = startup_file(shell, invocation, places);
        let loads = loads(&file);
        if own != Some(shell) && loads == 0 {
            continue;
        }
        let Some(program) = process::find(shell.name(), &invocation.env) else { continue };
        if loads > 1 {
            let finding = format!("{} loads clai {loads} times: once is enough", places.tilde(&file));
            let edit = kit::places::shell_word(file.as_os_str());
            checks.push(Check::warn(shell.name(), finding).hint(format!("`$EDITOR {edit}`")));
        }
        match ask::ask(shell, &program, &invocation.env) {
            Asked::Answered(facts) => checks.extend(judge(shell, &facts, &spoken, is_program)),
            Asked::Impossible(why) => checks.push(Check::ok(shell.name(), why)),
            Asked::Silent(why) => {
                let hint = format!("`{} -i`: does it come to a prompt?", shell.name());
                checks.push(Check::warn(shell.name(), why).hint(hint));
            }
        }
    }
    checks
}

fn startup_file(shell: Shell, invocation: &Invocation, places: &Places) -> PathBuf {
    match shell {
        Shell::Bash => places.home.join(".bashrc"),
        Shell::Zsh => {
            let folder = invocation.env.get("ZDOTDIR").map(PathBuf::from).filter(|path| path.is_absolute());
            folder.unwrap_or_else(|| places.home.clone()).join(".zshrc")
        }
        Shell::Fish => places.config.join("fish/config.fish"),
    }
}

/// How many lines load us. Comments do not.
fn loads(file: &Path) -> usize {
    let Ok(bytes) = fs::read(file) else { return 0 };
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter(|line| !line.trim_start().starts_with('#') && line.contains("clai init")).count()
}

fn is_program(path: &str) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && Path::new(path).is_file()
}
