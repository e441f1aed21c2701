//! The language of chat completions, as OpenAI shaped it and OpenRouter, llama.cpp, Ollama and vLLM speak it: how a
//! request is written, how a stream of it is read. Knows no connection.
//!
//! A reply is one message with fields here, not a list of blocks. Each field becomes a block `{"field": …}`, so that
//! it can be put back where it was.

mod read;
mod write;

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::block::{Block, Call, CallId, Input, View, Wire, raw};
use crate::event::{StopKind, Usage};
use crate::price::Cost;

pub(crate) use read::Reader;
pub(crate) use write::write;

/// Who is spoken to: they do not agree on every field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAI itself, which refuses what it does not know.
    OpenAi,
    OpenRouter,
    /// Everybody else, who mostly pass over what they do not know.
    Compatible,
}

/// Where thinking is found in a message. `reasoning_details` has the signatures; the others are plain text.
const DETAILS: &str = "reasoning_details";
const THINKING: [&str; 2] = ["reasoning_content", "reasoning"];

/// A block as it was stored.
pub(crate) fn block(raw: Box<RawValue>) -> Block {
    let fields: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(function) = fields.get("function") {
        let word = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let input = Input::read(&word(function, "arguments"));
        let call = Call { id: CallId(word(&fields, "id")), name: word(function, "name"), input };
        return Block::new(Wire::OpenAi, raw, View::Call(call));
    }
    let view = if let Some(words) = text("content") {
        View::Text(words)
    } else if let Some(words) = THINKING.iter().find_map(|name| text(name)) {
        View::Thinking(words)
    } else if let Some(Value::Array(details)) = fields.get(DETAILS) {
        View::Thinking(details.iter().filter_map(thought).collect())
    } else {
        View::Other(fields.as_object().and_then(|fields| fields.keys().next().cloned()).unwrap_or_default())
    };
    Block::new(Wire::OpenAi, raw, view)
}

/// The words of one detail of reasoning, if it shows any.
fn thought(detail: &Value) -> Option<&str> {
    detail.get("text").or_else(|| detail.get("summary")).and_then(Value::as_str)
}

fn stop_kind(reason: &str) -> StopKind {
    match reason {
        // The old form had one function.
        "tool_calls" | "function_call" => StopKind::ToolUse,
        // `eos` and `eos_token` are what small servers say.
        "stop" | "eos" | "eos_token" => StopKind::EndTurn,
        "length" => StopKind::MaxTokens,
        "content_filter" => StopKind::Refusal,
        _ => StopKind::Unknown,
    }
}

/// `prompt_tokens` includes what the cache had.
fn usage(told: &Value) -> Option<Usage> {
    let number = |path: &str| told.pointer(path).and_then(Value::as_u64);
    let prompt = number("/prompt_tokens")?;
    // DeepSeek has a name of its own.
    let cached =
        number("/prompt_tokens_details/cached_tokens").or_else(|| number("/prompt_cache_hit_tokens"));
    let (cache_read, cache_write) =
        (cached.unwrap_or(0), number("/prompt_tokens_details/cache_write_tokens").unwrap_or(0));
    Some(Usage {
        input: prompt.saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: number("/completion_tokens").unwrap_or(0),
        thinking: number("/completion_tokens_details/reasoning_tokens"),
        cost: told.get("cost").and_then(Value::as_f64).and_then(Cost::from_dollars),
    })
}

/// A call as it stands in a message.
#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Value,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

fn tool_call(call: &Call, rest: &Map<String, Value>) -> Box<RawValue> {
    let function = json!({"name": call.name, "arguments": call.input.json()});
    raw(&ToolCall { id: &call.id.0, r#type: "function", function, rest })
}

/// Text wherever a text is expected: a string, nothing, or a list of parts. Anything else is no text.
#[derive(Debug, Default)]
struct Words<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        let parts = || {
            let parts: Vec<Value> = serde_json::from_str(raw).unwrap_or_default();
            parts
                .iter()
                .filter_map(|part| part.get("text").and_then(Value::as_str))
                .collect::<String>()
                .into()
        };
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        Ok(Words(match raw.as_bytes().first() {
            Some(b'"') => serde_json::from_str::<Text<'de>>(raw).map(|text| text.0).unwrap_or_default(),
            Some(b'[') => parts(),
            _ => Cow::default(),
        }))
    }
}
