//! Threads that work out who uses whom, which can take seconds, apart from those that read files and look for words: these
//! take what is given to them in turn, and a quick question would wait for the long one. Knows no question.

use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::lock;

#[derive(Default)]
pub(super) struct Workers {
    turn: Mutex<()>,
    pool: OnceLock<Option<ThreadPool>>,
}

impl Workers {
    /// Waits until nobody else works.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        lock(&self.turn)
    }

    pub(super) fn turn_if_free(&self) -> Option<MutexGuard<'_, ()>> {
        match self.turn.try_lock() {
            Ok(turn) => Some(turn),
            Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.pool() {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Nothing on a system that gives no more threads: then those of everybody have to do.
    pub(super) fn pool(&self) -> Option<&ThreadPool> {
        self.pool.get_or_init(|| ThreadPoolBuilder::new().build().ok()).as_ref()
    }
}
