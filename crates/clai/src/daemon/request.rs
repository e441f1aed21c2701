//! Everything that can be asked of the daemon, and its answers, as one line of JSON each. What [`wire::clai`] has for
//! the hook and the shells is taken from there; the rest is between `clai` and its daemon. Knows forms only.

use serde::{Deserialize, Serialize};
use wire::clai::{Event, RecentRequest, SessionId, SessionStart, Shell, SuggestContext, SuggestRequest};

use crate::database::{Doomed, Feedback, LeftOut, TaskRow};

/// One line to the daemon, told apart by `type`. All but `command_end` are answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Not answered.
    CommandEnd(Event),
    /// Answered with a [`wire::clai::SessionStarted`].
    SessionStart(SessionStart),
    /// Answered with a [`wire::clai::SuggestResponse`].
    Suggest(Suggest),
    /// Answered with a [`wire::clai::RecentResponse`].
    Recent(RecentRequest),
    /// Answered with a [`Status`], which is a [`wire::clai::Health`] with more to it.
    Health,
    /// Answered with a [`Why`].
    Why(Suggest),
    /// Answered with a [`WhyNot`].
    WhyNot,
    /// Answered with a [`Forgot`].
    Forget(Forget),
    /// Nothing is kept or learned for so long, or until `resume`. Answered with a [`Paused`].
    Pause { for_ms: Option<u64> },
    /// Answered with a [`Paused`].
    Resume,
    /// Reads the configuration again. Answered with a [`Reloaded`].
    Reload,
    /// Answered with [`Done`] when the counts are made anew.
    RebuildAggregates,
    /// Answered with [`Done`] when everything said before is written.
    Flush,
    /// What became of a suggestion. Answered with [`Done`].
    Feedback { line: String, action: Feedback },
    /// What the project around a directory offers. Answered with a [`Tasks`].
    Tasks { cwd: String },
    /// Commands of another tool's history, a few hundred at a time; `relearn` comes after the last. Answered with
    /// an [`Imported`].
    Import { shell: Shell, commands: Vec<Old> },
    /// Learns everything anew in the order of time. Answered with [`Done`].
    Relearn,
    /// Answered with [`Done`]; then the daemon writes what is left and ends.
    Stop,
}

/// A question for what comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggest {
    pub session_id: SessionId,
    pub cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_key: Option<String>,
    #[serde(default = "three")]
    pub limit: usize,
    /// What is typed so far.
    #[serde(default)]
    pub prefix: String,
    /// Lines that were on offer for a shorter prefix and were typed past.
    #[serde(default)]
    pub passed: Vec<String>,
}

impl From<SuggestRequest> for Suggest {
    fn from(request: SuggestRequest) -> Suggest {
        let SuggestRequest { session_id, cwd, repo_key, limit, prefix } = request;
        Suggest { session_id, cwd, repo_key, limit, prefix, passed: Vec::new() }
    }
}

/// Exactly one of the three is to be said.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Forget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Only says how many it would be.
    #[serde(default)]
    pub dry_run: bool,
}

impl Forget {
    /// `None` if not exactly one thing is said.
    pub fn doomed(&self) -> Option<Doomed> {
        match (&self.pattern, self.last, self.since) {
            (Some(pattern), None, None) if !pattern.is_empty() => Some(Doomed::Matching(pattern.clone())),
            (None, Some(last), None) => Some(Doomed::Last(last)),
            (None, None, Some(since)) => Some(Doomed::Since(since)),
            _ => None,
        }
    }
}

/// A command of another tool's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Old {
    pub session_id: SessionId,
    pub ts: i64,
    pub cmd_raw: String,
    pub cwd: Option<String>,
    pub exit_code: Option<i32>,
    pub duration_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// `ok`, or `degraded` when `trouble` says why.
    pub status: String,
    pub version: String,
    pub pid: u32,
    pub uptime_ms: u64,
    /// How many commands were learned, those of earlier days included.
    pub learned: u64,
    /// Written since the daemon was started.
    pub written: u64,
    /// Waiting to be written.
    pub queued: u64,
    /// Given up because too many were waiting.
    pub dropped: u64,
    pub connections: usize,
    /// Unix milliseconds; the largest number when it has no end.
    pub paused_until: Option<i64>,
    pub trouble: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    pub suggestions: Vec<Explained>,
    pub context: SuggestContext,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    pub cmd: String,
    pub cmd_norm: String,
    pub score: f64,
    pub confidence: f64,
    pub reasons: Vec<String>,
    /// The parts of the score, largest first.
    pub parts: Vec<(String, f64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyNot {
    pub left_out: Vec<LeftOut>,
    pub paused_until: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgot {
    pub commands: u64,
    pub dry_run: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    pub paused_until: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tasks {
    pub repo_key: Option<String>,
    pub tasks: Vec<TaskRow>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    pub new: u64,
    /// Not kept by the same rules as for commands that are typed.
    pub left_out: u64,
    /// Taken out of those that were new, or the reason to drop one.
    pub secrets: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub done: bool,
}

fn three() -> usize {
    3
}
