//! Entries as people read them in the log of `-g`. Pure.

use std::fmt::Write;

use kit::text;

use crate::context::{Entry, EntryKind};

/// How much of a call is shown where little is.
const EXCERPT: usize = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Short,
    Full,
}

/// Whether there is anything of it to be read.
pub(crate) fn is_shown(entry: &Entry, detail: Detail) -> bool {
    match entry.kind {
        EntryKind::Message | EntryKind::ToolCall | EntryKind::ToolResult => true,
        EntryKind::Compaction => detail == Detail::Full,
        _ => false,
    }
}

/// Which of the entries `-g N` means: the last N, the first for a negative N, all for 0.
pub(crate) fn chosen(entries: &[Entry], count: i64) -> &[Entry] {
    let many = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX).min(entries.len());
    match count {
        0 => entries,
        ..0 => &entries[..many],
        1.. => &entries[entries.len() - many..],
    }
}

pub(crate) fn shown(entries: &[Entry], detail: Detail) -> String {
    let mut out = String::new();
    for entry in entries {
        one(entry, detail, &mut out);
    }
    out
}

fn one(entry: &Entry, detail: Detail, out: &mut String) {
    let content = &entry.content;
    let _ = match (&entry.kind, detail) {
        (EntryKind::Message, _) => write!(out, "[{}]: {}\n\n", speaker(entry), content.trim_end()),
        (EntryKind::ToolCall, Detail::Short) => {
            let dots = if content.len() > EXCERPT { "..." } else { "" };
            writeln!(out, "[TOOL: {}] {}{dots}", entry.to, text::plain(text::head(content, EXCERPT)))
        }
        (EntryKind::ToolResult, Detail::Short) => writeln!(out, "  → {}", size(content.len())),
        (EntryKind::ToolCall, Detail::Full) => write!(out, "[TOOL CALL: {}]\n{content}\n\n", entry.to),
        (EntryKind::ToolResult, Detail::Full) => write!(out, "[TOOL RESULT: {}]\n{content}\n\n", entry.from),
        (EntryKind::Compaction, Detail::Full) => {
            write!(out, "[COMPACTION]\n{}\n\n", entry.metadata.summary().unwrap_or_default())
        }
        (_, Detail::Short | Detail::Full) => Ok(()),
    };
}

fn speaker(entry: &Entry) -> String {
    text::plain(&entry.from).to_uppercase()
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes}b"),
        1000..1_000_000 => format!("{:.1}kb", bytes as f64 / 1000.0),
        _ => format!("{:.1}mb", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::EntryId;

    fn entry(kind: EntryKind, from: &str, to: &str, content: &str) -> Entry {
        Entry::new(EntryId::from_bits(1), 1, kind, from, to, content)
    }

    fn entries() -> Vec<Entry> {
        vec![
            entry(EntryKind::Message, "ada", "work", "look"),
            entry(EntryKind::ToolCall, "work", "read_file", &"日本語".repeat(20)),
            entry(EntryKind::ToolResult, "read_file", "work", &"x".repeat(1234)),
            entry(EntryKind::Message, "work", "user", "it is empty"),
        ]
    }

    #[test]
    fn a_log_is_short_unless_all_of_it_is_wanted() {
        assert_eq!(
            shown(&entries(), Detail::Short),
            format!(
                "[ADA]: look\n\n[TOOL: read_file] {}...\n  → 1.2kb\n[WORK]: it is empty\n\n",
                "日本語".repeat(6) + "日本"
            ),
            "and a character is never cut in two"
        );
        let full = shown(&entries(), Detail::Full);
        assert!(
            full.contains("[TOOL CALL: read_file]\n日本語") && full.contains("[TOOL RESULT: read_file]\nxxx")
        );
        let compaction = entry(EntryKind::Compaction, "system", "work", "Context compacted");
        let compaction = compaction.with("summary", &"we met");
        assert_eq!(shown(std::slice::from_ref(&compaction), Detail::Full), "[COMPACTION]\nwe met\n\n");
        assert_eq!(shown(&[compaction], Detail::Short), "");
    }

    #[test]
    fn counts_choose_from_either_end() {
        let all = entries();
        assert_eq!(chosen(&all, 1), &all[3..]);
        assert_eq!(chosen(&all, -1), &all[..1]);
        assert_eq!(chosen(&all, 0).len(), 4);
        assert_eq!(chosen(&all, 99).len(), 4);
        assert_eq!(chosen(&all, i64::MIN).len(), 4);
        assert_eq!(chosen(&[], 3).len(), 0);
    }
}
