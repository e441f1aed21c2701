//! One JSON text per line, over any stream of bytes. Knows caps, newlines and UTF-8; never what a line means
//! or where the bytes come from.
//!
//! A line that cannot be taken is an error *about that line*: the reader drops it in bounded memory and stands
//! at the next newline, so that a server can answer the error and go on. Lines of nothing but white space are
//! skipped. A carriage return before the newline is kept: it is white space to JSON, and the cap counts it.

pub(crate) mod cut;

use std::io::{self, BufReader, Read, Write};

use serde::Serialize;
use thiserror::Error;

use crate::Deadline;
use cut::{Cutter, Piece};

/// The longest line that is taken, in bytes, its newline not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap(pub usize);

/// What to do with bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Utf8 {
    /// The line is refused, and the error names the first bad byte.
    Strict,
    /// Each bad sequence becomes U+FFFD.
    Lossy,
}

/// What stood on the stream, without its newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Whole(String),
    /// The stream ended before the newline did: perhaps a peer that leaves the last newline out, perhaps one
    /// that died in the middle. The caller knows which it accepts.
    Torn(String),
}

/// Why there is no message. After all but [`FrameError::Io`] the reader can be asked again.
#[derive(Debug, Error)]
pub enum FrameError {
    /// Told as soon as the cap is passed, not when the end comes: the peer may be waiting for the answer.
    #[error("a message is longer than {cap} bytes")]
    TooLong { cap: usize },
    #[error("a message is not UTF-8 at byte {at}")]
    NotUtf8 { at: usize },
    /// What has arrived is kept; the next call goes on behind it.
    #[error("no whole message arrived in time")]
    DeadlinePassed,
    #[error("cannot read from the peer: {0}")]
    Io(#[from] io::Error),
}

/// Cuts a stream into lines. Holds at most the cap, plus one read buffer of 8 KiB.
#[derive(Debug)]
pub struct LineReader<R> {
    input: Cutter<R>,
    cap: Cap,
    utf8: Utf8,
}

impl<R: Read> LineReader<R> {
    /// A strict reader; see [`LineReader::utf8`].
    pub fn new(input: R, cap: Cap) -> Self {
        Self::buffered(BufReader::new(input), cap)
    }

    /// Goes on where somebody has already looked at the first bytes.
    pub fn buffered(input: BufReader<R>, cap: Cap) -> Self {
        LineReader { input: Cutter::new(input, b'\n'), cap, utf8: Utf8::Strict }
    }

    #[must_use]
    pub fn utf8(mut self, utf8: Utf8) -> Self {
        self.utf8 = utf8;
        self
    }

    pub fn get_ref(&self) -> &R {
        self.input.get_ref()
    }

    /// The next line, or `None` at the end. Waits as long as the stream does: when its own timeout passes,
    /// that is [`FrameError::DeadlinePassed`].
    pub fn next_line(&mut self) -> Result<Option<Line>, FrameError> {
        self.advance(None)
    }

    /// Like [`LineReader::next_line`], but asks a stream that timed out again until `deadline`, and gives up
    /// then even if the peer still sends byte after byte. The stream's own timeout bounds how late that is
    /// noticed.
    pub fn next_line_by(&mut self, deadline: Deadline) -> Result<Option<Line>, FrameError> {
        self.advance(Some(deadline))
    }

    fn advance(&mut self, deadline: Option<Deadline>) -> Result<Option<Line>, FrameError> {
        while let Some(piece) = self.input.next(self.cap, deadline)? {
            let line = match piece {
                Piece::Whole(bytes) => self.decode(bytes)?.map(Line::Whole),
                Piece::Torn(bytes) => self.decode(bytes)?.map(Line::Torn),
            };
            if line.is_some() {
                return Ok(line);
            }
        }
        Ok(None)
    }

    /// `None` for white space alone.
    fn decode(&self, bytes: Vec<u8>) -> Result<Option<String>, FrameError> {
        if bytes.trim_ascii().is_empty() {
            return Ok(None);
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) if self.utf8 == Utf8::Lossy => {
                Ok(Some(String::from_utf8_lossy(error.as_bytes()).into_owned()))
            }
            Err(error) => Err(FrameError::NotUtf8 { at: error.utf8_error().valid_up_to() }),
        }
    }
}

/// `message` as one line, its newline included.
pub fn to_line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Writes `message` as one line in one `write_all`, so that lines of two writers do not mix, and flushes.
pub fn write_line<W: Write>(output: &mut W, message: &impl Serialize) -> io::Result<()> {
    output.write_all(&to_line(message)?)?;
    output.flush()
}

/// The same for text that is already JSON. A newline inside would make two lines of it and is refused.
pub fn write_raw_line<W: Write>(output: &mut W, text: &str) -> io::Result<()> {
    if text.contains('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a line with a newline inside"));
    }
    output.write_all(&[text.as_bytes(), b"\n"].concat())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// A peer as the kernel shows it: bytes in pieces, with interruptions and timeouts between them.
    struct Pieces(VecDeque<Result<Vec<u8>, io::ErrorKind>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.pop_front() {
                None => Ok(0),
                Some(Err(kind)) => Err(kind.into()),
                Some(Ok(mut piece)) => {
                    let count = piece.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&piece[..count]);
                    let rest = piece.split_off(count);
                    if !rest.is_empty() {
                        self.0.push_front(Ok(rest));
                    }
                    Ok(count)
                }
            }
        }
    }

    /// All that a reader says about `bytes`, in words.
    fn said<R: Read>(mut reader: LineReader<R>) -> Vec<String> {
        let mut out = Vec::new();
        loop {
            match reader.next_line() {
                Ok(None) => return out,
                Ok(Some(Line::Whole(text))) => out.push(text),
                Ok(Some(Line::Torn(text))) => out.push(format!("torn: {text}")),
                Err(FrameError::DeadlinePassed) => {}
                Err(error) => out.push(format!("error: {error}")),
            }
        }
    }

    fn check(bytes: &[u8], cap: usize, expected: &[&str]) {
        assert_eq!(said(LineReader::new(bytes, Cap(cap))), expected);
    }

    #[test]
    fn nothing_at_all_is_the_end() {
        check(b"", 10, &[]);
        check(b"\n\r\n  \t\n", 10, &[]);
    }

    #[test]
    fn a_line_of_exactly_the_cap_is_taken_and_one_byte_more_is_refused() {
        check(b"12345\n123456\n7\n", 5, &["12345", "error: a message is longer than 5 bytes", "7"]);
    }

    #[test]
    fn a_last_line_without_its_newline_is_torn() {
        check(b"{}\n{\"cmd\":\"shut", 50, &["{}", "torn: {\"cmd\":\"shut"]);
        check(b"{}\n  ", 50, &["{}"]);
    }

    #[test]
    fn the_rest_of_a_refused_line_is_no_line() {
        check(b"1234567890{}", 5, &["error: a message is longer than 5 bytes"]);
        check(b"1234567890{}\n{}\n", 5, &["error: a message is longer than 5 bytes", "{}"]);
    }

    #[test]
    fn a_carriage_return_stays() {
        check(b"{}\r\n", 5, &["{}\r"]);
    }

    #[test]
    fn half_a_character_is_named_or_replaced() {
        let bytes = b"ab\xc3\nok\nab\xe6\x97";
        let at = "error: a message is not UTF-8 at byte 2";
        check(bytes, 50, &[at, "ok", at]);
        let lossy = said(LineReader::new(&bytes[..], Cap(50)).utf8(Utf8::Lossy));
        assert_eq!(lossy, ["ab\u{fffd}", "ok", "torn: ab\u{fffd}"]);
    }

    #[test]
    fn a_hundred_megabytes_without_a_newline_cost_no_more_than_the_cap() {
        let cap = Cap(64 * 1024);
        let flood = io::repeat(b'x').take(100 << 20).chain(&b"\n{}\n"[..]);
        let mut reader = LineReader::new(flood, cap);
        assert!(matches!(reader.next_line(), Err(FrameError::TooLong { .. })));
        assert_eq!(reader.input.partial.capacity(), 0);
        assert_eq!(reader.next_line().unwrap(), Some(Line::Whole("{}".into())));
        assert_eq!(reader.next_line().unwrap(), None);
    }

    #[test]
    fn a_partial_line_never_holds_more_than_the_cap() {
        let (cap, flood) = (Cap(100_000), io::repeat(b'x').take(100_000));
        let mut reader = LineReader::new(flood.chain(Pieces([Err(io::ErrorKind::TimedOut)].into())), cap);
        assert!(matches!(reader.next_line(), Err(FrameError::DeadlinePassed)));
        assert_eq!(reader.input.partial.len(), cap.0);
        assert!(reader.input.partial.capacity() <= cap.0);
    }

    #[test]
    fn a_peer_that_trickles_for_ever_is_given_up() {
        let mut reader = LineReader::new(io::repeat(b'x'), Cap(usize::MAX >> 1));
        let given_up = reader.next_line_by(Deadline::after(Duration::from_millis(5)));
        assert!(matches!(given_up, Err(FrameError::DeadlinePassed)));
    }

    #[test]
    fn a_broken_stream_is_an_error_of_its_own() {
        let reset = Pieces([Ok(b"{".to_vec()), Err(io::ErrorKind::ConnectionReset)].into());
        assert!(matches!(LineReader::new(reset, Cap(9)).next_line(), Err(FrameError::Io(_))));
    }

    #[test]
    fn what_is_written_is_one_line() {
        let mut out = Vec::new();
        write_line(&mut out, &serde_json::json!({"text": "a\nb"})).unwrap();
        write_raw_line(&mut out, "[]").unwrap();
        assert_eq!(out, b"{\"text\":\"a\\nb\"}\n[]\n");
        assert_eq!(write_raw_line(&mut out, "a\nb").unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    /// Cuts `bytes` at the given places and puts a hiccup of the system at each cut.
    fn pieces(bytes: &[u8], cuts: &[(usize, u8)]) -> Pieces {
        let mut out = VecDeque::new();
        let mut rest = bytes;
        for (length, hiccup) in cuts {
            let (piece, tail) = rest.split_at((*length).min(rest.len()));
            if !piece.is_empty() {
                out.push_back(Ok(piece.to_vec()));
            }
            match hiccup {
                0 => out.push_back(Err(io::ErrorKind::Interrupted)),
                1 => out.push_back(Err(io::ErrorKind::WouldBlock)),
                _ => {}
            }
            rest = tail;
        }
        if !rest.is_empty() {
            out.push_back(Ok(rest.to_vec()));
        }
        Pieces(out)
    }

    proptest! {
        #[test]
        fn messages_come_back_however_the_bytes_are_cut(
            messages in prop::collection::vec(".{0,40}", 0..20),
            cuts in prop::collection::vec((1usize..30, 0u8..4), 0..60),
        ) {
            let mut bytes = Vec::new();
            for message in &messages {
                write_line(&mut bytes, message).unwrap();
            }
            let read = said(LineReader::new(pieces(&bytes, &cuts), Cap(1024)));
            let read: Vec<String> = read.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            prop_assert_eq!(read, messages);
        }

        #[test]
        fn what_is_said_about_any_bytes_does_not_depend_on_the_cuts(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()], 0..300),
            cuts in prop::collection::vec((1usize..30, 0u8..4), 0..60),
            cap in 1usize..40,
        ) {
            let whole = said(LineReader::new(&bytes[..], Cap(cap)));
            prop_assert_eq!(said(LineReader::new(pieces(&bytes, &cuts), Cap(cap))), whole);
        }
    }
}
