//! What the person ran in this project, asked of clai's daemon over its socket: what of a history may be told is its to
//! say. Only where the settings allow it.

use std::path::Path;
use std::time::Duration;

use kit::Places;
use kit::text;
use serde_json::Value;
use wire::Deadline;
use wire::clai::{Message, RecentRequest, RecentResponse, Refusal};
use wire::endpoint::{self, SocketPath};
use wire::exchange::{AskError, ask};
use wire::frame::Cap;
use wire::transport::{ConnectError, Unix};

use crate::tools::recent::{Ran, Recent};

/// A history of years is read in a blink; more is trouble, or a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// Fifty commands, each of the longest.
const LONGEST_ANSWER: Cap = Cap(16 << 20);

#[derive(Debug, Clone)]
pub(crate) struct Clai {
    socket: SocketPath,
    transport: Unix,
    project: String,
}

/// Why nobody tells what was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Untold {
    /// No daemon is running.
    Nobody,
    /// One is, and this is what it says, or why it says nothing.
    Unwilling(String),
}

impl Clai {
    /// The daemon of this user, if it knows what we will ask.
    pub(crate) fn find(project: &Path, places: &Places) -> Result<Clai, Untold> {
        let socket = endpoint::clai_socket(places).map_err(|_| Untold::Nobody)?;
        if !socket.as_path().exists() {
            return Err(Untold::Nobody);
        }
        // Where it asks for text clai goes lossy, so that is what it knows a directory by.
        let project = project.to_string_lossy().into_owned();
        let clai = Clai { socket, transport: Unix { uid: places.uid }, project };
        clai.ask(1).map(|_| clai)
    }

    fn ask(&self, limit: usize) -> Result<RecentResponse, Untold> {
        let question = Message::Recent(RecentRequest { cwd: self.project.clone(), limit });
        let answer = ask(&self.transport, &self.socket, &question, LONGEST_ANSWER, Deadline::after(PATIENCE));
        let answer = answer.map_err(|error| match error {
            AskError::Connect(ConnectError::Absent { .. } | ConnectError::Stale { .. }) => Untold::Nobody,
            error => Untold::Unwilling(error.to_string()),
        })?;
        read(&answer).map_err(Untold::Unwilling)
    }
}

impl Recent for Clai {
    fn last(&self, limit: usize) -> Result<Vec<Ran>, String> {
        let answer = self.ask(limit).map_err(|untold| match untold {
            Untold::Nobody => "clai's daemon is gone".to_owned(),
            Untold::Unwilling(why) => format!("clai does not tell: {why}"),
        })?;
        let ran = |ran: wire::clai::Ran| Ran { command: ran.cmd, exit_code: ran.exit_code };
        Ok(answer.commands.into_iter().map(ran).collect())
    }
}

/// The error is for people: an older daemon does not know the question.
fn read(answer: &str) -> Result<RecentResponse, String> {
    let value: Value = serde_json::from_str(answer).map_err(|_| "its answer cannot be read".to_owned())?;
    match serde_json::from_value(value.clone()) {
        Ok(answer) => Ok(answer),
        Err(error) => Err(serde_json::from_value(value).map_or_else(
            |_| format!("its answer cannot be read: {error}"),
            |Refusal { error, .. }| text::plain(text::head(&error, 200)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_and_a_refusal_is_told() {
        let answer = read(
            r#"{"commands":[{"cmd":"make","exit_code":2,"ts":1,"new":0},{"cmd":"ls","exit_code":null,"ts":2}]}"#,
        );
        assert_eq!(answer.unwrap().commands.len(), 2);
        assert_eq!(
            read(r#"{"error":"unknown variant `recent`\u001b"}"#).unwrap_err(),
            "unknown variant `recent`"
        );
        for odd in ["", "[]", "{}", "{\"commands\":[1]}"] {
            assert!(read(odd).unwrap_err().starts_with("its answer cannot be read"), "{odd}");
        }
    }
}
