//! Code questions answered from a warm index: walking, watching and keeping the facts of a project, the daemon that holds them,
//! and the commands. What a program means is [`code`]'s business.
#![forbid(unsafe_code)]

pub mod cache;
mod cli;
pub mod client;
pub mod root;
pub mod settings;
pub mod usage;
pub mod walk;
pub mod watch;
