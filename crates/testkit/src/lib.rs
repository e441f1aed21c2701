//! What the tests of every tool stand on: a throw-away home, a clock that stands still, a scripted model,
//! real terminals, crashes and hostile surroundings. A dev-dependency only; it knows none of our crates, so that
//! each of them may use it. A kit like this reports by panicking, with all that is needed to understand why.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "tests start bare children and write plain files on purpose")]

pub mod bert;
mod bin;
mod clock;
pub mod crash;
mod fuzz;
mod home;
pub mod hostile;
pub mod measure;
pub mod model;
mod output;
mod panic;
mod poll;
mod random;
pub mod terminal;

pub use bin::bin;
pub use clock::{ClockFile, FixedClock};
pub use crash::Crash;
pub use fuzz::fuzz;
pub use home::Home;
pub use output::Output;
pub use panic::panic_of;
pub use poll::{PATIENCE, until};
pub use random::Random;
pub use terminal::{Key, Shell, Terminal};
