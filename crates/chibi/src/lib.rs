//! Conversations that persist, compact, call plugins and talk to each other.
#![forbid(unsafe_code)]

pub mod context;
