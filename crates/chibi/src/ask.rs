//! One question to a model and its whole answer, outside the conversation: for summaries. Retries as a turn would.

use std::thread;
use std::time::{Duration, Instant};

use kit::process::Cancel;
use llm::retry::{self, Attempt, Progress};
use llm::{Client, Error, Reply, Request};

/// How often somebody who waits looks whether it was interrupted.
const TICK: Duration = Duration::from_millis(20);

/// Waits between attempts as the provider or our own patience says; an interrupt ends it with [`Error::Cancelled`].
pub(crate) fn ask(
    client: &Client,
    request: &Request,
    cancel: &Cancel,
    now_ms: impl Fn() -> i64,
) -> Result<Reply, Error> {
    for failed in 1.. {
        let error = match client.start(request, cancel).reply() {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let now_ms = now_ms();
        let jitter = now_ms.rem_euclid(1000) as f64 / 1000.0;
        let attempt = Attempt { failed, progress: Progress::Open, now_ms, jitter };
        let Some(wait) = retry::next(&error, attempt) else { return Err(error) };
        pause(wait, cancel);
    }
    Err(Error::Cancelled)
}

fn pause(time: Duration, cancel: &Cancel) {
    let start = Instant::now();
    while !cancel.is_cancelled() && start.elapsed() < time {
        thread::park_timeout(TICK.min(time));
    }
}
