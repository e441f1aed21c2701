//! A context that we hold: the only way to write to one. Whatever a crash left is mended on the way in.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use store::lock::LockError;
use store::{Durability, replace};

use super::fault::{At, found};
use super::hold::Hold;
use super::transcript::Writer;
use super::window::Difference;
use super::{
    ChibiHome, ContextError, ContextName, Document, Entry, EntryId, EntryKind, Meta, Policy, Query, Reader,
    Wait, cut, documents, inbox, meta, migrate, window,
};

#[derive(Debug)]
pub struct Context {
    pub(super) home: ChibiHome,
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    pub(super) window: Vec<Entry>,
    /// The window's file lacks entries that the window has.
    is_behind: bool,
    /// A turn-over was begun and has not come to its end.
    pub(super) is_turning: bool,
    /// The first entry that was appended since the context was opened.
    pub(super) first: Option<EntryId>,
    policy: Policy,
    notes: Vec<String>,
    pub(super) hold: Hold,
}

impl Context {
    /// Takes the context, or makes it. Reads its window and the end of its transcript, whatever the length of that.
    pub fn open(home: &ChibiHome, name: &ContextName, wait: Wait) -> Result<Context, ContextError> {
        let reader = Reader::at(name.clone(), home.context(name));
        let hold = hold(home, &reader, wait)?;
        let mut migrated = migrate::files(&reader)?;
        let (writer, notes) = Writer::open(reader.folder())?;
        let policy = Policy::default();
        let mut context = Context {
            home: home.clone(),
            reader,
            writer,
            window: Vec::new(),
            is_behind: false,
            is_turning: false,
            first: None,
            policy,
            notes,
            hold,
        };
        cut::recover(&context.reader)?;
        context.furnish()?;
        context.load_window()?;
        context.append(std::mem::take(&mut migrated.entries))?;
        context.notes.extend(migrated.finish()?);
        Ok(context)
    }

    /// When partitions are closed from now on.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Context {
        self.policy = policy;
        self
    }

    /// Writes the heartbeat that tells readers that we are alive, again and again until the context is dropped.
    pub fn keep_beating(&mut self, every: Duration) {
        self.hold.keep_beating(every, self.home.clock().clone());
    }

    pub fn name(&self) -> &ContextName {
        self.reader.name()
    }

    pub fn home(&self) -> &ChibiHome {
        &self.home
    }

    /// For all that only looks.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// What was mended and what could not be read, for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub fn window(&self) -> &[Entry] {
        &self.window
    }

    /// As [`Reader::search`], with filters if this context has them.
    pub fn search(&self, query: &Query, most: usize) -> Result<Vec<Entry>, ContextError> {
        self.reader.search(query, most, self.policy.filters)
    }

    /// Writes entries down, all at once. When this returns they survive the death of our process; if there is a message or
    /// an anchor among them, they and all before them survive a power loss. After an error nothing was written.
    pub fn append(&mut self, entries: Vec<Entry>) -> Result<(), ContextError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.settle()?;
        let is_said = |entry: &Entry| entry.kind == EntryKind::Message || entry.is_anchor();
        let durability = if entries.iter().any(is_said) { Durability::Fsync } else { Durability::Cached };
        self.writer.append(&entries, durability)?;
        self.first.get_or_insert_with(|| entries[0].id.clone());
        // From here on the entries are in the log, and the caller must not hear that they are not: whatever fails now is
        // made good by the next to open.
        let taken: Vec<EntryId> = entries.iter().flat_map(inbox::taken_by).collect();
        let told = self.extend_window(entries).and_then(|()| match taken.is_empty() {
            true => Ok(()),
            false => inbox::forget(self.reader.folder(), &taken),
        });
        self.notes.extend(told.err().map(|error| error.to_string()));
        self.rotate_quietly();
        Ok(())
    }

    /// Replaces the whole text; an empty one removes it. A new system prompt is noted in transcript and window.
    pub fn set_document(&mut self, document: Document, text: &str) -> Result<(), ContextError> {
        documents::write(self.reader.folder(), document, text)?;
        if document == Document::SystemPrompt {
            self.note_system_prompt(text)?;
        }
        Ok(())
    }

    pub fn set_meta(&mut self, meta: &Meta) -> Result<(), ContextError> {
        meta::save(self.reader.folder(), meta, Durability::Fsync)
    }

    /// The exchange that the entry belongs to stays in the window, whatever is compacted. Gives the id of its prompt.
    pub fn pin(&mut self, id: &EntryId) -> Result<EntryId, ContextError> {
        self.note_pin(id, EntryKind::Pinned, "Pinned")
    }

    pub fn unpin(&mut self, id: &EntryId) -> Result<EntryId, ContextError> {
        self.note_pin(id, EntryKind::Unpinned, "Unpinned")
    }

    /// Prompts whose exchanges are pinned.
    pub fn pins(&self) -> Vec<EntryId> {
        window::pins(&self.window)
    }

    /// The messages that wait, oldest first. They wait on until a prompt is appended that names them in
    /// `metadata.inbox`: a turn that dies before that loses none, and one that dies after it gets none twice.
    pub fn drain(&mut self) -> Result<Vec<inbox::Message>, ContextError> {
        let seen: Vec<EntryId> = self.window.iter().flat_map(inbox::taken_by).collect();
        inbox::take(self.reader.folder(), &seen)
    }

    /// What cannot be closed now is closed after a later append.
    pub(super) fn rotate_quietly(&mut self) {
        // Whoever opens next compares the window with the active partition, and with no other.
        if self.is_behind {
            return;
        }
        let rotated = self.writer.rotate_if_due(&self.policy, self.home.now());
        self.notes.extend(rotated.err().map(|error| error.to_string()));
    }

    pub(super) fn fresh(&self, kind: EntryKind, content: &str) -> Entry {
        Entry::of_system(self.home.fresh_id(), self.home.now(), kind, self.name(), content)
    }

    /// Puts entries in the place of the whole window. The transcript must tell the same.
    pub(super) fn rewrite_window(&mut self, entries: Vec<Entry>) -> Result<(), ContextError> {
        replace(&self.reader.window_file(), &window::text(&entries), Durability::Fsync)?;
        self.window = entries;
        self.is_behind = false;
        Ok(())
    }

    /// Makes the window's file what the window is.
    pub(super) fn catch_up(&mut self) -> Result<(), ContextError> {
        if self.is_behind {
            replace(&self.reader.window_file(), &window::text(&self.window), Durability::Cached)?;
            self.is_behind = false;
        }
        Ok(())
    }

    /// Ends what a failure left open: before anything else is written, there is the old window or the new one.
    pub(super) fn settle(&mut self) -> Result<(), ContextError> {
        if self.is_turning {
            cut::recover(&self.reader)?;
            self.is_turning = false;
            self.reload_window()?;
        }
        Ok(())
    }

    fn reload_window(&mut self) -> Result<(), ContextError> {
        self.window = self.reader.window()?;
        Ok(())
    }

    /// What every context has, for one that somebody else made.
    fn furnish(&mut self) -> Result<(), ContextError> {
        if self.reader.meta()?.is_none() {
            let created_at = self.home.now();
            self.set_meta(&Meta { created_at, ..Meta::default() })?;
        }
        if self.writer.is_empty()? {
            let anchor = self.fresh(EntryKind::ContextCreated, "Context created");
            self.writer.append(&[anchor], Durability::Fsync)?;
        }
        Ok(())
    }

    fn load_window(&mut self) -> Result<(), ContextError> {
        let dirty = self.reader.dirty_file();
        let bytes = if dirty.exists() { None } else { self.reader.window_bytes()? };
        let kept = bytes.as_deref().and_then(|bytes| Some((bytes, window::parse(bytes)?)));
        let Some((bytes, kept)) = kept else {
            self.rebuild_window()?;
            return found(fs::remove_file(&dirty)).map(drop).at("remove", &dirty);
        };
        self.window = kept;
        self.heal_window_end(bytes)?;
        // A rotation comes after both writes, so that there is nothing to compare with an empty active partition.
        let difference = match self.writer.length() {
            0 => Difference::None,
            _ => window::compare(&self.window, self.reader.latest())?,
        };
        match difference {
            Difference::None => Ok(()),
            Difference::Behind(missing) => self.extend_window(missing),
            Difference::Unrelated => {
                self.notes.push("the window did not fit the transcript: made again".to_owned());
                self.rebuild_window()
            }
            Difference::Ahead(place) => {
                let mut lost = self.window[place..].to_vec();
                lost.retain(|entry| self.reader.entry(&entry.id).is_ok_and(|logged| logged.is_none()));
                self.writer.append(&lost, Durability::Fsync)?;
                let note =
                    format!("{} entries were in the window alone: written to the transcript", lost.len());
                self.notes.extend((!lost.is_empty()).then_some(note));
                Ok(())
            }
        }
    }

    /// A torn last line was never finished; the transcript has it, or nobody was told of it.
    fn heal_window_end(&self, bytes: &[u8]) -> Result<(), ContextError> {
        let path = self.reader.window_file();
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1);
        if whole == bytes.len() {
            return Ok(());
        }
        let file = OpenOptions::new().write(true).open(&path).at("open", &path)?;
        file.set_len(whole as u64).at("cut", &path)
    }

    fn extend_window(&mut self, entries: Vec<Entry>) -> Result<(), ContextError> {
        let entries: Vec<Entry> = entries.into_iter().filter(window::belongs).collect();
        let more = window::text(&entries);
        self.window.extend(entries);
        // After a write that failed the file lacks entries: it must not get later ones alone.
        if self.is_behind {
            return self.catch_up();
        }
        let written = self.append_to_window(&more);
        self.is_behind = written.is_err();
        written
    }

    fn append_to_window(&self, lines: &[u8]) -> Result<(), ContextError> {
        let path = self.reader.window_file();
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        let mut file = file.at("open", &path)?;
        let before = file.metadata().at("look at", &path)?.len();
        let written = file.write_all(lines);
        if written.is_err() {
            let _ = file.set_len(before);
        }
        written.at("append to", &path)
    }

    fn note_pin(&mut self, id: &EntryId, kind: EntryKind, content: &str) -> Result<EntryId, ContextError> {
        let prompt = window::prompt_of(&self.window, id).cloned();
        let prompt =
            prompt.ok_or_else(|| ContextError::NoEntry { context: self.name().clone(), id: id.clone() })?;
        let entry = self.fresh(kind, content).with("entry", &prompt);
        self.append(vec![entry])?;
        Ok(prompt)
    }

    fn note_system_prompt(&mut self, text: &str) -> Result<(), ContextError> {
        let hash = cut::digest(text.as_bytes());
        let changed = self.fresh(EntryKind::SystemPromptChanged, "System prompt updated").with("hash", &hash);
        let id = changed.id.clone();
        self.append(vec![changed])?;
        let prompt = self.system_prompt(text).map(|prompt| prompt.with("transcript_anchor_id", &id));
        self.rewrite_window(window::with_system_prompt(self.window.clone(), prompt))
    }

    /// The entry of the window that holds it; none if it is empty.
    fn system_prompt(&self, text: &str) -> Option<Entry> {
        let prompt = || self.fresh(EntryKind::SystemPrompt, text).with("hash", &cut::digest(text.as_bytes()));
        (!text.is_empty()).then(prompt)
    }

    fn rebuild_window(&mut self) -> Result<(), ContextError> {
        let text = self.reader.document(Document::SystemPrompt)?.unwrap_or_default();
        let window = window::with_system_prompt(self.reader.rebuilt_window()?, self.system_prompt(&text));
        self.rewrite_window(window)
    }
}

/// Whoever waited for a context that was then destroyed gets a new one.
fn hold(home: &ChibiHome, reader: &Reader, wait: Wait) -> Result<Hold, ContextError> {
    loop {
        home.ensure(reader.name())?;
        match Hold::take(reader.folder(), reader.name(), wait, home) {
            Err(ContextError::Lock(LockError::File(error))) if error.kind() == ErrorKind::NotFound => {}
            other => return other,
        }
    }
}
