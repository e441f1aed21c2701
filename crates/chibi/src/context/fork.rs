//! A new context that goes on from some entry of another, which stays as it is. Knows nothing of turns.

use store::{Durability, replace};

use super::home::read_text;
use super::{
    ChibiHome, ContextError, ContextName, Document, Entry, EntryId, EntryKind, Filters, Meta, Reader,
    documents, lifecycle, meta, window,
};

impl ChibiHome {
    /// The new context has the window that `from` had when `at` was its last entry, and the same settings, goals and
    /// todos. Its transcript begins with that window.
    pub fn fork(&self, from: &Reader, at: &EntryId, name: &ContextName) -> Result<(), ContextError> {
        let then = window_at(from, at)?;
        let summary = match then.first() {
            Some(anchor) if anchor.kind == EntryKind::Compaction => {
                anchor.metadata.summary().unwrap_or_default()
            }
            _ => String::new(),
        };
        let origin = serde_json::json!({"context": from.name(), "entry": at});
        let created =
            Entry::of_system(self.fresh_id(), self.now(), EntryKind::ContextCreated, name, "Context created");
        let mut entries = vec![created.with("forked", &origin)];
        if !summary.is_empty() {
            let (id, now) = (self.fresh_id(), self.now());
            let anchor = Entry::of_system(id, now, EntryKind::Compaction, name, "Context compacted");
            entries.push(anchor.with("summary", &summary));
        }
        entries.extend(then.into_iter().filter(|entry| !entry.is_anchor()));
        lifecycle::make(self, name, &entries, |folder| {
            let mut other = from.meta()?.unwrap_or_default().other;
            other.insert("forked".to_owned(), origin);
            meta::save(folder, &Meta { created_at: self.now(), other }, Durability::Fsync)?;
            for document in [Document::Goals, Document::Todos, Document::SystemPrompt] {
                documents::write(folder, document, &from.document(document)?.unwrap_or_default())?;
            }
            documents::write(folder, Document::Summary, &summary)?;
            match read_text(&from.local_file())? {
                Some(local) => Ok(replace(&folder.join("local.toml"), local.as_bytes(), Durability::Fsync)?),
                None => Ok(()),
            }
        })
    }
}

/// The window of a context when this was its last entry.
fn window_at(from: &Reader, at: &EntryId) -> Result<Vec<Entry>, ContextError> {
    let missing = || ContextError::NoEntry { context: from.name().clone(), id: at.clone() };
    let time = from.transcript().entry(at, Filters::Consult)?.ok_or_else(missing)?.timestamp;
    let is_later = |entry: &Result<Entry, ContextError>| entry.as_ref().is_ok_and(|entry| entry.id != *at);
    let mut near = from.transcript().backwards_until(time)?.skip_while(is_later).peekable();
    if near.peek().is_some() {
        return window::rebuild(near);
    }
    // A clock that was set back: then from the end.
    window::rebuild(from.latest().skip_while(is_later))
}
