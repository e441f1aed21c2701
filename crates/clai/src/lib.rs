//! Your next command, learned from what you do: no model of language, no terminal in between.
//!
//! Pure parts first (words, templates, secrets, danger, learning, ranking), then what touches the world (tasks,
//! history of other tools, the database, the daemon, the shells), then the commands a person types.
#![forbid(unsafe_code)]

mod cli;
pub mod command;
pub mod commands;
pub mod config;
pub mod daemon;
pub mod danger;
pub mod database;
pub mod eval;
pub mod front;
pub mod import;
pub mod model;
pub mod normalise;
pub mod rank;
pub mod redact;
pub mod repo;
pub mod shells;
pub mod tasks;
pub mod words;

pub use commands::run;
