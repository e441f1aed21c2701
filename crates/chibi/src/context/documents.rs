//! The texts of a context that are replaced as a whole. Never knows what they say.

use std::fs;
use std::path::Path;

use store::{Durability, replace};

use super::ContextError;
use super::fault::{At, found};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    Todos,
    Goals,
    Summary,
    SystemPrompt,
}

impl Document {
    pub fn file_name(self) -> &'static str {
        match self {
            Document::Todos => "todos.md",
            Document::Goals => "goals.md",
            Document::Summary => "summary.md",
            Document::SystemPrompt => "system_prompt.md",
        }
    }
}

/// Whoever calls holds the context. An empty text is no file.
pub(super) fn write(folder: &Path, document: Document, text: &str) -> Result<(), ContextError> {
    let path = folder.join(document.file_name());
    if text.is_empty() {
        return found(fs::remove_file(&path)).map(drop).at("remove", &path);
    }
    Ok(replace(&path, text.as_bytes(), Durability::Fsync)?)
}
