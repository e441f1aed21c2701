//! What our processes say to each other: lines, endpoints, streams and messages.
//!
//! Nothing here knows what a daemon does with a message, keeps state, or reads the environment.
#![forbid(unsafe_code)]

pub mod clai;
mod deadline;
pub mod endpoint;
pub mod exchange;
pub mod frame;
pub mod tldr;
pub mod token;
pub mod transport;

pub use deadline::Deadline;
