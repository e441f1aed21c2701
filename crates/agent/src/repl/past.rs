//! What was typed at earlier prompts, kept privately. Nothing here is worth an error: a line that cannot be kept is only
//! not found again.

use std::path::Path;

use store::journal::{self, Journal};
use store::{Durability, replace};

/// How many lines one can go back.
pub(super) const MOST: usize = 1000;

pub(super) struct Past(Option<Journal>);

impl Past {
    /// The lines so far, oldest first. A file that has grown twice as long as anybody looks is shortened.
    pub(super) fn open(path: &Path) -> (Past, Vec<String>) {
        let lines: Vec<String> = journal::lines(path, 0)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|line| serde_json::from_slice(&line.bytes).ok())
            .collect();
        let recent = lines[lines.len().saturating_sub(MOST)..].to_vec();
        if lines.len() > 2 * MOST {
            let bytes: String = recent.iter().map(|line| format!("{}\n", serde_json::json!(line))).collect();
            let _ = replace(path, bytes.as_bytes(), Durability::Cached);
        }
        let journal = Journal::open(path, Durability::Cached).ok().map(|(journal, _)| journal);
        (Past(journal), recent)
    }

    pub(super) fn add(&mut self, line: &str) {
        if let Some(journal) = &mut self.0 {
            let _ = journal.append(serde_json::json!(line).to_string().as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn lines_are_found_again_and_a_long_past_is_shortened() {
        let home = Home::new();
        let path = home.path().join("past.jsonl");
        let (mut past, lines) = Past::open(&path);
        assert_eq!(lines, [] as [&str; 0]);
        for number in 0..=2 * MOST {
            past.add(&format!("line {number}\nmore"));
        }
        let (_, lines) = Past::open(&path);
        assert_eq!((lines.len(), lines.last().unwrap().as_str()), (MOST, "line 2000\nmore"));
        let (_, again) = Past::open(&path);
        assert_eq!(lines, again);
    }
}
