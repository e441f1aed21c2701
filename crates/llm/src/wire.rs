//! What both wires share: the written request, and the last steps of reading a reply. Knows neither of them.

use serde_json::Value;

use crate::block::{Block, View};
use crate::event::{Done, Event, Note, Stop, StopKind, Usage};

/// A request, ready to be sent.
#[derive(Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) body: Vec<u8>,
    /// Settings that this wire has no word for.
    pub(crate) ignored: Vec<&'static str>,
}

/// Whether a stream goes on after a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    /// The provider has said that it is done.
    End,
}

/// Blocks on their way out. A call whose arguments are broken waits until it is known why the model stopped: one that
/// was cut off by a limit is no call at all. What follows it waits too, so that the order stays.
#[derive(Debug, Default)]
pub(crate) struct Outlet {
    waiting: Vec<Block>,
    calls: bool,
}

impl Outlet {
    pub(crate) fn give(&mut self, block: Block, out: &mut Vec<Event>) {
        match block.view() {
            View::Text(text) if text.is_empty() => {}
            _ if !self.waiting.is_empty() || is_broken(&block) => self.waiting.push(block),
            _ => self.release(block, out),
        }
    }

    /// Everything was said: the blocks that waited, a word about an unknown reason, and the end.
    pub(crate) fn close(mut self, mut stop: Stop, usage: Option<Usage>, out: &mut Vec<Event>) {
        let cut_off = matches!(stop.kind, StopKind::MaxTokens | StopKind::ContextFull);
        for block in std::mem::take(&mut self.waiting) {
            if !(cut_off && is_broken(&block)) {
                self.release(block, out);
            }
        }
        if stop.kind == StopKind::Unknown {
            out.push(Event::Note(Note::UnknownStop(stop.literal.clone())));
        }
        // Some say that they are done and have calls all the same: the calls are right.
        if self.calls && matches!(stop.kind, StopKind::EndTurn | StopKind::Unknown) {
            stop.kind = StopKind::ToolUse;
        }
        out.push(Event::Done(Done { stop, usage }));
    }

    fn release(&mut self, block: Block, out: &mut Vec<Event>) {
        self.calls |= block.as_call().is_some();
        out.push(Event::Block(block));
    }
}

fn is_broken(block: &Block) -> bool {
    block.as_call().is_some_and(|call| matches!(call.input, crate::block::Input::Broken(_)))
}

/// The deltas of a block that came whole.
pub(crate) fn speak(index: usize, block: &Block, out: &mut Vec<Event>) {
    match block.view() {
        View::Text(text) => out.push(Event::Text(text.clone())),
        View::Thinking(text) if !text.is_empty() => out.push(Event::Thinking(text.clone())),
        View::Call(call) => {
            out.push(Event::CallStarted { index, id: call.id.clone(), name: call.name.clone() });
            out.push(Event::CallArguments { index, json: call.input.json().to_owned() });
        }
        View::Thinking(_) | View::Other(_) => {}
    }
}

pub(crate) fn bad_frame(why: impl Into<String>, out: &mut Vec<Event>) {
    out.push(Event::Note(Note::BadFrame(why.into())));
}

/// A text field that is there and not empty.
pub(crate) fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
