//! What a manifest says of one partition, found by reading it.

use std::path::Path;

use store::journal;

use super::super::{ContextError, Entry};
use super::manifest::Listed;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    pub(super) start: u64,
    pub(super) end: u64,
    entries: u64,
    bytes: u64,
}

pub(super) fn measure(path: &Path) -> Result<Shape, ContextError> {
    let mut shape = Shape::default();
    for line in journal::lines(path, 0)? {
        let line = line?;
        shape.bytes += line.bytes.len() as u64 + 1;
        if let Some(entry) = Entry::parse(&line.bytes) {
            shape.start = if shape.entries == 0 { entry.timestamp } else { shape.start };
            shape.end = entry.timestamp;
            shape.entries += 1;
        }
    }
    Ok(shape)
}

impl Shape {
    pub(super) fn listed(self, file: String) -> Listed {
        Listed {
            file,
            start_ts: self.start,
            end_ts: self.end,
            entry_count: self.entries,
            token_count: Some(kit::text::tokens(self.bytes)),
            bloom_file: None,
        }
    }
}
