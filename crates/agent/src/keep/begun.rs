//! The first prompt of a conversation, noted in one small file before it is sent: making a context is slow where disks
//! are, and a question should not wait for it. The note goes when the context is there. One that was left behind by a
//! process that died in between becomes the conversation that it was meant to be.

use std::fs;
use std::path::{Path, PathBuf};

use chibi::context::{ChibiHome, Context, ContextError, ContextName, Wait};
use conversation::{ExchangeId, Record};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Durability, replace};

use super::writer::Order;

/// Where the project of a conversation is noted.
pub(super) const PROJECT: &str = "project";

/// All that a new conversation is made of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Begun {
    name: ContextName,
    project: PathBuf,
    opening: String,
    prompt: Option<(ExchangeId, String)>,
    /// Who makes it.
    pid: u32,
}

impl Begun {
    pub(super) fn new(name: &ContextName, project: &Path, opening: &str) -> Begun {
        let (name, project, opening) = (name.clone(), project.to_owned(), opening.to_owned());
        Begun { name, project, opening, prompt: None, pid: std::process::id() }
    }

    /// Notes the first prompt, and says whether it stands there. It survives our death, not that of the machine: then
    /// nobody was asked, either.
    pub(super) fn note(&mut self, folder: &Path, order: &Order) -> bool {
        let Order::Record { record: Record::Prompt { id, text }, .. } = order else { return false };
        self.prompt = Some((id.clone(), text.clone()));
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        replace(&file(folder, &self.name), &bytes, Durability::Cached).is_ok()
    }

    /// Makes the context, without its prompt.
    pub(super) fn make(&self, home: &ChibiHome) -> Result<Context, ContextError> {
        let mut context = Context::open(home, &self.name, Wait::No)?;
        let mut meta = context.reader().meta()?.unwrap_or_default();
        if !meta.other.contains_key(PROJECT) {
            meta.other.insert(PROJECT.to_owned(), Value::String(self.project.display().to_string()));
            context.set_meta(&meta)?;
        }
        if context.history().history.opening().is_empty() {
            context.record(&Record::Opening { text: self.opening.clone() }, "user", "")?;
        }
        Ok(context)
    }
}

/// The conversation is there: the note has done its work.
pub(super) fn forget(folder: &Path, name: &ContextName) {
    let _ = fs::remove_file(file(folder, name));
}

fn file(folder: &Path, name: &ContextName) -> PathBuf {
    folder.join(format!("begun-{name}.json"))
}

/// Makes conversations of all notes whose writers are gone. What cannot be made stays noted.
pub(super) fn adopt(folder: &Path, home: &ChibiHome) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with("begun-") && name.ends_with(".json"));
        let begun = ours.then(|| fs::read(entry.path()).ok()).flatten();
        let Some(begun) = begun.and_then(|bytes| serde_json::from_slice::<Begun>(&bytes).ok()) else {
            continue;
        };
        let pid = i32::try_from(begun.pid).ok().and_then(Pid::from_raw);
        let lives = pid.is_some_and(|pid| test_kill_process(pid).is_ok());
        if !lives && finish(begun, home).is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn finish(begun: Begun, home: &ChibiHome) -> Result<(), ContextError> {
    let mut context = begun.make(home)?;
    let empty = context.history().history.exchanges().is_empty();
    match begun.prompt.filter(|_| empty) {
        Some((id, text)) => context.record(&Record::Prompt { id, text }, "user", ""),
        None => Ok(()),
    }
}
