//! `clai status`: how the daemon is.

use kit::page::Column;
use kit::{Exit, Failure, text};
use serde::Serialize;

use super::{Call, Page, counted, pause, times};
use crate::daemon::{AskFailure, Request, Status};

#[derive(Serialize)]
struct Answer {
    running: bool,
    #[serde(flatten)]
    status: Option<Status>,
}

/// A daemon that is not running is an answer, and "not found" for a script.
pub(super) fn run(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let status = match call.ask::<Status>(&Request::Health) {
        Ok(status) => Some(status),
        Err(AskFailure::Absent) => None,
        Err(other) => return Err(other.into()),
    };
    let answer = Answer { running: status.is_some(), status };
    call.show(&answer, |page| match &answer.status {
        Some(status) => to_text(page, status),
        None => format!("the daemon is not running\n{}", page.next("daemon start", "start it now")),
    })?;
    Ok(if answer.running { Exit::Done } else { Exit::Failed })
}

fn to_text(page: &Page, status: &Status) -> String {
    let running = times::said(status.uptime_ms);
    let mut rows = vec![
        [
            "daemon".to_owned(),
            format!("{}, process {}, version {}", status.status, status.pid, status.version),
        ],
        [
            "running".to_owned(),
            format!("for {running}, {} open", counted(status.connections as u64, "connection")),
        ],
        ["learned".to_owned(), counted(status.learned, "command")],
        ["written".to_owned(), {
            let (written, queued) = (text::thousands(status.written), text::thousands(status.queued));
            format!(
                "{written} since it was started, {queued} waiting, {} dropped",
                text::thousands(status.dropped)
            )
        }],
    ];
    if let Some(until) = status.paused_until {
        rows.push(["paused".to_owned(), pause::words(until, page.now)]);
    }
    if let Some(trouble) = &status.trouble {
        rows.push(["trouble".to_owned(), trouble.clone()]);
    }
    let next = match (status.trouble.is_some(), status.paused_until.is_some()) {
        (true, _) => page.next("doctor", "what is wrong, and how to mend it"),
        (_, true) => page.next("resume", "go on"),
        _ => page.next("suggest", "what you will probably run next"),
    };
    format!("{}{next}", page.aligned([Column::Dim, Column::Left], &rows))
}
