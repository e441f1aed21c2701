//! The wire of Anthropic Messages: a constructor for each event, and a whole turn made of them.

use serde_json::{Value, json};

use super::Ids;
use super::reply::Event;
use super::turn::{Part, Turn, Usage};

pub const MODEL: &str = "claude-scripted-1";

pub fn message_start(id: &str, usage: &Value) -> Event {
    let message = json!({
        "id": id, "type": "message", "role": "assistant", "model": MODEL, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    Event::named("message_start", &json!({"type": "message_start", "message": message}))
}

pub fn block_start(index: usize, block: &Value) -> Event {
    let data = json!({"type": "content_block_start", "index": index, "content_block": block});
    Event::named("content_block_start", &data)
}

pub fn block_delta(index: usize, delta: &Value) -> Event {
    let data = json!({"type": "content_block_delta", "index": index, "delta": delta});
    Event::named("content_block_delta", &data)
}

pub fn block_stop(index: usize) -> Event {
    Event::named("content_block_stop", &json!({"type": "content_block_stop", "index": index}))
}

/// `usage` here counts from the beginning of the message.
pub fn message_delta(stop_reason: &str, usage: &Value) -> Event {
    let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
    Event::named("message_delta", &json!({"type": "message_delta", "delta": delta, "usage": usage}))
}

pub fn message_stop() -> Event {
    Event::named("message_stop", &json!({"type": "message_stop"}))
}

/// May come anywhere, any number of times.
pub fn ping() -> Event {
    Event::named("ping", &json!({"type": "ping"}))
}

/// An error after the 200 was sent.
pub fn error(kind: &str, message: &str) -> Event {
    Event::named("error", &failure(kind, message))
}

pub(super) fn failure(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

pub(super) fn events(turn: &Turn, ids: &mut Ids) -> Vec<Event> {
    let mut events = vec![message_start(&ids.next("msg_"), &usage(turn.usage, 1))];
    let mut index = 0;
    for part in &turn.parts {
        let (block, deltas) = match part {
            Part::Event(event) => {
                events.push(event.clone());
                continue;
            }
            Part::Fail { kind, message } => {
                events.push(error(kind, message));
                return events;
            }
            Part::Think { text, signature } => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": text}),
                    json!({"type": "signature_delta", "signature": signature}),
                ],
            ),
            Part::Say(pieces) => (
                json!({"type": "text", "text": ""}),
                pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect(),
            ),
            Part::Call { name, arguments } => (
                json!({"type": "tool_use", "id": ids.next("toolu_"), "name": name, "input": {}}),
                // The provider opens with an empty piece.
                std::iter::once("")
                    .chain(arguments.iter().map(String::as_str))
                    .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                    .collect(),
            ),
        };
        events.push(block_start(index, &block));
        events.extend(deltas.iter().map(|delta| block_delta(index, delta)));
        events.push(block_stop(index));
        index += 1;
    }
    events.push(message_delta(turn.reason("tool_use", "end_turn"), &usage(turn.usage, turn.usage.output)));
    events.push(message_stop());
    events
}

pub(super) fn whole(turn: &Turn, ids: &mut Ids) -> Value {
    let id = ids.next("msg_");
    let blocks = turn.parts.iter().filter_map(|part| match part {
        Part::Think { text, signature } => {
            Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        Part::Say(pieces) => Some(json!({"type": "text", "text": pieces.concat()})),
        Part::Call { name, arguments } => {
            let input: Value = serde_json::from_str(&arguments.concat()).unwrap_or_else(|_| json!({}));
            Some(json!({"type": "tool_use", "id": ids.next("toolu_"), "name": name, "input": input}))
        }
        Part::Event(_) | Part::Fail { .. } => None,
    });
    json!({
        "id": id, "type": "message", "role": "assistant", "model": MODEL, "content": blocks.collect::<Vec<_>>(),
        "stop_reason": turn.reason("tool_use", "end_turn"), "stop_sequence": null,
        "usage": usage(turn.usage, turn.usage.output),
    })
}

fn usage(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input, "output_tokens": output,
        "cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": usage.cache_written,
    })
}
