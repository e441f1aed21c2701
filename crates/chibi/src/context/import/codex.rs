//! Session files of Codex: a head, then items of the conversation in envelopes with their time; the oldest files have the
//! items alone.

use conversation::{Ending, ExchangeId, Record, Returned};
use llm::{Block, CallId, Outcome, ToolResult};
use serde_json::{Map, Value, json};

use super::{Session, Source, seconds};

/// What the program itself says in the user's place at the beginning of each session.
const PREAMBLES: [&str; 4] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
];

pub(super) fn session(lines: &[&[u8]]) -> Session {
    let parsed: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let skipped = lines.len() - parsed.len();
    let mut session =
        Session { source: Source::Codex, id: None, project: None, records: Vec::new(), skipped };
    let mut teller = Teller::default();
    for line in &parsed {
        let payload = line.get("payload").unwrap_or(line);
        teller.time = text(line, "timestamp").and_then(|time| seconds(&time)).unwrap_or(teller.time);
        match line.get("type").and_then(Value::as_str) {
            Some("session_meta") | None => {
                session.id = session.id.or_else(|| text(payload, "id"));
                session.project = session.project.or_else(|| text(payload, "cwd"));
            }
            Some("compacted") => {
                let summary = text(payload, "message").unwrap_or_default();
                teller.push(Record::Compacted { archived: Vec::new(), summary });
            }
            Some("event_msg" | "turn_context") => {}
            Some(_) => teller.tell(payload),
        }
    }
    session.records = teller.records;
    session
}

#[derive(Debug, Default)]
struct Teller {
    records: Vec<(u64, Record)>,
    time: u64,
    prompts: usize,
}

impl Teller {
    fn tell(&mut self, item: &Value) {
        let call = |key| text(item, key).unwrap_or_default();
        match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message" => self.message(item),
            "function_call" => self.call(call("call_id"), &call("name"), &call("arguments")),
            "custom_tool_call" => {
                let input = json!({"input": call("input")}).to_string();
                self.call(call("call_id"), &call("name"), &input);
            }
            "local_shell_call" => {
                let action = item.get("action").cloned().unwrap_or_default().to_string();
                self.call(call("call_id"), "shell", &action);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let (content, outcome) = output(item.get("output").unwrap_or(&Value::Null));
                let result = ToolResult { id: CallId(call("call_id")), content, outcome };
                self.push(Record::Result(Returned { result, rests_on: Vec::new() }));
            }
            _ => {}
        }
    }

    fn message(&mut self, item: &Value) {
        let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
        let words: Vec<String> = parts.filter_map(|part| text(part, "text")).collect();
        let words = words.join("\n");
        let is_preamble = PREAMBLES.iter().any(|preamble| words.trim_start().starts_with(preamble));
        match item.get("role").and_then(Value::as_str) {
            Some("user") if !is_preamble && !words.trim().is_empty() => {
                self.prompts += 1;
                let id = ExchangeId(format!("codex-{}-{}", self.time, self.prompts));
                self.push(Record::Prompt { id, text: words });
            }
            Some("assistant") => self.reply(Block::text(&words)),
            _ => {}
        }
    }

    fn call(&mut self, id: String, name: &str, arguments: &str) {
        let input: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
        self.reply(Block::call(CallId(id), name, &input));
    }

    /// What a model says without anything in between is one reply.
    fn reply(&mut self, block: Block) {
        match self.records.last_mut() {
            Some((_, Record::Reply { blocks, .. })) => blocks.push(block),
            _ => self.push(Record::Reply { blocks: vec![block], ending: Ending::Complete }),
        }
    }

    fn push(&mut self, record: Record) {
        self.records.push((self.time, record));
    }
}

/// A text, an object with one, or JSON of such an object.
fn output(value: &Value) -> (String, Outcome) {
    let inner = match value {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ Value::Object(_)) => inner,
            _ => return (text.clone(), Outcome::Done),
        },
        other => other.clone(),
    };
    let exit = inner.pointer("/metadata/exit_code").and_then(Value::as_i64).unwrap_or(0);
    let failed = exit != 0 || inner.get("success") == Some(&Value::Bool(false));
    let content = text(&inner, "output").or_else(|| text(&inner, "content"));
    let outcome = if failed { Outcome::Failed } else { Outcome::Done };
    (content.unwrap_or_else(|| inner.to_string()), outcome)
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}
