//! Asking the daemon of a project, if there is one.

use std::path::PathBuf;
use std::time::Duration;

use kit::{Failure, Places};
use wire::Deadline;
use wire::exchange::{self, AskError};
use wire::tldr::{DaemonCommand, DaemonResponse, REPLY_CAP, Request, SimpleStatus};
use wire::transport::{ConnectError, Transport as _, Unix};

use crate::root::Root;

/// How long one of ours may think: the first question after a start waits for the index of a large project.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// How long it may take to say that it is there.
pub const GREETING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub enum Asked {
    /// Nobody is there to answer.
    NotRunning,
    /// The line as it came.
    Said(String),
}

/// Who sits where the daemon of a project would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Met {
    Nobody,
    Ours,
    /// The daemon of another project, whose short name happens to be the same.
    Another(PathBuf),
    /// Something that we cannot or do not want to talk to, in words.
    Stranger(String),
}

/// Sends one request and gives the line that comes back. Gives up after `patience` with a failure.
pub fn ask(root: &Root, places: &Places, request: &Request, patience: Duration) -> Result<Asked, Failure> {
    ask_line(root, places, &serde_json::to_value(request).expect("requests have text for keys"), patience)
}

/// The same for a request that somebody else wrote. Nobody but the daemon of this very project is asked.
pub fn ask_line(
    root: &Root,
    places: &Places,
    request: &serde_json::Value,
    patience: Duration,
) -> Result<Asked, Failure> {
    let failed = |cause: &str| {
        Failure::new(format!("cannot ask the daemon: {cause}")).hint("`tldr daemon start --foreground`")
    };
    match meet(root, places)? {
        Met::Nobody => return Ok(Asked::NotRunning),
        Met::Ours => {}
        Met::Another(project) => {
            let cause = format!("the one of `{}` has the same short name", project.display());
            return Err(failed(&cause));
        }
        Met::Stranger(words) => return Err(failed(&words)),
    }
    match exchange::ask(&unix(places), &root.socket(places)?, request, REPLY_CAP, Deadline::after(patience)) {
        Ok(line) => Ok(Asked::Said(line)),
        Err(error) if is_absence(&error) => Ok(Asked::NotRunning),
        // It ended while we asked.
        Err(AskError::Closed) if !answers(root, places) => Ok(Asked::NotRunning),
        Err(error) => Err(failed(&error.to_string())),
    }
}

/// Whether a daemon of this very project answers.
pub fn answers(root: &Root, places: &Places) -> bool {
    meet(root, places).is_ok_and(|met| met == Met::Ours)
}

/// Asks who is there. Whoever does not say within [`GREETING`] is a stranger.
pub fn meet(root: &Root, places: &Places) -> Result<Met, Failure> {
    let ping = Request::new(DaemonCommand::Ping);
    let said =
        exchange::ask(&unix(places), &root.socket(places)?, &ping, REPLY_CAP, Deadline::after(GREETING));
    Ok(match said {
        Ok(line) => match serde_json::from_str(&line) {
            Ok(DaemonResponse::Status(SimpleStatus { project: Some(project), .. })) => {
                if project == root.path() { Met::Ours } else { Met::Another(project) }
            }
            _ => Met::Stranger("what listens there is no daemon of ours".to_owned()),
        },
        Err(AskError::Closed) => Met::Nobody,
        Err(error) if is_absence(&error) => Met::Nobody,
        Err(error) => Met::Stranger(error.to_string()),
    })
}

/// Whether somebody can be called where the daemon would be, whoever it is.
pub fn listens(root: &Root, places: &Places) -> Result<bool, Failure> {
    let called = unix(places).connect(&root.socket(places)?, Deadline::after(GREETING));
    Ok(!matches!(called, Err(ConnectError::Absent { .. } | ConnectError::Stale { .. })))
}

fn unix(places: &Places) -> Unix {
    Unix { uid: places.uid }
}

fn is_absence(error: &AskError) -> bool {
    matches!(error, AskError::Connect(ConnectError::Absent { .. } | ConnectError::Stale { .. }))
}
