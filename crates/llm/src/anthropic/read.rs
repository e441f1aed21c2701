//! The events of a message, one by one, put together to blocks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{block, count, seen, stop_kind, with_input};
use crate::block::{Block, Input, View, Wire, raw};
use crate::error::{Complaint, Error};
use crate::event::{Event, Stop, StopKind, Usage};
use crate::wire::{Flow, Outlet, bad_frame, speak, text_of};

#[derive(Debug, Default)]
pub(crate) struct Reader {
    open: BTreeMap<u64, Open>,
    outlet: Outlet,
    usage: Option<Usage>,
    stop: Option<Stop>,
    /// `message_stop` was seen.
    stopped: bool,
}

/// A block that is being said.
#[derive(Debug)]
struct Open {
    start: Box<RawValue>,
    fields: Map<String, Value>,
    /// The arguments of a call come as pieces of JSON.
    arguments: String,
    changed: bool,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    index: Option<u64>,
    message: Option<Value>,
    content_block: Option<Box<RawValue>>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    usage: Option<Value>,
    error: Option<Value>,
}

/// The two deltas that come by the thousand.
#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    partial_json: Option<Cow<'a, str>>,
}

impl Reader {
    pub(crate) fn frame(&mut self, data: &str, out: &mut Vec<Event>) -> Result<Flow, Error> {
        let frame: Frame<'_> = match serde_json::from_str(data) {
            Ok(frame) => frame,
            Err(error) => {
                bad_frame(error.to_string(), out);
                return Ok(Flow::More);
            }
        };
        match &*frame.kind {
            "message_start" => self.started(frame.message.as_ref(), out),
            "content_block_start" => self.block_start(frame, out),
            "content_block_delta" => self.block_delta(&frame, out),
            "content_block_stop" => self.block_stop(frame.index, out),
            "message_delta" => self.message_delta(&frame),
            "message_stop" => {
                self.stopped = true;
                return Ok(Flow::End);
            }
            "error" => {
                let complaint = Complaint::from_error(&frame.error.unwrap_or_default());
                return Err(Error::Provider(Box::new(complaint)));
            }
            // `ping`, and whatever will be invented.
            _ => {}
        }
        Ok(Flow::More)
    }

    /// An answer that is no stream.
    pub(crate) fn whole(&mut self, answer: &RawValue, out: &mut Vec<Event>) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Content {
            content: Option<Vec<Box<RawValue>>>,
        }
        let told: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        if let Some(error) = told.get("error").filter(|error| !error.is_null()) {
            return Err(Error::Provider(Box::new(Complaint::from_error(error))));
        }
        let content = serde_json::from_str::<Content>(answer.get()).ok().and_then(|found| found.content);
        let content = content.ok_or_else(|| Error::malformed("a JSON document without content"))?;
        self.started(Some(&told), out);
        for (index, raw) in content.into_iter().enumerate() {
            let block = block(raw);
            speak(index, &block, out);
            self.outlet.give(block, out);
        }
        self.stop_reason(&told);
        self.stopped = true;
        Ok(())
    }

    /// Nothing more will come. Without a word about the end the connection was lost.
    pub(crate) fn end(mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        let implied = Stop { kind: StopKind::EndTurn, literal: "end_turn".to_owned(), detail: None };
        let stop = self.stop.take().or(self.stopped.then_some(implied)).ok_or(Error::Dropped)?;
        for open in std::mem::take(&mut self.open).into_values() {
            // A text that was not closed is still a text; half a call or half a thought is nothing.
            if open.fields.get("type").and_then(Value::as_str) == Some("text") {
                self.outlet.give(open.close(), out);
            }
        }
        self.outlet.close(stop, self.usage, out);
        Ok(())
    }

    fn started(&mut self, message: Option<&Value>, out: &mut Vec<Event>) {
        let Some(message) = message else { return };
        count(&mut self.usage, &message["usage"]);
        out.push(Event::Started { id: text_of(message, "id"), model: text_of(message, "model") });
    }

    fn block_start(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) {
        let (Some(index), Some(start)) = (frame.index, frame.content_block) else {
            return bad_frame("a block starts without index or content", out);
        };
        let fields: Map<String, Value> = serde_json::from_str(start.get()).unwrap_or_default();
        match seen(&fields, Input::empty) {
            View::Call(call) => {
                out.push(Event::CallStarted { index: index as usize, id: call.id, name: call.name });
            }
            View::Text(text) if !text.is_empty() => out.push(Event::Text(text)),
            View::Thinking(text) if !text.is_empty() => out.push(Event::Thinking(text)),
            _ => {}
        }
        let open = Open { start, fields, arguments: String::new(), changed: false };
        // Another one at the same place was never closed, but it was said.
        if let Some(before) = self.open.insert(index, open) {
            self.outlet.give(before.close(), out);
        }
    }

    fn block_delta(&mut self, frame: &Frame<'_>, out: &mut Vec<Event>) {
        let known = frame.index.and_then(|index| Some((index, self.open.get_mut(&index)?)));
        let (Some((index, open)), Some(delta)) = (known, frame.delta) else {
            return bad_frame("a delta of a block that was not started", out);
        };
        let Ok(common) = serde_json::from_str::<Delta<'_>>(delta.get()) else {
            return bad_frame("a delta that cannot be read", out);
        };
        open.changed = true;
        match (common.kind.as_deref(), common.text, common.partial_json) {
            (Some("text_delta"), Some(text), _) => {
                append(&mut open.fields, "text", &text);
                if !text.is_empty() {
                    out.push(Event::Text(text.into_owned()));
                }
            }
            (Some("input_json_delta"), _, Some(json)) => {
                open.arguments.push_str(&json);
                if !json.is_empty() {
                    out.push(Event::CallArguments { index: index as usize, json: json.into_owned() });
                }
            }
            _ => open.merge(delta, out),
        }
    }

    fn block_stop(&mut self, index: Option<u64>, out: &mut Vec<Event>) {
        match index.and_then(|index| self.open.remove(&index)) {
            Some(open) => self.outlet.give(open.close(), out),
            None => bad_frame("the end of a block that was not started", out),
        }
    }

    fn message_delta(&mut self, frame: &Frame<'_>) {
        count(&mut self.usage, frame.usage.as_ref().unwrap_or(&Value::Null));
        let delta = frame.delta.and_then(|delta| serde_json::from_str(delta.get()).ok());
        self.stop_reason(&delta.unwrap_or_default());
    }

    fn stop_reason(&mut self, told: &Value) {
        let Some(literal) = text_of(told, "stop_reason") else { return };
        let explained = || {
            let details = told.get("stop_details")?;
            text_of(details, "explanation").or_else(|| text_of(details, "category"))
        };
        let detail = text_of(told, "stop_sequence").or_else(explained);
        self.stop = Some(Stop { kind: stop_kind(&literal), literal, detail });
    }
}

impl Open {
    /// Any other delta: its texts are appended to the fields of the same name, a citation joins the others.
    fn merge(&mut self, delta: &RawValue, out: &mut Vec<Event>) {
        let delta: Map<String, Value> = serde_json::from_str(delta.get()).unwrap_or_default();
        for (name, value) in delta {
            match (name.as_str(), value) {
                ("type", _) | (_, Value::Null) => {}
                ("citation", citation) => {
                    let citations = self.fields.entry("citations").or_insert(Value::Null);
                    match citations {
                        Value::Array(list) => list.push(citation),
                        other => *other = Value::Array(vec![citation]),
                    }
                }
                (_, Value::String(piece)) => {
                    append(&mut self.fields, &name, &piece);
                    if name == "thinking" && !piece.is_empty() {
                        out.push(Event::Thinking(piece));
                    }
                }
                (_, value) => drop(self.fields.insert(name, value)),
            }
        }
    }

    fn close(mut self) -> Block {
        if !self.changed {
            return block(self.start);
        }
        let view = seen(&self.fields, || Input::read(&self.arguments));
        let raw = match &view {
            View::Call(call) => with_input(&mut self.fields, call.input.json()),
            View::Other(_) if !self.arguments.is_empty() => {
                with_input(&mut self.fields, Input::read(&self.arguments).json())
            }
            _ => raw(&self.fields),
        };
        Block::new(Wire::Anthropic, raw, view)
    }
}

fn append(fields: &mut Map<String, Value>, name: &str, piece: &str) {
    match fields.get_mut(name) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => drop(fields.insert(name.to_owned(), Value::String(piece.to_owned()))),
    }
}
