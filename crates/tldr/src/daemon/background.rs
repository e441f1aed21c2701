//! Starting a daemon that stays when its starter goes. Nothing is forked: the binary is run once more, leaves the session,
//! and the starter waits until it answers.

use std::time::{Duration, Instant};

use kit::log::Log;
use kit::process::{Job, THRIFTY, has_ended, minimal_environment};
use kit::{Failure, Invocation, Places};
use store::lock;

use super::system::{System, Unix};
use super::{DETACHED, already_running};
use crate::client;
use crate::root::Root;

/// The seed's patience with a socket that is to become connectable.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(5);

/// Who runs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) pid: u32,
}

/// Starts a daemon for `root`, or says who already is it.
pub(crate) fn start(invocation: &Invocation, root: &Root, places: &Places) -> Result<Started, Failure> {
    if let Some(holder) = settled(root, places)? {
        return Err(already_running(holder.pid));
    }
    let (program, words) = invocation.program.again("tldr")?;
    let environment = minimal_environment(&invocation.env, &["SCRIMP_CLOCK_FILE"]);
    let job = Job::new(&program)
        .args(words)
        .args(["daemon", "start", "--foreground", "--project"])
        .arg(root.path())
        .envs(environment)
        .envs(THRIFTY)
        .env(DETACHED, "1");
    let child = Unix { places }
        .set_free(job)
        .map_err(|error| Failure::new(format!("cannot start `{}`", program.display())).because(&error))?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if client::answers(root, places) {
            return match holder(root, places)?.and_then(|holder| holder.pid) {
                Some(pid) if pid == child => Ok(Started { pid }),
                // Somebody else was quicker.
                pid => Err(already_running(pid)),
            };
        }
        if has_ended(child) && holder(root, places)?.is_none() {
            break;
        }
        pause();
    }
    let said = last_failure(places).unwrap_or_else(|| "it did not answer".to_owned());
    Err(Failure::new(format!("the daemon did not start: {said}")).hint("`tldr daemon start --foreground`"))
}

/// Who runs. One that has the lock where nobody listens has just begun or was just killed: until that is clear it is waited
/// for, and one that is neither after [`PATIENCE`] runs.
fn settled(root: &Root, places: &Places) -> Result<Option<lock::Holder>, Failure> {
    let began = Instant::now();
    loop {
        let listens = client::listens(root, places)?;
        let holder = holder(root, places)?;
        if holder.is_none() || listens || began.elapsed() >= PATIENCE {
            return Ok(holder);
        }
        pause();
    }
}

fn holder(root: &Root, places: &Places) -> Result<Option<lock::Holder>, Failure> {
    lock::holder(&root.pid_file(places))
        .map_err(|error| Failure::new("failed to acquire PID file lock").because(&error))
}

fn last_failure(places: &Places) -> Option<String> {
    let records = Log::of("tldr", places).last(20).ok()?;
    let record = records.iter().rev().find(|record| record.contains("\"start_failed\""))?;
    let value: serde_json::Value = serde_json::from_str(record).ok()?;
    value.get("error")?.as_str().map(str::to_owned)
}

#[expect(clippy::disallowed_methods, reason = "this is the poll with a deadline")]
fn pause() {
    std::thread::sleep(STEP);
}
