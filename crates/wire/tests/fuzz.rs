//! Bytes that we did not write, at every parser of this crate: no panic, and in bounded steps.

use std::io::{BufReader, Cursor};

use wire::clai::raw::{RawError, RawReader};
use wire::frame::{Cap, FrameError, LineReader, Utf8};
use wire::tldr::Request;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");

#[test]
fn any_bytes_are_cut_into_lines_within_the_cap() {
    testkit::fuzz("wire-lines", format!("{CORPUS}/lines"), 10_000, |bytes| {
        for utf8 in [Utf8::Strict, Utf8::Lossy] {
            let mut lines = LineReader::new(Cursor::new(bytes), Cap(64)).utf8(utf8);
            // A line ends with each newline, and one may be torn.
            for _ in 0..=bytes.len() + 1 {
                match lines.next_line() {
                    Ok(None) => break,
                    Ok(Some(line)) => assert!(!format!("{line:?}").is_empty()),
                    Err(FrameError::TooLong { .. } | FrameError::NotUtf8 { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            assert!(matches!(lines.next_line(), Ok(None)), "the end is not reached");
        }
    });
}

#[test]
fn any_bytes_are_read_as_raw_messages_or_refused() {
    testkit::fuzz("wire-raw", format!("{CORPUS}/raw"), 10_000, |bytes| {
        let mut messages = RawReader::buffered(BufReader::new(Cursor::new(bytes)));
        for _ in 0..=bytes.len() + 1 {
            match messages.next_message() {
                Ok(None) => break,
                Ok(Some(_)) | Err(RawError::NotAMessage(_) | RawError::Torn) => {}
                Err(RawError::Frame(FrameError::TooLong { .. })) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert!(matches!(messages.next_message(), Ok(None)), "the end is not reached");
    });
}

#[test]
fn a_request_that_is_read_is_written_and_read_again_the_same() {
    testkit::fuzz("wire-tldr", format!("{CORPUS}/tldr"), 10_000, |bytes| {
        let Ok(request) = Request::parse(&String::from_utf8_lossy(bytes)) else { return };
        let line = serde_json::to_string(&request).expect("a request is JSON");
        assert_eq!(Request::parse(&line).expect("what we wrote can be read"), request);
    });
}
