//! A throw-away project and home, and what `init` and `uninstall` would do there.

use std::fs;
use std::path::{Path, PathBuf};

use drip::setup::{Action, Agent, Edit, Ground, Mode, Scope, SetupError, plan};
use testkit::Home;

pub(crate) const DRIP: &str = "/opt/scrimp/bin/drip";

pub(crate) struct Place {
    pub(crate) home: Home,
    pub(crate) ground: Ground,
}

impl Place {
    pub(crate) fn new() -> Place {
        let home = Home::new();
        let project = home.path().join("project");
        fs::create_dir(&project).unwrap();
        let ground =
            Ground { project, home: home.path().to_owned(), codex_home: None, drip: PathBuf::from(DRIP) };
        Place { home, ground }
    }

    /// The settings file of an agent: in the project, for Codex in the home.
    pub(crate) fn settings(&self, agent: Agent) -> PathBuf {
        match agent {
            Agent::Claude => self.ground.project.join(".claude/settings.json"),
            Agent::Codex => self.ground.home.join(".codex/config.toml"),
            Agent::Gemini => self.ground.project.join(".gemini/settings.json"),
        }
    }

    pub(crate) fn plan(&self, agent: Agent, action: Action) -> Result<Vec<Edit>, SetupError> {
        plan(agent, Scope::Project, action, &self.ground)
    }

    /// Makes the edits without the care of `apply`, which has tests of its own.
    pub(crate) fn run(&self, agent: Agent, action: Action) {
        for edit in self.plan(agent, action).unwrap() {
            put(&edit.path, edit.after.as_deref());
        }
    }

    pub(crate) fn init(&self, agent: Agent) {
        self.run(agent, Action::Init(Mode::Rewrite));
    }

    pub(crate) fn uninstall(&self, agent: Agent) {
        self.run(agent, Action::Uninstall);
    }
}

/// The file as it is, if it is there.
pub(crate) fn get(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

pub(crate) fn put(path: &Path, text: Option<&str>) {
    // Writing over a file makes ext4 wait for the disk; thousands of cases would wait for minutes.
    if path.exists() {
        fs::remove_file(path).unwrap();
    }
    if let Some(text) = text {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
