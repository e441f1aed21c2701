//! Output of any size in bounded memory: its beginning, its end, and the rest in a file if one was named.

use std::collections::VecDeque;
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
    /// The file that holds everything (up to its cap), if there was too much.
    pub spilled: Option<PathBuf>,
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
        let more = self.spilled.as_ref().map(|path| format!("all of it is in {}", path.display()));
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}{}{tail}", text::marker(missing, more.as_deref().unwrap_or("")))
    }
}

pub(super) struct Capture {
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    spill: Option<File>,
    spilled: u64,
}

impl Capture {
    pub(super) fn new(keep: Keep) -> Capture {
        Capture { keep, head: Vec::new(), tail: VecDeque::new(), total: 0, spill: None, spilled: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let overflows = self.total + bytes.len() as u64 > (self.keep.head + self.keep.tail) as u64;
        if overflows && self.spill.is_none() {
            self.open_spill()?;
        }
        self.write_spill(bytes)?;
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.keep.head - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.keep.tail)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.keep.tail);
        self.tail.drain(..excess);
        self.tail.extend(rest);
        Ok(())
    }

    pub(super) fn finish(self) -> Captured {
        let spilled = self.spill.and(self.keep.spill).map(|spill| spill.path);
        Captured { head: self.head, tail: self.tail.into(), total: self.total, spilled }
    }

    /// The file starts with what was already kept, so that it holds everything.
    fn open_spill(&mut self) -> io::Result<()> {
        let Some(spill) = &self.keep.spill else { return Ok(()) };
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&spill.path)?;
        self.spill = Some(file);
        let (head, tail) = (std::mem::take(&mut self.head), std::mem::take(&mut self.tail));
        self.write_spill(&head)?;
        let (first, second) = tail.as_slices();
        self.write_spill(first)?;
        self.write_spill(second)?;
        (self.head, self.tail) = (head, tail);
        Ok(())
    }

    fn write_spill(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (Some(file), Some(spill)) = (&mut self.spill, &self.keep.spill) else { return Ok(()) };
        let room = spill.max.saturating_sub(self.spilled).min(bytes.len() as u64);
        file.write_all(&bytes[..room as usize])?;
        self.spilled += room;
        Ok(())
    }
}
