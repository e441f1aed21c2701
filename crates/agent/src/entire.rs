//! A conversation as others keep theirs in `.entire/metadata`: a line for each message, the prompts, and what was done in a
//! few words. Made of a transcript, which says more. Pure.

use chibi::context::{Entry, EntryKind, Speaker};
use conversation::tools::Task;
use kit::calendar::Moment;
use llm::{Block, CallId, Outcome};
use serde_json::{Value, json};

use crate::voice::summary;

/// The files of one conversation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entire {
    /// `2026-11-15-` and the id that the transcript begins with: the same however often it is exported.
    pub(crate) session: String,
    /// `full.jsonl`.
    pub(crate) full: String,
    /// `prompt.txt`.
    pub(crate) prompt: String,
    /// `context.md`.
    pub(crate) context: String,
}

/// None of a conversation in which nothing was said. `cwd` is where it took place.
pub(crate) fn of(entries: impl IntoIterator<Item = Entry>, cwd: &str) -> Option<Entire> {
    let mut session = None;
    let mut messages: Vec<Message> = Vec::new();
    let (mut prompts, mut actions) = (Vec::new(), Vec::new());
    for entry in entries {
        session.get_or_insert_with(|| format!("{}-{}", date(entry.timestamp), entry.id));
        // What a helper did is for the transcript alone.
        if entry.metadata.has("aside") {
            continue;
        }
        prompts.extend(entry.is_prompt().then(|| entry.content.clone()));
        actions.extend(action(&entry));
        let Some((role, content)) = said(&entry) else { continue };
        match messages.last_mut() {
            // All results of one reply are one message.
            Some(last) if entry.kind == EntryKind::ToolResult && last.results => last.content.extend(content),
            _ => {
                let results = entry.kind == EntryKind::ToolResult;
                messages.push(Message { id: entry.id.0, time: entry.timestamp, role, content, results });
            }
        }
    }
    let session = session.filter(|_| !messages.is_empty())?;
    let full = lines(&messages, &session, cwd);
    let list = |all: &[String]| all.iter().map(|line| format!("- {line}\n")).collect::<String>();
    let first: Vec<String> =
        prompts.iter().map(|prompt| prompt.lines().next().unwrap_or("").to_owned()).collect();
    let context =
        format!("# {session}\n\n## Prompts\n\n{}\n## Key Actions\n\n{}", list(&first), list(&actions));
    Some(Entire { session, full, prompt: format!("{}\n", prompts.join("\n\n")), context })
}

struct Message {
    id: String,
    time: u64,
    role: &'static str,
    content: Vec<Value>,
    /// It is results of tools.
    results: bool,
}

/// Who said it, and its blocks. None of what nobody said, and of what another entry has already told.
fn said(entry: &Entry) -> Option<(&'static str, Vec<Value>)> {
    let text = || vec![json!({"type": "text", "text": entry.content})];
    let blocks = || {
        let blocks: Vec<Block> = entry.metadata.get("blocks")?;
        blocks
            .iter()
            .map(|block| serde_json::from_str(block.raw().get()).ok())
            .collect::<Option<Vec<Value>>>()
    };
    match entry.kind {
        _ if entry.metadata.has("reply") => None,
        EntryKind::Message if entry.speaker() == Speaker::User => Some(("user", text())),
        EntryKind::Message => Some(("assistant", blocks().unwrap_or_else(text))),
        EntryKind::ToolCall => {
            let input: Value = serde_json::from_str(&entry.content).unwrap_or_default();
            let call = json!({"type": "tool_use", "id": entry.id, "name": entry.to, "input": input});
            Some(("assistant", blocks().unwrap_or_else(|| vec![call])))
        }
        EntryKind::ToolResult => {
            let id = entry.metadata.get::<CallId>("call_id").map_or_else(String::new, |id| id.0);
            let failed = entry.metadata.get("outcome") == Some(Outcome::Failed);
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": entry.content, "is_error": failed});
            Some(("user", vec![result]))
        }
        _ => None,
    }
}

/// `bash cargo test`.
fn action(entry: &Entry) -> Option<String> {
    let Ok(Value::Object(arguments)) = serde_json::from_str(&entry.content) else { return None };
    let task = Task { id: CallId(entry.id.0.clone()), name: entry.to.clone(), arguments };
    (entry.kind == EntryKind::ToolCall).then(|| summary(&task).trim_start().to_owned())
}

fn lines(messages: &[Message], session: &str, cwd: &str) -> String {
    let mut parent = Value::Null;
    let mut out = String::new();
    for Message { id, time, role, content, .. } in messages {
        let line = json!({
            "type": role, "sessionId": session, "uuid": id, "parentUuid": parent, "timestamp": moment(*time),
            "cwd": cwd, "version": env!("CARGO_PKG_VERSION"),
            // What replies took is kept for all of them together.
            "message": {"role": role, "content": content, "usage": null},
        });
        out.push_str(&format!("{line}\n"));
        parent = json!(id);
    }
    out
}

fn date(seconds: u64) -> String {
    let Moment { year, month, day, .. } = Moment::at(seconds.cast_signed());
    format!("{year:04}-{month:02}-{day:02}")
}

fn moment(seconds: u64) -> String {
    let Moment { hour, minute, second, .. } = Moment::at(seconds.cast_signed());
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", date(seconds))
}
