//! `drip refresh`: forgets what was shown of one file.

use kit::{Exit, Failure};
use serde::Serialize;

use super::read::{failure, named};
use super::{Call, store_failure};
use crate::read;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    file: String,
}

#[derive(Serialize)]
struct Refreshed<'a> {
    file: &'a str,
    sessions: usize,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    named(&args.file, "refresh", call)?;
    let located = read::locate(&args.file, &call.here.cwd).map_err(|error| failure(&error, &call.here))?;
    let sessions = match call.here.stored()? {
        Some(mut database) => database.forget_file(&located.key).map_err(|error| store_failure(&error))?,
        None => 0,
    };
    let file = args.file.as_str();
    call.show(&Refreshed { file, sessions }, |_| match sessions {
        0 => format!("No baseline tracked for {file} — nothing to clear.\n"),
        1 => format!("Cleared baseline for {file}\nNext read will return the full file.\n"),
        many => {
            format!("Cleared baseline for {file} in {many} sessions\nNext read will return the full file.\n")
        }
    })
}
