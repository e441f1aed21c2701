//! Requests to a scripted server over real sockets, streams of every shape, and bytes that nobody should send.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test: writes plain files and wants to know at once"
)]

use std::time::Duration;

use kit::process::Cancel;
use llm::{Client, Error, Event, Message, Provider, Request, Setup, Stream, Timeouts, Wire};
use llm::{Key, provider};

#[path = "llm/cancel.rs"]
mod cancel;
#[path = "llm/cuts.rs"]
mod cuts;
#[path = "llm/fuzz.rs"]
mod fuzz;
#[path = "llm/hostile.rs"]
mod hostile;
#[path = "llm/keys.rs"]
mod keys;
#[path = "llm/requests.rs"]
mod requests;
#[path = "llm/resolve.rs"]
mod resolve;
#[path = "llm/script.rs"]
mod script;
#[path = "llm/streams.rs"]
mod streams;
#[path = "llm/tls.rs"]
mod tls;

/// Our words for the wires of the test server.
fn theirs(wire: Wire) -> testkit::model::Wire {
    match wire {
        Wire::Anthropic => testkit::model::Wire::Anthropic,
        Wire::OpenAi => testkit::model::Wire::OpenAi,
    }
}

const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

fn somebody(wire: Wire, base: &str) -> Provider {
    let path = if wire == Wire::Anthropic { "v1/messages" } else { "v1/chat/completions" };
    Provider {
        wire,
        target: provider::Target::Http(provider::Endpoint::new(&format!("{base}/{path}")).unwrap()),
        key: Some(Key::new("sk-secret").unwrap()),
        auth: if wire == Wire::Anthropic { provider::Auth::XApiKey } else { provider::Auth::Bearer },
        anthropic_version: llm::anthropic::VERSION.to_owned(),
    }
}

fn client(wire: Wire, base: &str) -> Client {
    Client::new(somebody(wire, base), Setup::default())
}

/// A client that loses its patience soon.
fn hasty(wire: Wire, base: &str, idle: Duration) -> Client {
    let timeouts = Timeouts { idle, connect: Duration::from_secs(5) };
    Client::new(somebody(wire, base), Setup { timeouts, ..Setup::default() })
}

fn hello() -> Request {
    Request { model: "m".to_owned(), messages: vec![Message::User("hello".to_owned())], ..Request::default() }
}

fn ask(wire: Wire, base: &str) -> Stream {
    client(wire, base).start(&hello(), &Cancel::default())
}

/// Everything that came, and how it ended.
fn all(stream: Stream) -> (Vec<Event>, Option<Error>) {
    let (mut events, mut failure) = (Vec::new(), None);
    for item in stream {
        match item {
            Ok(event) => events.push(event),
            Err(error) => failure = Some(error),
        }
    }
    (events, failure)
}

/// The events in short, one line each.
fn told(events: &[Event]) -> Vec<String> {
    let line = |event: &Event| match event {
        Event::Started { .. } => "started".to_owned(),
        Event::Text(text) => format!("text {text}"),
        Event::Thinking(text) => format!("thinking {text}"),
        Event::CallStarted { index, id, name } => format!("call {index} {id} {name}"),
        Event::CallArguments { index, json } => format!("arguments {index} {json}"),
        Event::Block(block) => format!("block {}", block.raw().get()),
        Event::Note(note) => format!("note {note}"),
        Event::Done(done) => format!("done {:?} {}", done.stop.kind, done.stop.literal),
    };
    events.iter().map(line).collect()
}
