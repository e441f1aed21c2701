//! Threads that serve callers. A few stay when they are done, for the next caller: to start one takes as long as to
//! answer. Knows no stream and nothing that is said on it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// As many wait for work: two shells seldom come to their prompts at once, and in a storm of hooks, memory that many
/// threads have touched is never given back.
const KEPT: usize = 2;
/// A caller needs little: the largest frame is a JSON text of 128 levels.
const STACK: usize = 512 * 1024;

/// Something to do, and whether the thread is good for more afterwards.
pub(super) type Job = Box<dyn FnOnce() -> Thread + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thread {
    AsBefore,
    /// Something was done to it that others should not have to bear.
    Changed,
}

#[derive(Default)]
pub(super) struct Workers {
    inner: Mutex<Inner>,
    work: Condvar,
}

#[derive(Default)]
struct Inner {
    /// Never more than there are idle threads.
    jobs: VecDeque<Job>,
    idle: usize,
}

impl Workers {
    /// Has `job` done by a thread that waits, or by a new one. An error means that there is none to be had, and the job
    /// is gone.
    pub(super) fn give(self: &Arc<Self>, job: Job) -> io::Result<()> {
        let mut inner = self.lock();
        if inner.jobs.len() < inner.idle {
            inner.jobs.push_back(job);
            drop(inner);
            self.work.notify_one();
            return Ok(());
        }
        drop(inner);
        let workers = Arc::clone(self);
        let worker = thread::Builder::new().name("caller".to_owned()).stack_size(STACK);
        worker.spawn(move || workers.run(job)).map(drop)
    }

    fn run(&self, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            next = if job() == Thread::AsBefore { self.wait() } else { None };
        }
    }

    /// The next job; none when enough threads wait for one already.
    fn wait(&self) -> Option<Job> {
        let mut inner = self.lock();
        if inner.idle >= KEPT {
            return None;
        }
        inner.idle += 1;
        let woken = self.work.wait_while(inner, |inner| inner.jobs.is_empty());
        inner = woken.unwrap_or_else(PoisonError::into_inner);
        inner.idle -= 1;
        inner.jobs.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::mpsc;
    use testkit::{PATIENCE, until};

    fn workers() -> (Arc<Workers>, impl Fn(Thread) -> thread::ThreadId) {
        let workers = Arc::new(Workers::default());
        let shared = Arc::clone(&workers);
        let on = move |afterwards| {
            let (say, hear) = mpsc::channel();
            let job = move || {
                say.send(thread::current().id()).unwrap();
                afterwards
            };
            shared.give(Box::new(job)).unwrap();
            hear.recv().unwrap()
        };
        (workers, on)
    }

    #[test]
    fn a_thread_that_is_done_does_the_next_job_unless_it_was_changed() {
        let (workers, on) = workers();
        let idle = |count| assert!(until(PATIENCE, || workers.lock().idle == count));
        let first = on(Thread::AsBefore);
        idle(1);
        assert_eq!(on(Thread::AsBefore), first);
        idle(1);
        assert_eq!(on(Thread::Changed), first);
        idle(0);
        assert_ne!(on(Thread::AsBefore), first);
    }

    #[test]
    fn as_many_threads_work_as_there_are_jobs_and_few_of_them_stay() {
        let workers = Arc::new(Workers::default());
        let (say, hear) = mpsc::channel();
        let ends: Vec<mpsc::Sender<()>> = (0..8)
            .map(|_| {
                let (end, ended) = mpsc::channel();
                let say = say.clone();
                let job = move || {
                    say.send(thread::current().id()).unwrap();
                    let _ = ended.recv();
                    Thread::AsBefore
                };
                workers.give(Box::new(job)).unwrap();
                end
            })
            .collect();
        let at_work: HashSet<_> = (0..8).map(|_| hear.recv().unwrap()).collect();
        assert_eq!(at_work.len(), 8, "nobody waits for another");
        drop(ends);
        assert!(until(PATIENCE, || workers.lock().idle == KEPT && Arc::strong_count(&workers) == 1 + KEPT));
    }
}
