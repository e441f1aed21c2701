//! Requests and replies over two streams, matched by id, each with its own deadline. Knows JSON-RPC and one
//! method, `ping`; never what a request is for.
//!
//! One thread reads and one writes: a server that reads nothing must not hold up a caller past its deadline.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use kit::text;
use serde_json::{Value, json};
use wire::Deadline;
use wire::frame::{self, FrameError, Line, LineReader};

use crate::LINE_CAP;
use crate::client::CallError;
use crate::message::{Id, Message, Params, RpcError, classify, notification, object, reply, request};

/// Enough of a stray line to recognise it.
const NOTE_CAP: usize = 200;

/// What a server printed that was no message. Common where a package manager starts the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Noise {
    pub lines: u64,
    /// The beginning of the first such line, fit for a terminal.
    pub first: Option<String>,
}

/// What the server hears when we stop waiting for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abandon {
    /// That it may stop working on it.
    Tell,
    /// Nothing: the protocol forbids to cancel the opening of a connection.
    Silently,
}

#[derive(Debug)]
pub(crate) struct Link {
    state: Shared,
    outbox: Outbox,
    next_id: AtomicU64,
}

impl Link {
    pub(crate) fn start(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<Link> {
        let (state, (outbox, letters)) = (Shared::default(), mpsc::channel());
        let link = Link { state: state.clone(), outbox: outbox.clone(), next_id: AtomicU64::new(1) };
        let writers = state.clone();
        thread::Builder::new().name("mcp-send".into()).spawn(move || send(writer, &letters, &writers))?;
        thread::Builder::new().name("mcp-listen".into()).spawn(move || listen(reader, &outbox, &state))?;
        Ok(link)
    }

    pub(crate) fn noise(&self) -> Noise {
        self.state.lock().noise.clone()
    }

    pub(crate) fn notify(&self, method: &str, params: Params) {
        self.post(notification(method, params));
    }

    pub(crate) fn request(
        &self,
        method: &str,
        params: Params,
        deadline: Deadline,
        abandon: Abandon,
    ) -> Result<Value, CallError> {
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = mpsc::channel();
        {
            let mut state = self.state.lock();
            if state.closed {
                return Err(CallError::Closed(state.noise.clone()));
            }
            state.pending.insert(number, answer);
        }
        self.post(request(&Id::Number(number.into()), method, params));
        match answered.recv_timeout(deadline.remaining()) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => Err(CallError::Closed(self.noise())),
            Err(RecvTimeoutError::Timeout) => {
                self.state.lock().pending.remove(&number);
                if abandon == Abandon::Tell {
                    self.notify("notifications/cancelled", object([("requestId", number.into())]));
                }
                Err(CallError::DeadlinePassed)
            }
        }
    }

    /// A letter that no thread takes any more is one to a server that is gone; whoever waits is told so.
    fn post(&self, message: Value) {
        let _ = self.outbox.send(Some(message));
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.outbox.send(None);
    }
}

/// `None` closes our sending side.
type Outbox = Sender<Option<Value>>;

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    pending: HashMap<u64, Sender<Result<Value, CallError>>>,
    closed: bool,
    noise: Noise,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Everyone who waits is told, now and later.
    fn close(&mut self) {
        self.closed = true;
        self.pending.clear();
    }

    fn note(&mut self, line: &str) {
        self.noise.lines += 1;
        self.noise.first.get_or_insert_with(|| text::plain(text::head(line.trim(), NOTE_CAP)));
    }

    /// Hands an answer to its caller. One with an id that nobody waits for is too late, or nonsense. An error
    /// without an id is about a request that the server could not read; with one caller it is clear whose.
    fn deliver(&mut self, id: Option<&Id>, answer: Result<Value, RpcError>) {
        let number = match id {
            Some(Id::Number(number)) => number.as_u64(),
            // Some servers turn our number into text.
            Some(Id::Text(text)) => text.parse().ok(),
            None if self.pending.len() == 1 => self.pending.keys().next().copied(),
            None => None,
        };
        if let Some(caller) = number.and_then(|number| self.pending.remove(&number)) {
            let _ = caller.send(answer.map_err(CallError::Refused));
        }
    }

    /// A line was dropped unread. It may have been anyone's answer, so nobody is left waiting for it.
    fn fail_all(&mut self, cap: usize) {
        for (_, caller) in self.pending.drain() {
            let _ = caller.send(Err(CallError::TooLong { cap }));
        }
    }
}

fn send(mut writer: impl Write, letters: &Receiver<Option<Value>>, state: &Shared) {
    while let Ok(Some(message)) = letters.recv() {
        if frame::write_line(&mut writer, &message).is_err() {
            return state.lock().close();
        }
    }
}

fn listen(reader: impl Read, outbox: &Outbox, state: &Shared) {
    let mut lines = LineReader::new(reader, LINE_CAP);
    loop {
        match lines.next_line() {
            Ok(Some(Line::Whole(line) | Line::Torn(line))) => hear(&line, outbox, state),
            Err(FrameError::TooLong { cap }) => state.lock().fail_all(cap),
            Err(FrameError::NotUtf8 { .. }) => state.lock().note("bytes that are not UTF-8"),
            // The stream's own timeout: each caller has a deadline of its own.
            Err(FrameError::DeadlinePassed) => {}
            Ok(None) | Err(FrameError::Io(_)) => return state.lock().close(),
        }
    }
}

fn hear(line: &str, outbox: &Outbox, state: &Shared) {
    let messages = match serde_json::from_str(line) {
        Ok(Value::Array(batch)) => batch,
        Ok(value) => vec![value],
        Err(_) => return state.lock().note(line),
    };
    for message in messages {
        match classify(message) {
            Message::Response { id, outcome } => state.lock().deliver(id.as_ref(), outcome),
            Message::Request(request) => {
                let outcome = match request.method.as_str() {
                    "ping" => Ok(json!({})),
                    _ => Err(RpcError::unknown_method()),
                };
                let _ = outbox.send(Some(reply(Some(&request.id), outcome)));
            }
            Message::Notification { .. } => {}
            Message::Invalid { .. } => state.lock().note(line),
        }
    }
}
