//! Where everything lies below `CHIBI_HOME`, what time it is, and fresh ids. Knows the names of files, not what is in them.

use std::fmt;
use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kit::invocation::Clock;
use store::lock::{self, Lock};
use store::{Durability, replace};

use super::fault::{At, found, read};
use super::{ContextError, ContextName, EntryId};

/// Whoever changes what all contexts share holds the lock for a few small writes.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct ChibiHome {
    root: PathBuf,
    clock: Clock,
    ids: Ids,
    /// Who works here, for whoever finds a context locked.
    program: &'static str,
}

/// Where ids come from.
#[derive(Clone)]
pub struct Ids(Arc<dyn Fn() -> u128 + Send + Sync>);

/// Files of `prompts/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// The system prompt of contexts that have none of their own.
    Chibi,
    /// What the model keeps for itself.
    Reflection,
    Compaction,
    Continuation,
}

impl ChibiHome {
    /// Nothing is looked at or made.
    pub fn new(root: impl Into<PathBuf>, clock: Clock, ids: Ids) -> ChibiHome {
        ChibiHome { root: root.into(), clock, ids, program: "chibi" }
    }

    /// For another program that keeps its conversations here.
    #[must_use]
    pub fn used_by(self, program: &'static str) -> ChibiHome {
        ChibiHome { program, ..self }
    }

    pub(super) fn program(&self) -> &'static str {
        self.program
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn plugins(&self) -> PathBuf {
        self.root.join("plugins")
    }

    pub fn config_file(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    pub fn models_file(&self) -> PathBuf {
        self.root.join("models.toml")
    }

    pub fn contexts(&self) -> PathBuf {
        self.root.join("contexts")
    }

    /// The folder of a context; what else the front keeps there lies beside our files.
    pub fn context(&self, name: &ContextName) -> PathBuf {
        self.contexts().join(name.as_str())
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Seconds since 1970; a clock from before that says 0.
    pub fn now(&self) -> u64 {
        u64::try_from(self.clock.unix_ms()).unwrap_or(0) / 1000
    }

    pub fn fresh_id(&self) -> EntryId {
        EntryId::from_bits((self.ids.0)())
    }

    /// The text of a prompt file, if there is one. Bytes that are no UTF-8 are replaced.
    pub fn prompt(&self, prompt: Prompt) -> Result<Option<String>, ContextError> {
        read_text(&self.prompt_file(prompt))
    }

    /// Puts the whole text in the place of what was there.
    pub fn set_prompt(&self, prompt: Prompt, text: &str) -> Result<(), ContextError> {
        let _lock = self.lock("writes a prompt")?;
        let path = self.prompt_file(prompt);
        make_dir(&self.root.join("prompts"))?;
        Ok(replace(&path, text.as_bytes(), Durability::Fsync)?)
    }

    pub fn prompt_file(&self, prompt: Prompt) -> PathBuf {
        let name = match prompt {
            Prompt::Chibi => "chibi.md",
            Prompt::Reflection => "reflection.md",
            Prompt::Compaction => "compaction.md",
            Prompt::Continuation => "continuation.md",
        };
        self.root.join("prompts").join(name)
    }

    /// Held while something that all contexts share is read and written.
    pub(super) fn lock(&self, label: &str) -> Result<Lock, ContextError> {
        make_dir(&self.root)?;
        Ok(lock::acquire(&self.root.join(".home.lock"), label, PATIENCE)?)
    }

    pub(super) fn bits(&self) -> u128 {
        (self.ids.0)()
    }
}

impl Ids {
    /// Bits that no other process draws. Not for secrets.
    pub fn random() -> Ids {
        // The hasher's keys come from the system, once a thread; each draw hashes under keys of its own.
        let half = |salt: u64| u128::from(RandomState::new().hash_one((salt, std::process::id())));
        Ids(Arc::new(move || half(0) << 64 | half(1)))
    }

    pub fn from_fn(draw: impl Fn() -> u128 + Send + Sync + 'static) -> Ids {
        Ids(Arc::new(draw))
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ids")
    }
}

/// Makes a folder that only we can enter, or finds one: homes that another version made are taken as they are.
pub(super) fn make_dir(path: &Path) -> Result<(), ContextError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).at("make", path)
}

/// A new name is only as durable as the folder that holds it.
pub(super) fn sync_dir(path: &Path) -> Result<(), ContextError> {
    File::open(path).and_then(|folder| folder.sync_all()).at("make durable", path)
}

/// None without a file.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, ContextError> {
    let bytes = found(read(path)).at("read", path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Mutex;

    use testkit::Home;

    use super::*;

    /// A chibi home in a throw-away one, on New Year 2026, with ids that count.
    pub(crate) fn chibi_home() -> (Home, ChibiHome) {
        let home = Home::new();
        let chibi =
            ChibiHome::new(home.path().join(".chibi"), Clock::from_fn(|| 1_767_225_600_000), counted());
        (home, chibi)
    }

    pub(crate) fn counted() -> Ids {
        let next = Mutex::new(0_u128);
        Ids::from_fn(move || {
            let mut next = next.lock().unwrap();
            *next += 1;
            *next
        })
    }

    #[test]
    fn random_ids_do_not_repeat() {
        let ids = Ids::random();
        let drawn: std::collections::BTreeSet<u128> = (0..10_000).map(|_| (ids.0)()).collect();
        assert_eq!(drawn.len(), 10_000);
    }

    #[test]
    fn a_reflection_is_replaced_whole() {
        let (_home, chibi) = chibi_home();
        assert_eq!(chibi.prompt(Prompt::Reflection).unwrap(), None);
        chibi.set_prompt(Prompt::Reflection, "first").unwrap();
        chibi.set_prompt(Prompt::Reflection, "second").unwrap();
        assert_eq!(chibi.prompt(Prompt::Reflection).unwrap().as_deref(), Some("second"));
    }
}
