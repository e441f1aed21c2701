//! Finding files by name and lines by pattern, without what [`crate::ignored`] keeps away, and saying how much that
//! was. Knows no hook: callers say what they want and get text and numbers.
//!
//! Both search what the clients' own tools search. Those list files that git ignores but do not look into them: so
//! [`glob`] knows no `.gitignore`, and [`grep`] leaves it to ripgrep.

mod glob;
mod grep;
mod hits;

pub use glob::{Found, GlobError, HiddenFiles, MOST, glob};
pub use grep::{Answer, Cut, Grepped, HiddenHits, Mode, Request, grep};
