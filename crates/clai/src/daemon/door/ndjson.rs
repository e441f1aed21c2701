//! One JSON text per line: events, which are not answered, and questions, which are. What cannot be understood is
//! answered with why, and the next line is read.

use std::io::{self, BufReader};
use std::sync::Arc;

use serde_json::Value;
use wire::clai::CAP;
use wire::frame::{FrameError, Line, LineReader, Utf8, to_line};
use wire::transport::Connection;

use crate::daemon::request::Request;
use crate::daemon::serve::Stream;
use crate::daemon::service::{Reply, Service, refusal};
use crate::database::Reason;

pub(in crate::daemon) fn attend<C: Connection>(
    input: BufReader<Stream<C>>,
    service: &Arc<Service>,
) -> io::Result<()> {
    let mut reader = LineReader::buffered(input, CAP).utf8(Utf8::Lossy);
    let mut listening = true;
    loop {
        let reply = match reader.next_line() {
            Ok(Some(Line::Whole(line))) => {
                reader.get_ref().heard();
                read(&line, service)
            }
            // A last line without its newline is taken if it is whole otherwise.
            Ok(Some(Line::Torn(line))) => match serde_json::from_str(&line) {
                Ok(request) => service.answer(request),
                Err(_) => Reply::None,
            },
            Ok(None) => return Ok(()),
            Err(FrameError::TooLong { cap }) => {
                service.refuse(Reason::TooLong, "ndjson");
                Reply::Json(refusal(&format!("a message is longer than {cap} bytes"), None))
            }
            Err(FrameError::DeadlinePassed) if reader.get_ref().is_stalled() => return Ok(()),
            Err(FrameError::DeadlinePassed | FrameError::NotUtf8 { .. }) => Reply::None,
            Err(FrameError::Io(error)) => return Err(error),
        };
        // A hook says its event and goes: that nobody listens is no reason not to hear the rest.
        if let Reply::Json(answer) | Reply::Farewell(answer) = &reply
            && listening
        {
            listening = reader.get_ref().say(&to_line(answer)?).is_ok();
        }
        if matches!(reply, Reply::Farewell(_)) {
            service.stop();
        }
    }
}

fn read(line: &str, service: &Arc<Service>) -> Reply {
    match serde_json::from_str::<Request>(line) {
        Ok(request) => service.answer(request),
        Err(error) => {
            service.refuse(Reason::Malformed, "ndjson");
            let hint =
                serde_json::from_str::<Value>(line).is_err().then(|| "one JSON object per line".to_owned());
            Reply::Json(refusal(&format!("not a request: {error}"), hint))
        }
    }
}
