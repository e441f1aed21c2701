//! A conversation's [`Record`]s as entries, and entries as records: both fronts keep their histories by this. What the seed
//! has a field for goes there; the rest goes to `metadata`, blocks of a provider byte for byte. Knows no turn.

use conversation::{Ending, Exchange, ExchangeId, History, Loaded, Record, Returned};
use llm::{Block, CallId, Outcome, ToolResult};
use serde_json::{Map, Value};

use super::{
    ChibiHome, Compaction, Context, ContextError, ContextName, Entry, EntryId, EntryKind, Speaker, usage,
};

impl Context {
    /// The conversation in the window.
    pub fn history(&self) -> Loaded {
        History::load(read(&self.window))
    }

    /// Keeps whatever happened: entries are appended, a compaction or its undoing turns the window over, what a reply of
    /// `model` cost goes to the ledger. `user` is who speaks in prompts.
    pub fn record(&mut self, record: &Record, user: &str, model: &str) -> Result<(), ContextError> {
        match record {
            Record::Usage(spent) => usage::record(&self.home, self.name(), model, spent),
            Record::Compacted { archived, summary } => {
                let loaded = self.history();
                let live = loaded.history.exchanges().iter().map(Exchange::id);
                let keep = live.filter(|id| !archived.contains(id)).map(|id| EntryId(id.0.clone())).collect();
                self.compact(&Compaction { keep, summary: summary.clone() }).map(drop)
            }
            Record::Restored => self.undo_compaction().map(drop),
            _ => {
                let mut entries = write(record, &self.home, self.name(), user);
                entries.iter_mut().for_each(|entry| name_tool(entry, &self.window));
                self.append(entries)
            }
        }
    }
}

/// Gives each result the name of the tool that was called for it.
pub(super) fn name_tools(entries: &mut [Entry]) {
    for place in 0..entries.len() {
        let (before, rest) = entries.split_at_mut(place);
        name_tool(&mut rest[0], before);
    }
}

fn name_tool(entry: &mut Entry, before: &[Entry]) {
    let call_id = |entry: &Entry| entry.metadata.get::<CallId>("call_id");
    let Some(id) = call_id(entry).filter(|_| entry.kind == EntryKind::ToolResult) else { return };
    let is_call = |other: &&Entry| other.kind == EntryKind::ToolCall && call_id(other).as_ref() == Some(&id);
    if let Some(call) = before.iter().rev().find(is_call) {
        entry.from.clone_from(&call.to);
    }
}

/// The entries of a record. A prompt's exchange has the id of its entry. Costs, compactions and undoings are no entries
/// of their own.
pub fn write(record: &Record, home: &ChibiHome, context: &ContextName, user: &str) -> Vec<Entry> {
    let now = home.now();
    let name = context.as_str();
    let system = |kind, content: &str| Entry::of_system(home.fresh_id(), now, kind, context, content);
    match record {
        Record::Usage(_) | Record::Compacted { .. } | Record::Restored => Vec::new(),
        Record::Opening { text } => vec![system(EntryKind::Opening, text)],
        Record::Prompt { id, text } => {
            let prompt = Entry::new(EntryId(id.0.clone()), now, EntryKind::Message, user, name, text);
            vec![if name == "user" { prompt.with("role", &"user") } else { prompt }]
        }
        Record::Reply { blocks, ending } => reply(blocks, *ending, home, name),
        Record::Result(Returned { result, rests_on }) => {
            let entry =
                Entry::new(home.fresh_id(), now, EntryKind::ToolResult, "tool", name, &result.content);
            let entry = entry.with("call_id", &result.id).with("outcome", &result.outcome);
            vec![if rests_on.is_empty() { entry } else { entry.with("rests_on", rests_on) }]
        }
        Record::Note { text } => {
            vec![system(EntryKind::Message, text).with("note", &true).with("role", &"user")]
        }
        Record::Dropped { reason } => vec![system(EntryKind::Dropped, reason)],
        Record::Pinned { id } => vec![system(EntryKind::Pinned, "Pinned").with("entry", id)],
        Record::Unpinned { id } => vec![system(EntryKind::Unpinned, "Unpinned").with("entry", id)],
        Record::Rewound { from } => vec![system(EntryKind::Rewound, "Rewound").with("entry", from)],
    }
}

/// The text as a message, then each call; the first of them carries all blocks.
fn reply(blocks: &[Block], ending: Ending, home: &ChibiHome, context: &str) -> Vec<Entry> {
    let now = home.now();
    let text: String = blocks.iter().filter_map(Block::as_text).collect();
    let calls: Vec<&llm::Call> = blocks.iter().filter_map(Block::as_call).collect();
    let mut entries = Vec::new();
    if !text.is_empty() || calls.is_empty() {
        entries.push(Entry::new(home.fresh_id(), now, EntryKind::Message, context, "user", &text));
    }
    for call in calls {
        let entry =
            Entry::new(home.fresh_id(), now, EntryKind::ToolCall, context, &call.name, call.input.json());
        entries.push(entry.with("call_id", &call.id));
    }
    let (first, rest) = entries.split_first_mut().expect("there is a message or a call");
    first.metadata.set("blocks", &blocks);
    if let Some(block) = blocks.first() {
        first.metadata.set("provider", &block.wire());
    }
    if ending != Ending::Complete {
        first.metadata.set("ending", &ending);
    }
    for entry in rest {
        entry.metadata.set("reply", &first.id);
    }
    entries
}

/// The records that entries stand for. Entries of other programs, which know no ids of calls, are paired by their order.
pub fn read(window: &[Entry]) -> Vec<Record> {
    let mut waiting: Vec<CallId> = Vec::new();
    window.iter().filter_map(|entry| record(entry, &mut waiting)).collect()
}

fn record(entry: &Entry, waiting: &mut Vec<CallId>) -> Option<Record> {
    let about = || entry.metadata.get::<ExchangeId>("entry");
    let text = || entry.content.clone();
    match &entry.kind {
        EntryKind::Message | EntryKind::ToolCall if entry.metadata.has("reply") => None,
        EntryKind::Message | EntryKind::ToolCall if entry.metadata.has("blocks") => {
            let blocks = entry.metadata.get("blocks").unwrap_or_else(|| vec![Block::text(&entry.content)]);
            Some(Record::Reply { blocks, ending: entry.metadata.get("ending").unwrap_or(Ending::Complete) })
        }
        EntryKind::Message if entry.metadata.has("note") => Some(Record::Note { text: text() }),
        EntryKind::Message if entry.speaker() == Speaker::User => {
            Some(Record::Prompt { id: ExchangeId(entry.id.0.clone()), text: text() })
        }
        EntryKind::Message => {
            Some(Record::Reply { blocks: vec![Block::text(&entry.content)], ending: Ending::Complete })
        }
        EntryKind::ToolCall => {
            let id = CallId(entry.id.0.clone());
            let input: Map<String, Value> = serde_json::from_str(&entry.content).unwrap_or_default();
            let blocks = vec![Block::call(id.clone(), &entry.to, &input)];
            waiting.push(id);
            Some(Record::Reply { blocks, ending: Ending::Complete })
        }
        EntryKind::ToolResult => {
            let id = entry.metadata.get("call_id").or_else(|| waiting.pop())?;
            let outcome = entry.metadata.get("outcome").unwrap_or(Outcome::Done);
            let rests_on = entry.metadata.get("rests_on").unwrap_or_default();
            Some(Record::Result(Returned { result: ToolResult { id, content: text(), outcome }, rests_on }))
        }
        EntryKind::Compaction => {
            let summary = entry.metadata.summary().filter(|summary| !summary.is_empty())?;
            Some(Record::Compacted { archived: Vec::new(), summary })
        }
        EntryKind::Opening => Some(Record::Opening { text: text() }),
        EntryKind::Dropped => Some(Record::Dropped { reason: text() }),
        EntryKind::Pinned => Some(Record::Pinned { id: about()? }),
        EntryKind::Unpinned => Some(Record::Unpinned { id: about()? }),
        EntryKind::Rewound => Some(Record::Rewound { from: about()? }),
        EntryKind::Archival
        | EntryKind::ContextCreated
        | EntryKind::SystemPrompt
        | EntryKind::SystemPromptChanged
        | EntryKind::Restored
        | EntryKind::Other(_) => None,
    }
}
