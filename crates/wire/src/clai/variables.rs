//! The variables in which a shell hands over an event, for `clai-hook` and for the reference. Two more that the hook
//! obeys are settings, and stand with those.

use kit::places::Variable;

pub const VARIABLES: &[Variable] = &[
    Variable { name: "CLAI_CMD", meaning: "the command line, any bytes", default: "nothing is sent" },
    Variable { name: "CLAI_CWD", meaning: "where it ran", default: "nothing is sent" },
    Variable { name: "CLAI_EXIT", meaning: "its exit code", default: "0" },
    Variable { name: "CLAI_TS", meaning: "when it ended, Unix milliseconds", default: "now" },
    Variable { name: "CLAI_DURATION_MS", meaning: "how long it ran", default: "unknown" },
    Variable { name: "CLAI_SHELL", meaning: "bash, zsh or fish", default: "nothing is sent" },
    Variable {
        name: "CLAI_SESSION_ID",
        meaning: "the session of this shell; its script sets it",
        default: "nothing is sent",
    },
    Variable { name: "CLAI_NO_RECORD", meaning: "1: what is run is not sent", default: "0" },
    Variable {
        name: "CLAI_EPHEMERAL",
        meaning: "1: learn from what is run, never write it down",
        default: "0",
    },
    Variable { name: "CLAI_ACTOR", meaning: "who types, if not the person", default: "the person" },
];
