//! What the model can do. Each tool is declared once, in its own file: name, words, schema, limits and what runs it.
//! Whether a call may run is decided elsewhere; here it is done. A failure is an answer to the model, never ours.

pub mod bash;
pub mod code;
pub mod edit;
mod list;
mod read;
pub mod recent;
mod search;
pub mod task;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use conversation::tools::{Beside, Output, Spec, Task};
use kit::process::Cancel;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::eyes::Eyes;
use crate::meter::Meter;
use crate::permission::{Access, Closed};
use crate::project::Project;
use crate::sandbox::Sandbox;
use crate::undo::Undo;
use code::CodeIndex;
use recent::Recent;
use task::Subagent;

pub const READ_FILE: &str = "read_file";
pub const LIST_FILES: &str = "list_files";
pub const BASH: &str = "bash";
pub const EDIT_FILE: &str = "edit_file";
pub const CODE_SEARCH: &str = "code_search";
pub const TASK: &str = "task";

/// A tool: everything about it but what it works on.
pub struct Declared {
    pub name: &'static str,
    description: &'static str,
    schema: fn() -> Value,
    beside: Beside,
    /// The most bytes of a result, and how the model gets the rest.
    cap: (usize, &'static str),
    /// What a call touches, for whoever decides whether it may.
    pub access: fn(&Task) -> Access,
    run: fn(&Workshop, &Task, &mut Surroundings) -> Answer,
}

/// What a tool gave; an error is what it refused with. Both are for the model.
type Answer = Result<Output, Output>;

/// Where the tools work: one project, with what guards it and what it can ask.
pub struct Workshop {
    pub project: Project,
    pub limits: Limits,
    /// What commands see of the environment.
    pub environment: Vec<(OsString, OsString)>,
    pub sandbox: Option<Sandbox>,
    /// What is left out of lists and searches.
    pub closed: Closed,
    /// A private directory for output that does not fit.
    pub spill: PathBuf,
    pub undo: Option<Mutex<Undo>>,
    pub index: Option<Box<dyn CodeIndex>>,
    pub recent: Option<Box<dyn Recent>>,
    pub subagent: Option<Arc<dyn Subagent>>,
    /// What reads would have cost, and what they did.
    pub meter: Meter,
    spilled: AtomicU64,
}

/// The seed's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of a command.
    pub patience: Duration,
    /// Of a file that is read whole or edited.
    pub file: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { patience: Duration::from_secs(120), file: 1 << 20 }
    }
}

/// What surrounds one call.
pub struct Surroundings<'a> {
    /// What the model sees now.
    pub eyes: &'a Eyes,
    /// Gets output as it comes.
    pub live: &'a mut dyn FnMut(&str),
    pub cancel: &'a Cancel,
}

impl Workshop {
    /// With nothing but the project; the other fields are public and `None`.
    pub fn new(project: Project, spill: &Path) -> Workshop {
        Workshop {
            project,
            limits: Limits::default(),
            environment: Vec::new(),
            sandbox: None,
            closed: Closed::default(),
            spill: spill.to_owned(),
            undo: None,
            index: None,
            recent: None,
            subagent: None,
            meter: Meter::default(),
            spilled: AtomicU64::new(0),
        }
    }

    /// The tools that work here, in a fixed order.
    pub fn tools(&self) -> Vec<&'static Declared> {
        let mut tools: Vec<&Declared> =
            vec![&read::TOOL, &list::TOOL, &bash::TOOL, &edit::TOOL, &search::TOOL];
        if self.index.is_some() {
            tools.extend(code::TOOLS);
        }
        if self.recent.is_some() {
            tools.push(&recent::TOOL);
        }
        if self.subagent.is_some() {
            tools.push(&task::TOOL);
        }
        tools
    }

    /// Does what a model asked for. Takes at most as long as a command may, and ends soon once cancelled.
    pub fn run(&self, task: &Task, surroundings: &mut Surroundings) -> Output {
        match self.tools().into_iter().find(|tool| tool.name == task.name) {
            Some(tool) => (tool.run)(self, task, surroundings).unwrap_or_else(|refused| refused),
            None => Output::failed(format!("there is no tool `{}`", kit::text::plain(&task.name))),
        }
    }

    /// What a call would touch; a call that nobody knows touches everything.
    pub fn access(&self, task: &Task) -> Access {
        self.tools()
            .into_iter()
            .find(|tool| tool.name == task.name)
            .map_or(Access::Unknown, |tool| (tool.access)(task))
    }

    /// Whether a walk of this tool leaves the path out.
    fn is_closed(&self, tool: &str, path: &Path) -> bool {
        let below = path.strip_prefix(self.project.root()).unwrap_or(path);
        self.closed.holds(tool, &crate::project::name(below), path)
    }

    pub fn undo(&self) -> Option<MutexGuard<'_, Undo>> {
        // Whoever panicked while it kept a pre-image left at worst one that nobody refers to.
        self.undo.as_ref().map(|undo| undo.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A file for output that does not fit: of its own for each command. The first one clears old ones away.
    fn next_spill(&self) -> PathBuf {
        if self.spilled.load(Ordering::Relaxed) == 0 {
            bash::tidy(&self.spill, SystemTime::now());
        }
        loop {
            let number = self.spilled.fetch_add(1, Ordering::Relaxed);
            let path = self.spill.join(format!("output-{}-{number}.txt", std::process::id()));
            // A process that is gone may have had our number.
            if !path.exists() {
                return path;
            }
        }
    }
}

impl Declared {
    /// As the turn machine wants it.
    pub fn spec(&self) -> Spec {
        let (bytes, rest) = self.cap;
        Spec::new(self.name, self.description, (self.schema)()).beside(self.beside).cap(bytes, rest)
    }
}

/// What is said of files that a walk came upon and did not show.
fn left_out(count: usize) -> Option<String> {
    (count > 0).then(|| format!("[{count} left out: a rule of the user wants them named and asked about]"))
}

/// The arguments of a call; what is wrong with them is told to the model.
fn arguments<T: DeserializeOwned>(task: &Task) -> Result<T, Output> {
    let read = serde_json::from_value(Value::Object(task.arguments.clone()));
    read.map_err(|error| {
        Output::failed(format!("`{}` was not run, its arguments are wrong: {error}", task.name))
    })
}
