//! `drip` as its user meets it: the real binary, real files and a real store, in a home of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test: fixtures are plain files and processes"
)]

mod broken;
mod counting;
mod doctor;
mod forgetting;
mod hostile;
mod keeping;
mod looking;
mod person;
mod reading;
mod registered;
mod setting;
