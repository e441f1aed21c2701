//! Starting a daemon that stays when its starter goes. Nothing is forked: the binary is run once more, leaves the
//! session, and the starter waits until it answers.

use std::path::Path;
use std::time::{Duration, Instant};

use kit::invocation::Environment;
use kit::process::{Job, THRIFTY, has_ended, minimal_environment};
use kit::{Exit, Failure, Invocation, Places};
use store::lock;

use super::options::Mode;
use super::request::{Request, Status};
use super::{Home, LOCK, client, lock_failure};
use crate::config::KEYS;

/// How long a daemon may take until it answers: it reads all that it knows first, a second for a million commands on
/// a quiet machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often to ask.
const STEP: Duration = Duration::from_millis(10);

/// Whether there was something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    Now,
    Already,
}

/// Makes sure that a daemon answers; `program` is the file of `clai-daemon`. Gives up after a minute with what the log
/// says. Waits without spawning anything when one is already on its way.
pub fn ensure(program: &Path, places: &Places, env: &Environment) -> Result<Started, Failure> {
    let home = Home::of(env, places.clone())?;
    if answers(&home) {
        return Ok(Started::Already);
    }
    spawn_and_wait(program, &home, env)
}

/// Whether a daemon that holds its lock comes to answer: it may be on its way. Gives up after `patience`, or as soon as
/// nobody holds the lock.
pub fn comes_up(places: &Places, env: &Environment, patience: Duration) -> bool {
    let Ok(home) = Home::of(env, places.clone()) else { return false };
    let (lock, started) = (home.database_dir.join(LOCK), Instant::now());
    while started.elapsed() < patience && matches!(lock::holder(&lock), Ok(Some(_))) {
        if answers(&home) {
            return true;
        }
        pause();
    }
    false
}

/// What `clai-daemon` does without options.
pub(super) fn start(invocation: &mut Invocation) -> Result<Exit, Failure> {
    let home = Home::find(invocation)?;
    home.furnish()?;
    let lock = home.database_dir.join(LOCK);
    if let Some(holder) = lock::holder(&lock).map_err(|error| lock_failure(&error))? {
        return Err(lock_failure(&lock::LockError::Held { path: lock, holder }));
    }
    let program = match invocation.program.sibling("clai-daemon") {
        Ok(program) => program,
        Err(failure) => invocation.program.exe.clone().ok_or(failure)?,
    };
    spawn_and_wait(&program, &home, &invocation.env)?;
    Ok(Exit::Done)
}

fn spawn_and_wait(program: &Path, home: &Home, env: &Environment) -> Result<Started, Failure> {
    let mut passed_on: Vec<&str> = KEYS.iter().map(|key| key.variable).collect();
    passed_on.extend(["CLAI_DB_DIR", "SCRIMP_CLOCK_FILE", "HOSTNAME"]);
    let child = Job::new(program)
        .arg(Mode::DETACHED)
        .envs(minimal_environment(env, &passed_on))
        .envs(THRIFTY)
        .detach()
        .map_err(|error| Failure::new(format!("cannot start `{}`", program.display())).because(&error))?;
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if answers(home) {
            return Ok(Started::Now);
        }
        // One that lost a race ends at once; then the winner is on its way and holds the lock.
        if has_ended(child) && matches!(lock::holder(&home.database_dir.join(LOCK)), Ok(None) | Err(_)) {
            break;
        }
        pause();
    }
    let said = last_failure(home).unwrap_or_else(|| "it did not answer".to_owned());
    let cause = said.strip_prefix("error: ").unwrap_or(&said).replace("\nhint: ", "; ");
    Err(Failure::new(format!("the daemon did not start: {cause}")).hint("`clai-daemon --foreground`"))
}

fn answers(home: &Home) -> bool {
    client::ask_at::<Status>(home, &Request::Health, Duration::from_secs(1)).is_ok()
}

fn last_failure(home: &Home) -> Option<String> {
    let records = home.log.last(20).ok()?;
    let record = records.iter().rev().find(|record| record.contains("\"start_failed\""))?;
    let value: serde_json::Value = serde_json::from_str(record).ok()?;
    value.get("error")?.as_str().map(str::to_owned)
}

#[expect(clippy::disallowed_methods, reason = "this is the poll with a deadline")]
fn pause() {
    std::thread::sleep(STEP);
}
