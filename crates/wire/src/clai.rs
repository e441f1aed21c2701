//! What is said to and by clai's daemon. Fields that we do not know are passed over, so that an old daemon serves a
//! new hook. How events become history or suggestions is not known here.
//!
//! The first byte of a connection tells its dialect. In NDJSON each line is a [`Message`]; HTTP carries the same
//! bodies; [`raw`] is the form that a shell can write without a process and without escaping.

pub mod raw;
mod variables;

use serde::{Deserialize, Serialize};

use crate::frame::Cap;
pub use variables::VARIABLES;

/// The longest message in any dialect: a command of a person fits many times, a pasted file does not.
pub const CAP: Cap = Cap(256 * 1024);

/// The longest command that a shell puts into a variable. The system would take 131071 bytes for one, and a little more
/// for all together.
pub const ORDINARY: usize = 32_768;

/// How a caller speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Ndjson,
    Http,
    Raw,
}

impl Dialect {
    /// `None` for a first byte that no dialect of ours begins with.
    pub fn of(first: u8) -> Option<Dialect> {
        match first {
            b'{' => Some(Dialect::Ndjson),
            b'G' | b'P' => Some(Dialect::Http),
            0 => Some(Dialect::Raw),
            _ => None,
        }
    }
}

/// Stable for one shell, and different in its children.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// One line to the daemon, told apart by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// Not answered.
    CommandEnd(Event),
    /// Answered with a [`SessionStarted`].
    SessionStart(SessionStart),
    /// Answered with a [`SuggestResponse`].
    Suggest(SuggestRequest),
    /// Answered with a [`RecentResponse`].
    Recent(RecentRequest),
    /// Answered with a [`Health`].
    Health,
}

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The version of this form: 1.
    #[serde(default = "first_version")]
    pub v: u32,
    pub session_id: SessionId,
    pub shell: Shell,
    /// Unix milliseconds at the end of the command.
    pub ts: i64,
    pub cwd: String,
    pub cmd_raw: String,
    pub exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// To be learned from in memory and never written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// Who typed it, when that was not the person: commands of agents stay out of the person's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// A shell asks for its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    pub shell: Shell,
    /// The process of the shell.
    pub pid: u32,
    /// Unix milliseconds.
    pub ts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStarted {
    pub session_id: SessionId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestRequest {
    pub session_id: SessionId,
    pub cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_key: Option<String>,
    #[serde(default = "three")]
    pub limit: usize,
    /// What is typed so far; every suggestion begins with it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SuggestResponse {
    pub suggestions: Vec<Suggestion>,
    pub context: SuggestContext,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    pub cmd: String,
    pub cmd_norm: String,
    pub score: f64,
    pub reasons: Vec<String>,
    pub confidence: f64,
}

/// What the suggestions were made from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SuggestContext {
    pub repo_key: Option<String>,
    pub last_cmd_norm: Option<String>,
    pub used_sources: Vec<String>,
}

/// What a person ran last in the repository around a directory, or in the directory if there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentRequest {
    pub cwd: String,
    pub limit: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecentResponse {
    /// The newest last.
    pub commands: Vec<Ran>,
}

/// A command as it was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub cmd: String,
    /// Unknown where another tool's history did not tell.
    pub exit_code: Option<i32>,
    /// Unix milliseconds at the end of the command.
    pub ts: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename = "ok")]
pub struct Health {
    pub version: String,
    pub pid: u32,
    pub uptime_ms: u64,
}

/// The answer to what cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

fn first_version() -> u32 {
    1
}

fn three() -> usize {
    3
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Reads `line`, and makes sure that writing gives the same JSON again.
    fn read<T: Serialize + for<'de> Deserialize<'de>>(line: &str) -> T {
        let message: T = serde_json::from_str(line).unwrap();
        let again = serde_json::to_value(&message).unwrap();
        assert_eq!(again, serde_json::from_str::<Value>(line).unwrap());
        message
    }

    #[test]
    fn the_first_byte_tells_the_dialect() {
        assert_eq!(Dialect::of(b"{\"type\":\"health\"}"[0]), Some(Dialect::Ndjson));
        assert_eq!(Dialect::of(b"GET /healthz HTTP/1.1"[0]), Some(Dialect::Http));
        assert_eq!(Dialect::of(b"POST /ingest HTTP/1.1"[0]), Some(Dialect::Http));
        assert_eq!(Dialect::of(0), Some(Dialect::Raw));
        assert_eq!((1..=255).filter(|byte| Dialect::of(*byte).is_some()).count(), 3);
    }

    #[test]
    fn an_event_is_read_and_written() {
        let line = r#"{"v":1,"type":"command_end","cmd_raw":"ls \"a\"\n","cwd":"/p","ts":1700000000123,
            "exit_code":130,"shell":"fish","session_id":"s","duration_ms":12,"repo_root":"/p","branch":"main",
            "dirty":true,"remote_url":"git@h:p","ephemeral":true,"actor":"agent"}"#;
        let Message::CommandEnd(event) = read(line) else { panic!() };
        assert_eq!((event.exit_code, event.shell, event.dirty), (130, Shell::Fish, Some(true)));
    }

    #[test]
    fn an_event_needs_six_fields_and_tolerates_unknown_ones() {
        let whole = json!({"type": "command_end", "cmd_raw": "ls", "cwd": "/", "ts": 1, "exit_code": 0,
            "shell": "zsh", "session_id": "s", "of_tomorrow": {"x": [1]}});
        let Message::CommandEnd(event) = serde_json::from_value(whole.clone()).unwrap() else { panic!() };
        assert_eq!((event.v, event.ephemeral, event.actor), (1, false, None));
        for field in ["cmd_raw", "cwd", "ts", "exit_code", "shell", "session_id", "type"] {
            let mut fields = whole.clone();
            fields.as_object_mut().unwrap().remove(field);
            let error = serde_json::from_value::<Message>(fields).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
    }

    #[test]
    fn a_shell_of_another_kind_is_refused() {
        let line = r#"{"type":"session_start","shell":"csh","pid":1,"ts":1}"#;
        assert!(serde_json::from_str::<Message>(line).is_err());
    }

    #[test]
    fn the_suggestions_of_the_specification_are_read_and_written() {
        let request: SuggestRequest =
            read(r#"{"session_id":"uuid","cwd":"/path","repo_key":"optional","limit":3}"#);
        assert_eq!(request.limit, 3);
        let short: Message =
            serde_json::from_str(r#"{"type":"suggest","session_id":"s","cwd":"/"}"#).unwrap();
        assert!(matches!(short, Message::Suggest(SuggestRequest { limit: 3, repo_key: None, .. })));
        let response: SuggestResponse = read(
            r#"{"suggestions": [{"cmd":"npm run test","cmd_norm":"npm run test","score":12.34,
                "reasons":["project_task","freq_repo"],"confidence":0.82}],
                "context": {"repo_key":"…","last_cmd_norm":"git status",
                "used_sources":["repo_transition","project_task"]}}"#,
        );
        assert_eq!(response.suggestions[0].reasons, ["project_task", "freq_repo"]);
    }

    #[test]
    fn the_small_messages_are_read_and_written() {
        assert_eq!(read::<Message>(r#"{"type":"health"}"#), Message::Health);
        read::<Message>(r#"{"type":"recent","cwd":"/p","limit":10}"#);
        read::<RecentResponse>(
            r#"{"commands":[{"cmd":"make","exit_code":2,"ts":1},{"cmd":"ls","exit_code":null,"ts":2}]}"#,
        );
        read::<Health>(r#"{"status":"ok","version":"0.1.0","pid":7,"uptime_ms":12}"#);
        read::<Message>(r#"{"type":"session_start","shell":"bash","pid":7,"ts":1,"host":"h","user":"u"}"#);
        read::<SessionStarted>(r#"{"session_id":"s"}"#);
        read::<Refusal>(r#"{"error":"a message is longer than 262144 bytes"}"#);
    }
}
