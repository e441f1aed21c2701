//! Asking the daemon: what `clai` does. Knows lines and answers, never how they are made.

use std::time::Duration;

use kit::invocation::Environment;
use kit::{Exit, Failure, Places};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::Deadline;
use wire::clai::Refusal;
use wire::exchange::{self, AskError};
use wire::frame::Cap;
use wire::transport::ConnectError;

use super::{Home, Request};

/// The longest answer: a history of left-out reasons or a thousand tasks.
const LONGEST_ANSWER: Cap = Cap(4 << 20);

/// Why there is no answer.
#[derive(Debug)]
pub enum AskFailure {
    /// No daemon is running.
    Absent,
    /// It refused, or answered what we do not understand.
    Refused(Failure),
    /// It is there and does not answer, or it is not ours.
    Unanswered(Failure),
}

impl From<AskFailure> for Failure {
    fn from(failure: AskFailure) -> Failure {
        match failure {
            AskFailure::Absent => {
                Failure::new("the daemon is not running").hint("`clai-daemon`").exit_with(Exit::Failed)
            }
            AskFailure::Refused(failure) | AskFailure::Unanswered(failure) => failure,
        }
    }
}

/// Asks the daemon of this user; gives up after `patience` with [`AskFailure::Unanswered`].
pub fn ask<T: DeserializeOwned>(
    places: &Places,
    env: &Environment,
    request: &Request,
    patience: Duration,
) -> Result<T, AskFailure> {
    let home = Home::of(env, places.clone()).map_err(AskFailure::Unanswered)?;
    ask_at(&home, request, patience)
}

pub(super) fn ask_at<T: DeserializeOwned>(
    home: &Home,
    request: &Request,
    patience: Duration,
) -> Result<T, AskFailure> {
    let deadline = Deadline::after(patience);
    let answer = exchange::ask(&home.transport(), &home.socket, request, LONGEST_ANSWER, deadline);
    let answer = answer.map_err(|error| match error {
        AskError::Connect(ConnectError::Absent { .. } | ConnectError::Stale { .. }) => AskFailure::Absent,
        error => {
            let failure = Failure::new("the daemon does not answer").because(&error).hint("`clai doctor`");
            AskFailure::Unanswered(failure)
        }
    })?;
    let unclear = |error: &serde_json::Error| {
        let failure = Failure::new("the daemon's answer is not understood").because(error);
        AskFailure::Refused(failure.hint("`clai status`: it may be of another version"))
    };
    let value: Value = serde_json::from_str(&answer).map_err(|error| unclear(&error))?;
    if value.get("error").is_some()
        && let Ok(Refusal { error, hint }) = serde_json::from_value(value.clone())
    {
        return Err(AskFailure::Refused(super::with_hint(Failure::new(error), hint)));
    }
    serde_json::from_value(value).map_err(|error| unclear(&error))
}
