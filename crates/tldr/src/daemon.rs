//! The daemon of one project: keeps the index in memory and answers. It starts in this order: the lock that makes it the only
//! one, the socket, what was kept on disk; it indexes while it already takes calls. It ends on SIGTERM, SIGINT, when asked,
//! when nobody asks any more, or when its project is gone, and writes down what it counted.

mod background;
mod serve;
mod service;
mod statistics;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kit::{Exit, Failure, Invocation, Places, process};
use signal_hook::consts::{SIGINT, SIGTERM};
use store::lock::{self, Lock, LockError};
use wire::transport::{ListenError, Transport, Unix, UnixListener};

use crate::root::Root;
use crate::settings::Settings;
use crate::walk;

pub(crate) use background::start;
use service::Service;

/// What the starter tells the process that is to become the daemon.
pub(crate) const DETACHED: &str = "TLDR_DETACHED";

/// Runs in this process until it is over. `ready` is told once calls are taken.
pub(crate) fn run(
    invocation: &mut Invocation,
    root: &Root,
    ready: impl FnOnce(&mut Invocation) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    if invocation.env.get(DETACHED).is_some() {
        process::leave_session().map_err(|error| Failure::new("cannot leave the session").because(&error))?;
    }
    let places = invocation.places()?;
    let lock = only_one(root, &places)?;
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stopping))
            .map_err(|error| Failure::new("cannot listen to signals").because(&error))?;
    }
    let listener = listen(root, &places)?;
    let _ = walk::write_rules(root.path());
    let settings = Settings::read(root);
    let service = Service::new(
        root.clone(),
        places,
        settings,
        invocation.env.clone(),
        invocation.clock.clone(),
        Arc::clone(&stopping),
    );
    let service = Arc::new(service);
    ready(invocation)?;
    service.work_in_background();
    serve::serve(&listener, &service, &stopping);
    stopping.store(true, Ordering::SeqCst);
    let ended = service.end();
    drop(listener);
    drop(lock);
    ended.map(|()| Exit::Done)
}

/// The lock of the one daemon, with its process id inside.
fn only_one(root: &Root, places: &Places) -> Result<Lock, Failure> {
    lock::try_acquire(&root.pid_file(places), "tldr").map_err(|error| match error {
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

/// The seed's words; its exit code is 1.
pub(crate) fn already_running(pid: Option<u32>) -> Failure {
    let failure = match pid {
        Some(pid) => Failure::new(format!("Daemon already running (PID: {pid})")),
        None => Failure::new("Daemon already running"),
    };
    failure.hint("`tldr daemon status`")
}

fn listen(root: &Root, places: &Places) -> Result<UnixListener, Failure> {
    let socket = root.socket(places)?;
    let transport = Unix { uid: places.uid };
    let failed = |error: &ListenError| Failure::new("failed to bind socket").because(error);
    // We hold the lock: what is there was left by one that died.
    transport.remove_stale(&socket).map_err(|error| failed(&error))?;
    transport.listen(&socket).map_err(|error| failed(&error))
}
