//! The byte-level splitter of event streams: bytes in, whole events out, wherever the bytes were cut. Knows the
//! framing of `text/event-stream` and nothing of what an event means.
//!
//! Lines end with LF, CR or CRLF; a BOM, comments and unknown fields are skipped; several `data` lines are joined with
//! LF; the last event needs no blank line behind it. Text is not decoded here: an event is whole before anybody looks
//! for characters in it.

use std::mem;

use thiserror::Error;

/// The most bytes that one event may have.
pub const EVENT_CAP: usize = 16 << 20;

/// Room that is kept between events; what a large one needed is given back.
const KEEP: usize = 64 << 10;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event: the bytes of its `data`.
pub type Data<'a> = &'a [u8];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("an event of the stream is larger than {cap} bytes")]
pub struct TooLong {
    pub cap: usize,
}

#[derive(Debug)]
pub struct Splitter {
    cap: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The `data` of the event so far.
    data: Vec<u8>,
    has_data: bool,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Nothing but a BOM may stand before the first line.
    first_line: bool,
}

impl Default for Splitter {
    fn default() -> Self {
        Splitter::new(EVENT_CAP)
    }
}

impl Splitter {
    pub fn new(cap: usize) -> Splitter {
        Splitter {
            cap,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
        }
    }

    /// Takes the next bytes and gives `each` event that they complete. After an error the stream is lost.
    pub fn feed(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Data<'_>)) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.check(bytes.len())?;
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.check(end)?;
            self.after_cr = bytes[end] == b'\r';
            if self.line.is_empty() {
                self.take_line(&bytes[..end], each);
            } else {
                self.line.extend_from_slice(&bytes[..end]);
                self.take_kept_line(each);
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// The stream has ended: gives the last event if its blank line is missing.
    pub fn finish(mut self, each: &mut dyn FnMut(Data<'_>)) {
        if !self.line.is_empty() {
            self.take_kept_line(each);
        }
        self.dispatch(each);
    }

    /// Counted in raw bytes of lines, so that it does not matter how they arrive.
    fn check(&self, more: usize) -> Result<(), TooLong> {
        let size = self.data.len() + self.line.len() + more;
        if size > self.cap { Err(TooLong { cap: self.cap }) } else { Ok(()) }
    }

    fn take_line(&mut self, line: &[u8], each: &mut dyn FnMut(Data<'_>)) {
        let line = self.without_bom(line);
        if line.is_empty() {
            return self.dispatch(each);
        }
        if let Some(start) = payload(line) {
            self.separate();
            self.data.extend_from_slice(&line[start..]);
        }
    }

    /// The same for a line that came in pieces. If it is the event's first, its buffer becomes the event's.
    fn take_kept_line(&mut self, each: &mut dyn FnMut(Data<'_>)) {
        let line = mem::take(&mut self.line);
        if self.has_data {
            self.take_line(&line, each);
        } else {
            let rest = self.without_bom(&line);
            let skipped = line.len() - rest.len();
            match payload(rest) {
                Some(start) => {
                    self.has_data = true;
                    self.data = line;
                    self.data.drain(..skipped + start);
                    return;
                }
                None if rest.is_empty() => self.dispatch(each),
                None => {}
            }
        }
        self.line = reusable(line);
    }

    fn without_bom<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        if mem::take(&mut self.first_line) { line.strip_prefix(BOM).unwrap_or(line) } else { line }
    }

    fn separate(&mut self) {
        if mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
    }

    fn dispatch(&mut self, each: &mut dyn FnMut(Data<'_>)) {
        if mem::take(&mut self.has_data) {
            each(&self.data);
            self.data = reusable(mem::take(&mut self.data));
        }
    }
}

/// Where the value starts, if this is a line of data. llama.cpp says what went wrong in a field of its own, `error`,
/// which would otherwise be lost.
fn payload(line: &[u8]) -> Option<usize> {
    let colon = memchr::memchr(b':', line).unwrap_or(line.len());
    if !matches!(&line[..colon], b"data" | b"error") {
        return None;
    }
    let start = (colon + 1).min(line.len());
    Some(start + usize::from(line.get(start) == Some(&b' ')))
}

fn reusable(mut buffer: Vec<u8>) -> Vec<u8> {
    if buffer.capacity() > KEEP {
        return Vec::new();
    }
    buffer.clear();
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Vec::new();
        let mut splitter = Splitter::default();
        let mut each = |data: Data<'_>| events.push(String::from_utf8(data.to_vec()).unwrap());
        for piece in pieces {
            splitter.feed(piece, &mut each).unwrap();
        }
        splitter.finish(&mut each);
        events
    }

    #[test]
    fn lines_end_with_lf_cr_or_crlf_even_mixed() {
        let text = b"data: a\n\ndata: b\r\rdata: c\r\n\r\ndata: d\n\r\ndata: e\r\n\n";
        assert_eq!(split(&[text]), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn a_cr_at_the_end_of_a_piece_and_an_lf_at_the_start_of_the_next_are_one_line_end() {
        assert_eq!(split(&[b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"]), ["a\nb"]);
    }

    #[test]
    fn the_space_behind_the_colon_is_optional_and_only_one_is_dropped() {
        assert_eq!(split(&[b"data:a\n\ndata:  b\n\ndata\n\ndata:\n\n"]), ["a", " b", "", ""]);
    }

    #[test]
    fn comments_names_ids_and_unknown_fields_are_skipped() {
        let text = b": OPENROUTER PROCESSING\n\nevent: x\nid: 1\nretry: 5\nfoo\ndata: a\n: b\n\nevent: y\n\n";
        assert_eq!(split(&[text]), ["a"]);
    }

    #[test]
    fn several_data_lines_are_joined_with_a_line_feed() {
        assert_eq!(split(&[b"data: {\ndata: }\n\ndata:\ndata: x\n\n"]), ["{\n}", "\nx"]);
    }

    #[test]
    fn a_bom_counts_only_at_the_very_beginning() {
        assert_eq!(split(&["\u{feff}data: a\n\n\u{feff}data: b\n\n".as_bytes()]), ["a"]);
        assert_eq!(split(&[b"\xef", b"\xbb", b"\xbfdata", b": a\n"]), ["a"]);
        assert_eq!(split(&["\u{feff}\ndata: a".as_bytes()]), ["a"]);
    }

    #[test]
    fn the_last_event_needs_neither_a_blank_line_nor_a_line_end() {
        assert_eq!(split(&[b"data: a\n\ndata: b"]), ["a", "b"]);
        assert_eq!(split(&[b"data: a\ndata: b\n"]), ["a\nb"]);
    }

    #[test]
    fn the_error_field_of_llama_cpp_is_data() {
        assert_eq!(split(&[b"error: {\"code\":500}\n\n"]), ["{\"code\":500}"]);
    }

    #[test]
    fn a_character_may_be_cut() {
        let text = "data: Grüße 🦀\n\n".as_bytes();
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(split(&bytes), ["Grüße 🦀"]);
    }

    #[test]
    fn an_event_above_the_cap_is_an_error_whether_it_is_one_line_or_many() {
        let fed = |text: &[u8]| Splitter::new(10).feed(text, &mut |_| {});
        assert_eq!(fed(b"data: 1234\n\n"), Ok(()));
        assert_eq!(fed(b"data: 12345\n\n"), Err(TooLong { cap: 10 }));
        assert_eq!(fed(b"data: 1234567"), Err(TooLong { cap: 10 }));
        assert_eq!(fed(b"data: 1\ndata: 2\ndata: 3\ndata: 4\n"), Err(TooLong { cap: 10 }));
        assert_eq!(fed(&b"data: 1\n\n".repeat(100)), Ok(()));
    }

    #[test]
    fn a_large_event_costs_at_most_twice_its_size_and_nothing_afterwards() {
        let mut splitter = Splitter::default();
        let event = format!("data: {}", "x".repeat(3 << 20));
        let mut most = 0;
        for piece in event.as_bytes().chunks(1000) {
            splitter.feed(piece, &mut |_| {}).unwrap();
            most = most.max(splitter.line.capacity() + splitter.data.capacity());
        }
        splitter.feed(b"\n", &mut |_| {}).unwrap();
        most = most.max(splitter.line.capacity() + splitter.data.capacity());
        assert!(most <= 2 * event.len(), "{most}");
        splitter.feed(b"\ndata: y\n\n", &mut |_| {}).unwrap();
        assert!(splitter.line.capacity() + splitter.data.capacity() <= 2 * KEEP);
    }
}
