//! Conversations that persist, compact, call plugins and talk to each other.
#![forbid(unsafe_code)]

mod ask;
mod cli;
mod commands;
mod compaction;
mod config;
pub mod context;
mod desk;
mod failure;
pub mod front;
mod ground;
pub mod hooks;
mod input;
mod interrupt;
mod log;
pub mod markdown;
mod moment;
mod output;
pub mod plugins;
mod prompt;
mod provider;
mod run;
pub mod servers;
mod speech;
mod together;
pub mod tools;
mod tour;
mod turn;

pub use commands::run;
