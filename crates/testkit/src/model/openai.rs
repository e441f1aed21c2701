//! The wire of chat completions as OpenAI shaped it and many took it over: a constructor for each kind of chunk,
//! and a whole turn made of them. No event has a name; the stream ends with `[DONE]`.

use serde_json::{Value, json};

use super::Ids;
use super::reply::Event;
use super::turn::{Part, Turn, Usage};

pub const MODEL: &str = "scripted/chat-1";

/// A chunk with one choice; `finish` is null but in the last one.
pub fn chunk(id: &str, delta: &Value, finish: Option<&str>) -> Event {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    Event::data(&chunk_of(id, &json!([choice]), &Value::Null))
}

/// A piece of a call: `id` and `name` come with the first piece only.
pub fn call_delta(index: usize, first: Option<(&str, &str)>, arguments: &str) -> Value {
    let call = match first {
        Some((id, name)) => json!({
            "index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments},
        }),
        None => json!({"index": index, "function": {"arguments": arguments}}),
    };
    json!({"tool_calls": [call]})
}

/// The usage comes in a chunk of its own, without a choice.
pub fn usage_chunk(id: &str, usage: &Value) -> Event {
    Event::data(&chunk_of(id, &json!([]), usage))
}

pub fn done() -> Event {
    Event::data("[DONE]")
}

/// An error after the 200 was sent.
pub fn error(id: &str, kind: &str, message: &str) -> Event {
    let mut data = chunk_of(
        id,
        &json!([{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]),
        &Value::Null,
    );
    data["error"] = json!({"code": kind, "message": message});
    Event::data(&data)
}

pub(super) fn failure(status: u16, kind: &str, message: &str) -> Value {
    json!({"error": {"code": status, "type": kind, "message": message}})
}

pub(super) fn events(turn: &Turn, ids: &mut Ids) -> Vec<Event> {
    let id = ids.next("chatcmpl-");
    let mut events = vec![chunk(&id, &json!({"role": "assistant", "content": ""}), None)];
    let mut calls = 0;
    for part in &turn.parts {
        match part {
            Part::Event(event) => events.push(event.clone()),
            Part::Fail { kind, message } => {
                events.push(error(&id, kind, message));
                return events;
            }
            Part::Think { text, signature } => {
                let delta = json!({"reasoning": text, "reasoning_details": [reasoning(text, signature)]});
                events.push(chunk(&id, &delta, None));
            }
            Part::Say(pieces) => {
                events.extend(pieces.iter().map(|piece| chunk(&id, &json!({"content": piece}), None)));
            }
            Part::Call { name, arguments } => {
                let first = call_delta(calls, Some((&ids.next("call_"), name)), "");
                let rest = arguments.iter().map(|piece| call_delta(calls, None, piece));
                events.extend(std::iter::once(first).chain(rest).map(|delta| chunk(&id, &delta, None)));
                calls += 1;
            }
        }
    }
    events.push(chunk(&id, &json!({}), Some(turn.reason("tool_calls", "stop"))));
    events.push(usage_chunk(&id, &usage(turn.usage)));
    events.push(done());
    events
}

pub(super) fn whole(turn: &Turn, ids: &mut Ids) -> Value {
    let id = ids.next("chatcmpl-");
    let (mut content, mut details, mut calls) = (String::new(), Vec::new(), Vec::new());
    for part in &turn.parts {
        match part {
            Part::Think { text, signature } => details.push(reasoning(text, signature)),
            Part::Say(pieces) => content.push_str(&pieces.concat()),
            Part::Call { name, arguments } => {
                let function = json!({"name": name, "arguments": arguments.concat()});
                calls.push(json!({"id": ids.next("call_"), "type": "function", "function": function}));
            }
            Part::Event(_) | Part::Fail { .. } => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    for (key, list) in [("reasoning_details", details), ("tool_calls", calls)] {
        if !list.is_empty() {
            message[key] = Value::Array(list);
        }
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": turn.reason("tool_calls", "stop")});
    json!({
        "id": id, "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice],
        "usage": usage(turn.usage),
    })
}

fn chunk_of(id: &str, choices: &Value, usage: &Value) -> Value {
    json!({
        "id": id, "object": "chat.completion.chunk", "created": 0, "model": MODEL, "choices": choices,
        "usage": usage,
    })
}

fn reasoning(text: &str, signature: &str) -> Value {
    json!({"type": "reasoning.text", "text": text, "signature": signature, "index": 0})
}

/// `prompt_tokens` includes what the cache had, unlike the other wire's `input_tokens`.
fn usage(usage: Usage) -> Value {
    let prompt = usage.input + usage.cache_read + usage.cache_written;
    json!({
        "prompt_tokens": prompt, "completion_tokens": usage.output, "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_written},
    })
}
