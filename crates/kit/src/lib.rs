//! What every tool carries. On std and rustix alone, so that the smallest binary can afford all of it.
//!
//! Nothing here knows a tool, a protocol or a file format; nothing here prints, exits or reads the
//! environment, except [`Invocation::from_process`], which reads it once for everybody.
#![forbid(unsafe_code)]

pub mod calendar;
pub mod doctor;
mod exit;
mod failure;
pub mod invocation;
pub mod log;
pub mod page;
pub mod places;
pub mod process;
pub mod savings;
pub mod text;
pub mod tour;
pub mod usage;

pub use exit::Exit;
pub use failure::{Failure, Form};
pub use invocation::Invocation;
pub use page::Page;
pub use places::Places;
