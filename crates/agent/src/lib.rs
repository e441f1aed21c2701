//! A streaming coding agent with five tools that never corrupts its own history.
//!
//! Pure parts and tools first (what the model was shown, what may run, what it does), then the conversation around them:
//! [`commands`] takes what was typed, `setup` puts a conversation together, `session` runs its turns.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod config;
mod create;
mod desk;
mod entire;
mod errand;
pub mod eyes;
pub mod front;
mod gate;
mod hooks;
mod interrupt;
mod keep;
pub mod meter;
pub mod page;
pub mod permission;
pub mod project;
mod prompt;
mod provider;
mod purse;
mod recall;
mod repl;
pub mod sandbox;
mod session;
mod setup;
mod toolbox;
pub mod tools;
pub mod undo;
mod voice;

pub use commands::run;
