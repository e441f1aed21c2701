//! `tldr stats`: what all projects asked.

use kit::{Exit, Failure, Invocation};

use super::{message, show};
use crate::cli::StatsArgs;
use crate::usage;

pub(super) fn run(invocation: &mut Invocation, args: &StatsArgs) -> Result<Exit, Failure> {
    let format = args.format.format;
    match usage::totals(&invocation.places()?)? {
        Some(totals) => show(invocation, format, &totals, || totals.to_text()),
        None => message(invocation, format, "No usage recorded yet"),
    }
}
