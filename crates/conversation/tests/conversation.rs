//! Histories under any sequence of operations, events and crashes; windows; turns against a scripted server.
#![allow(clippy::unwrap_used, reason = "a test wants to know at once")]

use std::fmt::Display;
use std::path::PathBuf;

use conversation::{ExchangeId, History, Record, window};
use llm::{Message, Provider, Request, Wire, provider};
use serde_json::Value;

#[path = "conversation/compacting.rs"]
mod compacting;
#[path = "conversation/driving.rs"]
mod driving;
#[path = "conversation/growing.rs"]
mod growing;
#[path = "conversation/loading.rs"]
mod loading;
#[path = "conversation/making.rs"]
mod making;
#[path = "conversation/rules.rs"]
mod rules;
#[path = "conversation/turning.rs"]
mod turning;
#[path = "conversation/windows.rs"]
mod windows;

const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

fn id(id: impl Display) -> ExchangeId {
    ExchangeId(format!("{id}"))
}

fn whole() -> window::Limits {
    window::Limits { bytes: usize::MAX / 200, ..window::Limits::default() }
}

/// The body that a provider of this wire would get.
fn body(wire: Wire, messages: Vec<Message>) -> Value {
    let provider = Provider {
        wire,
        target: provider::Target::Script(PathBuf::new()),
        key: None,
        auth: provider::Auth::Bearer,
        anthropic_version: llm::anthropic::VERSION.to_owned(),
    };
    let request = Request { model: "m".to_owned(), messages, ..Request::default() };
    serde_json::from_slice(&provider.body(&request)).unwrap()
}

/// Panics unless every provider takes these messages, by our own check and by theirs.
#[track_caller]
fn assert_sendable(messages: &[Message]) {
    let ours = conversation::check::messages(messages);
    assert_eq!(ours, Ok(()), "{messages:#?}");
    for wire in WIRES {
        let body = body(wire, messages.to_owned());
        let theirs = rules::broken(wire, &body);
        assert_eq!(theirs, None, "{wire:?} {body:#}");
    }
}

/// Panics unless the history can be sent now, or after a prompt, and is the same when it was kept and read again.
#[track_caller]
fn assert_valid(history: &History) {
    let mut asked = history.clone();
    if asked.open().is_none() {
        asked.prompt(id("a prompt nobody used before"), "next").unwrap();
    }
    assert_sendable(&window::fit(&asked, &whole()).messages(&asked));
    let text = serde_json::to_string(&history.records()).unwrap();
    let records: Vec<Record> = serde_json::from_str(&text).unwrap();
    let loaded = History::load(records);
    assert_eq!(loaded.repairs, []);
    assert_eq!(&loaded.history, history);
}
