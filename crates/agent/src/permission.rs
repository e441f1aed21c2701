//! Whether a call may run, as a pure decision over settings and what the call touches. A guard against accidents and
//! surprise, not a wall: what a command can reach is the sandbox's business.

use std::path::{Path, PathBuf};

use conversation::tools::Task;
use globset::{GlobBuilder, GlobMatcher};
use kit::text;
use serde::{Deserialize, Serialize};

use crate::project::{Located, Project, Side};
use crate::voice;

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
    /// A command in this directory, which can touch anything.
    Run(String),
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

    pub(crate) fn run(task: &Task, argument: &str) -> Access {
        Access::Run(path(task, argument))
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
    /// Where a command runs, if that is not the project itself.
    pub at: Option<Located>,
    /// The directory that is the target, or that it lies in.
    folder: Option<PathBuf>,
    /// What a tool that we do not know is given.
    given: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Harmless,
    Read,
    Write,
    Run,
    /// Whatever somebody else's tool does.
    Foreign,
}

impl Request {
    /// Err is for the model: a path that leads nowhere.
    pub fn new(task: &Task, access: Access, project: &Project) -> Result<Request, String> {
        let (kind, spelled, at) = match access {
            Access::Nothing => (Kind::Harmless, None, None),
            Access::Read(path) => (Kind::Read, Some(path), None),
            Access::Write(path) => (Kind::Write, Some(path), None),
            Access::Run(cwd) => (Kind::Run, None, Some(cwd)),
            Access::Unknown => (Kind::Foreign, None, None),
        };
        let locate = |spelled: Option<String>| spelled.map(|spelled| project.locate(&spelled)).transpose();
        let target = locate(spelled)?;
        let at = locate(at)?.filter(|at| at.path != project.root());
        let command = task.arguments.get("command").and_then(|value| value.as_str()).map(str::to_owned);
        let folder = target.as_ref().map(|target| match target.path.is_dir() {
            true => target.path.clone(),
            false => target.path.parent().unwrap_or(&target.path).to_owned(),
        });
        let given = if kind == Kind::Foreign { given(task) } else { String::new() };
        Ok(Request { tool: task.name.clone(), kind, target, command, at, folder, given })
    }
}

/// So much of the arguments that a person can judge them.
fn given(task: &Task) -> String {
    const ENOUGH: usize = 500;
    let arguments = serde_json::Value::Object(task.arguments.clone()).to_string();
    if task.arguments.is_empty() { String::new() } else { text::clip(&arguments, ENOUGH, "") }
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
    /// An allowance is for a plain command that begins with these words. To ask and to deny, it is enough that they
    /// stand anywhere in it.
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
    /// Directories that may lie in the project and are not like the rest of it: where our own settings are.
    guarded: Vec<PathBuf>,
}

/// What the person said for all calls like one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub tool: String,
    /// The same command, or the same directory of a path outside; none for all calls of the tool in the project.
    pub about: Option<String>,
    /// The directory that the command runs in, if it is not the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// What nobody comes upon by looking through a directory: it must be named, and then the rules are asked.
#[derive(Debug, Clone, Default)]
pub struct Closed(Vec<(String, GlobMatcher)>);

impl Closed {
    pub fn holds(&self, tool: &str, shown: &str, path: &Path) -> bool {
        let mut globs = self.0.iter().filter(|(rule, _)| rule == "*" || rule == tool);
        globs.any(|(_, glob)| glob.is_match(shown) || glob.is_match(path))
    }
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

    #[must_use]
    pub fn guarded(mut self, folder: &Path) -> Settings {
        self.guarded.push(folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        self
    }

    /// From now on calls like this one are not asked about.
    pub fn remember(&mut self, request: &Request) -> Answer {
        let answer = answer(self, request);
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

    /// The paths that a rule wants asked or denied.
    pub fn closed(&self) -> Closed {
        let strict = self.rules.iter().filter(|(rule, _)| rule.verdict != Verdict::Allow);
        Closed(strict.filter_map(|(rule, glob)| Some((rule.tool.clone(), glob.clone()?))).collect())
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
    if settings.mode != Mode::ReadOnly && settings.remembered.contains(&answer(settings, request)) {
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
        (Kind::Write, Mode::Edits) if inside && !guarded(settings, request) => Decision::Allow,
        (_, Mode::Ask | Mode::Edits) => Decision::Ask(question(request)),
        (Kind::Read, Mode::ReadOnly) => Decision::Deny(denied(request, "it lies outside of the project")),
        (_, Mode::ReadOnly) => Decision::Deny(denied(request, "only reading is allowed in this session")),
    }
}

/// What runs by itself later, or decides what may run: an edit there is more than an edit.
fn guarded(settings: &Settings, request: &Request) -> bool {
    const FOLDERS: [&str; 2] = [".git", ".claude"];
    let ours = |target: &Located| settings.guarded.iter().any(|folder| target.path.starts_with(folder));
    if request.target.as_ref().is_some_and(ours) {
        return true;
    }
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
        (Some(words), Some(command)) if rule.verdict == Verdict::Allow => {
            let here = request.at.as_ref().is_none_or(|at| at.side == Side::Inside);
            here && begins(command, words)
        }
        (Some(words), Some(command)) => mentions(command, words),
        (Some(_), None) => false,
    };
    (rule.tool == "*" || rule.tool == request.tool) && path && command
}

/// What a shell takes for more than a part of a word. Quotes are left to the words.
const SHELL: [char; 12] = ['\n', ';', '&', '|', '`', '$', '<', '>', '(', ')', '{', '}'];

/// An allowance is for one plain command: where a shell could start another, it does not hold.
fn begins(command: &str, prefix: &str) -> bool {
    let words: Vec<&str> = prefix.split_whitespace().collect();
    let plain = !command.contains(SHELL) && !command.contains('\\');
    // A shell knows no other blanks: with one of those it is another word.
    plain && command.split_ascii_whitespace().take(words.len()).eq(words)
}

/// The words stand somewhere in it, however they are quoted: behind `&&`, a variable, `env` or `bash -c`.
fn mentions(command: &str, words: &str) -> bool {
    let bare = command.replace(['"', '\'', '\\'], "");
    let said: Vec<&str> = bare
        .split(|c: char| c.is_whitespace() || SHELL.contains(&c))
        .filter(|word| !word.is_empty())
        .collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    let program = |word: &str| word.rsplit('/').next().map(str::to_owned);
    let same = |said: &[&str]| {
        said == words || said[1..] == words[1..] && program(said[0]).as_deref() == Some(words[0])
    };
    words.is_empty() || said.windows(words.len()).any(same)
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

/// What is remembered: never more than the person saw when they said it.
fn answer(settings: &Settings, request: &Request) -> Answer {
    let about = match &request.target {
        Some(target) if target.side == Side::Outside => {
            request.folder.as_ref().map(|folder| folder.display().to_string())
        }
        Some(target) if guarded(settings, request) => Some(target.shown.clone()),
        Some(_) => None,
        None => request.command.clone(),
    };
    let at = request.at.as_ref().map(|at| at.path.display().to_string());
    Answer { tool: request.tool.clone(), about, at }
}

fn question(request: &Request) -> String {
    let outside = |at: &Located| if at.side == Side::Outside { ", outside of the project" } else { "" };
    match (&request.target, &request.command) {
        (Some(target), _) => {
            let verb = if request.kind == Kind::Write { "change" } else { "read" };
            format!("{verb} {}{}?", target.shown, outside(target))
        }
        (None, Some(command)) if request.kind == Kind::Run => {
            // A line's end is the end of a command: whoever is asked must see it.
            let command = voice::revealed(&command.trim_end().replace('\n', " ⏎ "));
            let at = request.at.as_ref().map(|at| format!(" in {}{}", at.shown, outside(at)));
            format!("run `{command}`{}?", at.unwrap_or_default())
        }
        (None, _) if request.given.is_empty() => format!("use {}?", text::plain(&request.tool)),
        (None, _) => format!("use {} with {}?", text::plain(&request.tool), text::plain(&request.given)),
    }
}

fn denied(request: &Request, why: &str) -> String {
    let what = question(request);
    format!("Not done ({}): {why}.", what.trim_end_matches('?'))
}
