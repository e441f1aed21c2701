//! What a project offers to run: targets, scripts, recipes. Found by reading its files; nothing is run.
//!
//! A repository is a stranger: a name out of it reaches a command only as one quoted word, names that could pass for an
//! option or drive a terminal are not offered at all, and files that are huge, lie elsewhere or do not end are left
//! alone. Must never know history, scores or tables.

mod gradle;
mod json;
mod just;
mod make;
mod offer;
mod project;
mod python;
mod ruby;
mod toml;
mod yaml;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub use make::{database, from_database};
use project::Project;

/// Something that can be run, as a row of `project_task`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub kind: Kind,
    /// Unique among those of its kind.
    pub name: String,
    /// Ready to be put at a prompt.
    pub command: String,
    /// One line, safe to draw.
    pub description: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Make,
    Just,
    Taskfile,
    Npm,
    Pnpm,
    Yarn,
    Bun,
    Deno,
    Cargo,
    Mise,
    Poe,
    Poetry,
    Tox,
    Nox,
    Rake,
    Gradle,
    Composer,
    Compose,
    PreCommit,
}

impl Kind {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Make => "make",
            Kind::Just => "just",
            Kind::Taskfile => "taskfile",
            Kind::Npm => "npm",
            Kind::Pnpm => "pnpm",
            Kind::Yarn => "yarn",
            Kind::Bun => "bun",
            Kind::Deno => "deno",
            Kind::Cargo => "cargo",
            Kind::Mise => "mise",
            Kind::Poe => "poe",
            Kind::Poetry => "poetry",
            Kind::Tox => "tox",
            Kind::Nox => "nox",
            Kind::Rake => "rake",
            Kind::Gradle => "gradle",
            Kind::Composer => "composer",
            Kind::Compose => "compose",
            Kind::PreCommit => "pre-commit",
        }
    }
}

/// What was found in one directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    pub tasks: Vec<Task>,
    /// What was left out, and why.
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    TooLarge {
        path: PathBuf,
        bytes: u64,
    },
    /// A link that leads out of the project.
    Elsewhere {
        path: PathBuf,
    },
    Unreadable {
        path: PathBuf,
    },
    NotUnderstood {
        path: PathBuf,
        reason: String,
    },
    /// There were more tasks than anyone wants to be offered.
    TooMany {
        path: PathBuf,
    },
    OutOfTime,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &Path| kit::text::plain(&path.display().to_string());
        match self {
            Note::TooLarge { path, bytes } => {
                write!(f, "`{}` is not read: {} bytes", name(path), kit::text::thousands(*bytes))
            }
            Note::Elsewhere { path } => write!(f, "`{}` leads out of the project", name(path)),
            Note::Unreadable { path } => write!(f, "`{}` cannot be read", name(path)),
            Note::NotUnderstood { path, reason } => write!(f, "`{}`: {reason}", name(path)),
            Note::TooMany { path } => write!(f, "`{}` has more tasks than are taken", name(path)),
            Note::OutOfTime => f.write_str("there was no time to read everything"),
        }
    }
}

/// Knows what directories offer, and looks into their files only when one of them has changed.
#[derive(Debug, Default)]
pub struct Discovery {
    known: HashMap<PathBuf, Reading>,
    readings: u64,
}

/// A directory, and how far its files have been read.
#[derive(Debug)]
struct Reading {
    project: Project,
    /// Of [`SOURCES`].
    next: usize,
    found: Arc<Found>,
}

impl Discovery {
    /// More projects than anyone works in at a time.
    const DIRECTORIES: usize = 64;

    /// The tasks of `directory`, the root of a project or a part of it with its own files. Stops at the deadline and
    /// gives what it has by then, with [`Note::OutOfTime`]; the next look goes on from there, and every look gets at
    /// least one file further.
    pub fn look(&mut self, directory: &Path, deadline: Instant) -> Arc<Found> {
        let Some(reading) = self.reading(directory) else { return Arc::default() };
        if reading.next < SOURCES.len() {
            reading.go_on(deadline);
        }
        Arc::clone(&reading.found)
    }

    /// How often files had to be read from the first to the last.
    pub fn readings(&self) -> u64 {
        self.readings
    }

    fn reading(&mut self, directory: &Path) -> Option<&mut Reading> {
        if self.known.get_mut(directory).is_none_or(|reading| !reading.project.is_unchanged()) {
            self.readings += 1;
            self.known.remove(directory);
            if self.known.len() >= Self::DIRECTORIES {
                self.known.clear();
            }
            let reading = Reading { project: Project::open(directory)?, next: 0, found: Arc::default() };
            self.known.insert(directory.to_owned(), reading);
        }
        self.known.get_mut(directory)
    }
}

impl Reading {
    fn go_on(&mut self, deadline: Instant) {
        while let Some((files, parse)) = SOURCES.get(self.next) {
            self.next += 1;
            if let Some(file) = files.iter().find(|file| self.project.has(file))
                && let Some(text) = self.project.read(file)
            {
                self.project.parse(file, &text, *parse);
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        let mut found = self.project.found();
        if self.next < SOURCES.len() {
            found.notes.push(Note::OutOfTime);
        }
        self.found = Arc::new(found);
    }
}

type Parse = fn(&mut Project, &str) -> Result<(), String>;

/// Files that mean the same to their tool, the one that it prefers first, and who reads them.
const SOURCES: &[(&[&str], Parse)] = &[
    (&["GNUmakefile", "makefile", "Makefile"], make::parse),
    (&["justfile", "Justfile", ".justfile"], just::parse),
    (
        &[
            "Taskfile.yml",
            "taskfile.yml",
            "Taskfile.yaml",
            "taskfile.yaml",
            "Taskfile.dist.yml",
            "Taskfile.dist.yaml",
        ],
        yaml::taskfile,
    ),
    (&["package.json"], json::package),
    (&["deno.json", "deno.jsonc"], json::deno),
    (&["composer.json"], json::composer),
    (&[".cargo/config.toml", ".cargo/config"], toml::cargo_aliases),
    (&["Cargo.toml"], toml::cargo),
    (&["mise.toml"], toml::mise),
    (&[".mise.toml"], toml::mise),
    (&["pyproject.toml"], toml::pyproject),
    (&["tox.toml"], toml::tox),
    (&["tox.ini"], python::tox),
    (&["noxfile.py"], python::nox),
    (&["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"], ruby::rake),
    (&["build.gradle.kts", "build.gradle"], gradle::parse),
    (&["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"], yaml::compose),
    (&[".pre-commit-config.yaml"], yaml::pre_commit),
];
