//! What a person can set. Each key is declared once, in [`KEYS`]: the commented file, the warnings, the origins and
//! the reference come from that table. Knows no daemon and no shell.
//!
//! Flags win over the environment, that over the file, that over the defaults. A key that we do not know is a warning
//! with the nearest name; a value that we cannot take is a failure, because some keys protect, and a guard that was
//! misspelt must not be silently open.

mod keys;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kit::invocation::Environment;
use kit::places::{Entry, Variable, private_dir, shell_word};
use kit::{Failure, Places, invocation, text};
use store::Durability;
use store::sqlite::Synchronous;
use toml::{Table, Value};

use crate::rank::Scorer;
use crate::redact;
pub use keys::{KEYS, Key, Kind};

/// All settings, as plain values.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub retention_days: u32,
    pub synchronous: Synchronous,
    pub hook_timeout_ms: u32,
    pub oversize: Oversize,
    pub scorer: Scorer,
    /// What becomes of a line with a secret in it.
    pub secrets: redact::Policy,
    pub agents: Agents,
    pub ignore: Vec<String>,
    pub ignore_dirs: Vec<String>,
    pub make_qp: Vec<String>,
    pub ghost: bool,
    pub hints: bool,
    pub non_interactive: bool,
    pub debug: bool,
}

/// What the shells do with a command that is too long for an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    Stdin,
    Skip,
    Truncate,
}

impl Oversize {
    /// As it stands in the file.
    pub fn word(self) -> &'static str {
        match self {
            Oversize::Stdin => "stdin",
            Oversize::Skip => "skip",
            Oversize::Truncate => "truncate",
        }
    }
}

/// What happens to commands that a person did not type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agents {
    /// Stored with their tag, never learned from.
    Apart,
    Drop,
}

/// Which layer a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Default,
    File,
    Environment,
    Flag,
}

impl Origin {
    pub fn word(self) -> &'static str {
        match self {
            Origin::Default => "default",
            Origin::File => "file",
            Origin::Environment => "environment",
            Origin::Flag => "flag",
        }
    }
}

/// One key with the value that won.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub key: &'static Key,
    pub value: Value,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub config: Config,
    /// In the order of [`KEYS`].
    pub settings: Vec<Setting>,
    pub warnings: Vec<String>,
}

/// Variables that are not keys of the file.
pub const VARIABLES: &[Variable] = &[Variable {
    name: "CLAI_DB_DIR",
    meaning: "where clai keeps its database",
    default: "$XDG_DATA_HOME/clai",
}];

pub const ENTRIES: &[Entry] = &[
    Entry {
        path: "$XDG_CONFIG_HOME/clai/config.toml",
        owner: "clai",
        holds: "settings, written by `clai config init`",
    },
    Entry {
        path: "$XDG_DATA_HOME/clai/clai.db",
        owner: "clai",
        holds: "commands, secrets taken out, and what was learned",
    },
    Entry { path: "$XDG_DATA_HOME/clai/.daemon.lock", owner: "clai", holds: "the id of the one daemon" },
    Entry { path: "$XDG_RUNTIME_DIR/clai/daemon.sock", owner: "clai", holds: "where the daemon is met" },
];

pub fn path(places: &Places) -> PathBuf {
    places.config.join("clai/config.toml")
}

/// The directory of the database. A relative `CLAI_DB_DIR` would mean another place in every shell.
pub fn database_dir(env: &Environment, places: &Places) -> Result<PathBuf, Failure> {
    match env.get("CLAI_DB_DIR").filter(|value| !value.is_empty()).map(PathBuf::from) {
        None => Ok(places.data.join("clai")),
        Some(path) if path.is_absolute() => Ok(path),
        Some(path) => {
            Err(Failure::usage(format!("CLAI_DB_DIR is `{}`, not an absolute path", path.display()))
                .hint("`export CLAI_DB_DIR=/…`, or unset it"))
        }
    }
}

/// Reads the file, if there is one, and puts the layers together. `flags` are keys with their text.
pub fn load(places: &Places, env: &Environment, flags: &[(&str, &str)]) -> Result<Loaded, Failure> {
    let path = path(places);
    let file = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::new(format!("cannot read `{}`", path.display())).because(&error)),
    };
    let edit = || format!("`$EDITOR {}`", shell_word(path.as_os_str()));
    let environment = |key: &Key| env.text(key.variable).map(str::to_owned);
    layered(&file, environment, flags).map_err(|problem| match problem {
        Problem { origin: Origin::File, words } => {
            Failure::usage(format!("`{}`: {words}", path.display())).hint(edit())
        }
        Problem { words, .. } => Failure::usage(words),
    })
}

/// The file that `config init` writes: every key with its meaning, commented out at its default.
pub fn commented() -> String {
    let mut out = String::from("# clai: next-command suggestions. Every key is shown at its default.\n");
    for key in KEYS {
        let _ = writeln!(
            out,
            "\n# {}\n# {}; also {}.\n# {} = {}",
            key.meaning, key.kind, key.variable, key.name, key.default
        );
    }
    out
}

/// Writes the commented file where there is none.
pub fn init(places: &Places) -> Result<PathBuf, Failure> {
    let path = path(places);
    let folder = path.parent().expect("the file is below the configuration directory");
    if path.symlink_metadata().is_ok() {
        return Err(Failure::new(format!("`{}` is there already", path.display()))
            .hint(format!("`$EDITOR {}`", shell_word(path.as_os_str()))));
    }
    let what = "cannot write the configuration";
    private_dir(folder, places.uid).map_err(|error| invocation::place_failure(what, &error))?;
    store::replace(&path, commented().as_bytes(), Durability::Fsync)
        .map_err(|error| Failure::new(what).because(&error))?;
    Ok(path)
}

/// A value as it stands in the file.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text::json_string(text),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(switch) => switch.to_string(),
        Value::Array(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Value::Float(number) => number.to_string(),
        Value::Datetime(_) => "a date".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

/// Whether a directory is the one named or lies below it. `~` is the home.
pub fn covers(pattern: &str, directory: &str, home: &Path) -> bool {
    let expanded = match pattern.strip_prefix("~") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", home.display()),
        _ => pattern.to_owned(),
    };
    Path::new(directory).starts_with(expanded.trim_end_matches('/'))
}

/// Whether the whole of `line` is what `pattern` describes, where `*` is any text and `?` any character: the rule of
/// HISTIGNORE.
pub fn glob(pattern: &str, line: &str) -> bool {
    let (pattern, line): (Vec<char>, Vec<char>) = (pattern.chars().collect(), line.chars().collect());
    let (mut p, mut l) = (0, 0);
    // Where the last `*` stood, and how much of the line it has swallowed so far.
    let mut star = None;
    while l < line.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, l));
                p += 1;
            }
            Some(c) if *c == '?' || *c == line[l] => (p, l) = (p + 1, l + 1),
            _ => match star {
                Some((at, swallowed)) => {
                    star = Some((at, swallowed + 1));
                    (p, l) = (at + 1, swallowed + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[derive(Debug, PartialEq)]
struct Problem {
    origin: Origin,
    words: String,
}

fn layered(
    file: &str,
    environment: impl Fn(&Key) -> Option<String>,
    flags: &[(&str, &str)],
) -> Result<Loaded, Problem> {
    let in_file = |words: String| Problem { origin: Origin::File, words };
    let table: Table = toml::from_str(file).map_err(|error| in_file(error.message().to_owned()))?;
    let warnings = table.keys().filter_map(|name| unknown(name)).collect();
    let mut settings = Vec::with_capacity(KEYS.len());
    for key in KEYS {
        let flag = flags.iter().find(|(name, _)| *name == key.name).map(|(_, text)| (*text).to_owned());
        let typed = |text: String, origin| (key.kind.read(&text), origin);
        let (value, origin) = None
            .or_else(|| flag.map(|text| typed(text, Origin::Flag)))
            .or_else(|| environment(key).map(|text| typed(text, Origin::Environment)))
            .or_else(|| table.get(key.name).map(|value| (value.clone(), Origin::File)))
            .unwrap_or_else(|| (key.default_value(), Origin::Default));
        if !key.kind.takes(&value) {
            let words = format!("`{}` is {}, and must be {}", key.name, shown(&value), key.kind);
            return Err(Problem { origin, words });
        }
        settings.push(Setting { key, value, origin });
    }
    let values: BTreeMap<&str, &Value> =
        settings.iter().map(|setting| (setting.key.name, &setting.value)).collect();
    Ok(Loaded { config: Config::of(&values), warnings, settings })
}

fn unknown(name: &str) -> Option<String> {
    if KEYS.iter().any(|key| key.name == name) {
        return None;
    }
    let meant = text::nearest(name, KEYS.iter().map(|key| key.name));
    let meant = meant.map_or(String::new(), |near| format!(", perhaps `{near}`"));
    Some(format!("unknown key `{}`{meant}", text::plain(name)))
}

impl Config {
    /// Of values that were all found to be of their kind.
    fn of(values: &BTreeMap<&str, &Value>) -> Config {
        let number =
            |name: &str| values[name].as_integer().and_then(|n| u32::try_from(n).ok()).expect("in its range");
        let word = |name: &str| values[name].as_str().expect("one of its words");
        let switch = |name: &str| values[name].as_bool().expect("true or false");
        let texts = |name: &str| {
            let texts = values[name].as_array().expect("a list");
            texts.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        Config {
            retention_days: number("retention_days"),
            synchronous: match word("synchronous") {
                "off" => Synchronous::Off,
                "full" => Synchronous::Full,
                _ => Synchronous::Normal,
            },
            hook_timeout_ms: number("hook_timeout_ms"),
            oversize: match word("oversize") {
                "skip" => Oversize::Skip,
                "truncate" => Oversize::Truncate,
                _ => Oversize::Stdin,
            },
            scorer: Scorer::named(word("scorer")).unwrap_or_default(),
            secrets: match word("secrets") {
                "off" => redact::Policy::Off,
                "drop" => redact::Policy::Drop,
                _ => redact::Policy::Redact,
            },
            agents: if word("agents") == "drop" { Agents::Drop } else { Agents::Apart },
            ignore: texts("ignore"),
            ignore_dirs: texts("ignore_dirs"),
            make_qp: texts("make_qp"),
            ghost: switch("ghost"),
            hints: switch("hints"),
            non_interactive: switch("non_interactive"),
            debug: switch("debug"),
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        layered("", |_| None, &[]).expect("the defaults are of their kinds").config
    }
}

#[cfg(test)]
mod tests;
