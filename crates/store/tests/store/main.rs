//! The crate from outside: real files, real SQLite, and real processes that are killed.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make damage by hand and start themselves again as children"
)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test helper fails")]

mod again;
mod blobs;
mod journal;
mod lock;
mod replace;
mod sqlite;
