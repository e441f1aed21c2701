//! `clai pause` and `clai resume`: keep and learn nothing for a while.

use kit::{Exit, Failure};

use super::{Call, PATIENCE, times};
use crate::daemon::{Paused, Request};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long: 30m, 2h, 1d; without it until `clai resume`
    #[arg(value_name = "TIME", value_parser = times::span)]
    time: Option<u64>,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let request = Request::Pause { for_ms: args.time };
    let paused: Paused = call.ask_started(&request, PATIENCE)?;
    call.show(&paused, |page| {
        let words =
            paused.paused_until.map_or_else(|| "not paused".to_owned(), |until| words(until, page.now));
        format!("{words}: nothing is kept or learned\n{}", page.next("resume", "go on"))
    })
}

pub(super) fn resume(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let paused: Paused = call.ask_started(&Request::Resume, PATIENCE)?;
    call.show(&paused, |_| "commands are kept and learned from again\n".to_owned())
}

/// Until when, as a span from now. The largest number is for ever.
pub(super) fn words(until: i64, now: i64) -> String {
    match until {
        i64::MAX => "paused until you resume".to_owned(),
        until => format!("paused for {}", times::said(until.saturating_sub(now).max(0).cast_unsigned())),
    }
}
