//! Interactive shells without anybody's configuration: a prompt we know, a history of their own.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use portable_pty::CommandBuilder;

use super::{Key, Size, Terminal};
use crate::{Home, PATIENCE, until};

/// A private control sequence in the prompt that draws nothing: a drawn prompt can be counted, and is not
/// mistaken for output that looks like one.
pub(super) const PROMPT_MARK: &str = "7770";

const PROMPT: &str = "$ ";

/// A shell that waits at `$ `. All that a [`Terminal`] can do it can do, too. To clear a line that was typed send
/// Control-U: Control-C is a signal, and fish loses one that comes while it draws.
pub struct Shell {
    terminal: Terminal,
}

impl Shell {
    #[track_caller]
    pub fn bash(home: &Home) -> Shell {
        let prompt = format!("\\[\\e]{PROMPT_MARK}\\a\\]{PROMPT}");
        let history = home.path().join(".bash_history");
        Shell::start(
            home,
            &["bash", "--noprofile", "--norc", "-i"],
            &[("PS1", &prompt), ("HISTFILE", &history.to_string_lossy())],
        )
    }

    #[track_caller]
    pub fn zsh(home: &Home) -> Shell {
        let prompt = format!("%{{\x1b]{PROMPT_MARK}\x07%}}{PROMPT}");
        let history = home.path().join(".zsh_history");
        // Its mark for output without a newline would look like output.
        Shell::start(
            home,
            &["zsh", "-f", "-i", "-o", "no_prompt_sp", "-o", "inc_append_history"],
            &[
                ("PS1", &prompt),
                ("HISTFILE", &history.to_string_lossy()),
                ("HISTSIZE", "1000"),
                ("SAVEHIST", "1000"),
            ],
        )
    }

    /// Its history lies in the home's data directory, as fish wants it.
    #[track_caller]
    pub fn fish(home: &Home) -> Shell {
        // Without this directory a first start parses every manual page, in the background.
        fs::create_dir_all(home.data().join("fish/generated_completions")).expect("a home can be furnished");
        let setup = format!(
            "set -g fish_greeting; function fish_prompt; printf '\\e]{PROMPT_MARK}\\a{PROMPT}'; end; \
             function fish_title; end"
        );
        Shell::start(home, &["fish", "-i", "-C", &setup], &[])
    }

    /// Runs a command line to the next prompt and gives what it printed, as far as it is still on the screen.
    #[track_caller]
    pub fn run_line(&self, line: &str) -> String {
        self.wait_for_prompt(0);
        let drawn = self.prompts();
        self.send(line);
        self.key(Key::Enter);
        self.wait_for_prompt(drawn);
        let rows = self.rows();
        let end = usize::from(self.cursor().0);
        let start = rows[..end].iter().rposition(|row| row.starts_with(PROMPT)).map_or(0, |row| row + 1);
        rows[start..end].join("\n")
    }

    /// Waits until a prompt was drawn after the first `drawn`, and the cursor stands behind it.
    #[track_caller]
    fn wait_for_prompt(&self, drawn: usize) {
        if !until(PATIENCE, || self.prompts() > drawn && self.at_prompt()) {
            panic!("waited {PATIENCE:?} for the prompt\n{}", self.picture());
        }
    }

    /// Whether the line is empty. What stands behind the cursor was not typed: ghosts and right prompts.
    fn at_prompt(&self) -> bool {
        let shown = self.shown();
        let (row, col) = shown.parser.screen().cursor_position();
        let before = shown.parser.screen().contents_between(row, 0, row, col);
        before == PROMPT
    }

    fn prompts(&self) -> usize {
        self.shown().parser.callbacks().prompts
    }

    #[track_caller]
    fn start(home: &Home, line: &[&str], variables: &[(&str, &str)]) -> Shell {
        let file = installed(line[0], &env::var_os("PATH").unwrap_or_default());
        let mut command = CommandBuilder::new(&file);
        command.args(&line[1..]);
        let shell = file.to_string_lossy();
        let variables = [variables, &[("SHELL", &*shell)]].concat();
        let shell = Shell { terminal: Terminal::start(home, command, &variables, Size::default()) };
        shell.wait_for_prompt(0);
        shell
    }
}

/// Panics with the command that helps: a test that skips itself shows nothing.
#[track_caller]
fn installed(program: &str, path: &OsStr) -> PathBuf {
    let found = env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{program} is not installed: run `apt-get install -y {program}`"))
}

impl Deref for Shell {
    type Target = Terminal;

    fn deref(&self) -> &Terminal {
        &self.terminal
    }
}

impl DerefMut for Shell {
    fn deref_mut(&mut self) -> &mut Terminal {
        &mut self.terminal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panic_of;

    #[test]
    fn a_missing_shell_is_a_failure_that_tells_how_to_install_it() {
        assert!(installed("sh", OsStr::new("/nowhere:/bin")).ends_with("sh"));
        let message = panic_of(|| installed("fish", OsStr::new("/nowhere")));
        assert_eq!(message, "fish is not installed: run `apt-get install -y fish`");
    }
}
