//! The project's own checkers: which there are for a language, whether one can be run here, and running it. What it says is
//! read elsewhere.

use std::path::{Path, PathBuf};
use std::time::Duration;

use code::language::Language;
use code::query::diagnostics::Checker as Format;
use kit::invocation::Environment;
use kit::process::{Ended, Job, Keep, find, minimal_environment};

/// How long a checker of a whole project may take; then what it said so far counts.
const PATIENCE: Duration = Duration::from_secs(120);
/// More findings than this nobody reads.
const MOST: usize = 8 << 20;

/// A program that finds faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checker {
    pub(crate) name: &'static str,
    pub(crate) languages: &'static [Language],
    program: &'static str,
    args: &'static [&'static str],
    scope: Scope,
    format: Format,
}

/// What it can be pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// A file or a directory, named last.
    Path,
    /// The project as its own file of settings says, which has to be there.
    Project(&'static str),
}

/// What a checker said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Nothing for one that did not end by itself.
    pub(crate) code: Option<i32>,
}

use Language as L;

/// In the order in which their findings are told.
pub(crate) const CHECKERS: &[Checker] = &[
    Checker {
        name: "ruff",
        languages: &[L::Python],
        program: "ruff",
        args: &["check", "--output-format", "json", "--exit-zero"],
        scope: Scope::Path,
        format: Format::Ruff,
    },
    Checker {
        name: "pyright",
        languages: &[L::Python],
        program: "pyright",
        args: &["--outputjson"],
        scope: Scope::Path,
        format: Format::Pyright,
    },
    Checker {
        name: "mypy",
        languages: &[L::Python],
        program: "mypy",
        args: &["--no-error-summary", "--show-column-numbers", "--no-color-output", "--no-pretty"],
        scope: Scope::Path,
        format: Format::Lines,
    },
    Checker {
        name: "tsc",
        languages: &[L::TypeScript, L::JavaScript],
        program: "tsc",
        args: &["--noEmit", "--pretty", "false"],
        scope: Scope::Project("tsconfig.json"),
        format: Format::Tsc,
    },
    Checker {
        name: "eslint",
        languages: &[L::TypeScript, L::JavaScript],
        program: "eslint",
        args: &["--format", "json"],
        scope: Scope::Path,
        format: Format::Eslint,
    },
    Checker {
        name: "cargo",
        languages: &[L::Rust],
        program: "cargo",
        args: &["check", "--quiet", "--message-format", "json"],
        scope: Scope::Project("Cargo.toml"),
        format: Format::Cargo,
    },
    Checker {
        name: "go vet",
        languages: &[L::Go],
        program: "go",
        args: &["vet", "./..."],
        scope: Scope::Project("go.mod"),
        format: Format::Lines,
    },
    Checker {
        name: "rubocop",
        languages: &[L::Ruby],
        program: "rubocop",
        args: &["--format", "emacs"],
        scope: Scope::Path,
        format: Format::Lines,
    },
];

/// Runs all checkers for these languages that are here; one that is not is passed over.
pub(crate) fn run(root: &Path, path: &Path, languages: &[Language], env: &Environment) -> Vec<Ran> {
    for_languages(languages).filter_map(|checker| checker.run(root, path, env)).collect()
}

pub(crate) fn for_languages(languages: &[Language]) -> impl Iterator<Item = &'static Checker> {
    let fits = |checker: &&Checker| checker.languages.iter().any(|language| languages.contains(language));
    CHECKERS.iter().filter(fits)
}

impl Checker {
    fn run(&self, root: &Path, path: &Path, env: &Environment) -> Option<Ran> {
        let program = self.find(root, env)?;
        let mut job = Job::new(&program)
            .args(self.args)
            .envs(minimal_environment(
                env,
                &["CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOCACHE", "VIRTUAL_ENV", "NODE_PATH"],
            ))
            .cwd(root)
            .deadline(PATIENCE)
            .keep(Keep { head: MOST, tail: 0, spill: None });
        match self.scope {
            Scope::Path => job = job.arg(path),
            Scope::Project(settings) if root.join(settings).is_file() => {}
            Scope::Project(_) => return None,
        }
        let outcome = job.run().ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(Ran {
            name: self.name,
            format: self.format,
            stdout: text(&outcome.stdout.head),
            stderr: text(&outcome.stderr.head),
            code: match outcome.ended {
                Ended::Exited(code) => Some(code),
                _ => None,
            },
        })
    }

    /// The project's own before the machine's.
    fn find(&self, root: &Path, env: &Environment) -> Option<PathBuf> {
        let own =
            ["node_modules/.bin", ".venv/bin", "venv/bin"].map(|folder| root.join(folder).join(self.program));
        own.into_iter().find(|path| path.is_file()).or_else(|| find(self.program, env))
    }
}
