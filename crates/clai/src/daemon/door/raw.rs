//! Messages as a shell writes and reads them by itself, fields between NULs. Only a question for suggestions is
//! answered.

use std::io::{self, BufReader};
use std::sync::Arc;
use std::time::Duration;

use kit::invocation::Environment;
use kit::process::{Job, find};
use wire::clai::Message;
use wire::clai::raw::{RawError, RawReader, write_suggestions};
use wire::frame::FrameError;
use wire::transport::Connection;

use crate::daemon::serve::Stream;
use crate::daemon::service::Service;
use crate::database::Reason;

pub(in crate::daemon) fn attend<C: Connection>(
    input: BufReader<Stream<C>>,
    service: &Arc<Service>,
) -> io::Result<()> {
    give_way(&service.world.env);
    let mut mouth = Some(input.get_ref().mouth()?);
    let mut reader = RawReader::buffered(input);
    loop {
        match reader.next_message() {
            Ok(Some(Message::CommandEnd(event))) => service.ingest(event),
            Ok(Some(Message::Suggest(ask))) => {
                let mut answer = Vec::new();
                write_suggestions(&mut answer, &service.suggest(&ask.into()))?;
                // A shell that does not read its answer may still have something to tell.
                mouth = mouth.filter(|mouth| mouth.say(&answer).is_ok());
            }
            Ok(Some(Message::SessionStart(_) | Message::Recent(_) | Message::Health)) => {}
            Ok(None) => return Ok(()),
            Err(RawError::NotAMessage(_) | RawError::Torn) => service.refuse(Reason::Malformed, "raw"),
            Err(RawError::Frame(FrameError::TooLong { .. })) => service.refuse(Reason::TooLong, "raw"),
            // A shell may say nothing for hours, and its next message begins with a mark of its own.
            Err(RawError::Frame(FrameError::DeadlinePassed | FrameError::NotUtf8 { .. })) => {}
            Err(RawError::Frame(FrameError::Io(error))) => return Err(error),
        }
    }
}

/// A shell that writes to us at its prompt shall not lose the processor to us by that: a thread of the batch kind is
/// woken and waits for its turn, and so may the answer, for which this shell does not wait. Measured with zsh on two busy
/// processors: 115 µs at a prompt became 53. Where there is no `chrt`, or it takes a second, all stays as it is.
fn give_way(env: &Environment) {
    if let Some(chrt) = find("chrt", env) {
        let me = rustix::thread::gettid().as_raw_nonzero().to_string();
        let _ = Job::new(chrt).args(["--batch", "--pid", "0", &me]).deadline(Duration::from_secs(1)).run();
    }
}
