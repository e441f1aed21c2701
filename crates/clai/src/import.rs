//! What other tools remember of a person's commands: the history files of bash, zsh and fish, and atuin's database.
//! Read as a stream and never changed. Secrets are still in the lines that come out of here.
//!
//! Must never know our own tables, templates or how a line is learned.

mod again;
mod atuin;
mod bash;
mod fish;
mod lines;
mod settle;
mod zsh;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use kit::Places;
use kit::invocation::Environment;
use kit::places::Variable;
use store::sqlite::rusqlite;

use crate::command::SessionId;
pub use again::imported_before;
use lines::{Line, Lines};
pub use settle::Time;
use settle::{Lead, Settle, UNDATED};

/// What tells where a history is, besides the base directories.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: "HISTFILE",
        meaning: "the history that `import bash` or `import zsh` reads",
        default: "none",
    },
    Variable { name: "ZDOTDIR", meaning: "where zsh keeps its history", default: "the home directory" },
    Variable { name: "ATUIN_DB_PATH", meaning: "the database that `import atuin` reads", default: "none" },
];

/// Whose history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Bash,
    Zsh,
    Fish,
    Atuin,
}

/// A command that another tool remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Unix milliseconds when it ended, as far as that is known. Where the source has no times they are made up so
    /// that the order is kept and all of them are before the file was last written.
    pub ts: i64,
    pub time: Time,
    pub line: String,
    pub exit_code: Option<i32>,
    pub cwd: Option<String>,
    pub duration_ms: Option<u64>,
    /// The source's own, else rebuilt: a pause of more than half an hour begins a new one. The same file gives the
    /// same sessions again.
    pub session: SessionId,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error("cannot read the database `{}`", path.display())]
    Database { path: PathBuf, source: rusqlite::Error },
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::Bash => "bash",
            Source::Zsh => "zsh",
            Source::Fish => "fish",
            Source::Atuin => "atuin",
        }
    }

    /// How the sessions of commands begin whose times were guessed.
    pub fn undated(self) -> String {
        format!("{}-{UNDATED}", self.name())
    }

    /// Where the history may be, best first; whether it is there is for the caller to see. `HISTFILE` is often
    /// exported by one shell and inherited by the other, so a name that speaks of the other is not followed.
    pub fn candidates(self, places: &Places, env: &Environment) -> Vec<PathBuf> {
        let variable = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let histfile = |other: &str| {
            let file = variable("HISTFILE")?;
            (!file.file_name()?.to_string_lossy().contains(other)).then_some(file)
        };
        let home = &places.home;
        match self {
            Source::Bash => histfile("zsh").into_iter().chain([home.join(".bash_history")]).collect(),
            Source::Zsh => {
                let folder = variable("ZDOTDIR").unwrap_or_else(|| home.clone());
                let named = [".zsh_history", ".zhistory", ".histfile"].map(|name| folder.join(name));
                let elsewhere = [places.state.join("zsh/history"), home.join(".zsh_history")];
                histfile("bash").into_iter().chain(named).chain(elsewhere).collect()
            }
            Source::Fish => vec![places.data.join("fish/fish_history")],
            Source::Atuin => {
                let named = variable("ATUIN_DB_PATH");
                named.into_iter().chain([places.data.join("atuin/history.db")]).collect()
            }
        }
    }
}

/// Opens the history at `path`.
pub fn open(source: Source, path: &Path) -> Result<History, ImportError> {
    let fail = |error| ImportError::Read { path: path.to_owned(), source: error };
    let metadata = fs::metadata(path).map_err(fail)?;
    if !metadata.is_file() {
        return Err(ImportError::NotAFile { path: path.to_owned() });
    }
    let Some(format) = Format::of(source) else {
        let pages = atuin::Pages::open(path)
            .map_err(|error| ImportError::Database { path: path.to_owned(), source: error })?;
        let settle = Settle::new(source, Lead { ts: 0, offset: 0 });
        return Ok(History { path: path.to_owned(), origin: Origin::Atuin(pages), settle });
    };
    let text =
        || File::open(path).map(|file| Text::new(BufReader::with_capacity(64 * 1024, file), format.clone()));
    let written = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written = written.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    // Only what stands before the first entry with a time is read twice.
    let dated = text().map_err(fail)?.find_map(|entry| match entry {
        Ok(entry) => entry.ts.map(|ts| Lead { ts, offset: entry.offset }),
        Err(_) => None,
    });
    let lead = dated.unwrap_or(Lead { ts: written, offset: metadata.len() });
    let origin = Origin::Text(Box::new(text().map_err(fail)?));
    Ok(History { path: path.to_owned(), origin, settle: Settle::new(source, lead) })
}

/// The commands of one history, in its order. Ends after the first error.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    origin: Origin,
    settle: Settle,
}

#[derive(Debug)]
enum Origin {
    Text(Box<Text<BufReader<File>>>),
    Atuin(atuin::Pages),
}

impl History {
    /// Entries that were passed over so far: torn by a crash, or longer than a command may be.
    pub fn skipped(&self) -> u64 {
        match &self.origin {
            Origin::Text(text) => text.skipped,
            Origin::Atuin(pages) => pages.skipped,
        }
    }
}

impl Iterator for History {
    type Item = Result<Imported, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let path = || self.path.clone();
        let entry = match &mut self.origin {
            Origin::Text(text) => text.next()?.map_err(|source| ImportError::Read { path: path(), source }),
            Origin::Atuin(pages) => {
                pages.next()?.map_err(|source| ImportError::Database { path: path(), source })
            }
        };
        Some(entry.map(|entry| self.settle.settle(entry)))
    }
}

/// An entry as it stands in its source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Entry {
    ts: Option<i64>,
    line: String,
    exit_code: Option<i32>,
    cwd: Option<String>,
    duration_ms: Option<u64>,
    session: Option<String>,
    /// Where in the file it begins.
    offset: u64,
}

impl Entry {
    /// The bytes of a command as text; none if nothing is left. No shell can run a NUL: what has them was written
    /// while the machine went down.
    fn of(mut bytes: Vec<u8>, offset: u64) -> Option<Entry> {
        bytes.retain(|byte| *byte != 0);
        let line = match String::from_utf8(bytes) {
            Ok(line) => line,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let kept = line.trim_end_matches(['\n', '\r']).len();
        let line = if kept < line.len() { line[..kept].to_owned() } else { line };
        (!line.trim().is_empty()).then(|| Entry { line, offset, ..Entry::default() })
    }
}

/// One of the three file formats, fed line by line.
#[derive(Debug, Clone)]
enum Format {
    Bash(bash::Reader),
    Zsh(zsh::Reader),
    Fish(fish::Reader),
}

impl Format {
    fn of(source: Source) -> Option<Format> {
        match source {
            Source::Bash => Some(Format::Bash(bash::Reader::default())),
            Source::Zsh => Some(Format::Zsh(zsh::Reader::default())),
            Source::Fish => Some(Format::Fish(fish::Reader::default())),
            Source::Atuin => None,
        }
    }

    /// Takes a line; gives the entry that it completes.
    fn line(&mut self, line: &[u8], offset: u64) -> Option<Entry> {
        match self {
            Format::Bash(reader) => reader.line(line, offset),
            Format::Zsh(reader) => reader.line(line, offset),
            Format::Fish(reader) => reader.line(line, offset),
        }
    }

    /// A line that cannot be used, of which only the last byte is known; gives what was complete before it.
    fn unusable(&mut self, last: u8) -> Option<Entry> {
        match self {
            Format::Bash(reader) => reader.unusable(),
            Format::Zsh(reader) => reader.unusable(last),
            Format::Fish(reader) => reader.end(),
        }
    }

    fn end(&mut self) -> Option<Entry> {
        match self {
            Format::Bash(reader) => reader.end(),
            // Every entry ends with its own line, or it is torn.
            Format::Zsh(_) => None,
            Format::Fish(reader) => reader.end(),
        }
    }
}

/// Entries out of a stream of bytes.
#[derive(Debug)]
struct Text<R> {
    lines: Lines<R>,
    format: Format,
    skipped: u64,
    ended: bool,
}

impl<R: BufRead> Text<R> {
    fn new(reader: R, format: Format) -> Text<R> {
        Text { lines: Lines::new(reader), format, skipped: 0, ended: false }
    }
}

impl<R: BufRead> Iterator for Text<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let offset = self.lines.offset();
            let entry = match self.lines.next() {
                Ok(Some(Line::Whole(line))) => self.format.line(line, offset),
                Ok(Some(Line::TooLong { last } | Line::Torn { last })) => {
                    self.skipped += 1;
                    self.format.unusable(last)
                }
                Ok(None) => {
                    self.ended = true;
                    self.format.end()
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            };
            if let Some(entry) = entry {
                return Some(Ok(entry));
            }
        }
        None
    }
}

/// Seconds since 1970 as milliseconds, if they are a time that a history can be of: from 1985, so that a line `#42` is
/// a comment that somebody typed, to the year 9999.
fn time(digits: &[u8]) -> Option<i64> {
    let seconds: i64 = str::from_utf8(digits).ok()?.parse().ok()?;
    (500_000_000..=253_402_300_799).contains(&seconds).then_some(seconds * 1000)
}

#[cfg(test)]
mod tests;
