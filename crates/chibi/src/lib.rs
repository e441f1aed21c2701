//! Conversations that persist, compact, call plugins and talk to each other.
#![forbid(unsafe_code)]

mod cli;
mod config;
mod input;
mod markdown;
mod prompt;
