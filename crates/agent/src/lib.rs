//! A streaming coding agent with five tools that never corrupts its own history.
#![forbid(unsafe_code)]

pub mod eyes;
pub mod page;
pub mod permission;
pub mod project;
pub mod sandbox;
pub mod tools;
pub mod undo;
