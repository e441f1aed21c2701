//! The daemon as a process: real sockets, real SQLite, real curl, real signals.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start bare children and write plain files on purpose"
)]

mod doors;
mod hostile;
mod http;
mod life;
mod memory;
mod rig;
mod trouble;
