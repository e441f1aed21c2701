//! Other people's programs that bring tools and listen to hooks: found in a folder, asked once what they can do, run with
//! a deadline, a cap and no more of the environment than they need. Their troubles are data: nothing here prints.
//!
//! A plugin is an executable below `$CHIBI_HOME/plugins`. `--schema` makes it print what it brings; the answer is kept
//! until the file changes, so that a usual start runs none of them.

mod cache;
mod environment;
mod find;
mod fire;
mod handover;
mod load;
mod report;
mod run;
mod schema;
pub mod shipped;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use conversation::tools::{self, Output, Spec};
use kit::invocation::Environment;
use kit::process::Cancel;
use serde_json::{Map, Value};

use crate::hooks::{Event, Fired, Hook, Role, Warning};

pub(crate) use cache::keep_file;
pub use environment::Secrets;
pub(crate) use environment::seen as environment;
pub use load::{Checked, check};
pub use report::{Entry, Fault, Report, State};
pub use schema::Protocol;

/// Everything that plugins depend on and that does not change during a run.
#[derive(Debug, Clone)]
pub struct Ground {
    /// `CHIBI_HOME`.
    pub home: PathBuf,
    /// Where plugins run.
    pub cwd: PathBuf,
    pub env: Environment,
    pub secrets: Secrets,
    pub limits: Limits,
    /// `[plugins.NAME]`, by the plugin's name: that of its file or directory, with or without what follows the last dot.
    pub settings: BTreeMap<String, Setting>,
}

/// How long plugins may take and how much they may print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// To tell what it brings. Some fetch what they need before they start for the first time.
    pub schema: Duration,
    pub hook: Duration,
    /// To do what a tool does. It may ask the person first.
    pub tool: Duration,
    /// Of what a tool prints, the beginning.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            schema: Duration::from_secs(10),
            hook: Duration::from_secs(30),
            tool: Duration::from_secs(300),
            output: tools::CAP,
        }
    }
}

/// What the person set for one plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// Variables that it may see beyond the usual ones.
    pub env: Vec<String>,
    /// Instead of the usual limit, for tools and hooks.
    pub timeout: Option<Duration>,
    pub schema: Kept,
    /// Instead of what its schema says: there are plugins that read standard input and do not say so.
    pub protocol: Option<Protocol>,
}

/// Whether a plugin's schema is kept until its file changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kept {
    #[default]
    UntilItChanges,
    /// For a plugin whose tools depend on more than its own file.
    Never,
}

/// The moment of a call: what changes during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scene<'a> {
    pub context: &'a str,
    pub verbose: bool,
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    pub output: Output,
    /// What the plugin wrote to its error stream, for the person; empty if that is the person's own.
    pub said: String,
}

/// Whose error stream and terminal plugins have, and tools the standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Streams {
    /// Nobody's: input is empty, and what they say is captured.
    Captured,
    /// Ours.
    Shared,
}

/// The plugins of a run. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plugins {
    ground: Arc<Ground>,
    plugins: Arc<[Plugin]>,
    report: Arc<Report>,
    streams: Streams,
}

/// A program and what it brings.
#[derive(Debug)]
pub(crate) struct Plugin {
    name: String,
    path: PathBuf,
    tools: Vec<schema::Tool>,
    hooks: Vec<Hook>,
    role: Role,
    protocol: Protocol,
}

impl Plugins {
    /// Finds all plugins and asks those that changed what they bring, all at the same time. Takes as long as the slowest
    /// of them, and no longer than [`Limits::schema`]; who has not answered by then is skipped, and not asked again
    /// before it changes.
    pub fn load(ground: impl Into<Arc<Ground>>) -> Plugins {
        let ground = ground.into();
        let (plugins, report) = load::load(&ground);
        Plugins { ground, plugins: plugins.into(), report: Arc::new(report), streams: Streams::Captured }
    }

    /// From now on plugins share this process's error stream and terminal, and tools its standard input, so that they
    /// can ask the person. Not for those who run in somebody else's process.
    #[must_use]
    pub fn attached(mut self) -> Plugins {
        self.streams = Streams::Shared;
        self
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What the person should know although nobody asked.
    pub fn warnings(&self) -> Vec<Warning> {
        self.report.warnings()
    }

    /// The tools as a model may call them.
    pub fn specs(&self) -> Vec<Spec> {
        let tools = self.plugins.iter().flat_map(|plugin| &plugin.tools);
        // A little above our own cut, so that its marker is not cut in turn.
        let cap = self.ground.limits.output.saturating_add(1_000);
        tools
            .map(|tool| Spec::new(&tool.name, &tool.description, tool.parameters.clone()).cap(cap, ""))
            .collect()
    }

    pub fn has_tool(&self, name: &str) -> bool {
        self.owner(name).is_some()
    }

    /// Whether anybody listens, so that nobody has to collect data for nobody.
    pub fn listen_to(&self, hook: Hook) -> bool {
        self.plugins.iter().any(|plugin| plugin.hooks.contains(&hook))
    }

    /// Runs a tool. Whatever happens is an output that a model can read. Gives up when [`Limits::tool`] has passed or
    /// `cancel` is set: the plugin is killed with all it started, and what it printed so far is given.
    pub fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        scene: &Scene<'_>,
        cancel: &Cancel,
    ) -> Called {
        match self.owner(tool) {
            Some(plugin) => {
                let call = run::Call { tool, arguments, scene, streams: self.streams };
                run::tool(&self.ground, plugin, &call, cancel)
            }
            None => Called {
                output: Output::failed(format!("no plugin has a tool `{tool}`")),
                said: String::new(),
            },
        }
    }

    /// Tells everybody who listens, one after the other, each once. Who has not answered within [`Limits::hook`] is
    /// killed: a guard then blocks, anybody else is a warning.
    pub fn fire(&self, event: &Event<'_>, scene: &Scene<'_>, cancel: &Cancel) -> Fired {
        let hook = event.hook();
        let listeners = self.plugins.iter().filter(|plugin| plugin.hooks.contains(&hook));
        fire::fire(&self.ground, listeners, event, &fire::Stage { scene, streams: self.streams }, cancel)
    }

    fn owner(&self, tool: &str) -> Option<&Plugin> {
        self.plugins.iter().find(|plugin| plugin.tools.iter().any(|own| own.name == tool))
    }
}

impl Ground {
    pub fn folder(&self) -> PathBuf {
        self.home.join("plugins")
    }

    /// For what can be made again.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home.join("cache")
    }

    fn setting(&self, plugin: &str) -> Option<&Setting> {
        let stem = || Path::new(plugin).file_stem().and_then(|stem| self.settings.get(stem.to_str()?));
        self.settings.get(plugin).or_else(stem)
    }
}
