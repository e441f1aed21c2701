//! A request as Anthropic Messages wants it. What changes least stands first: tools, system, then the messages.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::VERSION;
use crate::block::{Block, CallId, View, Wire};
use crate::request::{Cache, Effort, Format, Message, Options, Outcome, Reasoning, Request, ToolChoice};
use crate::wire::Written;

/// The wire insists on a limit.
const MAX_TOKENS: u32 = 16_384;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Said<'a>>,
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    content: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Raw(&'a RawValue),
    Ours(Value),
    Call(ToolUse),
}

/// A call that another provider's model made; its arguments keep their spelling.
#[derive(Serialize)]
struct ToolUse {
    r#type: &'static str,
    id: String,
    name: String,
    input: Box<RawValue>,
}

/// `version` decides what may be said: up to 2023-06-01 sampling could be set, and the middle had no system.
pub(crate) fn write(request: &Request, version: &str) -> Written {
    let options = &request.options;
    let modern = version >= VERSION;
    let set = |value: Option<f64>| value.filter(|_| !modern);
    let body = Body {
        model: &request.model,
        max_tokens: options.max_tokens.unwrap_or(MAX_TOKENS),
        stream: true,
        temperature: set(options.temperature),
        top_p: set(options.top_p),
        stop_sequences: &options.stop,
        thinking: options.reasoning.as_ref().and_then(thinking),
        output_config: output_config(options),
        tool_choice: tool_choice(options),
        cache_control: (request.cache == Cache::Whole).then(breakpoint),
        tools: request.tools.iter().map(tool).collect(),
        system: system(request),
        messages: messages(request, modern),
    };
    Written { body: serde_json::to_vec(&body).expect("a request is JSON"), ignored: ignored(options, modern) }
}

fn ignored(options: &Options, modern: bool) -> Vec<&'static str> {
    let set = [
        ("temperature", modern && options.temperature.is_some()),
        ("top_p", modern && options.top_p.is_some()),
        ("frequency_penalty", options.frequency_penalty.is_some()),
        ("presence_penalty", options.presence_penalty.is_some()),
        ("seed", options.seed.is_some()),
        ("response_format", options.format == Some(Format::Json)),
    ];
    set.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect()
}

fn breakpoint() -> Value {
    json!({"type": "ephemeral"})
}

fn thinking(reasoning: &Reasoning) -> Option<Value> {
    let display = if reasoning.exclude == Some(true) { "omitted" } else { "summarized" };
    if reasoning.enabled == Some(false) || reasoning.effort == Some(Effort::None) {
        return Some(json!({"type": "disabled"}));
    }
    match reasoning.max_tokens {
        Some(budget) => Some(json!({"type": "enabled", "budget_tokens": budget, "display": display})),
        None => reasoning.enabled.map(|_| json!({"type": "adaptive", "display": display})),
    }
}

fn output_config(options: &Options) -> Option<Value> {
    let reasoning = options.reasoning.as_ref().filter(|reasoning| reasoning.max_tokens.is_none());
    let effort = match reasoning.and_then(|reasoning| reasoning.effort) {
        None | Some(Effort::None) => None,
        // The least this wire knows.
        Some(Effort::Minimal) => Some(Effort::Low.word()),
        Some(effort) => Some(effort.word()),
    };
    let format = match &options.format {
        Some(Format::Schema { schema, .. }) => Some(json!({"type": "json_schema", "schema": schema})),
        Some(Format::Text | Format::Json) | None => None,
    };
    let fields = [("effort", effort.map(Value::from)), ("format", format)];
    let fields: serde_json::Map<_, _> =
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    (!fields.is_empty()).then_some(Value::Object(fields))
}

fn tool_choice(options: &Options) -> Option<Value> {
    let alone = options.parallel_tool_calls == Some(false);
    let mut choice = match &options.tool_choice {
        None if !alone => return None,
        None | Some(ToolChoice::Auto) => json!({"type": "auto"}),
        Some(ToolChoice::None) => return Some(json!({"type": "none"})),
        Some(ToolChoice::Required) => json!({"type": "any"}),
        Some(ToolChoice::Named(name)) => json!({"type": "tool", "name": name}),
    };
    if alone {
        choice["disable_parallel_tool_use"] = Value::Bool(true);
    }
    Some(choice)
}

fn tool(tool: &crate::request::Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn system(request: &Request) -> Vec<Value> {
    if request.system.is_empty() {
        return Vec::new();
    }
    let mut block = text(&request.system);
    if request.cache != Cache::Off {
        block["cache_control"] = breakpoint();
    }
    vec![block]
}

fn messages(request: &Request, modern: bool) -> Vec<Said<'_>> {
    let foreign = foreign_calls(request);
    let mut messages = Vec::with_capacity(request.messages.len());
    for (place, message) in request.messages.iter().enumerate() {
        let (role, mut content) = match message {
            Message::System(words) => (if modern { "system" } else { "user" }, vec![Part::Ours(text(words))]),
            Message::User(words) => ("user", vec![Part::Ours(text(words))]),
            Message::Assistant(blocks) => ("assistant", blocks.iter().filter_map(part).collect()),
            Message::Results(results) => {
                let result = |result| Part::Ours(tool_result(result, &foreign));
                ("user", results.iter().map(result).collect())
            }
        };
        if request.cache == Cache::Through(place)
            && let Some(Part::Ours(last)) = content.last_mut()
        {
            last["cache_control"] = breakpoint();
        }
        // Whatever another provider thought is not for this one, and a message must not be empty.
        if !content.is_empty() {
            messages.push(Said { role, content });
        }
    }
    messages
}

fn part(block: &Block) -> Option<Part<'_>> {
    match (block.wire(), block.view()) {
        (_, View::Text(words)) if words.is_empty() => None,
        (Wire::Anthropic, _) => Some(Part::Raw(block.raw())),
        (_, View::Text(words)) => Some(Part::Ours(text(words))),
        (_, View::Call(call)) => {
            let input = RawValue::from_string(call.input.json().to_owned()).expect("arguments are JSON");
            Some(Part::Call(ToolUse {
                r#type: "tool_use",
                id: spelled(&call.id.0),
                name: spelled(&call.name),
                input,
            }))
        }
        (_, View::Thinking(_) | View::Other(_)) => None,
    }
}

fn tool_result(result: &crate::request::ToolResult, foreign: &HashSet<&CallId>) -> Value {
    let id = if foreign.contains(&result.id) { spelled(&result.id.0) } else { result.id.0.clone() };
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": result.content});
    if result.outcome == Outcome::Failed {
        block["is_error"] = Value::Bool(true);
    }
    block
}

fn foreign_calls(request: &Request) -> HashSet<&CallId> {
    let blocks = request.messages.iter().filter_map(|message| match message {
        Message::Assistant(blocks) => Some(blocks),
        _ => None,
    });
    let foreign = blocks.flatten().filter(|block| block.wire() != Wire::Anthropic);
    foreign.filter_map(|block| block.as_call().map(|call| &call.id)).collect()
}

/// Calls and tools have names of letters, digits, `_` and `-` here; elsewhere one may be `functions.read:0`.
fn spelled(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
