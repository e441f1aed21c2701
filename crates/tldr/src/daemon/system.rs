//! What a daemon needs of the system that it runs on: one lock for each project, a place to be met at, and a life of its own.
//! Everything above is the same everywhere. On Windows the place would be a port of the loopback address
//! ([`ProjectHash::tcp_port`]), [`Guarded`] by a secret since such a port does not say who calls; the lock one of the file
//! system's, and the life that of a detached process.
//!
//! [`ProjectHash::tcp_port`]: wire::endpoint::ProjectHash::tcp_port
//! [`Guarded`]: wire::transport::Guarded

use kit::process::{self, Job};
use kit::{Failure, Places};
use store::lock::{self, Lock, LockError};
use wire::transport::{ListenError, Transport};

use super::already_running;
use crate::root::Root;

pub(super) trait System {
    type Transport: Transport;
    /// Held as long as the daemon lives; the system gives it back when the process ends, however it ends.
    type Lock;

    /// Makes this process the one daemon of a project, or says who is it.
    fn lock(&self, root: &Root) -> Result<Self::Lock, Failure>;

    /// Starts to listen. Only for who has the lock: what a dead one left is taken away.
    fn listen(&self, root: &Root) -> Result<<Self::Transport as Transport>::Listener, Failure>;

    /// Lets the process live on when who started it goes.
    fn leave_starter(&self) -> Result<(), Failure>;

    /// Starts a process that will do so, and gives its number.
    fn set_free(&self, job: Job) -> std::io::Result<u32>;
}

/// Linux and macOS.
pub(super) struct Unix<'a> {
    pub(super) places: &'a Places,
}

impl System for Unix<'_> {
    type Transport = wire::transport::Unix;
    type Lock = Lock;

    fn lock(&self, root: &Root) -> Result<Lock, Failure> {
        lock::try_acquire(&root.pid_file(self.places), "tldr").map_err(|error| match error {
            LockError::Held { holder, .. } => already_running(holder.pid),
            error => {
                let failure = Failure::new("failed to acquire PID file lock").because(&error);
                match error.hint() {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        })
    }

    fn listen(&self, root: &Root) -> Result<wire::transport::UnixListener, Failure> {
        let socket = root.socket(self.places)?;
        let transport = wire::transport::Unix { uid: self.places.uid };
        let failed = |error: &ListenError| Failure::new("failed to bind socket").because(error);
        transport.remove_stale(&socket).map_err(|error| failed(&error))?;
        transport.listen(&socket).map_err(|error| failed(&error))
    }

    fn leave_starter(&self) -> Result<(), Failure> {
        process::leave_session().map_err(|error| Failure::new("cannot leave the session").because(&error))
    }

    fn set_free(&self, job: Job) -> std::io::Result<u32> {
        job.detach()
    }
}
