//! Events as NUL-terminated fields: what a shell can write by itself, bytes as they are. Knows the form only.
//!
//! The grammar:
//!
//! ```text
//! stream = NUL *( event NUL )
//! event  = 1*( key "=" value NUL )      any order, no key twice
//! key    = a field name of the JSON form
//! value  = *( any byte but NUL )        numbers in decimal, true or false; text needs no escaping
//! ```
//!
//! So an empty field stands before the first event and after each, and a reader that met nonsense goes on behind
//! the next empty field. In zsh: `print -rNu $fd -- '' '' "ts=$ts" … "cmd_raw=$1" ''`. More empty fields than
//! needed do no harm: with two in front, an event that was cut off in a field does not take this one with it. A NUL inside a value makes a field without `=`, which costs that one event. A value of no bytes is as good as
//! no field. What is not UTF-8 is read as U+FFFD. `type` and `v` need not be said.

use std::io::{BufReader, Read};
use std::mem;

use serde_json::{Map, Value};
use thiserror::Error;

use super::{CAP, Event};
use crate::Deadline;
use crate::frame::cut::{Cutter, Piece};
use crate::frame::{Cap, FrameError};

/// Why there is no event. After all but a [`FrameError::Io`] the reader can be asked again.
#[derive(Debug, Error)]
pub enum RawError {
    #[error("not an event: {0}")]
    NotAnEvent(String),
    #[error("the stream ended inside an event")]
    Torn,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Reads events from a stream in the raw dialect. Takes at most [`CAP`] bytes for one event, its NULs included.
#[derive(Debug)]
pub struct RawReader<R> {
    input: Cutter<R>,
    /// The fields of the current event, each with its NUL.
    fields: Vec<u8>,
    /// The current event was refused: its rest is dropped.
    skipping: bool,
}

impl<R: Read> RawReader<R> {
    /// Goes on where somebody has looked at the first byte.
    pub fn buffered(input: BufReader<R>) -> Self {
        RawReader { input: Cutter::new(input, 0), fields: Vec::new(), skipping: false }
    }

    /// The next event, or `None` at the end. When the stream's own timeout passes, that is
    /// [`FrameError::DeadlinePassed`], and the next call goes on.
    pub fn next_event(&mut self) -> Result<Option<Event>, RawError> {
        self.advance(None)
    }

    /// The same, asking a stream that timed out again until `deadline`.
    pub fn next_event_by(&mut self, deadline: Deadline) -> Result<Option<Event>, RawError> {
        self.advance(Some(deadline))
    }

    fn advance(&mut self, deadline: Option<Deadline>) -> Result<Option<Event>, RawError> {
        loop {
            let room = Cap(CAP.0.saturating_sub(self.fields.len() + 1));
            match self.input.next(room, deadline) {
                Ok(Some(Piece::Whole(field))) if field.is_empty() => {
                    let fields = mem::take(&mut self.fields);
                    let skipped = mem::replace(&mut self.skipping, false);
                    if !skipped && !fields.is_empty() {
                        return event(&fields).map(Some);
                    }
                }
                Ok(Some(_)) | Err(FrameError::TooLong { .. }) if self.skipping => {}
                Ok(Some(Piece::Whole(field))) => {
                    self.fields.extend_from_slice(&field);
                    self.fields.push(0);
                }
                Ok(Some(Piece::Torn(_))) => {
                    self.fields.clear();
                    return Err(RawError::Torn);
                }
                Ok(None) if mem::take(&mut self.fields).is_empty() => return Ok(None),
                Ok(None) => return Err(RawError::Torn),
                Err(FrameError::TooLong { .. }) => {
                    self.skipping = true;
                    self.fields = Vec::new();
                    return Err(FrameError::TooLong { cap: CAP.0 }.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// `fields` each end with a NUL.
fn event(fields: &[u8]) -> Result<Event, RawError> {
    let mut json = Map::new();
    for field in fields.split(|byte| *byte == 0).filter(|field| !field.is_empty()) {
        let text = String::from_utf8_lossy(field);
        let (key, value) = text.split_once('=').ok_or_else(|| not_an_event("a field without `=`"))?;
        if value.is_empty() {
            continue;
        }
        if json.insert(key.to_owned(), typed(key, value)?).is_some() {
            return Err(not_an_event(format!("`{key}` twice")));
        }
    }
    serde_json::from_value(json.into()).map_err(|error| not_an_event(error.to_string()))
}

/// The value as the JSON form has it.
fn typed(key: &str, value: &str) -> Result<Value, RawError> {
    match key {
        "v" | "ts" | "exit_code" | "duration_ms" => value
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| not_an_event(format!("`{key}` is not a whole number"))),
        "dirty" | "ephemeral" => value
            .parse::<bool>()
            .map(Value::from)
            .map_err(|_| not_an_event(format!("`{key}` is not true or false"))),
        _ => Ok(Value::from(value)),
    }
}

fn not_an_event(why: impl Into<String>) -> RawError {
    RawError::NotAnEvent(why.into())
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::*;

    use super::super::{SessionId, Shell};
    use super::*;

    const FIELDS: [&[u8]; 6] =
        [b"session_id=s", b"shell=zsh", b"ts=1700000000123", b"cwd=/p", b"exit_code=1", b"cmd_raw=ls"];

    /// What zsh's `print -rN` makes of the fields of one event.
    fn raw(fields: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0];
        for field in fields {
            bytes.extend_from_slice(field);
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    fn plain() -> Event {
        Event {
            v: 1,
            session_id: SessionId("s".into()),
            shell: Shell::Zsh,
            ts: 1_700_000_000_123,
            cwd: "/p".into(),
            cmd_raw: "ls".into(),
            exit_code: 1,
            duration_ms: None,
            repo_root: None,
            remote_url: None,
            branch: None,
            dirty: None,
            ephemeral: false,
            actor: None,
        }
    }

    /// All that is read: the command of each event, or why there was none.
    fn said(input: impl Read) -> Vec<String> {
        let mut reader = RawReader::buffered(BufReader::with_capacity(7, input));
        let mut out = Vec::new();
        loop {
            match reader.next_event() {
                Ok(Some(event)) => out.push(event.cmd_raw),
                Ok(None) => return out,
                Err(error) => out.push(format!("error: {error}")),
            }
        }
    }

    fn with(field: &[u8]) -> Vec<u8> {
        let mut fields: Vec<&[u8]> = FIELDS[..5].to_vec();
        fields.push(field);
        raw(&fields)
    }

    #[test]
    fn an_event_is_read_whatever_the_order_of_its_fields() {
        let mut reader = RawReader::buffered(BufReader::new(io::Cursor::new(raw(&FIELDS))));
        assert_eq!(reader.next_event().unwrap(), Some(plain()));
        assert!(reader.next_event().unwrap().is_none());
        let mut fields = FIELDS.to_vec();
        fields.reverse();
        fields.extend([
            &b"duration_ms=12"[..],
            b"dirty=true",
            b"ephemeral=true",
            b"branch=",
            b"type=command_end",
        ]);
        let mut reader = RawReader::buffered(BufReader::new(io::Cursor::new(raw(&fields))));
        let expected = Event { duration_ms: Some(12), dirty: Some(true), ephemeral: true, ..plain() };
        assert_eq!(reader.next_event().unwrap(), Some(expected));
    }

    #[test]
    fn a_command_needs_no_escaping() {
        let command = "git commit -m \"a=b\" \\\n\t| $(x) 'é' \u{1b}[0m";
        assert_eq!(said(&with(format!("cmd_raw={command}").as_bytes())[..]), [command]);
        assert_eq!(said(&with(b"cmd_raw=ls \xff\xc3")[..]), ["ls \u{fffd}\u{fffd}"]);
    }

    #[test]
    fn nonsense_costs_one_event_and_says_why() {
        for (field, why) in [
            (&b"cmd_raw"[..], "a field without `=`"),
            (b"cmd_raw=a\0b", "a field without `=`"),
            (b"cwd=/q", "`cwd` twice"),
            (b"ts=2", "`ts` twice"),
            (b"duration_ms=1.5", "`duration_ms` is not a whole number"),
            (b"duration_ms=-1", "invalid value: integer `-1`, expected u64"),
            (b"dirty=maybe", "`dirty` is not true or false"),
            (b"cmd_raw=", "missing field `cmd_raw`"),
        ] {
            let stream = [with(field), raw(&FIELDS)].concat();
            let said = said(&stream[..]);
            assert!(matches!(&said[..], [error, ls] if error.contains(why) && ls == "ls"), "{said:?}");
        }
    }

    #[test]
    fn an_event_over_the_cap_is_refused_and_the_next_one_is_read() {
        let too_long = "error: a message is longer than 262144 bytes";
        let used: usize = FIELDS[..5].iter().map(|field| field.len() + 1).sum();
        let room = CAP.0 - used - 1;
        let largest = [b"cmd_raw=".to_vec(), vec![b'x'; room - 8]].concat();
        assert_eq!(said(&with(&largest)[..])[0].len(), room - 8);
        let whole = raw(&FIELDS);
        let larger = [&largest[..], b"x"].concat();
        assert_eq!(said(&[with(&larger), whole.clone()].concat()[..]), [too_long, "ls"]);
        let many = vec![b"k=".as_slice(); CAP.0];
        assert_eq!(said(&[&raw(&many)[..], &whole].concat()[..]), [too_long, "ls"]);
        let flood = BufReader::new(io::repeat(b'x').take(100 << 20));
        let mut reader = RawReader::buffered(BufReader::new(flood.chain(&b"\0"[..]).chain(&whole[..])));
        assert!(matches!(reader.next_event(), Err(RawError::Frame(FrameError::TooLong { .. }))));
        assert_eq!(reader.next_event().unwrap(), Some(plain()));
    }

    #[test]
    fn a_stream_that_ends_inside_an_event_is_torn() {
        let whole = raw(&FIELDS);
        let torn = "error: the stream ended inside an event";
        for end in 2..whole.len() {
            assert_eq!(said(&whole[..end]), [torn], "{end}");
        }
        assert!(said(&whole[..0]).is_empty() && said(&whole[..1]).is_empty());
    }

    #[test]
    fn a_pause_of_the_peer_loses_nothing() {
        struct Pause(bool);
        impl Read for Pause {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                if mem::take(&mut self.0) { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(0) }
            }
        }
        let whole = raw(&FIELDS);
        let (head, tail) = whole.split_at(30);
        let mut reader = RawReader::buffered(BufReader::new(head.chain(Pause(true)).chain(tail)));
        assert!(matches!(reader.next_event(), Err(RawError::Frame(FrameError::DeadlinePassed))));
        assert_eq!(reader.next_event().unwrap(), Some(plain()));
    }

    proptest! {
        #[test]
        fn after_any_bytes_the_next_event_is_read(noise in prop::collection::vec(0u8..5, 0..200)) {
            let stream = [noise, vec![0], raw(&FIELDS)].concat();
            let said = said(&stream[..]);
            prop_assert_eq!(said.last().map(String::as_str), Some("ls"));
        }

        #[test]
        fn any_command_without_a_nul_arrives(command in "[^\0]{1,300}", capacity in 1usize..64) {
            let stream = with(format!("cmd_raw={command}").as_bytes());
            let mut reader = RawReader::buffered(BufReader::with_capacity(capacity, &stream[..]));
            prop_assert_eq!(reader.next_event().unwrap().unwrap().cmd_raw, command);
        }
    }
}
