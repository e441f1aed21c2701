//! Conversations that persist, compact, call plugins and talk to each other.

pub mod hooks;
pub mod plugins;
pub mod servers;
mod together;
pub mod tools;
