//! Any bytes at the splitter and both readers: no panic, every call an object, and nothing after the end.

use llm::sse::Splitter;
use llm::{Block, Decoder, Event, Wire};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");

#[test]
fn any_bytes_are_split_within_the_cap() {
    testkit::fuzz("llm-splitter", format!("{CORPUS}/splitter"), 10_000, |bytes| {
        const CAP: usize = 4096;
        let mut splitter = Splitter::new(CAP);
        let mut each = |data: &[u8]| assert!(data.len() <= CAP);
        for piece in bytes.chunks(7) {
            if splitter.feed(piece, &mut each).is_err() {
                return;
            }
        }
        splitter.finish(&mut each);
    });
}

#[test]
fn any_bytes_are_read_as_a_stream_of_anthropic_or_refused() {
    testkit::fuzz("llm-anthropic", format!("{CORPUS}/anthropic"), 10_000, |bytes| {
        read(Wire::Anthropic, bytes);
    });
}

#[test]
fn any_bytes_are_read_as_a_stream_of_openai_or_refused() {
    testkit::fuzz("llm-openai", format!("{CORPUS}/openai"), 10_000, |bytes| read(Wire::OpenAi, bytes));
}

fn read(wire: Wire, bytes: &[u8]) {
    let mut decoder = Decoder::new(wire, "m", 1);
    let mut events = Vec::new();
    let fed = bytes.chunks(11).try_for_each(|piece| decoder.feed(piece, &mut events));
    let complete = fed.is_ok() && decoder.finish(&mut events).is_ok();
    let ends = events.iter().filter(|event| matches!(event, Event::Done(_))).count();
    assert_eq!(ends, usize::from(complete));
    for event in &events {
        if let Event::Block(block) = event {
            check(block);
        }
    }
}

/// What goes into a history comes out of its store, and its calls can be sent.
fn check(block: &Block) {
    let stored = serde_json::to_string(block).unwrap();
    let again: Block = serde_json::from_str(&stored).unwrap();
    assert_eq!(again.raw().get(), block.raw().get());
    if let Some(call) = block.as_call() {
        let input: serde_json::Value = serde_json::from_str(call.input.json()).unwrap();
        assert!(input.is_object());
        assert_eq!(again.as_call().map(|call| &call.id), Some(&call.id));
    } else {
        assert_eq!(again.view(), block.view());
    }
}
