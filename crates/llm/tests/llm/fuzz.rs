//! Any bytes at the splitter and both readers: no panic, every call an object, nothing after the end,
//! and the same wherever they are cut.

use llm::{Block, Event, Wire};

use super::cuts::{decoded, split};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");

#[test]
fn any_bytes_are_split_within_the_cap_wherever_they_are_cut() {
    testkit::fuzz("llm-splitter", format!("{CORPUS}/splitter"), 10_000, |bytes| {
        const CAP: usize = 4096;
        let whole = split(&[bytes], CAP);
        assert!(whole.0.iter().all(|data| data.len() <= CAP));
        assert_eq!(split(&bytes.chunks(7).collect::<Vec<_>>(), CAP), whole);
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
    let (events, ended) = decoded(wire, &[bytes]);
    assert_eq!(decoded(wire, &bytes.chunks(11).collect::<Vec<_>>()), (events.clone(), ended.clone()));
    let ends = events.iter().filter(|event| matches!(event, Event::Done(_))).count();
    assert_eq!(ends, usize::from(ended.is_ok()));
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
