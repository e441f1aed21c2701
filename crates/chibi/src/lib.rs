//! Conversations that persist, compact, call plugins and talk to each other.
#![forbid(unsafe_code)]

mod cli;
mod config;
pub mod hooks;
mod input;
mod markdown;
pub mod plugins;
mod prompt;
pub mod tools;
