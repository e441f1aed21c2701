//! The daemon of one project: keeps the index in memory and answers. It starts in this order: the lock that makes it the only
//! one, the socket, what was kept on disk; it indexes while it already takes calls. It ends on SIGTERM, SIGINT, when asked,
//! when nobody asks any more, or when its project is gone, and writes down what it counted.

mod background;
mod serve;
mod service;
mod statistics;
mod system;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kit::{Exit, Failure, Invocation};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::root::Root;
use crate::settings::Settings;
use crate::walk;

pub(crate) use background::start;
use service::Service;
use system::{System, Unix};

/// What the starter tells the process that is to become the daemon.
pub(crate) const DETACHED: &str = "TLDR_DETACHED";

/// Runs in this process until it is over. `ready` is told once calls are taken.
pub(crate) fn run(
    invocation: &mut Invocation,
    root: &Root,
    ready: impl FnOnce(&mut Invocation) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let system = Unix { places: &places };
    if invocation.env.get(DETACHED).is_some() {
        system.leave_starter()?;
    }
    let lock = system.lock(root)?;
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stopping))
            .map_err(|error| Failure::new("cannot listen to signals").because(&error))?;
    }
    let listener = system.listen(root)?;
    let _ = walk::write_rules(root.path());
    let settings = Settings::read(root);
    let service = Service::new(
        root.clone(),
        places.clone(),
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
    service.end();
    drop(listener);
    drop(lock);
    Ok(Exit::Done)
}

/// The seed's words; its exit code is 1.
pub(crate) fn already_running(pid: Option<u32>) -> Failure {
    let failure = match pid {
        Some(pid) => Failure::new(format!("Daemon already running (PID: {pid})")),
        None => Failure::new("Daemon already running"),
    };
    failure.hint("`tldr daemon status`")
}
