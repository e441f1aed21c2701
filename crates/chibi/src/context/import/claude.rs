//! Session files of Claude Code: lines that name the line before them, so that several conversations can share a
//! beginning. The one that ends last is taken. Its blocks are the provider's own and are kept byte for byte.

use std::collections::{HashMap, HashSet};

use conversation::{Ending, ExchangeId, Record, Returned};
use llm::{Block, CallId, Outcome, ToolResult, Wire};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Session, Source, seconds};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    uuid: Option<String>,
    parent_uuid: Option<String>,
    /// Where the conversation went on after it was compacted.
    logical_parent_uuid: Option<String>,
    #[serde(default)]
    timestamp: String,
    session_id: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    /// Words of the program, not of the person.
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    message: Option<Message>,
}

#[derive(Debug, Deserialize)]
struct Message {
    id: Option<String>,
    content: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    tool_use_id: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    is_error: bool,
}

pub(super) fn session(lines: &[&[u8]]) -> Session {
    let parsed: Vec<Line> = lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let skipped = lines.len() - parsed.len();
    let first = |field: fn(&Line) -> Option<&String>| parsed.iter().find_map(field).cloned();
    let (id, project) = (first(|line| line.session_id.as_ref()), first(|line| line.cwd.as_ref()));
    let mut teller = Teller::default();
    for line in chain(&parsed) {
        teller.tell(line);
    }
    Session { source: Source::ClaudeCode, id, project, records: teller.records, skipped }
}

/// The lines from the first to the last one, by what each says was before it.
fn chain(lines: &[Line]) -> Vec<&Line> {
    let spoken = |line: &&Line| matches!(line.kind.as_str(), "user" | "assistant") && !line.is_sidechain;
    let by_id: HashMap<&str, &Line> =
        lines.iter().filter_map(|line| Some((line.uuid.as_deref()?, line))).collect();
    let mut chain = Vec::new();
    let mut seen = HashSet::new();
    let mut next = lines.iter().rfind(spoken);
    while let Some(line) = next.filter(|line| seen.insert(std::ptr::from_ref(*line))) {
        chain.push(line);
        let before = line.parent_uuid.as_deref().or(line.logical_parent_uuid.as_deref());
        next = before.and_then(|id| by_id.get(id).copied());
    }
    chain.reverse();
    chain
}

#[derive(Debug, Default)]
struct Teller {
    records: Vec<(u64, Record)>,
    /// The provider's name for the reply whose blocks come line by line.
    reply: Option<String>,
    time: u64,
}

impl Teller {
    fn tell(&mut self, line: &Line) {
        self.time = seconds(&line.timestamp).unwrap_or(self.time);
        let Some(message) = &line.message else { return };
        let Some(content) = &message.content else { return };
        match line.kind.as_str() {
            "assistant" => self.reply(message, content),
            "user" if line.is_compact_summary => {
                let summary = words(content);
                self.push(Record::Compacted { archived: Vec::new(), summary });
            }
            "user" if !line.is_meta => self.user(line, content),
            _ => {}
        }
    }

    fn reply(&mut self, message: &Message, content: &RawValue) {
        let raw: Vec<Box<RawValue>> = serde_json::from_str(content.get()).unwrap_or_default();
        let more = raw.into_iter().map(|raw| Block::from_raw(Wire::Anthropic, raw));
        let same = message.id.is_some() && message.id == self.reply;
        match self.records.last_mut() {
            Some((_, Record::Reply { blocks, .. })) if same => blocks.extend(more),
            _ => {
                let blocks = more.collect();
                self.push(Record::Reply { blocks, ending: Ending::Complete });
            }
        }
        self.reply.clone_from(&message.id);
    }

    fn user(&mut self, line: &Line, content: &RawValue) {
        let parts: Vec<Part> = serde_json::from_str(content.get()).unwrap_or_default();
        let results = parts.iter().filter(|part| part.kind == "tool_result").count();
        for part in parts.into_iter().filter(|part| part.kind == "tool_result") {
            let outcome = if part.is_error { Outcome::Failed } else { Outcome::Done };
            let result = ToolResult { id: CallId(part.tool_use_id), content: flat(&part.content), outcome };
            self.push(Record::Result(Returned { result, rests_on: Vec::new() }));
        }
        let text = words(content);
        if let Some(uuid) = line.uuid.clone().filter(|_| results == 0 && !text.trim().is_empty()) {
            self.push(Record::Prompt { id: ExchangeId(uuid), text });
        }
    }

    fn push(&mut self, record: Record) {
        self.reply = None;
        self.records.push((self.time, record));
    }
}

/// A text, or the texts among parts.
fn words(content: &RawValue) -> String {
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return text;
    }
    let parts: Vec<Part> = serde_json::from_str(content.get()).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| match part.kind.as_str() {
        "text" => Some(part.text.as_str()),
        "image" => Some("[image]"),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn flat(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let text =
                |part: &Value| part.get("text").and_then(Value::as_str).unwrap_or("[image]").to_owned();
            parts.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
