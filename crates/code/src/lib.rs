//! What a source tree means: languages as data, per-file facts, pure queries. Nothing here touches a file system, a
//! process or the environment: callers bring bytes and take typed answers.
#![forbid(unsafe_code)]

pub mod facts;
pub mod flow;
pub mod graph;
pub mod language;
pub mod memo;
mod near;
pub mod parse;
pub mod project;
pub mod query;
mod quick;
pub mod resolve;
