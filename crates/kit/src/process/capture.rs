//! Output of any size in bounded memory: its beginning, its end, and the rest in a file if one was named.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::text;

/// How much of a stream is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    pub head: usize,
    pub tail: usize,
    /// Where everything goes once it no longer fits.
    pub spill: Option<Spill>,
}

/// A file for what does not fit, made only when needed. With two streams the second one gets `.err` behind its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    pub path: PathBuf,
    /// The file grows no longer than this: a program that prints for ever must not fill the disk.
    pub max: u64,
}

impl Default for Keep {
    /// A megabyte of each end: more than any caller shows, less than any caller minds.
    fn default() -> Self {
        Keep { head: 1 << 20, tail: 1 << 20, spill: None }
    }
}

/// A stream as it was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    pub head: Vec<u8>,
    /// What followed, up to its cap. Whatever lies between is missing here.
    pub tail: Vec<u8>,
    pub total: u64,
    /// Where the rest went, if there was too much.
    pub spilled: Option<Spilled>,
}

/// What became of output that did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spilled {
    /// The file holds the stream from its beginning, this many bytes of it.
    To { path: PathBuf, bytes: u64 },
    /// The file could not be made or written; the program was not bothered with that.
    Failed { path: PathBuf, error: String },
}

impl fmt::Display for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spilled::To { path, bytes } => {
                write!(f, "the first {} are in {}", text::thousands(*bytes), path.display())
            }
            Spilled::Failed { path, error } => write!(f, "{} could not be written: {error}", path.display()),
        }
    }
}

impl Captured {
    pub fn missing(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.len() as u64
    }

    /// Everything that was kept, with a marker where something is missing. Bytes that are not UTF-8 become U+FFFD,
    /// also where a cut went through a character.
    pub fn text(&self) -> String {
        let missing = self.missing();
        if missing == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &self.tail].concat()).into_owned();
        }
        let more = self.spilled.as_ref().map(ToString::to_string).unwrap_or_default();
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}{}{tail}", text::marker(missing, &more))
    }
}

pub(super) struct Capture {
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    spill: State,
}

/// The file on the way.
enum State {
    NotNeeded,
    Open { file: File, bytes: u64 },
    Failed(io::Error),
}

impl Capture {
    pub(super) fn new(keep: Keep) -> Capture {
        Capture { keep, head: Vec::new(), tail: VecDeque::new(), total: 0, spill: State::NotNeeded }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.spill(bytes);
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.keep.head - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.keep.tail)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.keep.tail);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    pub(super) fn finish(self) -> Captured {
        let spilled = self.keep.spill.and_then(|Spill { path, .. }| match self.spill {
            State::NotNeeded => None,
            State::Open { bytes, .. } => Some(Spilled::To { path, bytes }),
            State::Failed(error) => Some(Spilled::Failed { path, error: error.to_string() }),
        });
        Captured { head: self.head, tail: self.tail.into(), total: self.total, spilled }
    }

    /// Writes `bytes` to the file once not all can be kept. A file that fails is told in the end: the program that
    /// prints is not to blame.
    fn spill(&mut self, bytes: &[u8]) {
        let Some(spill) = &self.keep.spill else { return };
        let room = self.keep.head.saturating_add(self.keep.tail) as u64;
        if matches!(self.spill, State::NotNeeded) && self.total + bytes.len() as u64 > room {
            // The file starts with what was already kept, so that it holds everything.
            let (front, back) = self.tail.as_slices();
            self.spill = create(spill, &[&self.head, front, back]);
        }
        if let State::Open { file, bytes: written } = &mut self.spill
            && let Err(error) = write_within(file, written, spill.max, bytes)
        {
            self.spill = State::Failed(error);
        }
    }
}

fn create(spill: &Spill, kept: &[&[u8]]) -> State {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&spill.path);
    let written = made.and_then(|mut file| {
        let mut bytes = 0;
        kept.iter().try_for_each(|part| write_within(&mut file, &mut bytes, spill.max, part))?;
        Ok((file, bytes))
    });
    written.map_or_else(State::Failed, |(file, bytes)| State::Open { file, bytes })
}

fn write_within(file: &mut File, written: &mut u64, max: u64, bytes: &[u8]) -> io::Result<()> {
    let room = max.saturating_sub(*written).min(bytes.len() as u64);
    file.write_all(&bytes[..room as usize])?;
    *written += room;
    Ok(())
}
