//! The daemon as a process, over its real socket: how it starts, answers, and ends, and what it takes from callers who mean
//! no good.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and writes plain files"
)]

mod callers;
mod life;
mod misfortune;
mod rig;
mod rows;
mod seed;
