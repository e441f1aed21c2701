//! Messages from one context to another, in the seed's form. A message stays on disk until the turn that takes it has
//! written it down. Knows nothing of turns.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::journal::Journal;
use store::lock::{self, Lock};
use store::{Durability, replace};

use super::fault::{At, found, read};
use super::{ChibiHome, ContextError, ContextName, Entry, EntryId, window};

/// Others hold the inbox for one small write.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: EntryId,
    pub timestamp: u64,
    pub from: String,
    pub to: String,
    pub content: String,
}

/// Leaves a message for a context, which is made if there is none. Does not wait for whoever works with it.
pub fn send(home: &ChibiHome, to: &ContextName, from: &str, content: &str) -> Result<Message, ContextError> {
    home.ensure(to)?;
    let folder = home.context(to);
    let message = Message {
        id: home.fresh_id(),
        timestamp: home.now(),
        from: from.to_owned(),
        to: to.to_string(),
        content: content.to_owned(),
    };
    let _lock = hold(&folder)?;
    let (mut journal, _) = Journal::open(&inbox_file(&folder), Durability::Fsync)?;
    journal.append(&serde_json::to_vec(&message).expect("text can be written as JSON"))?;
    Ok(message)
}

/// Which messages an entry has taken over.
pub(super) fn taken_by(entry: &Entry) -> Vec<EntryId> {
    entry.metadata.get("inbox").unwrap_or_default()
}

/// What waits. Messages move to a file of their own, where they stay until [`forget`]; those that were `seen` go now.
pub(super) fn take(folder: &Path, seen: &[EntryId]) -> Result<Vec<Message>, ContextError> {
    let _lock = hold(folder)?;
    let (inbox, taken) = (inbox_file(folder), taken_file(folder));
    let mut lines = found(read(&taken)).at("read", &taken)?.unwrap_or_default();
    let arrived = found(read(&inbox)).at("read", &inbox)?.unwrap_or_default();
    if !arrived.is_empty() {
        lines.extend(arrived);
        // A torn message must not take the next one with it.
        lines.push(b'\n');
        replace(&taken, &lines, Durability::Fsync)?;
        fs::remove_file(&inbox).at("remove", &inbox)?;
    }
    let mut known: HashSet<EntryId> = seen.iter().cloned().collect();
    // Between the two steps above a crash leaves messages in both files.
    let messages: Vec<Message> =
        parse(&lines).into_iter().filter(|message| known.insert(message.id.clone())).collect();
    if messages.is_empty() {
        found(fs::remove_file(&taken)).at("remove", &taken)?;
    }
    Ok(messages)
}

/// These messages were written down elsewhere.
pub(super) fn forget(folder: &Path, ids: &[EntryId]) -> Result<(), ContextError> {
    let _lock = hold(folder)?;
    let taken = taken_file(folder);
    let Some(lines) = found(read(&taken)).at("read", &taken)? else { return Ok(()) };
    let mut left = parse(&lines);
    left.retain(|message| !ids.contains(&message.id));
    if left.is_empty() {
        return fs::remove_file(&taken).at("remove", &taken);
    }
    let line =
        |message: &Message| serde_json::to_string(message).expect("text can be written as JSON") + "\n";
    let lines: String = left.iter().map(line).collect();
    Ok(replace(&taken, lines.as_bytes(), Durability::Fsync)?)
}

fn parse(lines: &[u8]) -> Vec<Message> {
    window::lines(lines).filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The same lock that the original takes.
fn hold(folder: &Path) -> Result<Lock, ContextError> {
    Ok(lock::acquire(&folder.join(".inbox.lock"), "inbox", PATIENCE)?)
}

fn inbox_file(folder: &Path) -> PathBuf {
    folder.join("inbox.jsonl")
}

fn taken_file(folder: &Path) -> PathBuf {
    folder.join("inbox.taken.jsonl")
}
