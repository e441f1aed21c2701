//! Messages as NUL-terminated fields: what a shell can write and read by itself, bytes as they are. Knows the form only.
//!
//! The grammar:
//!
//! ```text
//! stream  = NUL *( message NUL )
//! message = 1*( key "=" value NUL )     any order, no key twice; without `type` it is a `command_end`
//! key     = a field name of the JSON form
//! value   = *( any byte but NUL )       numbers in decimal, true or false; text needs no escaping
//! answer  = *( command NUL reasons NUL ) NUL      to a `suggest`; the other messages have none here
//! ```
//!
//! So an empty field stands before the first message and after each, and a reader that met nonsense goes on behind
//! the next empty field. In zsh: `print -rNu $fd -- '' '' "ts=$ts" … "cmd_raw=$1" ''`. More empty fields than
//! needed do no harm: with two in front, an event that was cut off in a field does not take this one with it. A NUL inside a value makes a field without `=`, which costs that one event. A value of no bytes is as good as
//! no field. What is not UTF-8 is read as U+FFFD. `type` and `v` need not be said.

use std::io::{self, BufReader, Read, Write};
use std::mem;

use serde_json::{Map, Value};
use thiserror::Error;

use super::{CAP, Message, SuggestResponse};
use crate::Deadline;
use crate::frame::cut::{Cutter, Piece};
use crate::frame::{Cap, FrameError};

/// Why there is no message. After all but a [`FrameError::Io`] the reader can be asked again.
#[derive(Debug, Error)]
pub enum RawError {
    #[error("not a message: {0}")]
    NotAMessage(String),
    #[error("the stream ended inside a message")]
    Torn,
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Reads messages from a stream in the raw dialect. Takes at most [`CAP`] bytes for one, its NULs included.
#[derive(Debug)]
pub struct RawReader<R> {
    input: Cutter<R>,
    /// The fields of the current message, each with its NUL.
    fields: Vec<u8>,
    /// The current message was refused: its rest is dropped.
    skipping: bool,
}

impl<R: Read> RawReader<R> {
    /// Goes on where somebody has looked at the first byte.
    pub fn buffered(input: BufReader<R>) -> Self {
        RawReader { input: Cutter::new(input, 0), fields: Vec::new(), skipping: false }
    }

    /// The next message, or `None` at the end. When the stream's own timeout passes, that is
    /// [`FrameError::DeadlinePassed`], and the next call goes on.
    pub fn next_message(&mut self) -> Result<Option<Message>, RawError> {
        self.advance(None)
    }

    /// The same, asking a stream that timed out again until `deadline`.
    pub fn next_message_by(&mut self, deadline: Deadline) -> Result<Option<Message>, RawError> {
        self.advance(Some(deadline))
    }

    fn advance(&mut self, deadline: Option<Deadline>) -> Result<Option<Message>, RawError> {
        loop {
            let room = Cap(CAP.0.saturating_sub(self.fields.len() + 1));
            match self.input.next(room, deadline) {
                Ok(Some(Piece::Whole(field))) if field.is_empty() => {
                    let fields = mem::take(&mut self.fields);
                    let skipped = mem::replace(&mut self.skipping, false);
                    if !skipped && !fields.is_empty() {
                        return message(&fields).map(Some);
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

/// Suggestions as a shell can read them: a command and its reasons for each, then an empty field. A command with a
/// NUL inside cannot be typed and is left out.
pub fn write_suggestions(output: &mut impl Write, response: &SuggestResponse) -> io::Result<()> {
    let mut answer = Vec::new();
    for suggestion in response.suggestions.iter().filter(|suggestion| !suggestion.cmd.contains('\0')) {
        answer.extend_from_slice(suggestion.cmd.as_bytes());
        answer.push(0);
        answer.extend_from_slice(suggestion.reasons.join(", ").replace('\0', "").as_bytes());
        answer.push(0);
    }
    answer.push(0);
    output.write_all(&answer)?;
    output.flush()
}

/// `fields` each end with a NUL.
fn message(fields: &[u8]) -> Result<Message, RawError> {
    let mut json = Map::new();
    for field in fields.split(|byte| *byte == 0).filter(|field| !field.is_empty()) {
        let text = String::from_utf8_lossy(field);
        let (key, value) = text.split_once('=').ok_or_else(|| not_a_message("a field without `=`"))?;
        if value.is_empty() {
            continue;
        }
        if json.insert(key.to_owned(), typed(key, value)?).is_some() {
            return Err(not_a_message(format!("`{key}` twice")));
        }
    }
    json.entry("type").or_insert_with(|| "command_end".into());
    serde_json::from_value(json.into()).map_err(|error| not_a_message(error.to_string()))
}

/// The value as the JSON form has it.
fn typed(key: &str, value: &str) -> Result<Value, RawError> {
    match key {
        "v" | "ts" | "exit_code" | "duration_ms" | "limit" | "pid" => value
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_| not_a_message(format!("`{key}` is not a whole number"))),
        "dirty" | "ephemeral" => value
            .parse::<bool>()
            .map(Value::from)
            .map_err(|_| not_a_message(format!("`{key}` is not true or false"))),
        _ => Ok(Value::from(value)),
    }
}

fn not_a_message(why: impl Into<String>) -> RawError {
    RawError::NotAMessage(why.into())
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::*;

    use super::super::{Event, SessionId, Shell, SuggestRequest, Suggestion};
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
            match reader.next_message() {
                Ok(Some(Message::CommandEnd(event))) => out.push(event.cmd_raw),
                Ok(Some(other)) => panic!("{other:?}"),
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
    fn a_shell_can_ask_for_suggestions_and_read_them() {
        let question = raw(&[b"type=suggest", b"session_id=s", b"cwd=/p\xff", b"limit=2", b"prefix=gi"]);
        let mut reader = RawReader::buffered(BufReader::new(io::Cursor::new(question)));
        let wanted = SuggestRequest {
            session_id: SessionId("s".into()),
            cwd: "/p\u{fffd}".into(),
            repo_key: None,
            limit: 2,
            prefix: "gi".into(),
        };
        assert_eq!(reader.next_message().unwrap(), Some(Message::Suggest(wanted)));
        let suggestion = |cmd: &str| Suggestion {
            cmd: cmd.into(),
            cmd_norm: String::new(),
            score: 1.0,
            reasons: vec!["freq_repo".into(), "project_task".into()],
            confidence: 0.5,
        };
        let suggestions = vec![suggestion("git\nstatus"), suggestion("a\0b")];
        let response = SuggestResponse { suggestions, ..SuggestResponse::default() };
        let mut answer = Vec::new();
        write_suggestions(&mut answer, &response).unwrap();
        assert_eq!(answer, b"git\nstatus\0freq_repo, project_task\0\0");
        answer.clear();
        write_suggestions(&mut answer, &SuggestResponse::default()).unwrap();
        assert_eq!(answer, b"\0");
    }

    #[test]
    fn an_event_is_read_whatever_the_order_of_its_fields() {
        let mut reader = RawReader::buffered(BufReader::new(io::Cursor::new(raw(&FIELDS))));
        assert_eq!(reader.next_message().unwrap(), Some(Message::CommandEnd(plain())));
        assert!(reader.next_message().unwrap().is_none());
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
        assert_eq!(reader.next_message().unwrap(), Some(Message::CommandEnd(expected)));
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
        assert!(matches!(reader.next_message(), Err(RawError::Frame(FrameError::TooLong { .. }))));
        assert_eq!(reader.next_message().unwrap(), Some(Message::CommandEnd(plain())));
    }

    #[test]
    fn a_stream_that_ends_inside_an_event_is_torn() {
        let whole = raw(&FIELDS);
        let torn = "error: the stream ended inside a message";
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
        assert!(matches!(reader.next_message(), Err(RawError::Frame(FrameError::DeadlinePassed))));
        assert_eq!(reader.next_message().unwrap(), Some(Message::CommandEnd(plain())));
    }

    proptest! {
        #[test]
        fn after_any_bytes_the_next_message_is_read(noise in prop::collection::vec(0u8..5, 0..200)) {
            let stream = [noise, vec![0], raw(&FIELDS)].concat();
            let said = said(&stream[..]);
            prop_assert_eq!(said.last().map(String::as_str), Some("ls"));
        }

        #[test]
        fn any_command_without_a_nul_arrives(command in "[^\0]{1,300}", capacity in 1usize..64) {
            let stream = with(format!("cmd_raw={command}").as_bytes());
            let mut reader = RawReader::buffered(BufReader::with_capacity(capacity, &stream[..]));
            let Some(Message::CommandEnd(event)) = reader.next_message().unwrap() else { panic!() };
            prop_assert_eq!(event.cmd_raw, command);
        }
    }
}
