//! One question, one answer: what every client of our daemons does. Knows lines and streams, not what they say.

use std::io::{self, Read};

use serde::Serialize;
use thiserror::Error;

use crate::Deadline;
use crate::frame::{Cap, FrameError, Line, LineReader, to_line};
use crate::transport::{ConnectError, Connection, SendError, Transport};

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum AskError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot write the question: {0}")]
    Question(#[source] io::Error),
    #[error(transparent)]
    Send(SendError),
    #[error(transparent)]
    Answer(FrameError),
    /// Half an answer counts as none.
    #[error("the peer closed the connection before its answer was whole")]
    Closed,
}

impl From<SendError> for AskError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Closed => AskError::Closed,
            error => AskError::Send(error),
        }
    }
}

impl From<FrameError> for AskError {
    fn from(error: FrameError) -> Self {
        match error {
            // How it looks when the peer went away without having read all of the question.
            FrameError::Io(error) if error.kind() == io::ErrorKind::ConnectionReset => AskError::Closed,
            error => AskError::Answer(error),
        }
    }
}

/// Connects, sends `question` as a line, and gives the line that comes back, all within one deadline.
pub fn ask<T: Transport>(
    transport: &T,
    endpoint: &T::Endpoint,
    question: &impl Serialize,
    cap: Cap,
    deadline: Deadline,
) -> Result<String, AskError> {
    let question = to_line(question).map_err(AskError::Question)?;
    let connection = transport.connect(endpoint, deadline)?;
    connection.send_within(&question, deadline)?;
    match LineReader::new(Until { connection, deadline }, cap).next_line()? {
        Some(Line::Whole(answer)) => Ok(answer),
        Some(Line::Torn(_)) | None => Err(AskError::Closed),
    }
}

/// Reads that wait for what is left of the time, and not each for all of it.
struct Until<C> {
    connection: C,
    deadline: Deadline,
}

impl<C: Connection> Read for Until<C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.deadline.passed() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.connection.set_read_timeout(self.deadline.remaining())?;
        self.connection.read(buffer)
    }
}
