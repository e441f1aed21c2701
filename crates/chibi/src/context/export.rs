//! A whole transcript for others to read: as Markdown or as one JSON object. Written as it is read, so that a long one needs
//! no memory.

use std::io::{self, Write};

use serde_json::json;

use super::fault::At;
use super::{ContextError, Entry, EntryKind, Reader, Speaker};

impl Reader {
    /// `{"context", "created_at", "entries": […]}`, entries as they are kept.
    pub fn export_json(&self, out: &mut dyn Write) -> Result<(), ContextError> {
        let created = self.meta()?.unwrap_or_default().created_at;
        let head = json!({"context": self.name(), "created_at": created}).to_string();
        self.put(out, &format!("{},\"entries\":[", head.trim_end_matches('}')))?;
        for (number, entry) in self.entries()?.enumerate() {
            let comma = if number == 0 { "\n" } else { ",\n" };
            self.put(out, comma)?;
            out.write_all(&entry?.line()).at("export", self.folder())?;
        }
        self.put(out, "\n]}\n")
    }

    /// A heading for each speaker; calls and results of tools as code.
    pub fn export_markdown(&self, out: &mut dyn Write) -> Result<(), ContextError> {
        self.put(out, &format!("# {}\n", self.name()))?;
        for entry in self.entries()? {
            section(&entry?, out).at("export", self.folder())?;
        }
        Ok(())
    }

    fn put(&self, out: &mut dyn Write, text: &str) -> Result<(), ContextError> {
        out.write_all(text.as_bytes()).at("export", self.folder())
    }
}

fn section(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    let Entry { from, to, content, .. } = entry;
    match entry.kind {
        EntryKind::Message if content.is_empty() => Ok(()),
        EntryKind::Message if entry.speaker() == Speaker::User => write!(out, "\n## {from}\n\n{content}\n"),
        EntryKind::Message => write!(out, "\n## {from} (assistant)\n\n{content}\n"),
        EntryKind::ToolCall => code(out, &format!("`{to}` was called"), "json", content),
        EntryKind::ToolResult => code(out, &format!("`{from}` answered"), "", content),
        EntryKind::Compaction => {
            write!(out, "\n---\n\n*Compacted:* {}\n", entry.metadata.summary().unwrap_or_default())
        }
        EntryKind::Archival => write!(out, "\n---\n\n*Archived*\n"),
        _ => Ok(()),
    }
}

/// In a fence that is longer than any in the text.
fn code(out: &mut dyn Write, heading: &str, language: &str, text: &str) -> io::Result<()> {
    let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(runs.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "\n{heading}\n\n{fence}{language}\n{text}{end}{fence}\n")
}
