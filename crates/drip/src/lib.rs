//! What an agent has already been shown is not sent again: it gets "unchanged" or a delta instead of the file.
#![forbid(unsafe_code)]

pub mod caller;
mod cli;
pub mod commands;
pub mod database;
pub mod desk;
pub mod diff;
pub mod elide;
pub mod front;
pub mod history;
mod hook;
pub mod ignored;
pub mod ledger;
pub mod lines;
pub mod load;
pub mod plan;
pub mod read;
pub mod reader;
pub mod render;
pub mod search;
mod serve;
pub mod session;
pub mod settings;
pub mod setup;
mod tour;
pub mod verify;
mod watch;

pub use commands::run;
