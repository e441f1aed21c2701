//! `drip reset`: forgets the session, the counters, or everything that drip ever kept.

use std::io::{BufRead, Write};

use kit::{Exit, Failure};
use serde::Serialize;

use super::{Call, store_failure};
use crate::database;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The lifetime counters instead of the session
    #[arg(long)]
    stats: bool,
    /// Every session, counter and content
    #[arg(long)]
    all: bool,
    /// Do not ask first
    #[arg(long, requires = "all")]
    force: bool,
}

#[derive(Serialize)]
struct Cleared<'a> {
    cleared: &'a str,
    session_id: Option<&'a str>,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    if args.all && args.stats {
        return Err(Failure::usage("`--all` and `--stats` are mutually exclusive"));
    }
    if args.all {
        return everything(call, args);
    }
    let database = call.here.stored()?;
    if args.stats {
        if let Some(mut database) = database {
            database.reset_counters().map_err(|error| store_failure(&error))?;
        }
        let cleared = Cleared { cleared: "counters", session_id: None };
        return call.show(&cleared, |_| "Lifetime counters cleared. Sessions are as they were.\n".to_owned());
    }
    let id = call.here.caller().session.id;
    if let Some(mut database) = database {
        // What was forgotten is to be gone from the disk as well, and not only when somebody next tidies up.
        let forgotten =
            database.reset(&id).and_then(|()| database.collect()).and_then(|_| database.compact());
        forgotten.map_err(|error| store_failure(&error))?;
    }
    let cleared = Cleared { cleared: "session", session_id: Some(id.as_str()) };
    call.show(&cleared, |_| format!("Session {} cleared.\n", id.as_str()))
}

fn everything(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    if !args.force && !confirmed(call)? {
        call.say("Aborted — no data was deleted.");
        return Ok(Exit::Done);
    }
    database::erase(&call.here.root(), call.here.clock.unix_ms()).map_err(|error| store_failure(&error))?;
    let cleared = Cleared { cleared: "all", session_id: None };
    call.show(&cleared, |_| "All DRIP data cleared. No byte of any file is left in the store.\n".to_owned())
}

fn confirmed(call: &mut Call) -> Result<bool, Failure> {
    let root = call.here.root();
    let stderr = &mut call.invocation.stderr;
    let asked = write!(
        stderr,
        "This deletes every session, counter and content in {}.\nType 'yes' to confirm: ",
        root.display()
    )
    .and_then(|()| stderr.flush());
    asked.map_err(|error| Failure::output(&error))?;
    let mut answer = String::new();
    let read = std::io::BufReader::new(&mut call.invocation.stdin).read_line(&mut answer);
    read.map_err(|error| Failure::new("cannot read the answer").because(&error))?;
    Ok(answer.trim() == "yes")
}
