//! Looking at a context without holding it: whoever works with it now is not disturbed, and nothing is written but what
//! makes the next search faster. What older versions left is taken over first.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::fault::{At, found, read};
use super::home::read_text;
use super::transcript::Transcript;
use super::{
    ChibiHome, Context, ContextError, ContextName, Document, Entry, EntryId, Filters, Meta, Query, Status,
    Wait, hold, meta, migrate, window,
};

#[derive(Debug, Clone)]
pub struct Reader {
    name: ContextName,
    folder: PathBuf,
}

impl Reader {
    pub fn open(home: &ChibiHome, name: &ContextName) -> Result<Reader, ContextError> {
        let reader = Reader { name: name.clone(), folder: home.context(name) };
        if !reader.folder.is_dir() {
            return Err(ContextError::Missing(name.clone()));
        }
        if migrate::is_due(&reader) {
            match Context::open(home, name, Wait::No) {
                // Whoever has it takes it over.
                Ok(_) | Err(ContextError::Locked { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(reader)
    }

    pub fn name(&self) -> &ContextName {
        &self.name
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn local_file(&self) -> PathBuf {
        self.folder.join("local.toml")
    }

    pub fn status(&self) -> Result<Status, ContextError> {
        hold::status(&self.folder)
    }

    /// None if there is none that can be read.
    pub fn meta(&self) -> Result<Option<Meta>, ContextError> {
        meta::load(&self.folder)
    }

    /// None if there is no such text.
    pub fn document(&self, document: Document) -> Result<Option<String>, ContextError> {
        read_text(&self.folder.join(document.file_name()))
    }

    /// What a model would be shown now.
    pub fn window(&self) -> Result<Vec<Entry>, ContextError> {
        let kept = match self.dirty_file().exists() {
            true => None,
            false => self.window_bytes()?.and_then(|bytes| window::parse(&bytes)),
        };
        kept.map_or_else(|| self.rebuilt_window(), Ok)
    }

    /// Every entry ever, oldest first. Lines that are no entries are left out.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<Entry, ContextError>>, ContextError> {
        self.transcript().forwards()
    }

    /// Every entry ever, newest first.
    pub fn latest(&self) -> impl Iterator<Item = Result<Entry, ContextError>> {
        self.transcript().backwards()
    }

    /// The newest entries, at most so many, that have all words of the query. `filters` may be consulted or not; what is
    /// found is the same.
    pub fn search(&self, query: &Query, most: usize, filters: Filters) -> Result<Vec<Entry>, ContextError> {
        self.transcript().search(query, most, filters)
    }

    /// The entry of this id, wherever in the transcript it is.
    pub fn entry(&self, id: &EntryId) -> Result<Option<Entry>, ContextError> {
        self.transcript().entry(id, Filters::Consult)
    }

    /// Reads everything and tells what is wrong with it: lines that are no entries, partitions that are missing, ids that
    /// are there twice. When time is up: what was found by then.
    pub fn faults(&self, until: Instant) -> Result<Vec<String>, ContextError> {
        let mut entries = self.transcript().forwards_through_all()?;
        let mut ids = HashSet::new();
        let mut twice = Vec::new();
        for entry in entries.by_ref().take_while(|_| Instant::now() < until) {
            let id = entry?.id;
            if !ids.insert(id.clone()) {
                twice.push(format!("the entry `{id}` is there twice"));
            }
        }
        Ok([entries.notes, twice].concat())
    }

    pub(super) fn rebuilt_window(&self) -> Result<Vec<Entry>, ContextError> {
        window::rebuild(self.latest())
    }

    pub(super) fn window_bytes(&self) -> Result<Option<Vec<u8>>, ContextError> {
        let path = self.window_file();
        found(read(&path)).at("read", &path)
    }

    pub(super) fn window_file(&self) -> PathBuf {
        self.folder.join("context.jsonl")
    }

    /// The original's sign that the window must be made again.
    pub(super) fn dirty_file(&self) -> PathBuf {
        self.folder.join(".dirty")
    }

    pub(super) fn transcript(&self) -> Transcript {
        Transcript::of(&self.folder)
    }

    pub(super) fn at(name: ContextName, folder: PathBuf) -> Reader {
        Reader { name, folder }
    }
}
