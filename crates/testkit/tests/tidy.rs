//! The house rules, held by tests: who may know whom, what every file looks like, what the pages promise.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test: looks at the sources and asks cargo"
)]

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/code.rs"]
mod code;
#[path = "tidy/commands.rs"]
mod commands;
#[path = "tidy/graph.rs"]
mod graph;
#[path = "tidy/pages.rs"]
mod pages;
#[path = "tidy/sources.rs"]
mod sources;
