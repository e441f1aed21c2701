//! One writer per context at a time. The kernel holds the lock and drops it with the holder; the seed's `.lock`, which
//! holds the seconds of the last heartbeat, only informs readers. Knows nothing of what is guarded.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kit::invocation::Clock;
use store::lock::{self, Lock, LockError};
use store::{Durability, replace};

use super::{ChibiHome, ContextError, ContextName};

const KERNEL: &str = ".kernel.lock";
const HEARTBEAT: &str = ".lock";

/// However often is asked for: it only informs.
const SHORTEST_BEAT: Duration = Duration::from_millis(100);

/// What to do when another process works with the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Give up at once.
    No,
    /// Queue for so long, then give up. Both ways of giving up are [`ContextError::Locked`].
    Until(Duration),
}

/// What `-L` says of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Free,
    /// A process works with it now.
    Active,
    /// A process that is gone did, and was not able to say goodbye.
    Stale,
}

/// The right to write to one context.
#[derive(Debug)]
pub(super) struct Hold {
    beat: Option<Heart>,
    heartbeat: PathBuf,
    /// Last, so that the heartbeat file is gone before anybody else can take the lock.
    _lock: Lock,
}

#[derive(Debug)]
struct Heart {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Hold {
    pub(super) fn take(
        folder: &Path,
        name: &ContextName,
        wait: Wait,
        home: &ChibiHome,
    ) -> Result<Hold, ContextError> {
        let patience = match wait {
            Wait::No => Duration::ZERO,
            Wait::Until(patience) => patience,
        };
        let lock =
            lock::acquire(&folder.join(KERNEL), home.program(), patience).map_err(|error| match error {
                LockError::Held { holder, .. } => ContextError::Locked { name: name.clone(), holder },
                other => other.into(),
            })?;
        let heartbeat = folder.join(HEARTBEAT);
        beat(&heartbeat, home.clock());
        Ok(Hold { beat: None, heartbeat, _lock: lock })
    }

    /// From now on the heartbeat file is fresh while we live.
    pub(super) fn keep_beating(&mut self, every: Duration, clock: Clock) {
        let (stop, stopped) = mpsc::channel();
        let (path, every) = (self.heartbeat.clone(), every.max(SHORTEST_BEAT));
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                beat(&path, &clock);
            }
        });
        self.rest();
        self.beat = Some(Heart { stop, thread });
    }

    fn rest(&mut self) {
        if let Some(Heart { stop, thread }) = self.beat.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.rest();
        let _ = fs::remove_file(&self.heartbeat);
    }
}

pub(super) fn status(folder: &Path) -> Result<Status, ContextError> {
    let holder = match lock::holder(&folder.join(KERNEL)) {
        // Nobody works where nothing can be written.
        Err(LockError::File(error)) if error.kind() == ErrorKind::ReadOnlyFilesystem => None,
        holder => holder?,
    };
    Ok(match holder {
        Some(_) => Status::Active,
        None if folder.join(HEARTBEAT).exists() => Status::Stale,
        None => Status::Free,
    })
}

/// By rename: a reader never sees half a number. It only informs, so a full disk is no reason to stop.
fn beat(path: &Path, clock: &Clock) {
    let seconds = (clock.unix_ms().max(0) / 1000).to_string();
    let _ = replace(path, seconds.as_bytes(), Durability::Cached);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use testkit::{Home, PATIENCE, until};

    use super::super::Ids;
    use super::*;

    fn take(home: &Home, wait: Wait) -> Result<Hold, ContextError> {
        let clock = Clock::from_fn(|| 12_345_678);
        let chibi = ChibiHome::new(home.path(), clock, Ids::random()).used_by("somebody");
        Hold::take(home.path(), &ContextName::default(), wait, &chibi)
    }

    #[test]
    fn a_second_writer_is_told_who_is_there() {
        let home = Home::new();
        assert_eq!(status(home.path()).unwrap(), Status::Free);
        let held = take(&home, Wait::No).unwrap();
        assert_eq!(home.read(".lock"), "12345");
        assert_eq!(status(home.path()).unwrap(), Status::Active);
        let error = take(&home, Wait::No).unwrap_err();
        assert!(
            matches!(&error, ContextError::Locked { holder, .. } if holder.pid == Some(std::process::id()))
        );
        assert!(error.to_string().contains("(somebody)"), "{error}");
        assert!(error.hint().unwrap().contains("--wait"));
        drop(held);
        assert_eq!(status(home.path()).unwrap(), Status::Free);
        assert!(!home.path().join(".lock").exists());
    }

    #[test]
    fn a_heartbeat_without_a_process_is_stale_and_in_nobody_s_way() {
        let home = Home::new();
        home.write(".lock", "99999999999");
        assert_eq!(status(home.path()).unwrap(), Status::Stale);
        take(&home, Wait::No).unwrap();
    }

    #[test]
    fn whoever_waits_gets_it() {
        let home = Home::new();
        let held = take(&home, Wait::No).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| take(&home, Wait::Until(PATIENCE)).map(drop));
            drop(held);
            waiting.join().unwrap().unwrap();
        });
    }

    #[test]
    fn the_heartbeat_goes_on_while_the_holder_lives() {
        let home = Home::new();
        let time = Arc::new(AtomicI64::new(1000));
        let clock = {
            let time = time.clone();
            Clock::from_fn(move || time.load(Ordering::SeqCst))
        };
        let chibi = ChibiHome::new(home.path(), clock.clone(), Ids::random());
        let mut held = Hold::take(home.path(), &ContextName::default(), Wait::No, &chibi).unwrap();
        held.keep_beating(Duration::ZERO, clock);
        time.store(77_000, Ordering::SeqCst);
        assert!(until(PATIENCE, || home.read(".lock") == "77"));
    }
}
