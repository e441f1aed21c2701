//! Control flow, data flow and slices seen from outside, and judged by what CPython does.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test: runs Python and fails by panicking"
)]

#[path = "flow/dynamic.rs"]
mod dynamic;
#[path = "flow/golden.rs"]
mod golden;
#[path = "flow/hostile.rs"]
mod hostile;
#[path = "flow/names.rs"]
mod names;
#[path = "flow/reachable.rs"]
mod reachable;
#[path = "flow/workspace.rs"]
mod workspace;
