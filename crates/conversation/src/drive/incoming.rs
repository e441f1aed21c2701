//! What comes from other threads: the pieces of a reply, and what tools give. One channel for all of it, so that whoever
//! waits can look at the clock in between. Knows no turn.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use kit::process::Cancel;
use llm::{Error, Stream};

use crate::tools::Output;

/// How often somebody who waits looks whether it was interrupted.
const TICK: Duration = Duration::from_millis(10);

/// How much may wait to be heard; more slows those down who speak.
const WAITING: usize = 64;

/// What runs a tool.
pub enum Work {
    /// It is done already.
    Done(Output),
    /// On a thread of its own. When the flag is set it must end soon and say how far it came.
    Thread(Box<Run>),
}

type Run = dyn FnOnce(&Cancel, &Live) -> Output + Send;

impl Work {
    pub fn thread(work: impl FnOnce(&Cancel, &Live) -> Output + Send + 'static) -> Work {
        Work::Thread(Box::new(work))
    }
}

/// Where a running tool shows what it does.
#[derive(Debug, Clone)]
pub struct Live {
    place: usize,
    sender: SyncSender<Heard>,
}

impl Live {
    pub fn show(&self, text: impl Into<String>) {
        // Nobody looks any more: that is no reason to stop.
        let _ = self.sender.send(Heard::Live { place: self.place, text: text.into() });
    }
}

#[derive(Debug)]
pub(super) enum Heard {
    Stream(Result<llm::Event, Error>),
    Tool { place: usize, output: Output },
    Live { place: usize, text: String },
}

pub(super) struct Incoming {
    sender: SyncSender<Heard>,
    receiver: Receiver<Heard>,
    /// What needed no thread.
    ready: VecDeque<Heard>,
}

impl Incoming {
    pub(super) fn new() -> Incoming {
        let (sender, receiver) = sync_channel(WAITING);
        Incoming { sender, receiver, ready: VecDeque::new() }
    }

    /// What has come; none if nothing does for a moment.
    pub(super) fn next(&mut self) -> Option<Heard> {
        self.ready.pop_front().or_else(|| self.receiver.recv_timeout(TICK).ok())
    }

    /// Brings what the stream tells. When nobody listens any more the stream is dropped, and hangs up.
    pub(super) fn listen(&mut self, stream: Stream) {
        let sender = self.sender.clone();
        let pump = move || {
            for item in stream {
                if sender.send(Heard::Stream(item)).is_err() {
                    return;
                }
            }
        };
        if thread::Builder::new().name("reply".to_owned()).spawn(pump).is_err() {
            self.ready.push_back(Heard::Stream(Err(Error::Dropped)));
        }
    }

    pub(super) fn work(&mut self, place: usize, work: Work, cancel: &Cancel) {
        let work = match work {
            Work::Done(output) => return self.ready.push_back(Heard::Tool { place, output }),
            Work::Thread(work) => work,
        };
        let (cancel, sender) = (cancel.clone(), self.sender.clone());
        let run = move || {
            let last = LastWord { place, sender: sender.clone(), output: Output::failed(CRASHED) };
            last.say(work(&cancel, &Live { place, sender }));
        };
        if thread::Builder::new().name("tool".to_owned()).spawn(run).is_err() {
            self.ready.push_back(Heard::Tool { place, output: Output::failed(NO_THREAD) });
        }
    }
}

const CRASHED: &str = "The tool crashed. What it did until then is not known.";
const NO_THREAD: &str = "Not run: the machine has no room for another thread.";

/// A tool always has one, even if it panics.
struct LastWord {
    place: usize,
    sender: SyncSender<Heard>,
    output: Output,
}

impl LastWord {
    fn say(mut self, output: Output) {
        self.output = output;
    }
}

impl Drop for LastWord {
    fn drop(&mut self) {
        let output = std::mem::replace(&mut self.output, Output::done(""));
        let _ = self.sender.send(Heard::Tool { place: self.place, output });
    }
}
