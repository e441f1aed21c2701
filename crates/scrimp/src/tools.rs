//! The tools of this build. A tool that moves in adds one row, and with it a subcommand, a completion, a stop of the
//! tour, a section of the doctor, rows of savings, and lines of the generated pages.

use kit::doctor::Check;
use kit::invocation::Environment;
use kit::places::{Entry, Variable};
use kit::{Exit, Failure, Invocation, Places, savings, tour};

/// What a tool is to the front door.
pub struct Tool {
    pub name: &'static str,
    /// One line for the list of commands.
    pub about: &'static str,
    /// The same entry that the tool's own binary calls.
    pub run: fn(Invocation) -> Exit,
    /// Its flags and subcommands, for help and completions. Parsing stays the tool's.
    pub command: fn() -> clap::Command,
    pub tour: tour::Stop,
    pub doctor: fn(&Invocation, &Places) -> Vec<Check>,
    pub savings: fn(&Invocation, &Places) -> Result<Vec<savings::Row>, Failure>,
    /// Its part of the one server for clients of the Model Context Protocol.
    pub mcp: Option<Serves>,
    pub files: &'static [Entry],
    pub variables: &'static [Variable],
    pub alone: Alone,
}

type Serves = fn(&Invocation, &Places) -> Result<mcp::Part, Failure>;

/// What `scrimp` without a word does for a person at a terminal.
#[derive(Clone, Copy)]
pub enum Alone {
    /// Nothing of this tool's.
    Nothing,
    /// Opens the tool if it is ready; if not, these lines say how to make it so.
    Open { is_ready: fn(&Environment, &Places) -> bool, how: &'static str },
}

/// In the order of the tour.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: drip::front::NAME,
        about: drip::front::ABOUT,
        run: drip::run,
        command: drip::front::command,
        tour: drip::front::tour,
        doctor: drip::front::doctor,
        savings: drip::front::savings,
        mcp: Some(drip::front::mcp),
        files: drip::front::FILES,
        variables: drip::front::VARIABLES,
        alone: Alone::Nothing,
    },
    Tool {
        name: tldr::front::NAME,
        about: tldr::front::ABOUT,
        run: tldr::run,
        command: tldr::front::command,
        tour: tldr::front::tour,
        doctor: tldr::front::doctor,
        savings: tldr::front::savings,
        mcp: Some(tldr::front::mcp),
        files: tldr::front::FILES,
        variables: tldr::front::VARIABLES,
        alone: Alone::Nothing,
    },
    Tool {
        name: clai::front::NAME,
        about: clai::front::ABOUT,
        run: clai::run,
        command: clai::front::command,
        tour: clai::front::tour,
        doctor: clai::front::doctor,
        savings: clai::front::savings,
        mcp: None,
        files: clai::front::FILES,
        variables: clai::front::VARIABLES,
        alone: Alone::Nothing,
    },
    Tool {
        name: chibi::front::NAME,
        about: chibi::front::ABOUT,
        run: chibi::run,
        command: chibi::front::command,
        tour: chibi::front::tour,
        doctor: chibi::front::doctor,
        savings: chibi::front::savings,
        mcp: None,
        files: chibi::front::FILES,
        variables: chibi::front::VARIABLES,
        alone: Alone::Nothing,
    },
    Tool {
        name: agent::front::NAME,
        about: agent::front::ABOUT,
        run: agent::run,
        command: agent::front::command,
        tour: agent::front::tour,
        doctor: agent::front::doctor,
        savings: agent::front::savings,
        mcp: None,
        files: agent::front::FILES,
        variables: agent::front::VARIABLES,
        alone: Alone::Open { is_ready: agent::front::is_ready, how: agent::front::HOW },
    },
];
