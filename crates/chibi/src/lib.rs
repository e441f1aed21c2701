//! Conversations that persist, compact, call plugins and talk to each other.
#![forbid(unsafe_code)]

pub mod context;
pub mod hooks;
pub mod plugins;
pub mod servers;
mod together;
pub mod tools;
