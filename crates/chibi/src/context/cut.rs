//! Turning a window over: compaction, its undoing, archiving. The new window is staged, then one line in the transcript
//! makes it true; whoever opens next completes or forgets what was interrupted. So there is the old window or the new one,
//! never a mixture. Knows nothing of summaries but that they are text.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Durability, replace};

use super::fault::{At, found, read};
use super::home::{make_dir, read_text};
use super::{Context, ContextError, Document, Entry, EntryId, EntryKind, Reader, documents, window};

/// So many compactions can be undone; a window is copied for each.
const RECEIPTS: u64 = 16;

/// What is to happen to a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// Prompts whose exchanges stay; pinned ones stay anyway.
    pub keep: Vec<EntryId>,
    /// What is said in the place of all others.
    pub summary: String,
}

/// What a compaction did, by which it can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    number: u64,
    /// The compaction's own entry.
    pub anchor: EntryId,
    pub replaced: Replaced,
    /// Prompts that were pinned.
    pub pinned: Vec<EntryId>,
    summary_before: Option<String>,
    /// The window that it made, as length and digest.
    made: (u64, String),
}

/// Which entries a summary stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    pub first: Option<EntryId>,
    pub last: Option<EntryId>,
    pub entries: usize,
    /// SHA-256 of their lines.
    pub digest: String,
}

/// What will have happened once the transcript has the anchor.
#[derive(Debug, Serialize, Deserialize)]
struct Staged {
    anchor: EntryId,
    summary: String,
    receipts: Change,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Push(Receipt),
    Pop(u64),
    Clear,
}

impl Context {
    /// Puts a summary in the place of the exchanges that are not kept.
    pub fn compact(&mut self, compaction: &Compaction) -> Result<Receipt, ContextError> {
        self.settle()?;
        self.catch_up()?;
        let old = self.reader.window_bytes()?.unwrap_or_default();
        let stays = window::survivors(&self.window, &compaction.keep);
        let (kept, gone): (Vec<&Entry>, Vec<&Entry>) =
            self.window.iter().partition(|entry| stays.contains(&entry.id));
        let replaced = Replaced::of(gone.into_iter().filter(|entry| !entry.is_anchor()));
        let retained = window::to_retain(kept);
        let pinned = self.pins();
        let anchor = self
            .fresh(EntryKind::Compaction, "Context compacted")
            .with("summary", &compaction.summary)
            .with("retained", &retained)
            .with("replaced", &replaced)
            .with("pinned", &pinned);
        let mut new = [anchor.line(), vec![b'\n']].concat();
        // Lines as they are in the file: what is kept is kept to the byte.
        for line in window::lines(&old) {
            if Entry::parse(line).is_some_and(|entry| stays.contains(&entry.id)) {
                new.extend_from_slice(line);
                new.push(b'\n');
            }
        }
        let folder = Receipts::of(&self.reader);
        let number = folder.numbers()?.last().map_or(1, |last| last + 1);
        let summary_before = self.reader.document(Document::Summary)?;
        let made = (new.len() as u64, digest(&new));
        let receipt = Receipt { number, anchor: anchor.id.clone(), replaced, pinned, summary_before, made };
        make_dir(&folder.0)?;
        replace(&folder.window(number), &old, Durability::Fsync)?;
        self.turn_over(anchor, &new, compaction.summary.clone(), Change::Push(receipt.clone()))?;
        Ok(receipt)
    }

    /// Takes the last compaction back: the window is what it was, to the byte, and what was said since then follows.
    pub fn undo_compaction(&mut self) -> Result<Receipt, ContextError> {
        self.settle()?;
        self.catch_up()?;
        let folder = Receipts::of(&self.reader);
        let nothing = || ContextError::NothingToUndo(self.name().clone());
        let receipt = folder.last()?.ok_or_else(nothing)?;
        let old = found(read(&folder.window(receipt.number))).at("read", &folder.0)?.ok_or_else(nothing)?;
        let now = self.reader.window_bytes()?.unwrap_or_default();
        let mut new = old.clone();
        new.extend(since(&receipt, &old, &now));
        let restored: Vec<Entry> = window::lines(&new).filter_map(Entry::parse).collect();
        let anchor = self
            .fresh(EntryKind::Restored, "Compaction undone")
            .with("undone", &receipt.anchor)
            .with("retained", &window::to_retain(&restored));
        let summary = receipt.summary_before.clone().unwrap_or_default();
        self.turn_over(anchor, &new, summary, Change::Pop(receipt.number))?;
        Ok(receipt)
    }

    /// Empties the window and forgets the summary. Nothing happens, and false comes back, if nothing was said in it.
    pub fn archive(&mut self) -> Result<bool, ContextError> {
        self.settle()?;
        if !self.window.iter().any(|entry| entry.kind == EntryKind::Message) {
            return Ok(false);
        }
        let anchor = self.fresh(EntryKind::Archival, "Context archived/cleared");
        let new = [anchor.line(), vec![b'\n']].concat();
        self.turn_over(anchor, &new, String::new(), Change::Clear)?;
        Ok(true)
    }

    /// The line in the transcript is what happens; before it nothing has, after it everything will.
    fn turn_over(
        &mut self,
        anchor: Entry,
        new: &[u8],
        summary: String,
        receipts: Change,
    ) -> Result<(), ContextError> {
        let folder = Receipts::of(&self.reader);
        make_dir(&folder.0)?;
        let staged = Staged { anchor: anchor.id.clone(), summary, receipts };
        let text = serde_json::to_vec(&staged).expect("text and numbers can be written as JSON");
        replace(&folder.staged_window(), new, Durability::Fsync)?;
        replace(&folder.staged(), &text, Durability::Fsync)?;
        self.is_turning = true;
        self.writer.append(&[anchor], Durability::Fsync)?;
        self.settle()?;
        self.rotate_quietly();
        Ok(())
    }
}

/// Completes a turn-over that reached the transcript, forgets one that did not.
pub(super) fn recover(reader: &Reader) -> Result<(), ContextError> {
    let folder = Receipts::of(reader);
    let Some(text) = read_text(&folder.staged())? else { return folder.forget_staged() };
    let staged: Option<Staged> = serde_json::from_str(&text).ok();
    let newest = reader.latest().next().transpose()?;
    match (staged, newest) {
        (Some(staged), Some(newest)) if newest.id == staged.anchor => finish(reader, &staged),
        _ => folder.forget_staged(),
    }
}

/// Every step can be repeated.
fn finish(reader: &Reader, staged: &Staged) -> Result<(), ContextError> {
    let folder = Receipts::of(reader);
    let path = reader.window_file();
    found(fs::rename(folder.staged_window(), &path)).at("replace", &path)?;
    documents::write(reader.folder(), Document::Summary, &staged.summary)?;
    folder.change(&staged.receipts)?;
    folder.forget_staged()
}

/// What was added to the window after the compaction, but for what was said about its summary.
fn since(receipt: &Receipt, old: &[u8], now: &[u8]) -> Vec<u8> {
    let (length, made) = &receipt.made;
    if let Some((head, tail)) = now.split_at_checked(*length as usize)
        && digest(head) == *made
    {
        let stays = |line: &&[u8]| !Entry::parse(line).is_some_and(|entry| entry.is_about_a_summary());
        return window::lines(tail).filter(stays).flat_map(|line| [line, b"\n"].concat()).collect();
    }
    // The window was written anew in between: by its entries then.
    let known: Vec<Entry> = window::lines(old).filter_map(Entry::parse).collect();
    let is_new = |entry: &Entry| {
        !entry.is_anchor() && !entry.is_about_a_summary() && known.iter().all(|old| old.id != entry.id)
    };
    let added: Vec<Entry> = window::lines(now).filter_map(Entry::parse).filter(is_new).collect();
    window::text(&added)
}

impl Replaced {
    fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Replaced {
        let entries: Vec<&Entry> = entries.collect();
        let mut lines = Sha256::new();
        for entry in &entries {
            lines.update(entry.line());
        }
        let id = |entry: Option<&&Entry>| entry.map(|entry| entry.id.clone());
        let digest = hex(&lines.finalize());
        Replaced { first: id(entries.first()), last: id(entries.last()), entries: entries.len(), digest }
    }
}

/// The folder of receipts.
struct Receipts(PathBuf);

impl Receipts {
    fn of(reader: &Reader) -> Receipts {
        Receipts(reader.folder().join("compactions"))
    }

    fn staged(&self) -> PathBuf {
        self.0.join("staged.json")
    }

    fn staged_window(&self) -> PathBuf {
        self.0.join("staged.jsonl")
    }

    fn window(&self, number: u64) -> PathBuf {
        self.0.join(format!("{number}.jsonl"))
    }

    fn receipt(&self, number: u64) -> PathBuf {
        self.0.join(format!("{number}.json"))
    }

    fn last(&self) -> Result<Option<Receipt>, ContextError> {
        let Some(number) = self.numbers()?.last().copied() else { return Ok(None) };
        Ok(read_text(&self.receipt(number))?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Of the receipts that are complete.
    fn numbers(&self) -> Result<Vec<u64>, ContextError> {
        let mut numbers = Vec::new();
        for entry in found(fs::read_dir(&self.0)).at("list", &self.0)?.into_iter().flatten() {
            let name = entry.at("list", &self.0)?.file_name();
            numbers.extend(name.to_str().and_then(|name| name.strip_suffix(".json")?.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn change(&self, change: &Change) -> Result<(), ContextError> {
        match change {
            Change::Push(receipt) => {
                let text = serde_json::to_vec(receipt).expect("text and numbers can be written as JSON");
                replace(&self.receipt(receipt.number), &text, Durability::Fsync)?;
                match receipt.number.checked_sub(RECEIPTS) {
                    Some(oldest) => self.remove(oldest),
                    None => Ok(()),
                }
            }
            Change::Pop(number) => self.remove(*number),
            Change::Clear => self.numbers()?.into_iter().try_for_each(|number| self.remove(number)),
        }
    }

    fn remove(&self, number: u64) -> Result<(), ContextError> {
        [self.receipt(number), self.window(number)].iter().try_for_each(|path| remove_file(path))
    }

    fn forget_staged(&self) -> Result<(), ContextError> {
        [self.staged(), self.staged_window()].iter().try_for_each(|path| remove_file(path))
    }
}

fn remove_file(path: &Path) -> Result<(), ContextError> {
    found(fs::remove_file(path)).map(drop).at("remove", path)
}

pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
