//! A model that is a file: turns written by hand or recorded from a provider, played in order without any network. It
//! goes through the same splitter and the same readers as a real answer.
//!
//! The file is an event stream. A turn ends with `data: [DONE]`, with the provider's own last event, or with the file.
//! What was recorded is played as it is. By hand one writes short events:
//!
//! ```text
//! data: {"think": "…"}
//!
//! data: {"say": "Let me look."}
//!
//! data: {"call": "read_file", "input": {"path": "a"}}
//!
//! data: [DONE]
//!
//! data: {"fail": 529, "message": "Overloaded", "retry_after": 0}
//!
//! data: [DONE]
//!
//! data: {"say": "It is empty."}
//!
//! data: {"stop": "max_tokens"}
//! ```

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::block::Wire;
use crate::error::{Advice, Complaint, Error, Headers};
use crate::retry::Wait;
use crate::sse::Splitter;

#[derive(Debug)]
pub(crate) struct Script {
    turns: VecDeque<Vec<String>>,
    played: usize,
}

/// One turn, as a provider of this wire would send it.
#[derive(Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) wire: Wire,
    pub(crate) bytes: Vec<u8>,
}

impl Script {
    pub(crate) fn read(path: &Path) -> Result<Script, Error> {
        let bytes =
            fs::read(path).map_err(|error| Error::Script(format!("`{}`: {error}", path.display())))?;
        Script::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Result<Script, Error> {
        let mut turns = VecDeque::new();
        let mut turn = Vec::new();
        let mut splitter = Splitter::default();
        let mut each = |data: &[u8]| {
            let data = String::from_utf8_lossy(data).into_owned();
            let last = data.trim() == "[DONE]" || data.contains("\"message_stop\"");
            turn.push(data);
            if last {
                turns.push_back(std::mem::take(&mut turn));
            }
        };
        splitter.feed(bytes, &mut each).map_err(|error| Error::Script(error.to_string()))?;
        splitter.finish(&mut each);
        if !turn.is_empty() {
            turns.push_back(turn);
        }
        Ok(Script { turns, played: 0 })
    }

    /// The next turn, or the failure that is written there. `place` makes the names of its calls unlike all others of
    /// the conversation.
    pub(crate) fn next(&mut self, place: usize) -> Result<Turn, Error> {
        let frames = self.turns.pop_front();
        let frames =
            frames.ok_or_else(|| Error::Script(format!("it has {} turns, and no more", self.played)))?;
        self.played += 1;
        let wrong = |cause: String| Error::Script(format!("turn {}: {cause}", self.played));
        let shorts: Vec<Value> = frames
            .iter()
            .filter(|data| data.trim() != "[DONE]")
            .map(|data| serde_json::from_str(data).map_err(|error| wrong(format!("{error} in {data}"))))
            .collect::<Result<_, _>>()?;
        let has = |key: &str| shorts.iter().any(|short| short.get(key).is_some());
        if has("type") || has("choices") {
            let wire = if has("choices") { Wire::OpenAi } else { Wire::Anthropic };
            return Ok(Turn { wire, bytes: framed(frames.iter().map(String::as_str)) });
        }
        if let Some(failure) = shorts.iter().find(|short| short.get("fail").is_some()) {
            return Err(failed(failure));
        }
        let events = spelled(&shorts, place).map_err(wrong)?;
        let events: Vec<String> = events.iter().map(Value::to_string).collect();
        Ok(Turn { wire: Wire::Anthropic, bytes: framed(events.iter().map(String::as_str)) })
    }
}

fn framed<'a>(events: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let frame = |event: &str| event.lines().map(|line| format!("data: {line}\n")).collect::<String>() + "\n";
    events.map(frame).collect::<String>().into_bytes()
}

fn failed(failure: &Value) -> Error {
    let status = failure["fail"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
    let wait = failure
        .get("retry_after")
        .and_then(Value::as_u64)
        .map(|seconds| Wait::For(Duration::from_secs(seconds)));
    let headers = Headers { advice: Advice { wait, again: None }, ..Headers::default() };
    let body = json!({"error": {"message": failure["message"]}}).to_string();
    Error::Provider(Box::new(Complaint::from_answer(Wire::Anthropic, status, headers, body.as_bytes())))
}

/// Short events, written out.
fn spelled(shorts: &[Value], place: usize) -> Result<Vec<Value>, String> {
    let mut events = vec![json!({"type": "message_start", "message": {"model": "script"}})];
    let mut stop = None;
    let mut usage = Value::Null;
    let mut calls = 0;
    for short in shorts {
        let text = |key: &str| short.get(key).and_then(Value::as_str);
        let index = events.len();
        let (block, deltas) = if let Some(words) = text("say") {
            let deltas =
                words.split_inclusive(' ').map(|word| json!({"type": "text_delta", "text": word})).collect();
            (json!({"type": "text", "text": ""}), deltas)
        } else if let Some(words) = text("think") {
            let block = json!({"type": "thinking", "thinking": "", "signature": "script"});
            (block, vec![json!({"type": "thinking_delta", "thinking": words})])
        } else if let Some(name) = text("call") {
            calls += 1;
            let id = format!("toolu_script_{place}_{calls}");
            let input = short.get("input").cloned().unwrap_or_else(|| Value::Object(Map::new()));
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            (block, vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})])
        } else if let Some(reason) = text("stop") {
            stop = Some(reason);
            continue;
        } else if let Some(told) = short.get("usage") {
            usage = told.clone();
            continue;
        } else {
            return Err(format!("{short} is none of say, think, call, stop, usage, fail"));
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let stop = stop.unwrap_or(if calls > 0 { "tool_use" } else { "end_turn" });
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    Ok(events)
}
