//! Durable state as a mechanism: replace a file, append to a log, hold a lock, open a database, keep blobs.
//!
//! Nothing here knows a tool: owners bring their paths, their schema and their clock. Nothing here prints,
//! exits or reads the environment.
#![forbid(unsafe_code)]

pub mod blobs;
mod durability;
mod fault;
pub mod journal;
pub mod lock;
mod replace;
pub mod sqlite;
mod temporary;

pub use durability::Durability;
pub use fault::FileError;
pub use replace::{ReplaceError, replace};
pub use temporary::sweep;
