//! Whether the daemon is met: alive, dead, stopped, somebody else's.

use std::time::Duration;

use kit::doctor::Check;
use kit::log::Log;
use kit::places::shell_word;
use kit::{Invocation, Places, text};
use store::lock;
use wire::Deadline;
use wire::endpoint::{SocketPath, clai_socket};
use wire::transport::{ConnectError, Transport, Unix};

use super::hinted;
use crate::commands::{pause, times};
use crate::config::database_dir;
use crate::daemon::{LOCK, Request, Status, ask, comes_up};
use crate::database::{Query, Reader};

/// A daemon that is alive takes a call within microseconds.
const PATIENCE: Duration = Duration::from_secs(1);
/// One that a shell has just started reads its history first: two seconds for a million commands.
const STARTING: Duration = Duration::from_secs(4);

pub(super) fn checks(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let socket = match clai_socket(places) {
        Ok(socket) => socket,
        Err(error) => return vec![Check::fail("daemon", error.to_string()).hint(error.hint())],
    };
    let transport = Unix { uid: places.uid };
    match transport.connect(&socket, Deadline::after(PATIENCE)) {
        Ok(connection) => {
            drop(connection);
            answering(invocation, places)
        }
        Err(ConnectError::Absent { .. } | ConnectError::Stale { .. })
            if comes_up(places, &invocation.env, STARTING) =>
        {
            answering(invocation, places)
        }
        Err(error) => vec![unmet(invocation, places, &socket, &error)],
    }
}

fn answering(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let Ok(status) = ask::<Status>(places, &invocation.env, &Request::Health, PATIENCE) else {
        return vec![silent(invocation, places)];
    };
    let now = invocation.clock.unix_ms();
    let learned = text::thousands(status.learned);
    let mut finding = format!("process {}, {learned} commands learned", status.pid);
    if let Some(last) = last_event(invocation, places) {
        finding.push_str(&format!(", the last {}", times::ago(last, now)));
    }
    let mut checks = vec![match status.trouble {
        Some(trouble) => {
            Check::fail("daemon", format!("{finding}: {trouble}")).hint("`df -h ~`, then `clai status`")
        }
        None => Check::ok("daemon", finding),
    }];
    if status.version != env!("CARGO_PKG_VERSION") {
        let finding =
            format!("it is of version {}, and this is {}", status.version, env!("CARGO_PKG_VERSION"));
        checks.push(Check::warn("daemon", finding).hint("`clai daemon stop`, then `clai daemon start`"));
    }
    if let Some(until) = status.paused_until {
        checks.push(Check::warn("daemon", pause::words(until, now)).hint("`clai resume`"));
    }
    if status.dropped > 0 {
        let finding = format!("{} commands were dropped: more came than could be written", status.dropped);
        checks.push(Check::warn("daemon", finding).hint("`clai why-not`"));
    }
    checks
}

fn unmet(invocation: &Invocation, places: &Places, socket: &SocketPath, error: &ConnectError) -> Check {
    let path = shell_word(socket.as_path().as_os_str());
    let holder = holder(invocation, places);
    match (error, holder) {
        (ConnectError::Absent { .. } | ConnectError::Stale { .. }, Some(pid)) => {
            Check::fail("daemon", format!("process {pid} holds the lock and does not listen"))
                .hint(format!("`kill {pid}`, then `clai daemon start`"))
        }
        (ConnectError::Absent { .. }, None) => match last_failure(places) {
            Some(failure) => Check::warn("daemon", format!("not running; it last failed with: {failure}"))
                .hint("`clai daemon start`"),
            None => Check::ok("daemon", "not running; the first shell or command that needs it starts it"),
        },
        (ConnectError::Stale { .. }, None) => {
            let finding = format!("it died and left its socket {}", places.tilde(socket.as_path()));
            Check::warn("daemon", finding).hint("`clai daemon start` takes it away and starts anew")
        }
        (ConnectError::NotASocket { .. }, _) => Check::fail("daemon", error.to_string())
            .hint(format!("`ls -l {path}`, then move it out of the way")),
        (ConnectError::Untrusted(place), _) => hinted(Check::fail("daemon", error.to_string()), place.hint()),
        (ConnectError::ForeignPeer { .. }, _) => {
            Check::fail("daemon", error.to_string()).hint(format!("`fuser -v {path}`: whose is it?"))
        }
        (ConnectError::TimedOut { .. } | ConnectError::Io { .. }, _) => silent(invocation, places),
    }
}

/// Somebody is there who says nothing.
fn silent(invocation: &Invocation, places: &Places) -> Check {
    let holder = holder(invocation, places);
    let finding = match &holder {
        Some(pid) => format!("process {pid} does not answer: stopped, or stuck"),
        None => "it does not answer".to_owned(),
    };
    let hint = holder.map(|pid| {
        format!("`kill -CONT {pid}`; if that does not help, `kill -9 {pid}`: nothing written is lost")
    });
    hinted(Check::fail("daemon", finding), hint)
}

fn holder(invocation: &Invocation, places: &Places) -> Option<String> {
    let path = database_dir(&invocation.env, places).ok()?.join(LOCK);
    let holder = lock::holder(&path).ok()??;
    Some(holder.pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string()))
}

/// Why the daemon did not start, if that is the last thing that it has to tell.
fn last_failure(places: &Places) -> Option<String> {
    let record = Log::of("clai-daemon", places).last(1).ok()?.pop()?;
    let value: serde_json::Value = serde_json::from_str(&record).ok()?;
    (value.get("event")? == "start_failed").then_some(())?;
    let error = value.get("error")?.as_str()?.lines().next()?.to_owned();
    Some(error.strip_prefix("error: ").map_or(error.clone(), str::to_owned))
}

fn last_event(invocation: &Invocation, places: &Places) -> Option<i64> {
    let directory = database_dir(&invocation.env, places).ok()?;
    let reader = Reader::open(&directory, invocation.clock.unix_ms()).ok()??;
    let newest = reader.find(&Query { limit: Some(1), ..Query::default() }).ok()?;
    newest.first().map(|found| found.ts)
}
