//! A command as it is remembered: what all other parts speak about. Knows no shell, no socket and no table.

use std::fmt;

pub use wire::clai::{SessionId, Shell};

/// What a command is an instance of: `git commit -m <msg>`. The seed's `cmd_norm`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Template(pub String);

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The repository a command ran in: 64 hexadecimal digits, see [`crate::repo`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoKey(pub String);

/// Where a command ran, as far as it matters for what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub cwd: String,
    pub repo: Option<RepoKey>,
    pub branch: Option<String>,
}

/// A command that was run, with its secrets already taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub session: SessionId,
    /// Unix milliseconds when it ended.
    pub ts: i64,
    pub duration_ms: Option<u64>,
    /// `None` where nobody told, as in imported histories.
    pub exit_code: Option<i32>,
    pub place: Place,
    /// The line as it was typed, secrets replaced by markers.
    pub line: String,
    pub template: Template,
}

impl Ran {
    /// Whether it is known to have failed. Being interrupted is no failure of the command.
    pub fn failed(&self) -> bool {
        self.exit_code.is_some_and(|code| code != 0 && code != 130)
    }
}
