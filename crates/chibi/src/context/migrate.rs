//! What older versions left: one `transcript.jsonl` instead of partitions, and a window as one object in `context.json`.
//! Both are taken over once. Nothing is thrown away.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::fault::{At, found, read};
use super::home::make_dir;
use super::{ContextError, Document, Entry, EntryKind, Reader, documents};

const TRANSCRIPT: &str = "transcript.jsonl";
const WINDOW: &str = "context.json";

/// What the new files must still get.
#[derive(Debug, Default)]
pub(super) struct Migrated {
    pub(super) entries: Vec<Entry>,
    pub(super) notes: Vec<String>,
    /// To be set aside when the entries are written.
    whole: Option<PathBuf>,
}

/// The window of the oldest versions, as far as we need it.
#[derive(Debug, Deserialize)]
struct Whole {
    #[serde(default)]
    messages: Vec<Said>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    created_at: u64,
}

#[derive(Debug, Deserialize)]
struct Said {
    #[serde(default, alias = "id")]
    _id: String,
    role: String,
    #[serde(default)]
    content: String,
}

impl Migrated {
    /// The entries are in the transcript.
    pub(super) fn finish(mut self) -> Result<Vec<String>, ContextError> {
        if let Some(old) = self.whole.take() {
            set_aside(&old, &mut self, "its messages are in the transcript now")?;
        }
        Ok(self.notes)
    }
}

/// Whether there is anything to take over.
pub(super) fn is_due(reader: &Reader) -> bool {
    [TRANSCRIPT, WINDOW].iter().any(|file| reader.folder().join(file).is_file())
}

/// Whoever calls holds the context.
pub(super) fn files(reader: &Reader) -> Result<Migrated, ContextError> {
    let mut migrated = Migrated::default();
    transcript(reader, &mut migrated)?;
    whole(reader, &mut migrated)?;
    Ok(migrated)
}

fn transcript(reader: &Reader, migrated: &mut Migrated) -> Result<(), ContextError> {
    let old = reader.folder().join(TRANSCRIPT);
    if !old.is_file() {
        return Ok(());
    }
    let new = reader.transcript().active_file();
    make_dir(new.parent().unwrap_or(reader.folder()))?;
    let is_free = fs::metadata(&new).map_or(true, |file| file.len() == 0);
    match is_free {
        true => fs::rename(&old, &new).at("move", &old)?,
        false => return set_aside(&old, migrated, "there is a newer transcript"),
    }
    migrated.notes.push(format!("`{}` became the first partition", old.display()));
    Ok(())
}

fn whole(reader: &Reader, migrated: &mut Migrated) -> Result<(), ContextError> {
    let old = reader.folder().join(WINDOW);
    let Some(bytes) = found(read(&old)).at("read", &old)? else { return Ok(()) };
    let Ok(whole) = serde_json::from_slice::<Whole>(&bytes) else {
        return set_aside(&old, migrated, "it cannot be read");
    };
    let logged =
        reader.latest().next().transpose()?.is_some_and(|entry| entry.kind != EntryKind::ContextCreated);
    if logged {
        return set_aside(&old, migrated, "the transcript has what it says");
    }
    let context = reader.name().as_str();
    for (number, said) in whole.messages.iter().filter(|said| said.role != "system").enumerate() {
        let (from, to) = if said.role == "assistant" { (context, "user") } else { ("user", context) };
        let id = match said._id.as_str() {
            "" => format!("{context}-{}-{number}", whole.created_at),
            id => id.to_owned(),
        };
        let mut entry =
            Entry::new(super::EntryId(id), whole.created_at, EntryKind::Message, from, to, &said.content);
        if said.role != "assistant" && to == "user" {
            entry.metadata.set("role", &"user");
        }
        migrated.entries.push(entry);
    }
    if reader.document(Document::Summary)?.is_none() {
        documents::write(reader.folder(), Document::Summary, &whole.summary)?;
    }
    migrated.whole = Some(old);
    Ok(())
}

fn set_aside(old: &Path, migrated: &mut Migrated, why: &str) -> Result<(), ContextError> {
    let kept = old.with_extension(format!("{}.migrated", old.extension().unwrap_or_default().display()));
    fs::rename(old, &kept).at("set aside", old)?;
    migrated.notes.push(format!("`{}` is kept as `{}`: {why}", old.display(), kept.display()));
    Ok(())
}
