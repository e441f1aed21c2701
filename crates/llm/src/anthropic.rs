//! The language of Anthropic Messages: how a request is written, how a stream of it is read. Knows no connection.
//!
//! Its own documents say that new fields, blocks, events and stop reasons may come at any time: what is unknown is
//! kept where it can be sent back, and passed over where it cannot.

mod read;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::block::{Block, Call, CallId, Input, View, Wire, raw};
use crate::event::{StopKind, Usage};

pub(crate) use read::Reader;
pub(crate) use write::write;

/// The newest version of the interface. It takes no sampling parameters and knows system messages in the middle.
pub const VERSION: &str = "2026-10-21";

/// A block as it was stored or came whole. A call always has an object for its arguments afterwards.
pub(crate) fn block(raw: Box<RawValue>) -> Block {
    // Beside the fields, so that the arguments keep their spelling.
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        input: Option<&'a RawValue>,
    }
    let mut fields: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
    let arguments = serde_json::from_str::<Arguments<'_>>(raw.get()).ok().and_then(|found| found.input);
    let view = seen(&fields, || Input::read(arguments.map_or("", RawValue::get)));
    let raw = match &view {
        View::Call(call) if !fields.get("input").is_some_and(Value::is_object) => {
            with_input(&mut fields, call.input.json())
        }
        _ => raw,
    };
    Block::new(Wire::Anthropic, raw, view)
}

/// The block with its arguments as they were written.
fn with_input(fields: &mut Map<String, Value>, input: &str) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Assembled<'a> {
        #[serde(flatten)]
        rest: &'a Map<String, Value>,
        input: &'a RawValue,
    }
    fields.remove("input");
    let input: &RawValue = serde_json::from_str(input).expect("arguments are JSON");
    raw(&Assembled { rest: fields, input })
}

fn seen(fields: &Map<String, Value>, input: impl FnOnce() -> Input) -> View {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match text("type").as_str() {
        "text" => View::Text(text("text")),
        // What is redacted has no words, but is thinking all the same.
        "thinking" | "redacted_thinking" => View::Thinking(text("thinking")),
        "tool_use" => View::Call(Call { id: CallId(text("id")), name: text("name"), input: input() }),
        other => View::Other(other.to_owned()),
    }
}

fn stop_kind(reason: &str) -> StopKind {
    match reason {
        "end_turn" => StopKind::EndTurn,
        "tool_use" => StopKind::ToolUse,
        "max_tokens" => StopKind::MaxTokens,
        "stop_sequence" => StopKind::StopSequence,
        "pause_turn" => StopKind::PauseTurn,
        "refusal" => StopKind::Refusal,
        "model_context_window_exceeded" => StopKind::ContextFull,
        "compaction" => StopKind::Compaction,
        _ => StopKind::Unknown,
    }
}

/// Counters in a `message_delta` are for the whole message and win over those of its start.
fn count(usage: &mut Option<Usage>, told: &Value) {
    if !told.is_object() {
        return;
    }
    let usage = usage.get_or_insert_default();
    let number = |path: &str| told.pointer(path).and_then(Value::as_u64);
    for (counter, path) in [
        (&mut usage.input, "/input_tokens"),
        (&mut usage.cache_read, "/cache_read_input_tokens"),
        (&mut usage.cache_write, "/cache_creation_input_tokens"),
        (&mut usage.output, "/output_tokens"),
    ] {
        *counter = number(path).unwrap_or(*counter);
    }
    usage.thinking = number("/output_tokens_details/thinking_tokens").or(usage.thinking);
}
