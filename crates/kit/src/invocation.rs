//! One call of a tool with all it may know of the world: arguments, environment, streams, clock, and how to
//! run it again. The only file that reads the process's own environment.

use std::collections::HashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::{Failure, Form};
use crate::places::{PlaceError, Places, Variable};
use crate::{Exit, text};

/// What `run(Invocation) -> Exit` of every tool is given.
pub struct Invocation {
    pub program: Program,
    /// Without the program's own name.
    pub args: Vec<OsString>,
    pub env: Environment,
    pub cwd: PathBuf,
    pub stdin: Box<dyn Read + Send>,
    pub stdout: Box<dyn Write + Send>,
    pub stderr: Box<dyn Write + Send>,
    pub terminal: Terminal,
    pub clock: Clock,
}

impl Invocation {
    /// Reads the world once. A working directory that is gone is told as `/`, so that `--help` still works
    /// there; commands that need it say what is wrong.
    pub fn from_process() -> Invocation {
        let mut args = env::args_os();
        let name = args.next().unwrap_or_default();
        let env = Environment::from_process();
        Invocation {
            program: Program::from_process(&name),
            args: args.collect(),
            cwd: env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            stdin: Box::new(io::stdin()),
            stdout: Box::new(io::stdout()),
            stderr: Box::new(io::stderr()),
            terminal: Terminal {
                stdin: io::stdin().is_terminal(),
                stdout: io::stdout().is_terminal(),
                stderr: io::stderr().is_terminal(),
            },
            clock: Clock::for_environment(&env),
            env,
        }
    }

    /// This invocation narrowed to a subcommand that is a tool of its own: `scrimp drip read x` becomes `drip`'s
    /// `read x`, which knows that it was called as `scrimp drip`.
    #[must_use]
    pub fn into_subcommand(mut self, name: &str, args: Vec<OsString>) -> Invocation {
        self.program = self.program.subcommand(name);
        self.args = args;
        self
    }

    pub fn places(&self) -> Result<Places, Failure> {
        self.env.places().map_err(|error| place_failure("cannot tell where to keep things", &error))
    }

    /// Writes `text` to standard output; see [`Failure::output`] for a closed pipe.
    pub fn print(&mut self, text: &str) -> Result<(), Failure> {
        let written = self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush());
        written.map_err(|error| Failure::output(&error))
    }

    /// Turns the end of a command into an exit, saying a failure on standard error.
    pub fn conclude(&mut self, result: Result<Exit, Failure>, form: Form) -> Exit {
        result.unwrap_or_else(|failure| failure.report(&mut self.stderr, form))
    }
}

/// `what` failed because of a place, with the place's own hint.
pub fn place_failure(what: &str, error: &PlaceError) -> Failure {
    let failure = Failure::new(what).because(error);
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Which of our streams a person is looking at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terminal {
    pub stdin: bool,
    pub stdout: bool,
    pub stderr: bool,
}

/// How this tool was started and can be started again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The file that is running, if the system tells.
    pub exe: Option<PathBuf>,
    /// What was typed: `scrimp`, then the tool's name if it runs as a subcommand.
    through: Vec<String>,
}

impl Program {
    pub fn new(name: &str, exe: Option<PathBuf>) -> Program {
        Program { exe, through: vec![name.to_owned()] }
    }

    fn from_process(argv0: &OsStr) -> Program {
        let name = Path::new(argv0).file_name().unwrap_or(argv0).to_string_lossy().into_owned();
        Program::new(&name, env::current_exe().ok())
    }

    /// A tool of ours that is called as a subcommand of this one.
    #[must_use]
    pub fn subcommand(&self, name: &str) -> Program {
        let mut below = self.clone();
        below.through.push(name.to_owned());
        below
    }

    /// The words that start this tool: `drip` or `scrimp drip`.
    pub fn spoken(&self) -> String {
        text::plain(&self.through.join(" "))
    }

    /// The small binary `name` beside the running one. What `init` registers as a hook is this or nothing.
    pub fn sibling(&self, name: &str) -> Result<PathBuf, Failure> {
        let missing = || {
            Failure::new(format!("`{name}` is not beside `{}`", self.spoken())).hint("`cargo xtask install`")
        };
        let folder = self.exe.as_deref().and_then(Path::parent).ok_or_else(missing)?;
        let path = folder.join(name);
        if path.is_file() { Ok(path) } else { Err(missing()) }
    }

    /// What runs the tool `name` once more: its own binary if it is beside us, else ourselves with the words that we were
    /// called by.
    pub fn again(&self, name: &str) -> Result<(PathBuf, &[String]), Failure> {
        match self.sibling(name) {
            Ok(path) => Ok((path, &[])),
            Err(failure) => Ok((self.exe.clone().ok_or(failure)?, &self.through[1..])),
        }
    }
}

/// The environment as it was when we were started.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Environment {
    variables: HashMap<OsString, OsString>,
    fallback_home: Option<PathBuf>,
    uid: u32,
}

impl Environment {
    fn from_process() -> Environment {
        Environment {
            variables: env::vars_os().collect(),
            fallback_home: env::home_dir().filter(|home| home.is_absolute()),
            uid: rustix::process::geteuid().as_raw(),
        }
    }

    /// An environment of exactly these variables, for tests and for tools that run each other.
    pub fn of<K: Into<OsString>, V: Into<OsString>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        Environment {
            variables: variables.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
            fallback_home: None,
            uid: rustix::process::geteuid().as_raw(),
        }
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The value if it is set, not empty and UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str).filter(|value| !value.is_empty())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(key, value)| (key.as_os_str(), value.as_os_str()))
    }

    pub fn uid(&self) -> u32 {
        self.uid
    }

    pub fn places(&self) -> Result<Places, PlaceError> {
        Places::resolve(|name| self.get(name).map(OsStr::to_owned), self.fallback_home.clone(), self.uid)
    }
}

/// Names only: values may be keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.variables.keys().collect();
        names.sort();
        f.debug_struct("Environment").field("names", &names).field("uid", &self.uid).finish()
    }
}

/// Variables that every tool reads through its invocation.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: "SCRIMP_CLOCK_FILE",
        meaning: "a file whose content, milliseconds since 1970, is taken for the time: for tests",
        default: "the system's clock",
    },
    Variable { name: "TERM", meaning: "`dumb`: no colour", default: "colour on a terminal" },
    Variable { name: "NO_COLOR", meaning: "set and not empty: no colour", default: "colour on a terminal" },
];

/// What time it is, in milliseconds since 1970.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    pub fn system() -> Clock {
        Clock::from_fn(|| match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        })
    }

    pub fn from_fn(now: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    pub fn unix_ms(&self) -> i64 {
        (self.0)()
    }

    /// The file is read at every question, so that a test can let the time of a running daemon jump.
    fn for_environment(env: &Environment) -> Clock {
        let system = Clock::system();
        match env.get("SCRIMP_CLOCK_FILE").map(PathBuf::from) {
            None => system,
            Some(path) => Clock::from_fn(move || {
                let written = fs::read_to_string(&path).ok();
                written.and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| system.unix_ms())
            }),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.unix_ms())
    }
}
