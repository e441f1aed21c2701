//! `transcript.md`, the archive for people: it grows at the end of each turn. Nothing is ever read from it.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use store::{Durability, replace};

use super::fault::At;
use super::home::read_text;
use super::{Context, ContextError, Entry, EntryId, EntryKind, Speaker};

impl Context {
    /// Adds what was said since the last time. A turn that died before this is added by the next one.
    pub fn end_turn(&mut self) -> Result<(), ContextError> {
        let Some(newest) = self.reader.latest().next().transpose()? else { return Ok(()) };
        let folder = self.reader.folder();
        let last = read_text(&mark(folder))?.map(EntryId);
        let mut said = Vec::new();
        // Without a mark the file is another version's: then from where we began.
        for entry in self.reader.latest() {
            let entry = entry?;
            if Some(&entry.id) == last.as_ref() {
                break;
            }
            let is_first = last.is_none() && Some(&entry.id) == self.first.as_ref();
            said.push(entry);
            if is_first {
                break;
            }
        }
        let text: String = said.iter().rev().filter_map(paragraph).collect();
        let path = folder.join("transcript.md");
        // Nobody may ever read from a pipe in its place.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(&path);
        let mut file = file.at("open", &path)?;
        let before = file.metadata().at("look at", &path)?.len();
        let written = file.write_all(text.as_bytes()).at("append to", &path);
        let marked =
            written.and_then(|()| Ok(replace(&mark(folder), newest.id.0.as_bytes(), Durability::Cached)?));
        if marked.is_err() {
            // The next turn writes all of it again.
            let _ = file.set_len(before);
        }
        marked
    }
}

fn paragraph(entry: &Entry) -> Option<String> {
    let said = |who: &str| format!("[{who}]: {}\n\n", entry.content);
    match entry.kind {
        EntryKind::Message if entry.content.is_empty() => None,
        EntryKind::Message => Some(said(match entry.speaker() {
            Speaker::User => "USER",
            Speaker::Assistant => "ASSISTANT",
        })),
        EntryKind::ToolCall => Some(format!("[TOOL CALL: {}]: {}\n\n", entry.to, entry.content)),
        EntryKind::ToolResult => Some(format!("[TOOL RESULT: {}]: {}\n\n", entry.from, entry.content)),
        EntryKind::Compaction => {
            let summary = entry.metadata.summary().unwrap_or_default();
            Some(format!("[COMPACTION]: {summary}\n\n"))
        }
        EntryKind::Archival => Some("[ARCHIVED]\n\n".to_owned()),
        _ => None,
    }
}

/// Holds the id of the last entry that the file has.
fn mark(folder: &Path) -> PathBuf {
    folder.join(".transcript.md.last")
}
