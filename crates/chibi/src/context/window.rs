//! What of a transcript a model is shown: pure rules over entries. Knows no file.

use std::collections::{HashMap, HashSet};

use super::{ContextError, Entry, EntryId, EntryKind};

/// Whether an entry is part of windows at all. The others are only for the log.
pub(super) fn belongs(entry: &Entry) -> bool {
    !matches!(entry.kind, EntryKind::SystemPromptChanged | EntryKind::Restored) && !entry.is_aside()
}

/// The entries in the lines of a window, or None if a line is no entry. A last line without its newline was never
/// finished and is not there.
pub(super) fn parse(bytes: &[u8]) -> Option<Vec<Entry>> {
    lines(bytes).map(Entry::parse).collect()
}

pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1);
    bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

pub(super) fn text(entries: &[Entry]) -> Vec<u8> {
    entries.iter().flat_map(|entry| [entry.line(), vec![b'\n']].concat()).collect()
}

/// The window as a transcript tells it, newest entry first. Reads back to the last anchor, and on to what that kept.
pub(super) fn rebuild(
    newest_first: impl Iterator<Item = Result<Entry, ContextError>>,
) -> Result<Vec<Entry>, ContextError> {
    let mut later = Vec::new();
    let mut anchor: Option<Entry> = None;
    let mut wanted: HashSet<EntryId> = HashSet::new();
    let mut kept: HashMap<EntryId, Entry> = HashMap::new();
    for entry in newest_first {
        let entry = entry?;
        if anchor.is_none() {
            if entry.is_anchor() {
                wanted = retained(&entry).into_iter().collect();
                anchor = Some(entry);
            } else if belongs(&entry) {
                later.push(entry);
            }
        } else if wanted.remove(&entry.id) {
            kept.insert(entry.id.clone(), entry);
        }
        if anchor.is_some() && wanted.is_empty() {
            break;
        }
    }
    let order = anchor.as_ref().map(retained).unwrap_or_default();
    let mut window: Vec<Entry> = anchor.into_iter().filter(belongs).collect();
    window.extend(order.iter().filter_map(|id| kept.remove(id)));
    window.extend(later.into_iter().rev());
    Ok(window)
}

/// How a window and the transcript behind it differ after a crash.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Difference {
    None,
    /// The transcript has more: the window lacks these.
    Behind(Vec<Entry>),
    /// The window has more, from this place on: a power loss took what was not yet on the disk.
    Ahead(usize),
    /// They have nothing to do with each other.
    Unrelated,
}

/// Compares from the end, no further back than to the first entry that both have.
pub(super) fn compare(
    window: &[Entry],
    newest_first: impl Iterator<Item = Result<Entry, ContextError>>,
) -> Result<Difference, ContextError> {
    let places: HashMap<&EntryId, usize> =
        window.iter().enumerate().map(|(place, entry)| (&entry.id, place)).collect();
    let mut missing = Vec::new();
    for entry in newest_first {
        let entry = entry?;
        let last = match entry.kind {
            EntryKind::Restored => retained(&entry).iter().rev().find_map(|id| places.get(id).copied()),
            _ => places.get(&entry.id).copied(),
        };
        match last {
            Some(place) if missing.is_empty() => return Ok(ahead(window, place)),
            Some(_) => {
                missing.reverse();
                return Ok(Difference::Behind(missing));
            }
            None if entry.is_anchor() => return Ok(Difference::Unrelated),
            None if belongs(&entry) => missing.push(entry),
            None => {}
        }
    }
    Ok(if missing.is_empty() && window.is_empty() { Difference::None } else { Difference::Unrelated })
}

fn ahead(window: &[Entry], place: usize) -> Difference {
    let kept: HashSet<EntryId> = window.first().map(retained).unwrap_or_default().into_iter().collect();
    let unlogged = |entry: &Entry| entry.kind != EntryKind::SystemPrompt && !kept.contains(&entry.id);
    match window[place + 1..].iter().position(unlogged) {
        Some(first) => Difference::Ahead(place + 1 + first),
        None => Difference::None,
    }
}

/// The ids of what an anchor keeps. The system prompt is in no log; it is put into a window that is made again.
pub(super) fn to_retain<'a>(kept: impl IntoIterator<Item = &'a Entry>) -> Vec<&'a EntryId> {
    let logged = kept.into_iter().filter(|entry| entry.kind != EntryKind::SystemPrompt);
    logged.map(|entry| &entry.id).collect()
}

/// Puts the system prompt where the seed has it: behind the anchor, in the place of another.
pub(super) fn with_system_prompt(mut window: Vec<Entry>, prompt: Option<Entry>) -> Vec<Entry> {
    window.retain(|entry| entry.kind != EntryKind::SystemPrompt);
    let place = window.iter().take_while(|entry| entry.is_anchor()).count();
    if let Some(prompt) = prompt {
        window.insert(place, prompt);
    }
    window
}

/// What an anchor kept of the window before it, in its order.
pub(super) fn retained(anchor: &Entry) -> Vec<EntryId> {
    anchor.metadata.get("retained").unwrap_or_default()
}

/// The prompts that are pinned, oldest pin first.
pub(crate) fn pins(window: &[Entry]) -> Vec<EntryId> {
    let mut pinned = Vec::new();
    for entry in window {
        let Some(id) = entry.metadata.get::<EntryId>("entry") else { continue };
        match entry.kind {
            EntryKind::Pinned if !pinned.contains(&id) => pinned.push(id),
            EntryKind::Unpinned => pinned.retain(|other| *other != id),
            _ => {}
        }
    }
    pinned
}

/// The prompt of the exchange that an entry belongs to.
pub(super) fn prompt_of<'a>(window: &'a [Entry], id: &EntryId) -> Option<&'a EntryId> {
    let place = window.iter().position(|entry| entry.id == *id)?;
    window[..=place].iter().rev().find(|entry| entry.is_prompt()).map(|entry| &entry.id)
}

/// What stays when only the exchanges of these prompts are kept: they, the pinned ones, the pins themselves, and what
/// stands before all exchanges.
pub(super) fn survivors(window: &[Entry], keep: &[EntryId]) -> HashSet<EntryId> {
    let kept: HashSet<EntryId> = keep.iter().cloned().chain(pins(window)).collect();
    let mut prompt: Option<&EntryId> = None;
    let mut stays = HashSet::new();
    for entry in window {
        if entry.is_prompt() {
            prompt = Some(&entry.id);
        }
        let is_kept = match entry.kind {
            EntryKind::Opening | EntryKind::SystemPrompt => true,
            EntryKind::Pinned | EntryKind::Unpinned => {
                entry.metadata.get::<EntryId>("entry").is_some_and(|id| kept.contains(&id))
            }
            _ => !entry.is_anchor() && prompt.is_some_and(|prompt| kept.contains(prompt)),
        };
        if is_kept {
            stays.insert(entry.id.clone());
        }
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;

    #[test]
    fn a_window_with_anything_in_it_is_read_or_refused() {
        testkit::fuzz("chibi-window", "tests/corpus/window", 10_000, |bytes| {
            let Some(window) = parse(bytes) else { return };
            let backwards = || window.iter().rev().cloned().map(Ok);
            let rebuilt = rebuild(backwards()).unwrap();
            assert!(rebuilt.len() <= window.len());
            compare(&window, backwards()).unwrap();
            let kept = survivors(&window, &[]);
            assert!(
                window
                    .iter()
                    .filter(|entry| entry.is_anchor())
                    .all(|entry| !kept.contains(&entry.id) || twice(&window, entry))
            );
            drop(conversation::History::load(records::read(&window)));
            // Written and read again it is the same, but for a line break that stood for a space.
            let written = text(&window);
            assert_eq!(parse(&written).map(|window| text(&window)), Some(written));
        });
    }

    #[test]
    fn what_was_noted_aside_is_in_the_log_and_in_no_window() {
        let message = |id| Entry::new(EntryId::from_bits(id), 1, EntryKind::Message, "ada", "work", "hi");
        let call = Entry::new(EntryId::from_bits(2), 1, EntryKind::ToolCall, "work", "bash", "{}").aside();
        let log = [message(1), call, message(3)];
        let window = rebuild(log.iter().rev().cloned().map(Ok)).unwrap();
        assert_eq!(window, [message(1), message(3)]);
        // Neither does a window lack it.
        assert_eq!(compare(&window[..1], log[..2].iter().rev().cloned().map(Ok)).unwrap(), Difference::None);
    }

    /// Damage can give two entries one id.
    fn twice(window: &[Entry], entry: &Entry) -> bool {
        window.iter().filter(|other| other.id == entry.id).count() > 1
    }
}
