//! A request as chat completions want it. What changes least stands first: tools, then the messages.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{DETAILS, Dialect, THINKING, tool_call};
use crate::block::{Block, Call, Input, View, Wire};
use crate::request::{Cache, Format, Message, Options, Outcome, Reasoning, Request, ToolChoice};
use crate::wire::Written;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: Value,
    #[serde(flatten)]
    options: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    messages: Vec<Said>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Said {
    Plain(Value),
    Assistant(Assistant),
}

#[derive(Serialize)]
struct Assistant {
    role: &'static str,
    content: Option<String>,
    #[serde(flatten)]
    reasoning: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Box<RawValue>>,
}

pub(crate) fn write(request: &Request, dialect: Dialect) -> Written {
    let mut options = options(&request.options, dialect, !request.tools.is_empty());
    let marks = if dialect == Dialect::OpenRouter { request.cache } else { Cache::Off };
    if marks == Cache::Whole {
        options.insert("cache_control".to_owned(), breakpoint());
    }
    let body = Body {
        model: &request.model,
        stream: true,
        // Without it most send no usage at all.
        stream_options: json!({"include_usage": true}),
        options,
        tools: request.tools.iter().map(tool).collect(),
        messages: messages(request, marks, dialect),
    };
    let body = serde_json::to_vec(&body).expect("a request is JSON");
    let reasoning = request.options.reasoning.as_ref();
    let has_budget = reasoning.is_some_and(|reasoning| reasoning.max_tokens.is_some());
    let ignored =
        if has_budget && dialect != Dialect::OpenRouter { vec!["reasoning.max_tokens"] } else { vec![] };
    Written { body, ignored }
}

fn breakpoint() -> Value {
    json!({"type": "ephemeral"})
}

fn options(options: &Options, dialect: Dialect, has_tools: bool) -> Map<String, Value> {
    // OpenAI took the old name back; small servers know no other.
    let limit = if dialect == Dialect::OpenAi { "max_completion_tokens" } else { "max_tokens" };
    let stop = (!options.stop.is_empty()).then(|| json!(options.stop));
    // Without tools both are errors.
    let choice = options.tool_choice.as_ref().filter(|_| has_tools).map(tool_choice);
    let parallel = options.parallel_tool_calls.filter(|_| has_tools).map(Value::from);
    let reasoning = options.reasoning.as_ref().and_then(|wanted| reasoning(wanted, dialect));
    let set = [
        (limit, options.max_tokens.map(Value::from)),
        ("temperature", options.temperature.map(Value::from)),
        ("top_p", options.top_p.map(Value::from)),
        ("frequency_penalty", options.frequency_penalty.map(Value::from)),
        ("presence_penalty", options.presence_penalty.map(Value::from)),
        ("seed", options.seed.map(Value::from)),
        ("stop", stop),
        ("tool_choice", choice),
        ("parallel_tool_calls", parallel),
        ("response_format", options.format.as_ref().map(format)),
    ];
    let set = set.into_iter().filter_map(|(name, value)| Some((name, value?)));
    set.chain(reasoning).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// OpenRouter has an object for it, and refuses effort beside a budget; the others have a word.
fn reasoning(wanted: &Reasoning, dialect: Dialect) -> Option<(&'static str, Value)> {
    if dialect != Dialect::OpenRouter {
        return wanted.effort.map(|effort| ("reasoning_effort", Value::from(effort.word())));
    }
    let effort =
        wanted.effort.filter(|_| wanted.max_tokens.is_none()).map(|effort| Value::from(effort.word()));
    let set = [
        ("effort", effort),
        ("max_tokens", wanted.max_tokens.map(Value::from)),
        ("exclude", wanted.exclude.map(Value::from)),
        ("enabled", wanted.enabled.map(Value::from)),
    ];
    let object: Map<_, _> =
        set.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    (!object.is_empty()).then_some(("reasoning", Value::Object(object)))
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

fn format(format: &Format) -> Value {
    match format {
        Format::Text => json!({"type": "text"}),
        Format::Json => json!({"type": "json_object"}),
        Format::Schema { name, schema, strict } => {
            let mut inner = json!({"name": name, "schema": schema});
            if let Some(strict) = strict {
                inner["strict"] = Value::Bool(*strict);
            }
            json!({"type": "json_schema", "json_schema": inner})
        }
    }
}

fn tool(tool: &crate::request::Tool) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.schema,
    }})
}

fn messages(request: &Request, marks: Cache, dialect: Dialect) -> Vec<Said> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        let mut system = json!({"role": "system", "content": request.system});
        if marks != Cache::Off {
            mark(&mut system);
        }
        messages.push(Said::Plain(system));
    }
    for (place, message) in request.messages.iter().enumerate() {
        match message {
            Message::System(words) => messages.push(Said::Plain(json!({"role": "system", "content": words}))),
            Message::User(words) => messages.push(Said::Plain(json!({"role": "user", "content": words}))),
            Message::Assistant(blocks) => messages.extend(assistant(blocks, dialect).map(Said::Assistant)),
            Message::Results(results) => messages.extend(results.iter().map(tool_result)),
        }
        if marks == Cache::Through(place)
            && let Some(Said::Plain(last)) = messages.last_mut()
        {
            mark(last);
        }
    }
    messages
}

/// A mark needs a part to stand on.
fn mark(message: &mut Value) {
    let text = message["content"].take();
    message["content"] = json!([{"type": "text", "text": text, "cache_control": breakpoint()}]);
}

fn assistant(blocks: &[Block], dialect: Dialect) -> Option<Assistant> {
    let mut content = String::new();
    let mut tool_calls = Vec::new();
    for block in blocks {
        match (block.view(), block.wire()) {
            (View::Text(text), wire) => {
                // Elsewhere a reply may have several texts, and what stood between them is gone.
                if wire != Wire::OpenAi && !content.is_empty() {
                    content.push_str("\n\n");
                }
                content.push_str(text);
            }
            (View::Call(Call { input: Input::Object(_), .. }), Wire::OpenAi) => {
                tool_calls.push(block.raw().to_owned());
            }
            (View::Call(call), _) => tool_calls.push(tool_call(call, &Map::new())),
            (View::Thinking(_) | View::Other(_), _) => {}
        }
    }
    if content.is_empty() && tool_calls.is_empty() {
        return None;
    }
    let reasoning = thoughts(blocks, dialect, tool_calls.is_empty());
    let content = (!content.is_empty()).then_some(content);
    Some(Assistant { role: "assistant", content, reasoning, tool_calls })
}

/// What goes back of the thinking. Signed details always, to the one who understands them. Plain text only beside calls:
/// there models go on thinking from it, and elsewhere some servers refuse it.
fn thoughts(blocks: &[Block], dialect: Dialect, without_calls: bool) -> Map<String, Value> {
    let mut thoughts = Map::new();
    let plain_too = !without_calls && dialect != Dialect::OpenAi;
    let ours = blocks.iter().filter(|block| block.wire() == Wire::OpenAi);
    for block in ours.filter(|block| matches!(block.view(), View::Thinking(_))) {
        let fields: Map<String, Value> = serde_json::from_str(block.raw().get()).unwrap_or_default();
        for (name, value) in fields {
            let plain = plain_too && THINKING.contains(&name.as_str());
            let details = name == DETAILS && dialect == Dialect::OpenRouter;
            match (thoughts.get_mut(&name), value) {
                (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                (_, value) if plain || details => drop(thoughts.insert(name, value)),
                _ => {}
            }
        }
    }
    if thoughts.contains_key(DETAILS) {
        THINKING.iter().for_each(|name| drop(thoughts.remove(*name)));
    }
    thoughts
}

/// This wire has no word for a failure but the text itself.
fn tool_result(result: &crate::request::ToolResult) -> Said {
    let told = result.outcome == Outcome::Done || result.content.starts_with("Error");
    let content = if told { result.content.clone() } else { format!("Error: {}", result.content) };
    Said::Plain(json!({"role": "tool", "tool_call_id": result.id.0, "content": content}))
}
