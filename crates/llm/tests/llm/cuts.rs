//! What a stream tells does not depend on how its bytes were cut.

use llm::sse::{Splitter, TooLong};
use llm::{Decoder, Event, Wire};
use proptest::prelude::*;

/// Pieces that mean something to a splitter or a reader, and some that mean nothing.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "data: ",
        "data:",
        "data",
        "event: x",
        "id: 1",
        ": comment",
        ":",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\u{feff}",
        "é🦀",
        "{",
        "}",
        "[",
        "[DONE]",
        "error: ",
        "{\"type\":\"ping\"}",
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\r\n\r\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ü\"}}\r\r",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"ü\",\"reasoning\":\"h\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n",
        "data: [DONE]\n\n",
    ]);
    prop_oneof![
        8 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

/// Bytes, and where to cut them.
fn cut_stream() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    stream().prop_flat_map(|bytes| {
        let cuts = prop::collection::vec(0..=bytes.len(), 0..20);
        (Just(bytes), cuts)
    })
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts = cuts.to_vec();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

pub(super) fn split(pieces: &[&[u8]], cap: usize) -> (Vec<Vec<u8>>, Result<(), TooLong>) {
    let mut events = Vec::new();
    let mut splitter = Splitter::new(cap);
    let mut each = |data: &[u8]| events.push(data.to_vec());
    for piece in pieces {
        if let Err(error) = splitter.feed(piece, &mut each) {
            return (events, Err(error));
        }
    }
    splitter.finish(&mut each);
    (events, Ok(()))
}

pub(super) fn decoded(wire: Wire, pieces: &[&[u8]]) -> (Vec<Event>, Result<(), String>) {
    let mut events = Vec::new();
    let mut decoder = Decoder::new(wire, "m", 1);
    for piece in pieces {
        if let Err(error) = decoder.feed(piece, &mut events) {
            return (events, Err(error.to_string()));
        }
    }
    let ended = decoder.finish(&mut events).map_err(|error| error.to_string());
    (events, ended)
}

/// The simplest splitter that follows the rules, for whole texts only.
fn plainly(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text: Vec<u8> = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).to_vec();
    let mut lines = vec![Vec::new()];
    let mut rest = text.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\r' => {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            byte => lines.last_mut().unwrap().push(byte),
        }
    }
    lines.push(Vec::new());
    let (mut events, mut data): (Vec<Vec<u8>>, Option<Vec<u8>>) = (Vec::new(), None);
    for line in lines {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (line[..at].to_vec(), line[at + 1..].to_vec()),
            None => (line.clone(), Vec::new()),
        };
        let value = value.strip_prefix(b" ").unwrap_or(&value);
        match name.as_slice() {
            _ if line.is_empty() => events.extend(data.take()),
            b"data" | b"error" => {
                let so_far = data.take();
                data = Some(
                    so_far.map_or_else(|| value.to_vec(), |so_far| [&so_far, &b"\n"[..], value].concat()),
                );
            }
            _ => {}
        }
    }
    events.extend(data);
    events
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn events_do_not_depend_on_the_cuts((bytes, cuts) in cut_stream()) {
        let (events, result) = split(&pieces(&bytes, &cuts), 1 << 20);
        prop_assert_eq!(result, Ok(()));
        prop_assert_eq!(&events, &plainly(&bytes));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&split(&single, 1 << 20).0, &events);
    }

    #[test]
    fn neither_does_the_cap((bytes, cuts) in cut_stream(), cap in 1_usize..60) {
        let whole = split(&[&bytes], cap);
        prop_assert_eq!(&split(&pieces(&bytes, &cuts), cap), &whole);
        prop_assert!(whole.0.iter().all(|event| event.len() <= cap));
    }

    #[test]
    fn neither_does_what_is_told((bytes, cuts) in cut_stream()) {
        for wire in [Wire::Anthropic, Wire::OpenAi] {
            let whole = decoded(wire, &[&bytes]);
            prop_assert_eq!(&decoded(wire, &pieces(&bytes, &cuts)), &whole);
            if whole.1.is_ok() {
                prop_assert!(matches!(whole.0.last(), Some(Event::Done(_))));
            }
        }
    }
}
