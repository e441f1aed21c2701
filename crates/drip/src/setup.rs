//! `init` and `uninstall`: our hooks, our MCP server and our words in the files of other people's programs. It
//! plans every file before it writes one, keeps every byte that is not ours, and never asks or prints.
//!
//! Uninstalling right after installing gives back every file byte for byte, with no note kept about what was there:
//! what we add is shaped so that taking it out is its exact inverse ([`list`] and [`lines`] say how). Two decisions:
//! a hand-written `[mcp_servers.drip.env]` is part of the server it configures and goes with it, because Codex
//! refuses a server without a command; and an empty `.claude`, `.codex` or `.gemini` that was there before goes with the
//! last file in it.

mod files;
mod findings;
mod json;
mod lines;
mod list;
mod memory;
mod owned;
mod registration;
mod toml;
mod tree;
mod wanted;
mod words;

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub use files::{ApplyCause, ApplyError, Edit, apply, diff};
pub use findings::{Finding, Program, State, findings};

use files::Loaded;
use tree::{Fault, Syntax};
use wanted::Wanted;

/// A client that we know how to set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Agent {
    #[default]
    Claude,
    Codex,
    Gemini,
}

impl Agent {
    pub const ALL: [Agent; 3] = [Agent::Claude, Agent::Codex, Agent::Gemini];

    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
        }
    }

    /// Where the client keeps its settings, in a project and in HOME.
    fn folder(self) -> &'static str {
        match self {
            Agent::Claude => ".claude",
            Agent::Codex => ".codex",
            Agent::Gemini => ".gemini",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent '{0}' (expected: claude|codex|gemini)")]
pub struct UnknownAgent(String);

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Agent, UnknownAgent> {
        match name {
            "claude" | "claude-code" => Ok(Agent::Claude),
            "codex" | "codex-cli" | "openai-codex" => Ok(Agent::Codex),
            "gemini" | "gemini-cli" => Ok(Agent::Gemini),
            other => Err(UnknownAgent(other.to_owned())),
        }
    }
}

/// For this project, or for all of them. Codex knows only the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    #[default]
    Project,
    Global,
}

/// How a repeated read is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// The client reads, and what it shows is rewritten.
    #[default]
    Rewrite,
    /// The read is refused with the answer as the reason: for clients that cannot rewrite.
    Deny,
}

/// What to plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Init(Mode),
    Uninstall,
}

/// Where things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    pub project: PathBuf,
    pub home: PathBuf,
    /// `CODEX_HOME`, if it is set.
    pub codex_home: Option<PathBuf>,
    /// The program to register, absolute.
    pub drip: PathBuf,
}

/// Why nothing was planned. Nothing has been written either.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot edit `{}`: {what}", path.display())]
    Unfit { path: PathBuf, what: String },
    #[error("`{}` cannot be registered: {what}", drip.display())]
    Program { drip: PathBuf, what: &'static str },
}

impl SetupError {
    /// The command that helps, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            SetupError::Read { path, .. } => {
                Some(format!("`ls -l {}`", kit::places::shell_word(path.as_os_str())))
            }
            SetupError::Unfit { path, .. } => {
                Some(format!("mend it: `${{EDITOR:-vi}} {}`", kit::places::shell_word(path.as_os_str())))
            }
            SetupError::Program { .. } => Some("`cargo xtask install`".to_owned()),
        }
    }
}

/// The edits that would set an agent up, or undo that; none of them if all is as it should be. All files are looked at
/// first: one that cannot be edited is an error, and no other is touched.
pub fn plan(agent: Agent, scope: Scope, action: Action, ground: &Ground) -> Result<Vec<Edit>, SetupError> {
    let mut edits = Vec::new();
    for (path, part) in parts(agent, scope, ground) {
        let loaded = Loaded::read(&path)?;
        let after = match action {
            Action::Init(mode) => part.put(loaded.text(), &ground.wanted(agent, mode)?).map(Some),
            Action::Uninstall => loaded.text().map_or(Ok(None), |text| part.take(text)),
        };
        let after = after.map_err(|fault| unfit(&path, &fault))?;
        edits.extend(loaded.edit(path, after));
    }
    if action == Action::Uninstall {
        // What runs us goes first: a client must not call what it was no longer told about.
        edits.reverse();
    }
    Ok(edits)
}

/// One file's share in setting an agent up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Settings(Syntax),
    Words(memory::Block),
    Import,
}

impl Part {
    fn put(self, text: Option<&str>, wanted: &Wanted) -> Result<String, Fault> {
        match self {
            Part::Settings(syntax) => registration::register(syntax, text, wanted),
            Part::Words(block) => block.put(text),
            Part::Import => Ok(memory::put_import(text)),
        }
    }

    fn take(self, text: &str) -> Result<Option<String>, Fault> {
        match self {
            Part::Settings(syntax) => registration::unregister(syntax, text),
            Part::Words(block) => block.take(text),
            Part::Import => Ok(memory::take_import(text)),
        }
    }
}

/// The files of an agent, what runs us last.
fn parts(agent: Agent, scope: Scope, ground: &Ground) -> Vec<(PathBuf, Part)> {
    let folder = |base: &Path| base.join(agent.folder());
    match agent {
        Agent::Claude => {
            let (settings, words) = match scope {
                Scope::Project => (folder(&ground.project), ground.project.clone()),
                Scope::Global => (folder(&ground.home), folder(&ground.home)),
            };
            vec![
                (words.join("drip.md"), Part::Words(words::CLAUDE)),
                (words.join("CLAUDE.md"), Part::Import),
                (settings.join("settings.json"), Part::Settings(Syntax::Json)),
            ]
        }
        Agent::Codex => {
            let folder = ground.codex_home.clone().unwrap_or_else(|| folder(&ground.home));
            vec![
                (folder.join("AGENTS.md"), Part::Words(words::AGENTS)),
                (folder.join("config.toml"), Part::Settings(Syntax::Toml)),
            ]
        }
        Agent::Gemini => {
            let (settings, words) = match scope {
                Scope::Project => (folder(&ground.project), ground.project.clone()),
                Scope::Global => (folder(&ground.home), folder(&ground.home)),
            };
            vec![
                (words.join("GEMINI.md"), Part::Words(words::AGENTS)),
                (settings.join("settings.json"), Part::Settings(Syntax::Json)),
            ]
        }
    }
}

impl Ground {
    fn wanted(&self, agent: Agent, mode: Mode) -> Result<Wanted, SetupError> {
        let refuse = |what| SetupError::Program { drip: self.drip.clone(), what };
        let drip = self.drip.to_str().ok_or_else(|| refuse("its name is not UTF-8"))?;
        if !self.drip.is_absolute() {
            return Err(refuse("its path is not absolute"));
        }
        if drip.contains(char::is_control) {
            return Err(refuse("its name holds control characters"));
        }
        Ok(Wanted::new(agent, mode, drip))
    }
}

fn unfit(path: &Path, fault: &Fault) -> SetupError {
    SetupError::Unfit { path: path.to_owned(), what: fault.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_their_names_and_a_stranger_is_told_who_is() {
        for (name, agent) in [
            ("claude", Agent::Claude),
            ("claude-code", Agent::Claude),
            ("codex", Agent::Codex),
            ("codex-cli", Agent::Codex),
            ("openai-codex", Agent::Codex),
            ("gemini", Agent::Gemini),
            ("gemini-cli", Agent::Gemini),
        ] {
            assert_eq!(name.parse(), Ok(agent));
        }
        assert_eq!(
            "cursor".parse::<Agent>().unwrap_err().to_string(),
            "unknown agent 'cursor' (expected: claude|codex|gemini)"
        );
    }
}
