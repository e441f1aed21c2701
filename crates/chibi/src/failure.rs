//! Every error of ours in the words and with the exit that the user meets. The only file that knows both.

use conversation::turn::End;
use kit::{Exit, Failure};
use llm::provider::ResolveError;
use llm::{Error, Kind, StopKind};

use crate::config::SettingsError;
use crate::context::{ContextError, NameError};

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Failure {
        Failure::new("cannot use the settings").because(&error)
    }
}

impl From<ContextError> for Failure {
    fn from(error: ContextError) -> Failure {
        let failure = Failure::new("cannot work with the context").because(&error);
        let failure = error.hint().into_iter().fold(failure, Failure::hint);
        match error {
            ContextError::Locked { .. } => failure.exit_with(Exit::Locked),
            ContextError::Name(_) => failure.exit_with(Exit::Usage),
            _ => failure,
        }
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Failure {
        ContextError::from(error).into()
    }
}

/// What a failure says, and its hint, for those who say it in a form of their own.
pub(crate) fn words(failure: &Failure) -> (String, Option<String>) {
    let told: serde_json::Value = serde_json::from_str(&failure.to_json()).unwrap_or_default();
    (told["error"].as_str().unwrap_or_default().to_owned(), told["hint"].as_str().map(str::to_owned))
}

/// What failed and all its causes, in a line.
pub(crate) fn line(what: &str, error: &dyn std::error::Error) -> String {
    words(&Failure::new(what).because(error)).0
}

pub(crate) fn of_provider(error: &ResolveError) -> Failure {
    let failure = Failure::new("cannot tell whom to ask").because(error);
    match error {
        ResolveError::UnknownProvider { nearest: Some(near), .. } => {
            failure.exit_with(Exit::Usage).hint(format!("did you mean `{near}`?"))
        }
        ResolveError::UnknownProvider { .. } => {
            failure.exit_with(Exit::Usage).hint("anthropic, openrouter or openai")
        }
        ResolveError::NoModel(_) => failure.hint("`--model NAME`, or `model = \"…\"` in config.toml"),
        _ => failure,
    }
}

/// How a turn ended, if that is no success. What it left is told by whoever knows.
pub(crate) fn of_end(end: &End) -> Option<Failure> {
    let failure = match end {
        End::Done => return None,
        End::Failed(error) => return Some(of_model(error)),
        End::Truncated(stop) if stop.kind == StopKind::MaxTokens => {
            Failure::new("the answer is not complete: it reached its length limit")
                .hint("raise `api.max_tokens`, or ask it to go on")
        }
        End::Truncated(stop) => Failure::new(format!("the answer is not complete ({})", stop.literal))
            .hint("`chibi -z` makes room"),
        End::Refused(stop) => {
            let why = stop.detail.clone().unwrap_or_else(|| stop.literal.clone());
            Failure::new(format!("the model will not answer this: {why}"))
        }
        End::Budget(limit) => Failure::new(format!("the turn was ended: {limit}"))
            .hint("raise `max_tool_rounds`, or say `go on`"),
        End::Blocked(why) => Failure::new(format!("nothing was sent: {why}")),
        End::Interrupted => Failure::new("interrupted").hint("the context can be used as before"),
        End::Invalid(fault) => Failure::new("the request was not sent").because(fault),
    };
    Some(failure.exit_with(end.exit()))
}

pub(crate) fn interrupted() -> Failure {
    Failure::new("interrupted").exit_with(Exit::Interrupted)
}

pub(crate) fn of_model(error: &Error) -> Failure {
    let failure = Failure::new("no answer").because(error).exit_with(Exit::Provider);
    match (error, error.complaint().map(|complaint| complaint.kind)) {
        (Error::Cancelled, _) => interrupted(),
        (_, Some(Kind::Auth)) => {
            failure.hint("check `api_key`; `chibi -n base_url -v` tells whom it goes to")
        }
        (_, Some(Kind::Billing)) => failure.hint("the account has no credit, or reached its limit"),
        (_, Some(Kind::RateLimited | Kind::Overloaded)) => failure.hint("wait a moment and say it again"),
        (_, Some(Kind::ContextTooLong)) => failure.hint("`chibi -z` makes room"),
        (_, Some(Kind::NotFound)) => failure.hint("check `model` and `base_url`: `chibi -n model -v`"),
        (Error::Network { .. }, _) => failure.hint("is the server running, and `base_url` right?"),
        (Error::Script(_), _) | (_, Some(Kind::Refused)) => failure,
        (Error::Idle(_) | Error::Dropped, _) | (_, Some(Kind::Server)) => {
            failure.hint("say it again: nothing of it was kept")
        }
        _ => failure.hint("`--debug all` writes down what is sent and told"),
    }
}
