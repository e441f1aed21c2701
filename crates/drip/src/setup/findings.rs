//! How far each client is set up, as data and as findings for `doctor`. It looks and changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use kit::doctor::Check;

use super::files::Loaded;
use super::registration::{Missing, Survey, survey};
use super::tree::Syntax;
use super::wanted::{Need, Wanted};
use super::{Agent, Ground, Mode, Part, Scope, SetupError, memory, parts, unfit};

/// One client in one scope.
#[derive(Debug)]
pub struct Finding {
    pub agent: Agent,
    pub scope: Scope,
    pub state: State,
    /// Programs that our entries run and that are not the one to be registered.
    pub strays: Vec<Program>,
    /// Settings of the client that switch every hook off.
    pub switches: Vec<PathBuf>,
}

#[derive(Debug)]
pub enum State {
    Absent,
    /// Not in this project, but for all projects.
    CoveredByGlobal,
    Complete(Mode),
    /// Set up for all projects as well, with another command: a client runs both.
    Twice(Mode),
    Partial {
        missing: Vec<String>,
        /// Whether what is missing makes wrong answers possible.
        unsafe_without: bool,
    },
    Unreadable(SetupError),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    Gone(PathBuf),
    Other(PathBuf),
}

/// Every client in every scope that it knows.
pub fn findings(ground: &Ground) -> Vec<Finding> {
    let mut found = Vec::new();
    for agent in Agent::ALL {
        let global = look(agent, Scope::Global, ground);
        if agent != Agent::Codex {
            let mut project = look(agent, Scope::Project, ground);
            project.settle(&global);
            found.push(project.finding);
        }
        found.push(global.finding);
    }
    found
}

impl Finding {
    /// The finding as `doctor` tells it; `spoken` is how this program is called.
    pub fn checks(&self, spoken: &str) -> Vec<Check> {
        let scope = if self.scope == Scope::Global { "global" } else { "project" };
        let subject = format!("{} {scope}", self.agent.name());
        let flag = if self.scope == Scope::Global && self.agent != Agent::Codex { " -g" } else { "" };
        let init = format!("`{spoken} init --agent {}{flag}`", self.agent.name());
        let mut checks = vec![match &self.state {
            State::Absent => Check::ok(&subject, "not set up").hint(&init),
            State::CoveredByGlobal => Check::ok(&subject, "covered by the global set-up"),
            State::Complete(Mode::Rewrite) => Check::ok(&subject, "set up"),
            State::Complete(Mode::Deny) => Check::ok(&subject, "set up (deny)"),
            State::Twice(_) => {
                Check::warn(&subject, "set up here and globally with another command; both run")
                    .hint(format!("`{spoken} uninstall --agent {}`", self.agent.name()))
            }
            State::Partial { missing, unsafe_without } => {
                let finding = format!("set up in part; missing: {}", missing.join(", "));
                let check = if *unsafe_without { Check::fail } else { Check::warn };
                check(subject.clone(), finding).hint(&init)
            }
            State::Unreadable(error) => Check::fail(&subject, error.to_string()),
        }];
        checks.extend(self.strays.iter().map(|program| match program {
            Program::Gone(path) => Check::fail(&subject, format!("`{}` is gone", path.display())).hint(&init),
            Program::Other(path) => {
                Check::warn(&subject, format!("runs `{}`, not this program", path.display())).hint(&init)
            }
        }));
        checks.extend(self.switches.iter().map(|path| {
            Check::warn(&subject, format!("no hook runs: `{SWITCH}` is true in `{}`", path.display()))
                .hint(format!("`${{EDITOR:-vi}} {}`", kit::places::shell_word(path.as_os_str())))
        }));
        checks
    }
}

/// What makes Claude run no hooks at all.
const SWITCH: &str = "disableAllHooks";

/// A finding and what it was found by.
struct Look {
    finding: Finding,
    programs: Vec<String>,
}

impl Look {
    /// What the global set-up means for the one of this project.
    fn settle(&mut self, global: &Look) {
        let global_mode = match global.finding.state {
            State::Complete(mode) => mode,
            _ => return,
        };
        match self.finding.state {
            State::Absent => self.finding.state = State::CoveredByGlobal,
            State::Complete(mode) if mode != global_mode || self.programs != global.programs => {
                self.finding.state = State::Twice(mode);
            }
            _ => {}
        }
    }
}

fn look(agent: Agent, scope: Scope, ground: &Ground) -> Look {
    let looked = [Mode::Rewrite, Mode::Deny].map(|mode| missing(agent, scope, mode, ground));
    let [rewrite, deny] = match looked {
        [Ok(rewrite), Ok(deny)] => [rewrite, deny],
        [Err(error), _] | [_, Err(error)] => {
            let state = State::Unreadable(error);
            let finding = Finding { agent, scope, state, strays: Vec::new(), switches: Vec::new() };
            return Look { finding, programs: Vec::new() };
        }
    };
    // The mode of which more is there; if that does not tell, the one that lacks less.
    let denies = (deny.present, rewrite.missing.len()) > (rewrite.present, deny.missing.len());
    let (mode, tally) = if denies { (Mode::Deny, deny) } else { (Mode::Rewrite, rewrite) };
    let state = match (tally.present, tally.missing.is_empty()) {
        (_, true) => State::Complete(mode),
        (0, _) => State::Absent,
        _ => State::Partial { missing: tally.missing, unsafe_without: tally.unsafe_without },
    };
    let strays =
        tally.programs.iter().filter_map(|program| stray(Path::new(program), &ground.drip)).collect();
    let switches = switches(agent, scope, ground);
    Look { finding: Finding { agent, scope, state, strays, switches }, programs: tally.programs }
}

fn switches(agent: Agent, scope: Scope, ground: &Ground) -> Vec<PathBuf> {
    let names: &[&str] = match (agent, scope) {
        (Agent::Claude, Scope::Global) => &["settings.json"],
        (Agent::Claude, Scope::Project) => &["settings.json", "settings.local.json"],
        (Agent::Codex | Agent::Gemini, _) => &[],
    };
    let base = if scope == Scope::Global { &ground.home } else { &ground.project };
    let is_off = |path: &PathBuf| {
        let loaded = Loaded::read(path).ok();
        let text = loaded.as_ref().and_then(Loaded::text)?;
        let root = Syntax::Json.parse(text).ok()??;
        root.get(SWITCH).map(|value| &text[value.range.clone()] == "true")
    };
    let paths = names.iter().map(|name| base.join(agent.folder()).join(name));
    paths.filter(|path| is_off(path).unwrap_or(false)).collect()
}

/// What is there and what is not.
#[derive(Default)]
struct Tally {
    present: usize,
    missing: Vec<String>,
    unsafe_without: bool,
    programs: Vec<String>,
}

fn missing(agent: Agent, scope: Scope, mode: Mode, ground: &Ground) -> Result<Tally, SetupError> {
    let wanted = Wanted::new(agent, mode, &ground.drip.to_string_lossy());
    let mut tally = Tally::default();
    for (path, part) in parts(agent, scope, ground) {
        let loaded = Loaded::read(&path)?;
        let text = loaded.text();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let present = match part {
            Part::Settings(syntax) => {
                let survey = survey(syntax, text, &wanted).map_err(|fault| unfit(&path, &fault))?;
                tally.take(&wanted, survey);
                continue;
            }
            Part::Words(block) => block.is_in(text).map_err(|fault| unfit(&path, &fault))?,
            Part::Import => text.is_some_and(|text| !memory::imports(text).is_empty()),
        };
        match (present, part) {
            (true, _) => tally.present += 1,
            (false, Part::Import) => tally.missing.push(format!("`{}` in `{name}`", memory::IMPORT)),
            (false, _) => tally.missing.push(format!("our words in `{name}`")),
        }
    }
    Ok(tally)
}

impl Tally {
    fn take(&mut self, wanted: &Wanted, survey: Survey) {
        self.present += wanted.hooks.len() + usize::from(wanted.server.is_some()) - survey.missing.len();
        for missing in survey.missing {
            self.missing.push(match missing {
                Missing::Server(server) => format!("`{}.drip`", server.table),
                Missing::Hook(hook) => format!("`hook {}` on {}", hook.name, hook.event),
            });
            self.unsafe_without |= matches!(missing, Missing::Hook(hook) if hook.need == Need::Vital);
        }
        self.programs = survey.programs;
        self.programs.sort();
        self.programs.dedup();
    }
}

fn stray(registered: &Path, drip: &Path) -> Option<Program> {
    if registered.is_absolute() && !registered.is_file() {
        return Some(Program::Gone(registered.to_owned()));
    }
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    (real(registered) != real(drip)).then(|| Program::Other(registered.to_owned()))
}
