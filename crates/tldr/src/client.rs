//! Asking the daemon of a project, if there is one.

use std::time::Duration;

use kit::{Failure, Places};
use wire::Deadline;
use wire::exchange::{self, AskError};
use wire::tldr::{DaemonCommand, DaemonResponse, REPLY_CAP, Request};
use wire::transport::{ConnectError, Unix};

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

/// Sends one request and gives the line that comes back. Gives up after `patience` with a failure.
pub fn ask(root: &Root, places: &Places, request: &Request, patience: Duration) -> Result<Asked, Failure> {
    ask_line(root, places, &serde_json::to_value(request).expect("requests have text for keys"), patience)
}

/// The same for a request that somebody else wrote.
pub fn ask_line(
    root: &Root,
    places: &Places,
    request: &serde_json::Value,
    patience: Duration,
) -> Result<Asked, Failure> {
    let socket = root.socket(places)?;
    let transport = Unix { uid: places.uid };
    match exchange::ask(&transport, &socket, request, REPLY_CAP, Deadline::after(patience)) {
        Ok(line) => Ok(Asked::Said(line)),
        Err(AskError::Connect(ConnectError::Absent { .. } | ConnectError::Stale { .. })) => {
            Ok(Asked::NotRunning)
        }
        // It ended while we asked.
        Err(AskError::Closed) if !answers(root, places) => Ok(Asked::NotRunning),
        Err(error) => Err(Failure::new("cannot ask the daemon").because(&error).hint("`tldr daemon status`")),
    }
}

/// Whether a daemon of this very project answers. Two projects can have the same short name, and another program may sit
/// at it.
pub fn answers(root: &Root, places: &Places) -> bool {
    let Ok(socket) = root.socket(places) else { return false };
    let ping = Request::new(DaemonCommand::Ping);
    let transport = Unix { uid: places.uid };
    let said = exchange::ask(&transport, &socket, &ping, REPLY_CAP, Deadline::after(GREETING));
    let said = said.ok().and_then(|line| serde_json::from_str::<DaemonResponse>(&line).ok());
    matches!(said, Some(DaemonResponse::Status(status)) if status.project.as_deref() == Some(root.path()))
}
