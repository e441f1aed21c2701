//! What was found in the folder, what became of it and why, as data and in words.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use kit::text;

use crate::hooks::{Hook, Role, Warning};

use super::{Plugin, Protocol};

/// Everything in the folder, in the order of its names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub entries: Vec<Entry>,
    /// Why the folder could not be looked through.
    pub trouble: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub state: State,
    /// What is odd about it and did not keep it from being loaded.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Loaded { tools: Vec<String>, hooks: Vec<Hook>, role: Role, protocol: Protocol },
    Skipped(Fault),
}

/// Why something is no plugin, or none that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Disabled,
    Name,
    NotExecutable,
    NotAFile,
    EmptyDirectory(String),
    LeadsOut(PathBuf),
    Unreadable(String),
    /// It could not be asked, or failed.
    Failed(String),
    Hung(Duration),
    Flooded(usize),
    /// It answered, but not with what we can use.
    Schema(String),
}

impl Fault {
    /// Whether somebody wanted it so: no reason to speak up.
    fn is_ordinary(&self) -> bool {
        matches!(self, Fault::Disabled | Fault::NotExecutable | Fault::EmptyDirectory(_))
    }

    /// What went wrong, without what follows from it.
    pub(super) fn cause(&self) -> String {
        match self {
            Fault::Disabled => "disabled by its name".to_owned(),
            Fault::Name => "its name is not UTF-8".to_owned(),
            Fault::NotExecutable => "not executable".to_owned(),
            Fault::NotAFile => "not a regular file".to_owned(),
            Fault::EmptyDirectory(wanted) => format!("a directory without `{wanted}`"),
            Fault::LeadsOut(target) => {
                format!("leads out of the folder, to `{}`: copy it instead", target.display())
            }
            Fault::Unreadable(error) => error.clone(),
            Fault::Failed(how) => format!("`--schema` {how}"),
            Fault::Hung(time) => format!("`--schema` did not end within {time:?}"),
            Fault::Flooded(bytes) => {
                format!("`--schema` printed more than {} bytes", text::thousands(*bytes as u64))
            }
            Fault::Schema(what) => format!("its schema cannot be used: {what}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remembered = matches!(self, Fault::Hung(_) | Fault::Flooded(_));
        let tail = if remembered { "; not tried again until the file changes" } else { "" };
        write!(f, "{}{tail}", self.cause())
    }
}

impl Report {
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let folder = self.trouble.iter().map(|what| Warning { plugin: "*".to_owned(), what: what.clone() });
        let entries = self.entries.iter().flat_map(|entry| {
            let skipped = match &entry.state {
                State::Skipped(fault) if !fault.is_ordinary() => Some(format!("skipped: {fault}")),
                _ => None,
            };
            let whats = skipped.into_iter().chain(entry.notes.iter().cloned());
            whats.map(|what| Warning { plugin: entry.name.clone(), what })
        });
        folder.chain(entries).collect()
    }
}

impl Entry {
    pub(super) fn loaded(plugin: &Plugin, notes: Vec<String>) -> Entry {
        let tools = plugin.tools.iter().map(|tool| tool.name.clone()).collect();
        let state = State::Loaded {
            tools,
            hooks: plugin.hooks.clone(),
            role: plugin.role,
            protocol: plugin.protocol,
        };
        Entry { name: plugin.name.clone(), state, notes }
    }

    pub(super) fn skipped(name: &str, fault: Fault) -> Entry {
        Entry { name: name.to_owned(), state: State::Skipped(fault), notes: Vec::new() }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(trouble) = &self.trouble {
            writeln!(f, "{trouble}")?;
        }
        self.entries.iter().try_for_each(|entry| write!(f, "{entry}"))
    }
}

/// One line, and one for each note.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", text::plain(&self.name), self.state)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {}", text::plain(note)))
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, hooks, role, protocol) = match self {
            State::Skipped(fault) => return write!(f, "skipped: {}", text::plain(&fault.to_string())),
            State::Loaded { tools, hooks, role, protocol } => (tools, hooks, role, protocol),
        };
        write!(f, "{}", if *role == Role::Guard { "guard" } else { "loaded" })?;
        if !tools.is_empty() {
            write!(f, ", tools {}", tools.join(", "))?;
        }
        if !hooks.is_empty() {
            write!(f, ", hooks {}", hooks.iter().map(|hook| hook.name()).collect::<Vec<_>>().join(", "))?;
        }
        if *protocol == Protocol::Stdin {
            f.write_str(", speaks over stdin")?;
        }
        Ok(())
    }
}
