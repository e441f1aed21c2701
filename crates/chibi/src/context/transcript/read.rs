//! Reading a transcript from one end to the other, across its partitions. Lines that are no entries are skipped.

use std::path::PathBuf;

use store::journal::{self, Lines};

use super::super::fault::{At, found};
use super::super::{ContextError, Entry};
use super::Transcript;
use super::backwards::LinesBackwards;

/// Entries, oldest first.
#[derive(Debug)]
pub(crate) struct Forwards {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<(PathBuf, Lines, u64)>,
    /// What was skipped, so far.
    pub(crate) notes: Vec<String>,
}

impl Forwards {
    pub(super) fn new(files: Vec<PathBuf>) -> Forwards {
        Forwards { files: files.into_iter(), open: None, notes: Vec::new() }
    }

    fn entry(&mut self) -> Result<Option<Entry>, ContextError> {
        loop {
            let Some((path, lines, number)) = &mut self.open else {
                let Some(path) = self.files.next() else { return Ok(None) };
                if !path.exists() && !path.ends_with("active.jsonl") {
                    self.notes.push(format!("the partition `{}` is missing", path.display()));
                }
                let lines = journal::lines(&path, 0)?;
                self.open = Some((path, lines, 0));
                continue;
            };
            let Some(line) = lines.next().transpose()? else {
                self.open = None;
                continue;
            };
            *number += 1;
            match Entry::parse(&line.bytes) {
                Some(entry) => return Ok(Some(entry)),
                None if line.bytes.trim_ascii().is_empty() => {}
                None => self.notes.push(format!("{}:{number}: skipping what is no entry", path.display())),
            }
        }
    }
}

impl Iterator for Forwards {
    type Item = Result<Entry, ContextError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.entry().transpose()
    }
}

/// Entries, newest first. The manifest is not read before the active partition is exhausted.
#[derive(Debug)]
pub(crate) struct Backwards {
    transcript: Transcript,
    /// The partitions that are left, once they are known.
    files: Option<Vec<PathBuf>>,
    open: Option<(PathBuf, LinesBackwards)>,
    started: bool,
}

impl Backwards {
    pub(super) fn new(transcript: Transcript) -> Backwards {
        Backwards { transcript, files: None, open: None, started: false }
    }

    /// Through these partitions, oldest first, instead of all.
    pub(super) fn of(transcript: Transcript, files: Vec<PathBuf>) -> Backwards {
        Backwards { files: Some(files), ..Backwards::new(transcript) }
    }

    fn entry(&mut self) -> Result<Option<Entry>, ContextError> {
        loop {
            let Some((path, lines)) = &mut self.open else {
                let Some(path) = self.next_file()? else { return Ok(None) };
                self.open = found(LinesBackwards::open(&path)).at("read", &path)?.map(|lines| (path, lines));
                continue;
            };
            let Some((_, line)) = lines.next().transpose().at("read", path)? else {
                self.open = None;
                continue;
            };
            if let Some(entry) = Entry::parse(&line) {
                return Ok(Some(entry));
            }
        }
    }

    fn next_file(&mut self) -> Result<Option<PathBuf>, ContextError> {
        if !std::mem::replace(&mut self.started, true) {
            return Ok(Some(self.transcript.active_file()));
        }
        if self.files.is_none() {
            self.files = Some(self.transcript.partition_files()?);
        }
        Ok(self.files.as_mut().and_then(Vec::pop))
    }
}

impl Iterator for Backwards {
    type Item = Result<Entry, ContextError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.entry().transpose()
    }
}
