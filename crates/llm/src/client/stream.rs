//! The listening end of a request, and the pump that fills it. Knows events, and no provider.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use kit::process::Cancel;

use super::line::Line;
use crate::block::Block;
use crate::decode::Decoder;
use crate::error::Error;
use crate::event::{Done, Event, Note};

/// How often a waiting listener looks whether it was interrupted.
const TICK: Duration = Duration::from_millis(10);

/// What comes of a request, as it comes. The last item is [`Event::Done`] or an error. Dropping it before that hangs
/// up.
#[derive(Debug)]
pub struct Stream {
    incoming: Receiver<Result<Vec<Event>, Error>>,
    ready: VecDeque<Event>,
    line: Arc<Line>,
    cancel: Cancel,
    over: bool,
}

/// A reply for those who do not need it piece by piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub blocks: Vec<Block>,
    pub notes: Vec<Note>,
    pub done: Done,
}

impl Reply {
    /// All that was said aloud.
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(Block::as_text).collect()
    }
}

impl Stream {
    pub(super) fn new(
        incoming: Receiver<Result<Vec<Event>, Error>>,
        line: Arc<Line>,
        cancel: Cancel,
    ) -> Stream {
        Stream { incoming, ready: VecDeque::new(), line, cancel, over: false }
    }

    /// Waits for the whole reply.
    pub fn reply(self) -> Result<Reply, Error> {
        let (mut blocks, mut notes) = (Vec::new(), Vec::new());
        for event in self {
            match event? {
                Event::Block(block) => blocks.push(block),
                Event::Note(note) => notes.push(note),
                Event::Done(done) => return Ok(Reply { blocks, notes, done }),
                _ => {}
            }
        }
        Err(Error::Dropped)
    }

    fn fail(&mut self, error: Error) -> Option<Result<Event, Error>> {
        self.over = true;
        self.line.hang_up();
        Some(Err(error))
    }
}

impl Iterator for Stream {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.over {
                return None;
            }
            if self.cancel.is_cancelled() {
                return self.fail(Error::Cancelled);
            }
            if let Some(event) = self.ready.pop_front() {
                self.over = matches!(event, Event::Done(_));
                return Some(Ok(event));
            }
            match self.incoming.recv_timeout(TICK) {
                Ok(Ok(events)) => self.ready.extend(events),
                Ok(Err(error)) => return self.fail(error),
                Err(RecvTimeoutError::Timeout) => {}
                // The reading thread is gone without a last word: only a panic does that.
                Err(RecvTimeoutError::Disconnected) => return self.fail(Error::Dropped),
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.over {
            self.line.hang_up();
        }
    }
}

/// Tells what an answer says until it is complete. `lost` says what a failure to read means.
pub(super) fn pump(
    answer: &mut dyn Read,
    mut decoder: Decoder,
    tell: impl Fn(Vec<Event>) -> Result<(), Error>,
    lost: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let mut buffer = vec![0; 16 << 10];
    let mut failure = None;
    while !decoder.is_done() {
        let read = match answer.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                failure = Some(lost(error));
                break;
            }
        };
        let mut events = Vec::new();
        let fed = decoder.feed(&buffer[..read], &mut events);
        tell(events)?;
        fed?;
    }
    let mut events = Vec::new();
    // A provider may say all it had to say and then lose the connection.
    let finished = decoder.finish(&mut events);
    match (finished, failure) {
        (Ok(()), _) => tell(events),
        (Err(Error::Dropped), Some(failure)) => Err(failure),
        (Err(error), _) => {
            tell(events)?;
            Err(error)
        }
    }
}
