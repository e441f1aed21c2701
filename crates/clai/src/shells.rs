//! What `clai init` prints: the shell's own half of clai, a script for each shell with the settings written in.
//! Knows how each shell quotes; what the scripts say to the daemon is in [`wire::clai::raw`].

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::command::Shell;
use crate::config::Oversize;

/// What the script of a shell is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub clai: PathBuf,
    pub hook: PathBuf,
    pub daemon: PathBuf,
    /// What the hook may spend on connecting and writing; the hook itself holds it to 10 to 20.
    pub timeout_ms: u16,
    pub oversize: Oversize,
    pub hints: Hints,
    pub shells: Loaded,
    pub keys: Keys,
}

/// Whether the next command is shown at the prompt: as a ghost in zsh, at the right in fish, above the prompt in bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hints {
    Shown,
    /// Only when a key asks for it.
    OnKey,
}

/// In which shells the script does anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    WithAPerson,
    /// Also in those that nobody types into. They draw no prompt, so that only what is told by `__clai_send` is known.
    Everywhere,
}

/// The letters that, with Alt, take the suggestion, show the next one and tell why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    pub accept: char,
    pub cycle: char,
    pub why: char,
}

impl Default for Keys {
    /// Letters that none of the three shells has bound.
    fn default() -> Self {
        Keys { accept: 'j', cycle: 'k', why: 'i' }
    }
}

impl Options {
    /// The usual settings, with our binaries in one directory.
    pub fn beside(directory: &Path) -> Options {
        Options {
            clai: directory.join("clai"),
            hook: directory.join("clai-hook"),
            daemon: directory.join("clai-daemon"),
            timeout_ms: 15,
            oversize: Oversize::Stdin,
            hints: Hints::Shown,
            shells: Loaded::WithAPerson,
            keys: Keys::default(),
        }
    }
}

/// The script. It may be kept in a file: where the daemon is met it finds out anew in every shell.
pub fn template(shell: Shell, options: &Options) -> String {
    let script = match shell {
        Shell::Bash => include_str!("shells/bash.bash"),
        Shell::Zsh => include_str!("shells/zsh.zsh"),
        Shell::Fish => include_str!("shells/fish.fish"),
    };
    let everywhere = match options.shells {
        Loaded::WithAPerson => "0",
        Loaded::Everywhere => "1",
    };
    script.replacen(EVERYWHERE, everywhere, 1).replacen(SETTINGS, &settings(shell, options), 1)
}

/// What stands in a script for the value of a variable that is not set.
const EVERYWHERE: &str = "#:everywhere";
/// The line of a script that the settings take the place of.
const SETTINGS: &str = "#:settings\n";

fn settings(shell: Shell, options: &Options) -> String {
    let shown = match options.hints {
        Hints::Shown => "1",
        Hints::OnKey => "",
    };
    let Keys { accept, cycle, why } = options.keys;
    let values: [(&str, &[u8]); 9] = [
        ("clai", options.clai.as_os_str().as_bytes()),
        ("hook", options.hook.as_os_str().as_bytes()),
        ("daemon", options.daemon.as_os_str().as_bytes()),
        ("timeout_ms", &options.timeout_ms.to_string().into_bytes()),
        ("oversize", options.oversize.word().as_bytes()),
        ("shown", shown.as_bytes()),
        ("key_accept", &accept.to_string().into_bytes()),
        ("key_cycle", &cycle.to_string().into_bytes()),
        ("key_why", &why.to_string().into_bytes()),
    ];
    values.iter().fold(String::new(), |mut text, (name, value)| {
        let value = quoted(shell, value);
        let assigned = match shell {
            Shell::Bash => writeln!(text, "__clai_{name}={value}"),
            Shell::Zsh => writeln!(text, "typeset -g __clai_{name}={value}"),
            Shell::Fish => writeln!(text, "set -g __clai_{name} {value}"),
        };
        assigned.expect("a String takes all that is written");
        text
    })
}

/// A word that the shell reads as exactly these bytes.
fn quoted(shell: Shell, bytes: &[u8]) -> String {
    let mut word = String::new();
    for byte in bytes {
        match (shell, byte) {
            (_, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-') => {
                word.push(char::from(*byte));
            }
            (Shell::Fish, _) => word.push_str(&format!("\\X{byte:02x}")),
            (Shell::Bash | Shell::Zsh, _) => word.push_str(&format!("\\{byte:03o}")),
        }
    }
    match shell {
        Shell::Fish if word.is_empty() => "''".to_owned(),
        Shell::Fish => word,
        Shell::Bash | Shell::Zsh if word.contains('\\') => format!("$'{word}'"),
        Shell::Bash | Shell::Zsh => format!("'{word}'"),
    }
}
