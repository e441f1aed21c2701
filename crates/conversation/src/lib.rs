//! A history that cannot become invalid, the pure turn machine that makes it grow, what of it fits a window, and the
//! tools a model may call. Both chat fronts stand on this.
//!
//! Nothing here knows a file, a terminal, a hook or a setting's name; decisions are pure, and [`drive`] is the one module
//! with threads. A front brings a [`drive::Host`] and a `llm::Client`.
#![forbid(unsafe_code)]

pub mod check;
pub mod compact;
pub mod drive;
mod history;
pub mod tools;
pub mod turn;
pub mod window;

pub use history::{
    Cut, Ending, Exchange, ExchangeId, History, Loaded, Record, Refused, Repair, Reply, Returned, Round, Step,
};
