//! What the model can do, on real files and with real commands; and what it is told.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test: writes files and fails by panicking"
)]

#[path = "tools/any_json.rs"]
mod any_json;
#[path = "tools/asking.rs"]
mod asking;
#[path = "tools/editing.rs"]
mod editing;
#[path = "tools/finding.rs"]
mod finding;
#[path = "tools/guarding.rs"]
mod guarding;
#[path = "tools/mind.rs"]
mod mind;
#[path = "tools/reading.rs"]
mod reading;
#[path = "tools/running.rs"]
mod running;
#[path = "tools/seeing.rs"]
mod seeing;
#[path = "tools/shop.rs"]
mod shop;
#[path = "tools/undoing.rs"]
mod undoing;
#[path = "tools/walling.rs"]
mod walling;
