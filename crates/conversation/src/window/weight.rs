//! How many bytes of a request a text or a message is: its JSON, and what a provider wants around it. An estimate that is
//! rather too large. Knows no provider's exact form.

use llm::{Block, Message, ToolResult};

use crate::history::{Exchange, Returned, Step};

/// Around a message: `{"role":"assistant","content":[{"type":"text","text":}]},`.
const MESSAGE: usize = 64;

/// Around a result: `{"type":"tool_result","tool_use_id":"","content":,"is_error":true},`.
const RESULT: usize = 72;

/// A text as JSON.
pub(super) fn text(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

pub(super) fn words(words: &str) -> usize {
    MESSAGE + text(words)
}

pub(super) fn blocks(blocks: &[Block]) -> usize {
    MESSAGE + blocks.iter().map(block).sum::<usize>()
}

pub(super) fn block(block: &Block) -> usize {
    block.raw().get().len() + 1
}

pub(super) fn result(result: &ToolResult) -> usize {
    RESULT + result.id.0.len() + text(&result.content)
}

pub(super) fn message(message: &Message) -> usize {
    match message {
        Message::System(text) | Message::User(text) => words(text),
        Message::Assistant(said) => blocks(said),
        Message::Results(results) => MESSAGE + results.iter().map(result).sum::<usize>(),
    }
}

pub(super) fn step(step: &Step) -> usize {
    match step {
        Step::Said(said) => blocks(said),
        Step::Note(text) => words(text),
        Step::Round(round) => {
            blocks(round.said()) + MESSAGE + round.results().iter().map(returned).sum::<usize>()
        }
    }
}

/// With room for the words that it may be lost.
pub(super) fn returned(returned: &Returned) -> usize {
    let own = result(&returned.result);
    if returned.rests_on.is_empty() {
        own
    } else {
        own.max(RESULT + returned.result.id.0.len() + super::render::LOST.len() + 2)
    }
}

pub(crate) fn exchange(exchange: &Exchange) -> usize {
    words(exchange.prompt()) + exchange.steps().iter().map(step).sum::<usize>()
}
