//! The table of everything that can be set. A long flat list on purpose: what a key is called, what it means, what it
//! may be and what it is by default stand in one place.

use std::fmt;

use toml::Value;

/// One thing that can be set.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    pub name: &'static str,
    pub variable: &'static str,
    pub kind: Kind,
    /// As it would stand in the file.
    pub default: &'static str,
    pub meaning: &'static str,
}

/// What a value may be.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    Whole { least: i64, most: i64 },
    OneOf(&'static [&'static str]),
    Switch,
    Texts,
}

pub const KEYS: &[Key] = &[
    Key {
        name: "retention_days",
        variable: "CLAI_RETENTION_DAYS",
        kind: Kind::Whole { least: 1, most: 36_500 },
        default: "90",
        meaning: "Commands older than this are deleted. What was learned from them stays until aggregates are rebuilt.",
    },
    Key {
        name: "synchronous",
        variable: "CLAI_SYNCHRONOUS",
        kind: Kind::OneOf(&["off", "normal", "full"]),
        default: "\"normal\"",
        meaning: "What a written batch survives besides a crash of the daemon: nothing, a power loss but for the last batches, all.",
    },
    Key {
        name: "hook_timeout_ms",
        variable: "CLAI_HOOK_TIMEOUT_MS",
        kind: Kind::Whole { least: 10, most: 20 },
        default: "15",
        meaning: "How long the hook may take in all to hand over a command before it drops it.",
    },
    Key {
        name: "oversize",
        variable: "CLAI_OVERSIZE",
        kind: Kind::OneOf(&["stdin", "skip", "truncate"]),
        default: "\"stdin\"",
        meaning: "How a command of more than 32768 bytes is handed over: on standard input, not at all, or cut with a mark.",
    },
    Key {
        name: "scorer",
        variable: "CLAI_SCORER",
        kind: Kind::OneOf(&["seed", "blend"]),
        default: "\"blend\"",
        meaning: "How suggestions are weighed: fixed weights, or weights learned while you work.",
    },
    Key {
        name: "secrets",
        variable: "CLAI_SECRETS",
        kind: Kind::OneOf(&["redact", "drop", "off"]),
        default: "\"redact\"",
        meaning: "A line with a secret is kept with the secret taken out, not kept, or kept as it is.",
    },
    Key {
        name: "agents",
        variable: "CLAI_AGENTS",
        kind: Kind::OneOf(&["apart", "drop"]),
        default: "\"apart\"",
        meaning: "Commands that a program typed are kept apart from yours and not learned from, or not kept.",
    },
    Key {
        name: "ignore",
        variable: "CLAI_IGNORE",
        kind: Kind::Texts,
        default: "[]",
        meaning: "Lines that are never kept, as in HISTIGNORE: `*` is any text, `?` any character. In the variable, one per line.",
    },
    Key {
        name: "ignore_dirs",
        variable: "CLAI_IGNORE_DIRS",
        kind: Kind::Texts,
        default: "[]",
        meaning: "Directories in and below which nothing is kept; `~` is your home. In the variable, one per line.",
    },
    Key {
        name: "make_qp",
        variable: "CLAI_MAKE_QP",
        kind: Kind::Texts,
        default: "[]",
        meaning: "Repositories whose targets are asked of `make -qp`: exact, but it runs what `$(shell …)` in the Makefile says.",
    },
    Key {
        name: "ghost",
        variable: "CLAI_GHOST",
        kind: Kind::Switch,
        default: "true",
        meaning: "Show the next command on an empty line where the shell can.",
    },
    Key {
        name: "hints",
        variable: "CLAI_HINTS",
        kind: Kind::Switch,
        default: "true",
        meaning: "Show it beside or above the prompt where the shell cannot draw on the line.",
    },
    Key {
        name: "non_interactive",
        variable: "CLAI_NON_INTERACTIVE",
        kind: Kind::Switch,
        default: "false",
        meaning: "Also load in shells that nobody types into. They show no prompt, so only what a script tells `__clai_send` is known.",
    },
    Key {
        name: "debug",
        variable: "CLAI_DEBUG",
        kind: Kind::Switch,
        default: "false",
        meaning: "Open `/debug/scores`, `/debug/transitions` and `/debug/tasks` on the daemon's socket.",
    },
];

impl Key {
    pub fn default_value(&self) -> Value {
        self.default.parse().expect("a default is a TOML value")
    }
}

impl Kind {
    /// What stands in a flag or a variable: text without TOML's quotes.
    pub(super) fn read(&self, text: &str) -> Value {
        match self {
            Kind::Whole { .. } => text.trim().parse::<i64>().map_or_else(|_| text.into(), Value::Integer),
            Kind::Switch => match text.trim() {
                "true" | "1" | "on" | "yes" => true.into(),
                "false" | "0" | "off" | "no" => false.into(),
                other => other.into(),
            },
            Kind::OneOf(_) => text.trim().into(),
            Kind::Texts => {
                Value::Array(text.lines().filter(|line| !line.is_empty()).map(Value::from).collect())
            }
        }
    }

    pub(super) fn takes(&self, value: &Value) -> bool {
        match self {
            Kind::Whole { least, most } => value.as_integer().is_some_and(|n| (*least..=*most).contains(&n)),
            Kind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Kind::Switch => value.is_bool(),
            Kind::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_str)),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Whole { least, most } => write!(f, "a whole number from {least} to {most}"),
            Kind::OneOf(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                f.write_str(&words.join(" or "))
            }
            Kind::Switch => f.write_str("true or false"),
            Kind::Texts => f.write_str("a list of strings"),
        }
    }
}
