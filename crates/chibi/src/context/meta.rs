//! `context_meta.json`: when a context was made and what others want to remember of it. Never decides anything.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Durability, replace};

use super::ContextError;
use super::home::read_text;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Meta {
    #[serde(default)]
    pub created_at: u64,
    /// Anything else, such as the project of an agent's conversation.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// None if there is none that can be read.
pub(super) fn load(folder: &Path) -> Result<Option<Meta>, ContextError> {
    Ok(read_text(&file(folder))?.and_then(|text| serde_json::from_str(&text).ok()))
}

pub(super) fn save(folder: &Path, meta: &Meta, durability: Durability) -> Result<(), ContextError> {
    let text = serde_json::to_vec_pretty(meta).expect("a JSON object can be written");
    Ok(replace(&file(folder), &text, durability)?)
}

fn file(folder: &Path) -> PathBuf {
    folder.join("context_meta.json")
}
