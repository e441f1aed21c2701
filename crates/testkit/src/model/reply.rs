//! A reply as a test describes it: what is said, and everything that may go wrong on its way.

use std::fmt::Display;
use std::time::Duration;

use serde_json::Value;

use super::delivery::{Framing, Loss, Shipment};
use super::turn::{Shape, Turn, Wire};
use super::{Ids, anthropic, openai};

/// One reply. Each method changes one thing about it and gives it back.
#[derive(Debug, Clone)]
#[must_use]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    content: Content,
    framing: Framing,
    cut: Cut,
    line_end: LineEnd,
    before: Duration,
    between: Duration,
    pauses: Vec<(At, Duration)>,
    loss: Option<(At, Loss)>,
}

#[derive(Debug, Clone)]
enum Content {
    /// Status line and headers included.
    Raw(Vec<u8>),
    Bytes(Vec<u8>),
    /// Spelt out when it is sent, with ids of the server.
    Turn(Turn, Wire, Shape),
}

/// How the body is cut into pieces. Each is written on its own, and is one chunk if the reply is chunked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    Whole,
    /// Every so many bytes.
    Bytes(usize),
    /// Before the bytes at these offsets.
    At(Vec<usize>),
    /// After each event, as providers do: what a stream does unless told otherwise.
    Events,
}

/// How lines of an event stream end. All three are legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    Lf,
    CrLf,
    Cr,
}

impl LineEnd {
    fn bytes(self) -> &'static [u8] {
        match self {
            LineEnd::Lf => b"\n",
            LineEnd::CrLf => b"\r\n",
            LineEnd::Cr => b"\r",
        }
    }
}

/// A place in the body: a number of bytes, or the end of the first occurrence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    Byte(usize),
    After(String),
}

impl From<usize> for At {
    fn from(byte: usize) -> Self {
        At::Byte(byte)
    }
}

impl From<&str> for At {
    fn from(text: &str) -> Self {
        At::After(text.to_owned())
    }
}

/// One event of an event stream, or whatever else stands between two blank lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event(String);

impl Event {
    /// With a name, as Anthropic sends them.
    pub fn named(name: &str, data: &Value) -> Event {
        Event(format!("event: {name}\ndata: {data}\n\n"))
    }

    /// Without a name, as OpenAI sends them.
    pub fn data(data: &(impl Display + ?Sized)) -> Event {
        Event(format!("data: {data}\n\n"))
    }

    pub fn comment(text: &str) -> Event {
        Event(format!(": {text}\n\n"))
    }

    /// These very characters; lines end with `\n` here, whatever [`Reply::line_ends`] makes of it.
    pub fn raw(text: impl Into<String>) -> Event {
        Event(text.into())
    }
}

impl Reply {
    /// An event stream: 200, chunked, one chunk for each event.
    pub fn sse(events: impl IntoIterator<Item = Event>) -> Reply {
        Reply::sse_bytes(text(events))
    }

    /// An event stream of any bytes, valid or not.
    pub fn sse_bytes(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply::new(Content::Bytes(bytes.into()), "text/event-stream", Framing::Chunked, Cut::Events)
    }

    /// A whole JSON document with its length.
    pub fn json(status: u16, value: &Value) -> Reply {
        let bytes = value.to_string().into_bytes();
        Reply::new(Content::Bytes(bytes), "application/json", Framing::Length, Cut::Whole).status(status)
    }

    /// These very bytes from the status line on, then the connection is closed.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply::new(Content::Raw(bytes.into()), "", Framing::UntilClose, Cut::Whole)
    }

    pub(super) fn turn(turn: Turn, wire: Wire, shape: Shape) -> Reply {
        match shape {
            Shape::Stream => Reply { content: Content::Turn(turn, wire, shape), ..Reply::sse([]) },
            Shape::Whole => {
                Reply { content: Content::Turn(turn, wire, shape), ..Reply::json(200, &Value::Null) }
            }
        }
    }

    fn new(content: Content, kind: &str, framing: Framing, cut: Cut) -> Reply {
        Reply {
            status: 200,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            content,
            framing,
            cut,
            line_end: LineEnd::Lf,
            before: Duration::ZERO,
            between: Duration::ZERO,
            pauses: Vec::new(),
            loss: None,
        }
    }

    pub fn status(mut self, status: u16) -> Reply {
        self.status = status;
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn chunks(mut self, cut: Cut) -> Reply {
        self.cut = cut;
        self
    }

    /// No length and no chunks: the body ends where the connection does.
    pub fn until_close(mut self) -> Reply {
        self.framing = Framing::UntilClose;
        self
    }

    pub fn line_ends(mut self, line_end: LineEnd) -> Reply {
        self.line_end = line_end;
        self
    }

    /// Waits before the status line.
    pub fn delay_before(mut self, delay: Duration) -> Reply {
        self.before = delay;
        self
    }

    /// Waits in the middle of the body. A client that closes meanwhile is noticed at once.
    pub fn pause_at(mut self, at: impl Into<At>, pause: Duration) -> Reply {
        self.pauses.push((at.into(), pause));
        self
    }

    /// Waits between any two pieces.
    pub fn every(mut self, pause: Duration) -> Reply {
        self.between = pause;
        self
    }

    pub fn one_byte_per(self, pause: Duration) -> Reply {
        self.chunks(Cut::Bytes(1)).every(pause)
    }

    /// Closes the connection in the middle of the body.
    pub fn drop_at(mut self, at: impl Into<At>) -> Reply {
        self.loss = Some((at.into(), Loss::Close));
        self
    }

    /// Resets the connection in the middle of the body: the client sees an error instead of an end.
    pub fn reset_at(mut self, at: impl Into<At>) -> Reply {
        self.loss = Some((at.into(), Loss::Reset));
        self
    }

    /// Spells the reply out, with everything decided that was left open. Fails if a place is not in the body.
    pub(super) fn pack(self, ids: &mut Ids) -> Result<Shipment, String> {
        let request_id = ids.next("req_");
        let (head, body) = match self.content {
            Content::Raw(bytes) => (Vec::new(), bytes),
            Content::Bytes(bytes) => (head(self.status, &self.headers, &request_id), bytes),
            Content::Turn(turn, wire, shape) => {
                (head(self.status, &self.headers, &request_id), spell(&turn, wire, shape, ids))
            }
        };
        let body = with_line_ends(body, self.line_end);
        let place = |at: &At| find(at, &body);
        let pauses = self.pauses.iter().map(|(at, pause)| Ok((place(at)?, *pause)));
        let pauses = pauses.collect::<Result<_, String>>()?;
        let loss = self.loss.as_ref().map(|(at, loss)| Ok::<_, String>((place(at)?, *loss))).transpose()?;
        let cuts = cuts(&self.cut, &body, self.line_end);
        let (framing, before, between) = (self.framing, self.before, self.between);
        Ok(Shipment { head, body, framing, cuts, before, between, pauses, loss })
    }
}

fn text(events: impl IntoIterator<Item = Event>) -> String {
    events.into_iter().map(|event| event.0).collect()
}

fn spell(turn: &Turn, wire: Wire, shape: Shape, ids: &mut Ids) -> Vec<u8> {
    match (wire, shape) {
        (Wire::Anthropic, Shape::Stream) => text(anthropic::events(turn, ids)),
        (Wire::Anthropic, Shape::Whole) => anthropic::whole(turn, ids).to_string(),
        (Wire::OpenAi, Shape::Stream) => text(openai::events(turn, ids)),
        (Wire::OpenAi, Shape::Whole) => openai::whole(turn, ids).to_string(),
    }
    .into_bytes()
}

/// The head without the lines about framing, which delivery adds.
fn head(status: u16, headers: &[(String, String)], request_id: &str) -> Vec<u8> {
    // Clients go by the number.
    let mut head = format!("HTTP/1.1 {status} Scripted\r\nrequest-id: {request_id}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.into_bytes()
}

fn with_line_ends(body: Vec<u8>, line_end: LineEnd) -> Vec<u8> {
    match line_end {
        LineEnd::Lf => body,
        LineEnd::CrLf | LineEnd::Cr => {
            body.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(line_end.bytes())
        }
    }
}

fn find(at: &At, body: &[u8]) -> Result<usize, String> {
    match at {
        At::Byte(byte) if *byte <= body.len() => Ok(*byte),
        At::Byte(byte) => Err(format!("no byte {byte} in a body of {}", body.len())),
        At::After(text) => {
            let found = body.windows(text.len().max(1)).position(|window| window == text.as_bytes());
            found.map(|start| start + text.len()).ok_or_else(|| format!("no {text:?} in the body"))
        }
    }
}

/// Offsets within the body at which a new piece starts.
fn cuts(cut: &Cut, body: &[u8], line_end: LineEnd) -> Vec<usize> {
    let blank = line_end.bytes().repeat(2);
    match cut {
        Cut::Whole => Vec::new(),
        Cut::Bytes(step) => (0..body.len()).step_by((*step).max(1)).collect(),
        Cut::At(offsets) => offsets.clone(),
        Cut::Events => {
            let ends = body.windows(blank.len()).enumerate().filter(|(_, window)| *window == blank);
            ends.map(|(start, _)| start + blank.len()).collect()
        }
    }
}
