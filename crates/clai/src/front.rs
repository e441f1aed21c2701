//! What the front door needs to know of clai: its commands, its stop of the tour, its findings, its files and variables.

use kit::doctor::Check;
use kit::places::{Entry, Variable};
use kit::{Failure, Invocation, Places, savings};

use crate::config::{self, KEYS};
use crate::{cli, commands, import};

pub use crate::commands::run;
pub use tour::stop as tour;

mod tour;

pub const NAME: &str = "clai";
pub const ABOUT: &str = "Your next command, learned from what you do";

pub fn command() -> clap::Command {
    cli::command()
}

pub fn doctor(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let named = |check: Check| Check {
        subject: NAME.into(),
        finding: format!("{}: {}", check.subject, check.finding),
        ..check
    };
    commands::doctor::checks(invocation, places).into_iter().map(named).collect()
}

/// Keys are saved here, not tokens: `clai replay` counts those.
pub fn savings(_: &Invocation, _: &Places) -> Result<Vec<savings::Row>, Failure> {
    Ok(Vec::new())
}

pub const FILES: &[Entry] = config::ENTRIES;

/// Those of the settings, what the scripts of the shells look at, what they tell the hook, and where histories are.
pub const VARIABLES: &[Variable] = {
    const OTHERS: [&[Variable]; 4] = [SHELLS, wire::clai::VARIABLES, config::VARIABLES, import::VARIABLES];
    const COUNT: usize = KEYS.len() + OTHERS[0].len() + OTHERS[1].len() + OTHERS[2].len() + OTHERS[3].len();
    const ALL: [Variable; COUNT] = {
        let mut all = [SHELLS[0]; COUNT];
        let mut next = 0;
        while next < KEYS.len() {
            let key = &KEYS[next];
            all[next] = Variable { name: key.variable, meaning: key.meaning, default: key.default };
            next += 1;
        }
        let mut part = 0;
        while part < OTHERS.len() {
            let mut index = 0;
            while index < OTHERS[part].len() {
                all[next] = OTHERS[part][index];
                next += 1;
                index += 1;
            }
            part += 1;
        }
        all
    };
    &ALL
};

const SHELLS: &[Variable] = &[
    Variable {
        name: "CLAI_OFF",
        meaning: "set and not empty: the shell's script does nothing",
        default: "unset",
    },
    Variable { name: "CLAI_GHOST_STYLE", meaning: "how zsh draws what may come next", default: "fg=8" },
    Variable { name: "CLAI_PREFIX", meaning: "what is typed so far, for `clai suggest`", default: "nothing" },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_told_once() {
        let mut names: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for name in ["CLAI_DB_DIR", "CLAI_CMD", "CLAI_ACTOR", "CLAI_SCORER", "HISTFILE", "CLAI_OFF"] {
            assert!(names.contains(&name), "{name}");
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
