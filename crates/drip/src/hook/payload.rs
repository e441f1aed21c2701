//! What clients send to hooks, as far as we look at it. Anything else in it is passed over; anything that is not of the
//! form it should have makes the hook silent.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::world::Trouble;
use crate::lines::Span;

/// A call of a tool, before or after it ran: what went in, and what came out.
#[derive(Debug, Deserialize)]
#[serde(bound = "I: DeserializeOwned, R: DeserializeOwned")]
pub(super) struct Event<I, R> {
    // One by one and not as a `Who`: serde would copy all of a flattened payload first.
    session_id: Option<String>,
    agent_id: Option<String>,
    cwd: Option<PathBuf>,
    tool_use_id: Option<String>,
    #[serde(default)]
    pub(super) tool_name: String,
    pub(super) tool_input: Option<I>,
    pub(super) tool_response: Option<R>,
}

/// What is looked at in a call of an unknown form.
#[derive(Deserialize)]
struct Named {
    tool_name: Option<String>,
}

/// Whose event it is.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Who {
    #[serde(alias = "sessionId")]
    pub(super) session_id: Option<String>,
    /// Only of a sub-agent.
    pub(super) agent_id: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) tool_use_id: Option<String>,
}

/// Arguments of the reading tools.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ReadInput {
    pub(super) file_path: Option<String>,
    pub(super) offset: Option<f64>,
    pub(super) limit: Option<f64>,
}

/// Arguments of the shell.
#[derive(Debug, Deserialize)]
pub(super) struct ShellInput {
    pub(super) command: Option<String>,
}

impl ReadInput {
    /// The lines that are asked for, if not all.
    pub(super) fn window(&self) -> Option<Span> {
        if self.offset.is_none() && self.limit.is_none() {
            return None;
        }
        let first = self.offset.map_or(1, |offset| offset as usize).max(1);
        Span::new(first, self.last(first))
    }

    /// The lines that were asked for when these were shown.
    pub(super) fn from(&self, shown: Span) -> Span {
        Span { last: shown.last.max(self.last(shown.first)), ..shown }
    }

    fn last(&self, first: usize) -> usize {
        let limit = self.limit.map_or(usize::MAX, |limit| limit as usize);
        // One less than there can be, since whoever counts on adds one.
        first.saturating_add(limit).min(usize::MAX - 1) - 1
    }
}

impl<I: DeserializeOwned, R: DeserializeOwned> Event<I, R> {
    /// The call of one of these tools, if it is one.
    pub(super) fn of(input: &[u8], tools: &[&str]) -> Result<Option<Event<I, R>>, Trouble> {
        let is_ours = |name: &str| tools.contains(&name);
        match serde_json::from_slice::<Event<I, R>>(input) {
            Ok(event) => Ok(is_ours(&event.tool_name).then_some(event)),
            // Calls of other tools have other forms, and are no trouble.
            Err(error) => match serde_json::from_slice(input) {
                Ok(Named { tool_name: Some(name) }) if !is_ours(&name) => Ok(None),
                _ => Err(error.into()),
            },
        }
    }

    pub(super) fn who(&self) -> Who {
        Who {
            session_id: self.session_id.clone(),
            agent_id: self.agent_id.clone(),
            cwd: self.cwd.clone(),
            tool_use_id: self.tool_use_id.clone(),
        }
    }
}
