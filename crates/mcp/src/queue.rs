//! Reads a client's lines ahead of the work, so that a cancellation is seen while the call it means still
//! runs. Knows which messages want an answer; never what the answer is.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;
use wire::frame::{FrameError, Line, LineReader};

use crate::message::{Id, Message, Params, Request, RpcError, classify};
use crate::{Cancel, LINE_CAP};

/// How many lines are read ahead. Each may be as long as the cap, so this bounds our memory; a cancellation
/// further behind is seen later.
const AHEAD: usize = 32;

/// A batch can hold two million broken messages in one line, each of which wants a reply a hundred times its
/// size.
const BATCH_CAP: usize = 1000;

/// What wants an answer, in the order it came.
pub(crate) enum Work {
    One(Job),
    Batch(Vec<Job>),
}

pub(crate) enum Job {
    Run(Request, Cancel),
    Refuse(Option<Id>, RpcError),
}

pub(crate) struct Queue {
    work: Receiver<io::Result<Work>>,
    pending: Pending,
}

impl Queue {
    /// Starts to read. The thread ends with the stream, or at the first line after the queue is dropped.
    pub(crate) fn start(reader: impl Read + Send + 'static) -> io::Result<Queue> {
        let (sender, work) = mpsc::sync_channel(AHEAD);
        let pending = Pending::default();
        let theirs = pending.clone();
        thread::Builder::new().name("mcp-read".into()).spawn(move || read(reader, &theirs, &sender))?;
        Ok(Queue { work, pending })
    }

    /// The next piece of work, or `None` when the client has hung up and all is done.
    pub(crate) fn next(&self) -> Option<io::Result<Work>> {
        self.work.recv().ok()
    }

    /// The request is no longer there to be cancelled.
    pub(crate) fn done(&self, id: &Id) {
        self.pending.lock().remove(id);
    }
}

/// The requests that were read and not yet answered.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<HashMap<Id, Cancel>>>);

impl Pending {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Id, Cancel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A cancellation of what is unknown, done or nonsense is ignored, as the protocol asks.
    fn cancel(&self, params: &Params) {
        let id = params.get("requestId").and_then(Id::of);
        if let Some(cancel) = id.and_then(|id| self.lock().get(&id).cloned()) {
            cancel.cancel();
        }
    }
}

fn read(reader: impl Read, pending: &Pending, sender: &SyncSender<io::Result<Work>>) {
    let mut lines = LineReader::new(reader, LINE_CAP);
    loop {
        let work = match lines.next_line() {
            Ok(None) => return,
            // A last line without a newline may be whole; if not, its JSON is not either.
            Ok(Some(Line::Whole(line) | Line::Torn(line))) => sort(&line, pending).map(Ok),
            Err(FrameError::TooLong { .. }) => {
                Some(Ok(refuse(RpcError::invalid_request("request exceeds 4 MiB cap"))))
            }
            Err(FrameError::NotUtf8 { .. }) => Some(Ok(refuse(RpcError::parse("request not valid utf-8")))),
            // The stream's own timeout says nothing about the client, who may think for hours.
            Err(FrameError::DeadlinePassed) => None,
            Err(FrameError::Io(error)) => Some(Err(error)),
        };
        let Some(work) = work else { continue };
        let last = work.is_err();
        if sender.send(work).is_err() || last {
            return;
        }
    }
}

/// What of a line wants an answer.
fn sort(line: &str, pending: &Pending) -> Option<Work> {
    match serde_json::from_str(line) {
        Err(_) => Some(refuse(RpcError::parse("parse error"))),
        Ok(Value::Array(batch)) if batch.is_empty() => Some(refuse(RpcError::invalid_request("empty batch"))),
        Ok(Value::Array(batch)) if batch.len() > BATCH_CAP => {
            Some(refuse(RpcError::invalid_request(format!("batch exceeds {BATCH_CAP} messages"))))
        }
        Ok(Value::Array(batch)) => {
            let jobs: Vec<Job> = batch.into_iter().filter_map(|value| job(value, pending)).collect();
            (!jobs.is_empty()).then_some(Work::Batch(jobs))
        }
        Ok(value) => job(value, pending).map(Work::One),
    }
}

fn job(value: Value, pending: &Pending) -> Option<Job> {
    match classify(value) {
        Message::Request(request) => {
            let cancel = Cancel::default();
            pending.lock().insert(request.id.clone(), cancel.clone());
            Some(Job::Run(request, cancel))
        }
        Message::Invalid { id, error } => Some(Job::Refuse(id, error)),
        Message::Notification { method, params } => {
            if method == "notifications/cancelled" {
                pending.cancel(&params);
            }
            None
        }
        // We ask the client nothing, so this answers nothing.
        Message::Response { .. } => None,
    }
}

fn refuse(error: RpcError) -> Work {
    Work::One(Job::Refuse(None, error))
}
