//! The chunks of a completion, one by one, put together to blocks. Written for what servers really send: calls without
//! index, names or ids that come late or twice, usage in a last chunk without choices, or no usage and no `[DONE]`.

use std::mem;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{DETAILS, THINKING, Words, block, stop_kind, thought, tool_call, usage};
use crate::block::{Block, Call, CallId, Input, View, Wire, raw};
use crate::error::{Complaint, Error};
use crate::event::{Event, Stop, StopKind, Usage};
use crate::wire::{Flow, Outlet, bad_frame};

#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Makes names for calls that have none.
    turn: usize,
    started: bool,
    /// Signed pieces of thinking.
    details: Vec<Value>,
    thinking: String,
    /// Under which name the plain text of it came.
    thinking_field: &'static str,
    text: String,
    refusal: String,
    calls: Vec<Slot>,
    outlet: Outlet,
    usage: Option<Usage>,
    finish: Option<String>,
    /// `[DONE]` was seen.
    done: bool,
}

/// A call that is being said.
#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// How much of the arguments was told.
    told: usize,
    announced: bool,
    /// Fields that only their sender understands.
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    id: Option<Value>,
    model: Option<Value>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Value>,
    error: Option<Value>,
    object: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    message: Option<Delta<'a>>,
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Words<'a>,
    #[serde(borrow, default)]
    reasoning_content: Words<'a>,
    #[serde(borrow, default)]
    reasoning: Words<'a>,
    #[serde(borrow, default)]
    refusal: Words<'a>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<Map<String, Value>>>,
    function_call: Option<Value>,
}

impl Reader {
    /// `turn` is a number that grows with the conversation.
    pub(crate) fn new(turn: usize) -> Reader {
        Reader { turn, thinking_field: THINKING[1], ..Reader::default() }
    }

    pub(crate) fn frame(&mut self, data: &str, out: &mut Vec<Event>) -> Result<Flow, Error> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(Flow::End);
        }
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => self.chunk(chunk, data, out)?,
            Err(error) => bad_frame(error.to_string(), out),
        }
        Ok(Flow::More)
    }

    /// An answer that is no stream.
    pub(crate) fn whole(&mut self, answer: &RawValue, out: &mut Vec<Event>) -> Result<(), Error> {
        let chunk: Chunk<'_> =
            serde_json::from_str(answer.get()).map_err(|error| Error::malformed(error.to_string()))?;
        let empty = chunk.choices.as_ref().is_none_or(Vec::is_empty);
        self.chunk(chunk, answer.get(), out)?;
        if empty {
            return Err(Error::malformed("a JSON document without choices"));
        }
        self.done = true;
        Ok(())
    }

    /// Nothing more will come. Without a word about the end the connection was lost.
    pub(crate) fn end(mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        if !self.done && self.finish.is_none() {
            return Err(Error::Dropped);
        }
        self.close_thinking(out);
        self.close_text(out);
        for index in 0..self.calls.len() {
            self.announce(index, Force::Yes, out);
        }
        for slot in mem::take(&mut self.calls) {
            self.outlet.give(slot.close(), out);
        }
        let literal = self.finish.unwrap_or_else(|| "stop".to_owned());
        let mut kind = stop_kind(&literal);
        if kind == StopKind::EndTurn && !self.refusal.is_empty() {
            kind = StopKind::Refusal;
        }
        let detail = (!self.refusal.is_empty()).then_some(self.refusal);
        self.outlet.close(Stop { kind, literal, detail }, self.usage, out);
        Ok(())
    }

    fn chunk(&mut self, chunk: Chunk<'_>, data: &str, out: &mut Vec<Event>) -> Result<(), Error> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(complaint(&error));
        }
        // llama.cpp and old vLLM send the error itself as the event.
        if chunk.choices.is_none() && chunk.usage.is_none() {
            let told: Value = serde_json::from_str(data).unwrap_or_default();
            if chunk.object.is_some_and(|object| object == "error") || told.get("message").is_some() {
                return Err(complaint(&told));
            }
        }
        if !mem::replace(&mut self.started, true) {
            let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
            out.push(Event::Started { id: text(chunk.id), model: text(chunk.model) });
        }
        self.usage = chunk.usage.as_ref().and_then(usage).or(self.usage);
        // We ask for one choice; whoever sends more is heard with the first.
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, out);
            }
            match choice.finish_reason {
                Some(Value::String(reason)) if reason == "error" => {
                    return Err(complaint(
                        &json!({"message": "it stopped with an error and does not say which"}),
                    ));
                }
                Some(Value::String(reason)) if !reason.is_empty() => self.finish = Some(reason),
                _ => {}
            }
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<Event>) {
        self.think(&delta, out);
        for (piece, kind) in [(delta.content.0, Spoken::Text), (delta.refusal.0, Spoken::Refusal)] {
            if !piece.is_empty() {
                self.close_thinking(out);
                match kind {
                    Spoken::Text => self.text.push_str(&piece),
                    Spoken::Refusal => self.refusal.push_str(&piece),
                }
                out.push(Event::Text(piece.into_owned()));
            }
        }
        let old = delta.function_call.filter(Value::is_object).map(|function| {
            Map::from_iter([("index".to_owned(), json!(0)), ("function".to_owned(), function)])
        });
        for piece in delta.tool_calls.into_iter().flatten().chain(old) {
            self.close_thinking(out);
            self.close_text(out);
            let slot = self.slot(&piece);
            self.calls[slot].merge(piece);
            self.announce(slot, Force::No, out);
        }
    }

    fn think(&mut self, delta: &Delta<'_>, out: &mut Vec<Event>) {
        let plain = [(THINKING[0], &delta.reasoning_content), (THINKING[1], &delta.reasoning)];
        // Some send both names with the same words.
        let plain = plain.into_iter().find(|(_, words)| !words.0.is_empty());
        let details = delta.reasoning_details.as_deref().unwrap_or_default();
        if plain.is_none() && details.is_empty() {
            return;
        }
        self.close_text(out);
        let told: String = match plain {
            Some((_, words)) => words.0.clone().into_owned(),
            None => details.iter().filter_map(thought).collect(),
        };
        self.thinking_field = plain.map_or(self.thinking_field, |(name, _)| name);
        details.iter().for_each(|detail| add_detail(&mut self.details, detail));
        self.thinking.push_str(&told);
        if !told.is_empty() {
            out.push(Event::Thinking(told));
        }
    }

    fn close_thinking(&mut self, out: &mut Vec<Event>) {
        let (details, words) = (mem::take(&mut self.details), mem::take(&mut self.thinking));
        let shown: String = details.iter().filter_map(thought).collect();
        let mut fields = Map::new();
        // Once is enough, unless the details are closed and the words came beside them.
        if shown != words {
            fields.insert(self.thinking_field.to_owned(), Value::String(words));
        }
        if !details.is_empty() {
            fields.insert(DETAILS.to_owned(), Value::Array(details));
        }
        if !fields.is_empty() {
            self.outlet.give(block(raw(&fields)), out);
        }
    }

    fn close_text(&mut self, out: &mut Vec<Event>) {
        let text = mem::take(&mut self.text);
        if !text.is_empty() {
            self.outlet.give(block(raw(&json!({"content": text}))), out);
        }
    }

    /// Which call a piece belongs to. The index decides; where it is missing, or the same for all, a new name does.
    fn slot(&mut self, piece: &Map<String, Value>) -> usize {
        let index = piece.get("index").and_then(Value::as_u64);
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
        let named =
            piece.get("function").and_then(|function| function.get("name")).is_some_and(Value::is_string);
        let other = |slot: &Slot| named && !id.is_empty() && !slot.id.is_empty() && slot.id != id;
        let found = match index {
            Some(_) => self.calls.iter().rposition(|slot| slot.index == index && !other(slot)),
            None if !id.is_empty() => self.calls.iter().rposition(|slot| slot.id == id),
            None if named => None,
            None => self.calls.len().checked_sub(1),
        };
        found.unwrap_or_else(|| {
            self.calls.push(Slot { index, ..Slot::default() });
            self.calls.len() - 1
        })
    }

    /// Tells a call as soon as its name is known, and then what has come of its arguments.
    fn announce(&mut self, index: usize, force: Force, out: &mut Vec<Event>) {
        let turn = self.turn;
        let slot = &mut self.calls[index];
        if !slot.announced {
            if slot.name.is_empty() && force == Force::No {
                return;
            }
            // Without a name it could never be answered.
            if slot.name.is_empty() {
                slot.name = "unnamed".to_owned();
            }
            if slot.id.is_empty() {
                slot.id = format!("call_{turn}_{index}");
            }
            slot.announced = true;
            out.push(Event::CallStarted { index, id: CallId(slot.id.clone()), name: slot.name.clone() });
        }
        let json = slot.arguments[mem::replace(&mut slot.told, slot.arguments.len())..].to_owned();
        if !json.is_empty() {
            out.push(Event::CallArguments { index, json });
        }
    }
}

/// What the model says aloud.
enum Spoken {
    Text,
    /// Shown like a text, but no part of the history: it is the reason to stop.
    Refusal,
}

/// Whether a call is told even if its name never came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Force {
    Yes,
    No,
}

impl Slot {
    fn merge(&mut self, piece: Map<String, Value>) {
        for (name, value) in piece {
            match (name.as_str(), value) {
                ("index" | "type", _) | (_, Value::Null) => {}
                ("id", Value::String(id)) => {
                    if self.id.is_empty() {
                        self.id = id;
                    }
                }
                ("function", Value::Object(mut function)) => {
                    if let Some(Value::String(name)) = function.remove("name")
                        && self.name.is_empty()
                    {
                        self.name = name;
                    }
                    match function.remove("arguments") {
                        Some(Value::String(piece)) => self.arguments.push_str(&piece),
                        None | Some(Value::Null) => {}
                        // Whoever sends JSON where a text belongs sends all of it at once.
                        Some(whole) => self.arguments.push_str(&whole.to_string()),
                    }
                }
                ("id" | "function", _) => {}
                (_, value) => drop(self.rest.insert(name, value)),
            }
        }
    }

    fn close(self) -> Block {
        let call = Call { id: CallId(self.id), name: self.name, input: Input::read(&self.arguments) };
        Block::new(Wire::OpenAi, tool_call(&call, &self.rest), View::Call(call))
    }
}

/// Pieces of one text or summary are put together, and its signature, which comes last, joins it; what is encrypted is
/// whole.
fn add_detail(details: &mut Vec<Value>, detail: &Value) {
    let same = |last: &Value, name: &str| last.get(name) == detail.get(name);
    let mergeable = matches!(detail["type"].as_str(), Some("reasoning.text" | "reasoning.summary"));
    let (Some(Value::Object(last)), Value::Object(piece)) =
        (details.last_mut().filter(|last| mergeable && same(last, "type") && same(last, "index")), detail)
    else {
        return details.push(detail.clone());
    };
    for (name, value) in piece {
        match (last.get_mut(name), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary") =>
            {
                text.push_str(more);
            }
            (_, value) => drop(last.insert(name.clone(), value.clone())),
        }
    }
}

fn complaint(error: &Value) -> Error {
    Error::Provider(Box::new(Complaint::from_error(error)))
}
