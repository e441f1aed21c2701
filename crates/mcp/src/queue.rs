//! Reads a client's lines ahead of the work, so that a cancellation is seen while the call it means still
//! runs. Knows which messages want an answer; never what the answer is.
//!
//! What waits is text, and is parsed when its turn comes: parsed, `[[],[],…]` takes ten times its length.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;
use wire::frame::{FrameError, Line, LineReader};

use crate::message::{Id, Message, Params, Request, RpcError, classify};
use crate::{Cancel, LINE_CAP};

/// How many bytes are read ahead: a line of the cap, and as much again behind it. A cancellation further behind
/// is seen later.
const AHEAD: usize = 2 * LINE_CAP.0;

/// A batch can hold two million broken messages in one line, each of which wants a reply a hundred times its
/// size.
const BATCH_CAP: usize = 1000;

const CANCELLED: &str = "notifications/cancelled";

/// What wants an answer, in the order it came.
pub(crate) enum Work {
    One(Job),
    Batch(Vec<Job>),
}

pub(crate) enum Job {
    Run(Request, Cancel),
    Refuse(Option<Id>, RpcError),
}

pub(crate) struct Queue(Arc<Shared>);

impl Queue {
    /// Starts to read. The thread ends with the stream, or at the first line after the queue is dropped.
    pub(crate) fn start(reader: impl Read + Send + 'static) -> io::Result<Queue> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        thread::Builder::new().name("mcp-read".into()).spawn(move || {
            read(reader, &theirs);
            theirs.end();
        })?;
        Ok(Queue(shared))
    }

    /// The next piece of work, or `None` when the client has hung up and all is done.
    pub(crate) fn next(&self) -> Option<io::Result<Work>> {
        loop {
            match self.0.take()? {
                Content::Line(line) => match sort(serde_json::from_str(&line), &mut self.0.lock()) {
                    Some(work) => return Some(Ok(work)),
                    None => continue,
                },
                Content::Refused(error) => return Some(Ok(refuse(error))),
                Content::Broken(error) => return Some(Err(error)),
            }
        }
    }

    /// The request is no longer there to be cancelled.
    pub(crate) fn done(&self, id: &Id) {
        self.0.lock().running.remove(id);
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.0.end();
    }
}

enum Content {
    Line(Box<str>),
    Refused(RpcError),
    Broken(io::Error),
}

/// What was read and not yet taken.
struct Entry {
    content: Content,
    /// The requests that it cancels, see [`taken_back`].
    cancels: Vec<Id>,
}

impl Entry {
    fn line(line: String) -> Entry {
        Entry { cancels: taken_back(&line), content: Content::Line(line.into()) }
    }

    fn refused(error: RpcError) -> Entry {
        Entry { content: Content::Refused(error), cancels: Vec::new() }
    }

    /// Its bytes in memory. An id stands in the line, in the list and in the count.
    fn bytes(&self) -> usize {
        let line = if let Content::Line(line) = &self.content { line.len() } else { 0 };
        let ids = self.cancels.iter().map(|id| size_of::<Id>() + id.text().len());
        size_of::<Entry>() + line + 2 * ids.sum::<usize>()
    }
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    /// The sum over the entries.
    bytes: usize,
    /// One side is gone: nothing more comes, or nothing more is taken.
    ended: bool,
    /// The requests that were taken and not yet answered.
    running: HashMap<Id, Cancel>,
    /// How often each request is cancelled by what waits here, which stands behind all that was taken.
    cancelled: HashMap<Id, usize>,
}

impl State {
    fn has_room(&self, bytes: usize) -> bool {
        self.entries.is_empty() || self.bytes + bytes <= AHEAD
    }

    /// A cancellation of what is unknown, done or nonsense is ignored, as the protocol asks.
    fn cancel(&self, id: &Id) {
        if let Some(cancel) = self.running.get(id) {
            cancel.cancel();
        }
    }

    fn pop(&mut self) -> Option<Content> {
        let entry = self.entries.pop_front()?;
        self.bytes -= entry.bytes();
        for id in &entry.cancels {
            match self.cancelled.get_mut(id) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.cancelled.remove(id)),
            }
        }
        Some(entry.content)
    }
}

/// Two threads look at this, one that puts and one that takes.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// Waits until there is room, but cancels at once. False when nobody takes any more.
    fn put(&self, entry: Entry) -> bool {
        let mut state = self.lock();
        for id in &entry.cancels {
            state.cancel(id);
            *state.cancelled.entry(id.clone()).or_default() += 1;
        }
        while !state.ended && !state.has_room(entry.bytes()) {
            state = self.wait(state);
        }
        state.bytes += entry.bytes();
        state.entries.push_back(entry);
        self.changed.notify_all();
        !state.ended
    }

    /// Waits until there is something. `None` when nothing more comes.
    fn take(&self) -> Option<Content> {
        let mut state = self.lock();
        while state.entries.is_empty() && !state.ended {
            state = self.wait(state);
        }
        self.changed.notify_all();
        state.pop()
    }
}

fn read(reader: impl Read, shared: &Shared) {
    let mut lines = LineReader::new(reader, LINE_CAP);
    loop {
        let entry = match lines.next_line() {
            Ok(None) => return,
            // A last line without a newline may be whole; if not, its JSON is not either.
            Ok(Some(Line::Whole(line) | Line::Torn(line))) => Entry::line(line),
            Err(FrameError::TooLong { .. }) => {
                Entry::refused(RpcError::invalid_request("request exceeds 4 MiB cap"))
            }
            Err(FrameError::NotUtf8 { .. }) => Entry::refused(RpcError::parse("request not valid utf-8")),
            // The stream's own timeout says nothing about the client, who may think for hours.
            Err(FrameError::DeadlinePassed) => continue,
            Err(FrameError::Io(error)) => {
                shared.put(Entry { content: Content::Broken(error), cancels: Vec::new() });
                return;
            }
        };
        if !shared.put(entry) {
            return;
        }
    }
}

/// The requests that a line cancels. Only a line with the word is parsed for them: nobody writes a plain word in
/// escapes, and who does is heard when the line's turn comes, which is too late and no harm.
fn taken_back(line: &str) -> Vec<Id> {
    if !line.contains("cancelled") {
        return Vec::new();
    }
    let messages = match serde_json::from_str(line) {
        Ok(Value::Array(batch)) if batch.len() <= BATCH_CAP => batch,
        Ok(Value::Array(_)) | Err(_) => Vec::new(),
        Ok(value) => vec![value],
    };
    let ids = messages.into_iter().filter_map(|message| match classify(message) {
        Message::Notification { method, params } if method == CANCELLED => meant(&params),
        _ => None,
    });
    ids.collect()
}

fn meant(params: &Params) -> Option<Id> {
    params.get("requestId").and_then(Id::of)
}

/// What of a line wants an answer.
fn sort(line: serde_json::Result<Value>, state: &mut State) -> Option<Work> {
    match line {
        Err(_) => Some(refuse(RpcError::parse("parse error"))),
        Ok(Value::Array(batch)) if batch.is_empty() => Some(refuse(RpcError::invalid_request("empty batch"))),
        Ok(Value::Array(batch)) if batch.len() > BATCH_CAP => {
            Some(refuse(RpcError::invalid_request(format!("batch exceeds {BATCH_CAP} messages"))))
        }
        Ok(Value::Array(batch)) => {
            let jobs: Vec<Job> = batch.into_iter().filter_map(|value| job(value, state)).collect();
            (!jobs.is_empty()).then_some(Work::Batch(jobs))
        }
        Ok(value) => job(value, state).map(Work::One),
    }
}

fn job(value: Value, state: &mut State) -> Option<Job> {
    match classify(value) {
        Message::Request(request) => {
            let cancel = Cancel::default();
            if state.cancelled.contains_key(&request.id) {
                cancel.cancel();
            }
            state.running.insert(request.id.clone(), cancel.clone());
            Some(Job::Run(request, cancel))
        }
        Message::Invalid { id, error } => Some(Job::Refuse(id, error)),
        // Cancels what stands before it in the same batch; all else that it could mean is done.
        Message::Notification { method, params } if method == CANCELLED => {
            meant(&params).inspect(|id| state.cancel(id));
            None
        }
        // We ask the client nothing, so a response answers nothing.
        Message::Notification { .. } | Message::Response { .. } => None,
    }
}

fn refuse(error: RpcError) -> Work {
    Work::One(Job::Refuse(None, error))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use testkit::{PATIENCE, until};

    use super::*;

    fn state_after(lines: &[&str]) -> State {
        let shared = Shared::default();
        for line in lines {
            assert!(shared.put(Entry::line((*line).to_owned())));
        }
        shared.state.into_inner().unwrap()
    }

    fn cancellation(id: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications\/cancelled","params":{{"requestId":{id}}}}}"#)
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_and_nothing_of_it_is_lost() {
        let line = format!("{}\n", "x".repeat(LINE_CAP.0 - 1));
        let queue = Queue::start(Cursor::new(line.repeat(35))).unwrap();
        let held = || queue.0.lock().bytes;
        let full = || held() + line.len() > AHEAD;
        assert!(until(PATIENCE, full), "the reader does not read ahead");
        let mut peak = held();
        for _ in 0..35 {
            assert!(matches!(queue.next(), Some(Ok(Work::One(Job::Refuse(None, _))))));
            peak = peak.max(held());
        }
        assert!(queue.next().is_none());
        assert!(peak <= AHEAD, "{peak} bytes waited");
        assert_eq!(held(), 0);
    }

    #[test]
    fn there_is_room_for_one_line_of_the_cap_and_for_what_adds_up_to_the_bound() {
        let mut state = State::default();
        assert!(state.has_room(usize::MAX), "or a line could never pass");
        state = state_after(&["{}"]);
        assert_eq!(state.bytes, size_of::<Entry>() + 2);
        assert!(state.has_room(AHEAD - state.bytes) && !state.has_room(AHEAD - state.bytes + 1));
    }

    #[test]
    fn ids_of_cancellations_count_as_well() {
        let line = cancellation("\"0123456789\"");
        let state = state_after(&[&line]);
        assert_eq!(state.bytes, size_of::<Entry>() + line.len() + 2 * (size_of::<Id>() + 10));
    }

    #[test]
    fn a_queue_that_is_dropped_lets_go_of_a_reader_that_waits_for_room() {
        /// Lines without end, and a sign of life of whoever holds them.
        struct Endless {
            _alive: Arc<()>,
        }
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                buffer.fill(b'7');
                buffer[0] = b'\n';
                Ok(buffer.len())
            }
        }
        let alive = Arc::new(());
        let queue = Queue::start(Endless { _alive: Arc::clone(&alive) }).unwrap();
        assert!(until(PATIENCE, || queue.0.lock().bytes > AHEAD / 2));
        drop(queue);
        assert!(until(PATIENCE, || Arc::strong_count(&alive) == 1), "the thread still reads");
    }

    #[test]
    fn a_cancellation_reaches_what_runs_though_there_is_no_room_for_it() {
        let shared = Shared::default();
        let running = Cancel::default();
        let id = Id::Text("w".into());
        shared.lock().running.insert(id.clone(), running.clone());
        assert!(shared.put(Entry::line("x".repeat(AHEAD))));
        thread::scope(|scope| {
            scope.spawn(|| shared.put(Entry::line(cancellation("\"w\""))));
            assert!(until(PATIENCE, || running.is_cancelled()));
            assert_eq!(shared.lock().entries.len(), 1, "the line itself waits");
            shared.end();
        });
    }

    #[test]
    fn a_cancellation_means_what_stands_before_it_and_nothing_behind() {
        let ping = |id: u8| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let lines = [
            ping(1),
            ping(2),
            cancellation("2"),
            cancellation("2"),
            ping(2),
            cancellation("2"),
            format!("[{},{},{}]", ping(3), cancellation("3"), ping(4)),
            ping(2),
        ];
        let queue = Queue::start(Cursor::new(lines.join("\n"))).unwrap();
        assert!(until(PATIENCE, || queue.0.lock().ended));
        let mut seen = Vec::new();
        while let Some(Ok(work)) = queue.next() {
            let jobs = match work {
                Work::One(job) => vec![job],
                Work::Batch(jobs) => jobs,
            };
            for job in jobs {
                let Job::Run(request, cancel) = job else { panic!("a ping was refused") };
                seen.push((request.id.to_value().to_string(), cancel.is_cancelled()));
                queue.done(&request.id);
            }
        }
        let seen: Vec<_> = seen.iter().map(|(id, cancelled)| (id.as_str(), *cancelled)).collect();
        let (kept, gone) = (false, true);
        let expected = [("1", kept), ("2", gone), ("2", gone), ("3", gone), ("4", kept), ("2", kept)];
        assert_eq!(seen, expected);
        assert!(queue.0.lock().cancelled.is_empty(), "nothing is remembered");
    }

    #[test]
    fn only_notifications_cancel() {
        let ids = |line: &str| taken_back(line).iter().map(Id::to_value).collect::<Vec<_>>();
        assert_eq!(ids(&cancellation("7")), [7]);
        assert_eq!(ids(&format!("[{},1,{}]", cancellation("7"), cancellation("\"b\""))).len(), 2);
        let none: [Value; 0] = [];
        assert_eq!(ids(&cancellation("null")), none);
        assert_eq!(ids(&cancellation("7").replace("2.0\"", "2.0\",\"id\":1")), none, "that is a request");
        assert_eq!(ids("\"cancelled"), none);
    }
}
