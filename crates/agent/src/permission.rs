//! Whether a call may run, as a pure decision over settings and what the call touches. A guard against accidents and
//! surprise, not a wall: what a command can reach is the sandbox's business.

use std::path::{Path, PathBuf};

use conversation::tools::Task;
use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::project::{Located, Project, Side};

/// What is allowed without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading in the project; everything else is asked.
    #[default]
    Ask,
    /// Also edits in the project.
    Edits,
    /// Everything.
    All,
    /// Reading in the project; nothing else, and nobody is asked.
    ReadOnly,
}

impl Mode {
    pub const ALL: [(&str, Mode); 4] =
        [("ask", Mode::Ask), ("edits", Mode::Edits), ("all", Mode::All), ("read-only", Mode::ReadOnly)];

    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }

    pub fn name(self) -> &'static str {
        Mode::ALL.iter().find(|(_, mode)| *mode == self).map_or("ask", |(name, _)| name)
    }
}

/// What a call touches, as its arguments say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Nothing outside of the conversation.
    Nothing,
    Read(String),
    Write(String),
    /// A command, which can touch anything.
    Run,
    /// A tool that we do not know, such as one of an MCP server.
    Unknown,
}

impl Access {
    pub(crate) fn read(task: &Task, argument: &str) -> Access {
        Access::Read(path(task, argument))
    }

    pub(crate) fn write(task: &Task, argument: &str) -> Access {
        Access::Write(path(task, argument))
    }
}

fn path(task: &Task, argument: &str) -> String {
    task.arguments.get(argument).and_then(|value| value.as_str()).unwrap_or(".").to_owned()
}

/// A call with what it touches found out: links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub tool: String,
    pub kind: Kind,
    /// The file or directory, of calls that name one.
    pub target: Option<Located>,
    /// The command, of calls that run one.
    pub command: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Harmless,
    Read,
    Write,
    Run,
}

impl Request {
    /// Err is for the model: a path that leads nowhere.
    pub fn new(task: &Task, access: Access, project: &Project) -> Result<Request, String> {
        let (kind, spelled) = match access {
            Access::Nothing => (Kind::Harmless, None),
            Access::Read(path) => (Kind::Read, Some(path)),
            Access::Write(path) => (Kind::Write, Some(path)),
            Access::Run | Access::Unknown => (Kind::Run, None),
        };
        let target = spelled.map(|spelled| project.locate(&spelled)).transpose()?;
        let command = task.arguments.get("command").and_then(|value| value.as_str()).map(str::to_owned);
        Ok(Request { tool: task.name.clone(), kind, target, command })
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// The question, in a few words.
    Ask(String),
    /// The reason, for the model.
    Deny(String),
}

/// One line of the configuration: for a tool (or `*`), where a path or a command is like this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub tool: String,
    /// A glob over the path as the model is told it, or absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The command begins with these words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    #[error("`{0}` is no glob: {1}")]
    Glob(String, String),
    #[error("a rule for `{0}` that allows every command is `--permission all`")]
    TooWide(String),
}

/// All that decides.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub mode: Mode,
    rules: Vec<(Rule, Option<GlobMatcher>)>,
    remembered: Vec<Answer>,
    /// Directories outside of the project that may be read: where our own output goes.
    readable: Vec<PathBuf>,
}

/// What the person said for all calls like one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub tool: String,
    /// The same command, or the same directory of a path outside; none for all calls of the tool in the project.
    pub about: Option<String>,
}

impl Settings {
    pub fn new(mode: Mode, rules: Vec<Rule>) -> Result<Settings, BadRule> {
        let compiled = rules.into_iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Settings { mode, rules: compiled, ..Settings::default() })
    }

    #[must_use]
    pub fn readable(mut self, folder: &Path) -> Settings {
        self.readable.push(folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        self
    }

    /// From now on calls like this one are not asked about.
    pub fn remember(&mut self, request: &Request) -> Answer {
        let answer = Answer { tool: request.tool.clone(), about: about(request) };
        self.recall(answer.clone());
        answer
    }

    pub fn recall(&mut self, answer: Answer) {
        if !self.remembered.contains(&answer) {
            self.remembered.push(answer);
        }
    }

    pub fn remembered(&self) -> &[Answer] {
        &self.remembered
    }
}

/// The decision. The strictest rule that fits wins; then what the person said; then the mode.
pub fn decide(settings: &Settings, request: &Request) -> Decision {
    let fitting = settings.rules.iter().filter(|(rule, glob)| fits(rule, glob.as_ref(), request));
    let strictest = fitting.map(|(rule, _)| rule.verdict).max_by_key(|verdict| match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    });
    match strictest {
        Some(Verdict::Deny) => return Decision::Deny(denied(request, "a rule of the user forbids it")),
        Some(Verdict::Ask) if settings.mode == Mode::ReadOnly => {
            return Decision::Deny(denied(
                request,
                "a rule of the user wants it asked, and nobody is asked here",
            ));
        }
        Some(Verdict::Ask) => return Decision::Ask(question(request)),
        // Read-only means it.
        Some(Verdict::Allow) if settings.mode != Mode::ReadOnly || request.kind == Kind::Read => {
            return Decision::Allow;
        }
        _ => {}
    }
    let answer = Answer { tool: request.tool.clone(), about: about(request) };
    if settings.mode != Mode::ReadOnly && settings.remembered.contains(&answer) {
        return Decision::Allow;
    }
    by_mode(settings, request)
}

fn by_mode(settings: &Settings, request: &Request) -> Decision {
    let inside = request.target.as_ref().is_none_or(|target| target.side == Side::Inside);
    let ours = || {
        let target = request.target.as_ref();
        target.is_some_and(|target| settings.readable.iter().any(|folder| target.path.starts_with(folder)))
    };
    match (request.kind, settings.mode) {
        (Kind::Harmless, _) | (_, Mode::All) => Decision::Allow,
        (Kind::Read, _) if inside || ours() => Decision::Allow,
        (Kind::Write, Mode::Edits) if inside && !guarded(request) => Decision::Allow,
        (_, Mode::Ask | Mode::Edits) => Decision::Ask(question(request)),
        (Kind::Read, Mode::ReadOnly) => Decision::Deny(denied(request, "it lies outside of the project")),
        (_, Mode::ReadOnly) => Decision::Deny(denied(request, "only reading is allowed in this session")),
    }
}

/// What runs by itself later, or decides what may run: an edit there is more than an edit.
fn guarded(request: &Request) -> bool {
    const FOLDERS: [&str; 2] = [".git", ".claude"];
    let mut parts = request.target.iter().flat_map(|target| Path::new(&target.shown).components());
    parts.any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
}

fn fits(rule: &Rule, glob: Option<&GlobMatcher>, request: &Request) -> bool {
    let path = match (glob, &request.target) {
        (None, _) => true,
        (Some(glob), Some(target)) => glob.is_match(&target.shown) || glob.is_match(&target.path),
        (Some(_), None) => false,
    };
    let command = match (&rule.command, &request.command) {
        (None, _) => true,
        (Some(prefix), Some(command)) => begins(command, prefix, rule.verdict),
        (Some(_), None) => false,
    };
    (rule.tool == "*" || rule.tool == request.tool) && path && command
}

/// An allowance is for one plain command: where a shell could start another, it does not hold.
fn begins(command: &str, prefix: &str, verdict: Verdict) -> bool {
    let words: Vec<&str> = prefix.split_whitespace().collect();
    let plain = !command.contains(['\n', ';', '&', '|', '`', '$', '<', '>', '(', ')', '{', '}', '\\']);
    command.split_whitespace().take(words.len()).eq(words) && (plain || verdict != Verdict::Allow)
}

fn compile(rule: Rule) -> Result<(Rule, Option<GlobMatcher>), BadRule> {
    if rule.verdict == Verdict::Allow
        && rule.command.as_deref().is_some_and(|prefix| prefix.trim().is_empty())
    {
        return Err(BadRule::TooWide(rule.tool));
    }
    let glob = rule.path.as_ref().map(|path| {
        let built = GlobBuilder::new(path).literal_separator(true).build();
        built
            .map(|glob| glob.compile_matcher())
            .map_err(|error| BadRule::Glob(path.clone(), error.to_string()))
    });
    let glob = glob.transpose()?;
    Ok((rule, glob))
}

/// What an answer is about: never more than the person saw when they gave it.
fn about(request: &Request) -> Option<String> {
    match &request.target {
        Some(target) if target.side == Side::Outside => {
            Some(target.path.parent().unwrap_or(&target.path).display().to_string())
        }
        Some(_) if guarded(request) => request.target.as_ref().map(|target| target.shown.clone()),
        Some(_) => None,
        None => request.command.clone(),
    }
}

fn question(request: &Request) -> String {
    match (&request.target, &request.command) {
        (Some(target), _) => {
            let verb = if request.kind == Kind::Write { "change" } else { "read" };
            let outside = if target.side == Side::Outside { ", outside of the project" } else { "" };
            format!("{verb} {}{outside}?", target.shown)
        }
        (None, Some(command)) => format!("run `{}`?", kit::text::plain(command)),
        (None, None) => format!("use {}?", kit::text::plain(&request.tool)),
    }
}

fn denied(request: &Request, why: &str) -> String {
    let what = question(request);
    format!("Not done ({}): {why}.", what.trim_end_matches('?'))
}
