//! Code questions answered from a warm index: walking, watching and keeping the facts of a project, the daemon that holds them,
//! and the commands. What a program means is [`code`]'s business.
#![forbid(unsafe_code)]

pub mod cache;
mod checkers;
mod cli;
pub mod client;
mod commands;
mod daemon;
pub mod door;
pub mod engine;
pub mod front;
mod graph;
pub mod index;
pub mod line;
mod model;
mod progress;
pub mod root;
mod serve;
pub mod settings;
mod tour;
pub mod usage;
pub mod walk;
pub mod watch;

pub use commands::run;
