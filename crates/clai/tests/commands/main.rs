//! `clai` as its user meets it: the real binary, a real daemon, a real database, in a home of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test: fixtures are plain files and processes"
)]

mod asking;
mod broken;
mod doctor;
mod first;
mod forgetting;
mod importing;
mod managing;
mod person;
mod reading;
mod replaying;
mod touring;
