//! Our scripts in real shells, in a real terminal, against a daemon that the test plays.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write plain files and end by panicking"
)]

mod bash;
mod beside;
mod every;
mod fish;
mod ground;
mod zsh;
