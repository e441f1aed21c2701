//! `drip hook` as its clients meet it: the real binary with the payloads that the real clients send, and a model that sees
//! what the client makes of the answers.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test: fixtures are plain files and processes"
)]

mod claude;
mod codex;
mod editing;
mod failing;
mod forgetting;
mod gemini;
mod parallel;
mod payloads;
mod reading;
mod refusing;
mod searching;
mod shells;
mod unplaced;
