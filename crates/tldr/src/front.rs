//! What the front door needs to know of tldr.

pub const NAME: &str = "tldr";
pub const ABOUT: &str = "Code questions answered from a warm index instead of from whole files";

pub fn command() -> clap::Command {
    crate::cli::command()
}
