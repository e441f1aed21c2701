//! `clai daemon`: start, stop or ask it.

use kit::{Exit, Failure};
use serde_json::json;
use store::lock;

use super::{Call, status};
use crate::daemon::{AskFailure, Done, LOCK, Request, Started};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    wish: Wish,
}

#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum Wish {
    /// Start it, if it is not running
    Start,
    /// Let it write what it has heard, and end
    Stop,
    /// Say how it is
    Status,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    match args.wish {
        Wish::Start => start(call),
        Wish::Stop => stop(call),
        Wish::Status => status::run(call),
    }
}

fn start(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let started = call.start_daemon()?;
    let answer = json!({"running": true, "started": started == Started::Now});
    call.show(&answer, |_| match started {
        Started::Now => "the daemon is running\n".to_owned(),
        Started::Already => "the daemon was running already\n".to_owned(),
    })
}

/// Waits until it is gone: its lock is free when everything is written.
fn stop(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let stopped = match call.ask::<Done>(&Request::Stop) {
        Ok(_) => true,
        Err(AskFailure::Absent) => false,
        Err(other) => return Err(other.into()),
    };
    if stopped {
        let path = call.database_dir()?.join(LOCK);
        let lock = lock::acquire(&path, "clai daemon stop", super::PATIENCE).map_err(|error| {
            Failure::new("the daemon has not ended yet").because(&error).hint("`clai doctor`")
        })?;
        drop(lock);
    }
    let answer = json!({"running": false, "stopped": stopped});
    call.show(&answer, |_| match stopped {
        true => "the daemon has written what it had heard and ended\n".to_owned(),
        false => "the daemon was not running\n".to_owned(),
    })
}
