//! Contexts as a whole: making, listing, renaming, destroying. A context is there complete or not at all. Knows nothing of
//! turns.

use std::fs;
use std::path::{Path, PathBuf};

use store::Durability;

use super::fault::{At, found};
use super::hold::{self, Hold};
use super::home::{make_dir, sync_dir};
use super::transcript::Writer;
use super::{
    ChibiHome, Context, ContextError, ContextName, Entry, EntryKind, Meta, State, Status, Wait, meta, usage,
    window,
};

/// One row of a list of contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: ContextName,
    pub status: Status,
}

impl ChibiHome {
    /// Every context, by name.
    pub fn list(&self) -> Result<Vec<Listed>, ContextError> {
        let contexts = self.contexts();
        let mut listed = Vec::new();
        for entry in found(fs::read_dir(&contexts)).at("list", &contexts)?.into_iter().flatten() {
            let entry = entry.at("list", &contexts)?;
            let name = entry.file_name().to_str().and_then(|name| ContextName::new(name).ok());
            if let Some(name) = name.filter(|_| entry.path().is_dir()) {
                // One that cannot be asked is no reason to hide the others.
                listed.push(Listed { status: hold::status(&entry.path()).unwrap_or(Status::Stale), name });
            }
        }
        listed.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(listed)
    }

    pub fn exists(&self, name: &ContextName) -> bool {
        self.context(name).is_dir()
    }

    /// Makes and registers the context if there is none. Does not hold it.
    pub fn ensure(&self, name: &ContextName) -> Result<(), ContextError> {
        if self.exists(name) && State::load(self)?.0.contexts.contains(name) {
            return Ok(());
        }
        let anchor =
            Entry::of_system(self.fresh_id(), self.now(), EntryKind::ContextCreated, name, "Context created");
        match make(self, name, &[anchor], |_| Ok(())) {
            Err(ContextError::Exists(_)) | Ok(()) => State::update(self, |state| state.register(name)),
            Err(error) => Err(error),
        }
    }

    /// The new name must be free. What the context cost goes with it.
    pub fn rename(&self, old: &ContextName, new: &ContextName, wait: Wait) -> Result<(), ContextError> {
        let (from, to) = (self.existing(old)?, self.context(new));
        let _hold = Hold::take(&from, old, wait, self)?;
        let _lock = self.lock("renames a context")?;
        if to.exists() {
            return Err(ContextError::Exists(new.clone()));
        }
        State::update_locked(self, |state| state.will_rename(old, new))?;
        fs::rename(&from, &to).at("rename", &from)?;
        // Reading it settles it.
        State::update_locked(self, |_| ())?;
        usage::renamed(self, old, new)?;
        let heartbeat = to.join(".lock");
        found(fs::remove_file(&heartbeat)).map(drop).at("remove", &heartbeat)
    }

    /// Removes a context for ever. If it was the current one, the previous takes its place, or `default`.
    pub fn destroy(&self, name: &ContextName, wait: Wait) -> Result<(), ContextError> {
        let folder = self.existing(name)?;
        let hold = Hold::take(&folder, name, wait, self)?;
        self.destroy_held(name, hold)
    }

    /// It is gone when it has lost its name; whoever waited for it finds that out when the hold ends.
    fn destroy_held(&self, name: &ContextName, hold: Hold) -> Result<(), ContextError> {
        let folder = self.context(name);
        let gone = self.contexts().join(format!(".gone-{:032x}", self.bits()));
        let lock = self.lock("destroys a context")?;
        fs::rename(&folder, &gone).at("destroy", &folder)?;
        State::update_locked(self, |state| state.destroyed(name, |other| self.exists(other)))?;
        drop((hold, lock));
        remove(&gone).at("remove", &gone)
    }

    fn existing(&self, name: &ContextName) -> Result<PathBuf, ContextError> {
        match self.exists(name) {
            true => Ok(self.context(name)),
            false => Err(ContextError::Missing(name.clone())),
        }
    }
}

/// Makes a context of these entries; `furnish` adds files before anybody can see it.
pub(super) fn make(
    home: &ChibiHome,
    name: &ContextName,
    entries: &[Entry],
    furnish: impl FnOnce(&Path) -> Result<(), ContextError>,
) -> Result<(), ContextError> {
    let _lock = home.lock("makes a context")?;
    let contexts = home.contexts();
    make_dir(&contexts)?;
    sweep(&contexts);
    let folder = home.context(name);
    if folder.exists() {
        return Err(ContextError::Exists(name.clone()));
    }
    let unborn = contexts.join(format!(".new-{:032x}", home.bits()));
    make_dir(&unborn)?;
    // Only the entries must not be lost: the rest is made again by whoever opens.
    meta::save(&unborn, &Meta { created_at: home.now(), ..Meta::default() }, Durability::Cached)?;
    Writer::open(&unborn)?.0.append(entries, Durability::Fsync)?;
    let window = window::rebuild(entries.iter().rev().cloned().map(Ok))?;
    store::replace(&unborn.join("context.jsonl"), &window::text(&window), Durability::Cached)?;
    furnish(&unborn)?;
    fs::rename(&unborn, &folder).at("make", &folder)?;
    sync_dir(&contexts)?;
    State::update_locked(home, |state| state.register(name))
}

impl Context {
    /// See [`ChibiHome::destroy`]; for one that is held already.
    pub fn destroy(self) -> Result<(), ContextError> {
        let Context { home, reader, hold, .. } = self;
        home.destroy_held(reader.name(), hold)
    }
}

/// Removes what was left behind half made or half destroyed. Whoever makes a context holds the home's lock, as we do.
fn sweep(contexts: &Path) {
    for entry in fs::read_dir(contexts).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(".new-") || name.starts_with(".gone-")) {
            // What cannot be removed now is tried again the next time.
            let _ = remove(&entry.path());
        }
    }
}

/// A link goes, and not what it leads to.
fn remove(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}
