//! `agent` as its user meets it: the real binary, real files, real sockets to a scripted model, in a home of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test: fixtures are plain files and processes"
)]

mod asking;
mod dying;
mod failing;
mod helping;
mod hooking;
mod knowing;
mod looking;
mod piping;
mod repairing;
mod resuming;
mod rig;
mod seeing;
mod serving;
mod setting;
mod stopping;
mod typing;
