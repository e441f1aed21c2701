//! The same questions as HTTP/1.1, for `curl --unix-socket` and for programs that speak nothing else: the routes, the
//! status codes, and keeping a connection for the next request. How a body is delimited is [`body`]'s business.

mod body;

use std::io::{self, BufRead, BufReader};
use std::sync::Arc;

use serde_json::{Value, json};
use wire::clai::{CAP, Event};
use wire::frame::{FrameError, Line, LineReader, Utf8};
use wire::transport::Connection;

use super::super::request::Suggest;
use crate::daemon::serve::{Stream, is_pause};
use crate::daemon::service::{Service, refusal};
use crate::database::Reason;
use body::{Body, Framing};

/// What `POST /suggest` gives at most, as the specification says.
const MOST: usize = 3;
/// A head longer than this is no request of a local program.
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
/// How many rows `/debug` shows.
const MOST_ROWS: u32 = 1000;
/// How many bad lines of a stream are named in the answer.
const NAMED_ERRORS: usize = 5;

#[derive(Debug, PartialEq, Eq)]
struct Head {
    method: String,
    path: String,
    query: String,
    framing: Framing,
    keep_alive: bool,
    expects_continue: bool,
}

struct Answer {
    status: u16,
    json: Value,
}

/// Why a request cannot be read any further. The connection ends with it.
#[derive(Debug, PartialEq, Eq)]
struct Unreadable {
    status: u16,
    why: &'static str,
}

pub(in crate::daemon) fn attend<C: Connection>(
    mut input: BufReader<Stream<C>>,
    service: &Arc<Service>,
) -> io::Result<()> {
    loop {
        let head = match read_head(&mut input)? {
            Some(Ok(head)) => head,
            Some(Err(problem)) => return input.get_ref().say(&problem.to_bytes()),
            None => return Ok(()),
        };
        if head.expects_continue {
            input.get_ref().say(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let mut body = Body::new(&mut input, head.framing);
        let answer = route(&head, &mut body, service);
        // What of the body nobody wanted must not be taken for the next request.
        let drained = body.drain();
        let keep_alive = head.keep_alive && drained.is_ok();
        input.get_ref().say(&answer.to_bytes(keep_alive))?;
        input.get_ref().heard();
        if !keep_alive {
            return Ok(());
        }
    }
}

fn route<C: Connection>(head: &Head, body: &mut Body<'_, Stream<C>>, service: &Arc<Service>) -> Answer {
    match (head.method.as_str(), head.path.as_str()) {
        ("GET", "/healthz") => Answer::ok(&service.status()),
        ("POST", "/ingest") => ingest(head, body, service),
        ("POST", "/suggest") => suggest(body, service),
        ("GET", "/debug/scores" | "/debug/transitions" | "/debug/tasks") if service.is_debug() => {
            debug(head, service)
        }
        ("GET", "/debug/scores" | "/debug/transitions" | "/debug/tasks") => Answer::refuse(
            404,
            "debugging is off",
            Some("`debug = true` in the configuration, then `clai config reload`"),
        ),
        (
            _,
            "/healthz" | "/ingest" | "/suggest" | "/debug/scores" | "/debug/transitions" | "/debug/tasks",
        ) => Answer::refuse(405, "not with this method", None),
        _ => Answer::refuse(404, "no such path", Some("`/healthz`, `/ingest`, `/suggest`")),
    }
}

fn suggest<C: Connection>(body: &mut Body<'_, Stream<C>>, service: &Arc<Service>) -> Answer {
    let bytes = match body.read_all(CAP.0) {
        Ok(bytes) => bytes,
        Err(problem) => return problem.into(),
    };
    match serde_json::from_slice::<Suggest>(&bytes) {
        Ok(mut ask) => {
            ask.limit = ask.limit.min(MOST);
            Answer::ok(&service.suggest(&ask))
        }
        Err(error) => Answer::refuse(400, &format!("not a request: {error}"), None),
    }
}

/// One event, or one on each line. A single event may be spread over lines; a stream of any length is taken as it comes.
fn ingest<C: Connection>(head: &Head, body: &mut Body<'_, Stream<C>>, service: &Arc<Service>) -> Answer {
    let mut tally = Tally::default();
    if matches!(head.framing, Framing::Length(length) if length <= CAP.0 as u64) {
        let bytes = match body.read_all(CAP.0) {
            Ok(bytes) => bytes,
            Err(problem) => return problem.into(),
        };
        let text = String::from_utf8_lossy(&bytes);
        match event(&text) {
            Ok(event) => tally.take(event, service),
            Err(_) => text.lines().for_each(|line| tally.line(line, service)),
        }
        return tally.answer();
    }
    let mut lines = LineReader::new(&mut *body, CAP).utf8(Utf8::Lossy);
    loop {
        match lines.next_line() {
            Ok(Some(Line::Whole(line) | Line::Torn(line))) => tally.line(&line, service),
            Ok(None) => return tally.answer(),
            Err(FrameError::TooLong { cap }) => {
                tally.refuse(format!("a message is longer than {cap} bytes"), service);
            }
            Err(FrameError::NotUtf8 { .. }) => {}
            Err(FrameError::DeadlinePassed) => {
                return Answer::refuse(408, "the body did not arrive in time", None);
            }
            Err(FrameError::Io(_)) => return Answer::refuse(400, "the body is not whole", None),
        }
    }
}

#[derive(Default)]
struct Tally {
    accepted: u64,
    refused: u64,
    errors: Vec<String>,
}

impl Tally {
    fn line(&mut self, line: &str, service: &Arc<Service>) {
        if line.trim().is_empty() {
            return;
        }
        match event(line) {
            Ok(event) => self.take(event, service),
            Err(why) => self.refuse(why, service),
        }
    }

    fn take(&mut self, event: Event, service: &Arc<Service>) {
        self.accepted += 1;
        service.ingest(event);
    }

    fn refuse(&mut self, why: String, service: &Service) {
        service.refuse(Reason::Malformed, "http");
        self.refused += 1;
        if self.errors.len() < NAMED_ERRORS {
            self.errors.push(why);
        }
    }

    fn answer(self) -> Answer {
        let status = if self.accepted == 0 && self.refused > 0 { 400 } else { 202 };
        Answer {
            status,
            json: json!({"accepted": self.accepted, "refused": self.refused, "errors": self.errors}),
        }
    }
}

/// The `type` may be left out: nothing else is ingested.
fn event(text: &str) -> Result<Event, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match value.get("type").and_then(Value::as_str) {
        None | Some("command_end") => serde_json::from_value(value).map_err(|error| error.to_string()),
        Some(other) => Err(format!("`{other}` is not ingested")),
    }
}

fn debug(head: &Head, service: &Service) -> Answer {
    let scope = head.query.split('&').find_map(|pair| pair.strip_prefix("scope="));
    let rows = service.reader().and_then(|reader| {
        let Some(reader) = reader else { return Ok(Vec::new()) };
        match head.path.as_str() {
            "/debug/scores" => reader.scores(scope, MOST_ROWS),
            "/debug/transitions" => reader.transitions(scope, MOST_ROWS),
            _ => reader.tasks(scope, MOST_ROWS),
        }
    });
    match rows {
        Ok(rows) => Answer { status: 200, json: rows.into() },
        Err(error) => Answer::refuse(500, &error.to_string(), error.hint().as_deref()),
    }
}

/// The next head; `None` when the peer has gone or says nothing more.
fn read_head<C: Connection>(
    input: &mut BufReader<Stream<C>>,
) -> io::Result<Option<Result<Head, Unreadable>>> {
    let mut bytes = Vec::new();
    loop {
        let already = bytes.len();
        let arrived = match input.fill_buf() {
            Ok(chunk) => {
                bytes.extend_from_slice(chunk);
                Some(chunk.len())
            }
            Err(error) if is_pause(&error) => None,
            Err(error) => return Err(error),
        };
        let arrived = match arrived {
            Some(0) => return Ok(None),
            Some(arrived) => arrived,
            None if already > 0 && input.get_ref().is_stalled() => {
                return Ok(Some(Err(Unreadable { status: 408, why: "the request did not arrive in time" })));
            }
            None => continue,
        };
        // Only up to the first end of a head: behind it stands the body.
        let end = bytes[already.saturating_sub(3)..].windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.map(|at| already.saturating_sub(3) + at + 4);
        input.consume(end.map_or(arrived, |end| end - already));
        if end.unwrap_or(bytes.len()) > LONGEST_HEAD {
            return Ok(Some(Err(Unreadable { status: 431, why: "the head is too long" })));
        }
        if let Some(end) = end {
            return Ok(Some(parse(&bytes[..end])));
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Head, Unreadable> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let bad = |why| Unreadable { status: 400, why };
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(bad("the head is not whole")),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Unreadable { status: 431, why: "too many headers" });
        }
        Err(httparse::Error::Version) => {
            return Err(Unreadable { status: 505, why: "only HTTP/1.0 and 1.1" });
        }
        Err(_) => return Err(bad("not an HTTP request")),
    }
    let method = request.method.unwrap_or_default().to_owned();
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let values = |name: &str| {
        let name = name.to_owned();
        let named = request.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(&name));
        named.map(|header| String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
    };
    let has =
        |name: &str, word: &str| values(name).any(|value| value.split(',').any(|part| part.trim() == word));
    let framing = Framing::of(values("content-length"), values("transfer-encoding"))?;
    if method == "POST" && framing == Framing::None {
        return Err(Unreadable { status: 411, why: "say how long the body is" });
    }
    let newest = request.version == Some(1);
    Ok(Head {
        keep_alive: if newest { !has("connection", "close") } else { has("connection", "keep-alive") },
        expects_continue: newest && has("expect", "100-continue") && framing != Framing::None,
        path: path.to_owned(),
        query: query.to_owned(),
        method,
        framing,
    })
}

impl Answer {
    fn ok(json: &impl serde::Serialize) -> Answer {
        Answer { status: 200, json: serde_json::to_value(json).expect("our answers have text for keys") }
    }

    fn refuse(status: u16, error: &str, hint: Option<&str>) -> Answer {
        Answer { status, json: refusal(error, hint.map(str::to_owned)) }
    }

    fn to_bytes(&self, keep_alive: bool) -> Vec<u8> {
        let mut body = self.json.to_string();
        body.push('\n');
        let connection = if keep_alive { "keep-alive" } else { "close" };
        format!(
            "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n{body}",
            self.status,
            phrase(self.status),
            body.len()
        )
        .into_bytes()
    }
}

impl From<Unreadable> for Answer {
    fn from(problem: Unreadable) -> Answer {
        Answer::refuse(problem.status, problem.why, None)
    }
}

impl Unreadable {
    fn to_bytes(&self) -> Vec<u8> {
        Answer::refuse(self.status, self.why, None).to_bytes(false)
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        505 => "HTTP Version Not Supported",
        _ => "Internal Server Error",
    }
}
