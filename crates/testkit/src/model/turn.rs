//! What the model says in one turn, in words of our own. How it looks on a wire is told in `anthropic` and
//! `openai`, so that one script can be played on both.

use serde_json::Value;

use super::reply::{Event, Reply};
use super::{anthropic, openai};

/// Starts a turn that says nothing yet.
pub fn turn() -> Turn {
    Turn {
        parts: Vec::new(),
        stop: None,
        usage: Usage { input: 10, output: 5, cache_read: 0, cache_written: 0 },
    }
}

/// One turn of the model: parts in the order they are said.
#[derive(Debug, Clone)]
#[must_use]
pub struct Turn {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Option<String>,
    pub(super) usage: Usage,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    Think { text: String, signature: String },
    Say(Vec<String>),
    Call { name: String, arguments: Vec<String> },
    Event(Event),
    Fail { kind: String, message: String },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_written: u64,
}

/// Whose wire a turn is played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// Chat completions of OpenAI and all who took them over.
    OpenAi,
}

impl Wire {
    /// A refusal with an HTTP status and the wire's error body.
    pub fn failure(self, status: u16, kind: &str, message: &str) -> Reply {
        let body = match self {
            Wire::Anthropic => anthropic::failure(kind, message),
            Wire::OpenAi => openai::failure(status, kind, message),
        };
        Reply::json(status, &body)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Stream,
    Whole,
}

impl Turn {
    pub fn think(self, text: &str, signature: &str) -> Turn {
        self.part(Part::Think { text: text.to_owned(), signature: signature.to_owned() })
    }

    /// A text, streamed word by word.
    pub fn say(self, text: &str) -> Turn {
        self.say_in(text.split_inclusive(' '))
    }

    /// A text in these very pieces.
    pub fn say_in<'a>(self, pieces: impl IntoIterator<Item = &'a str>) -> Turn {
        self.part(Part::Say(pieces.into_iter().map(str::to_owned).collect()))
    }

    /// A call of a tool, its input streamed in small pieces.
    pub fn call(self, name: &str, input: &Value) -> Turn {
        let characters: Vec<char> = input.to_string().chars().collect();
        // Seven divides nothing: keys, escapes and numbers are all cut somewhere.
        let pieces: Vec<String> = characters.chunks(7).map(|piece| piece.iter().collect()).collect();
        self.call_in(name, pieces.iter().map(String::as_str))
    }

    /// A call whose input is these very pieces, JSON or not.
    pub fn call_in<'a>(self, name: &str, pieces: impl IntoIterator<Item = &'a str>) -> Turn {
        let arguments = pieces.into_iter().map(str::to_owned).collect();
        self.part(Part::Call { name: name.to_owned(), arguments })
    }

    /// Any event between two parts: a ping, a comment, something from the future. Whole replies leave it out.
    pub fn event(self, event: Event) -> Turn {
        self.part(Part::Event(event))
    }

    /// The stream breaks off here with the wire's error event.
    pub fn fail(self, kind: &str, message: &str) -> Turn {
        self.part(Part::Fail { kind: kind.to_owned(), message: message.to_owned() })
    }

    /// Why it stopped, in the wire's word. Without it: for the tools it called, or because it was done.
    pub fn stop(mut self, reason: &str) -> Turn {
        self.stop = Some(reason.to_owned());
        self
    }

    /// Tokens: input that was in no cache, and output.
    pub fn usage(mut self, input: u64, output: u64) -> Turn {
        self.usage = Usage { input, output, ..self.usage };
        self
    }

    /// Tokens of the input that were read from and written to the cache.
    pub fn cached(mut self, read: u64, written: u64) -> Turn {
        self.usage = Usage { cache_read: read, cache_written: written, ..self.usage };
        self
    }

    /// As an event stream.
    pub fn stream(self, wire: Wire) -> Reply {
        Reply::turn(self, wire, Shape::Stream)
    }

    /// As one JSON document, for requests that did not ask for a stream.
    #[track_caller]
    pub fn whole(self, wire: Wire) -> Reply {
        let fails = self.parts.iter().any(|part| matches!(part, Part::Fail { .. }));
        assert!(!fails, "a whole reply cannot break off: use `Wire::failure`");
        Reply::turn(self, wire, Shape::Whole)
    }

    fn part(mut self, part: Part) -> Turn {
        self.parts.push(part);
        self
    }

    /// The given reason to stop, or the one that follows from what was said.
    pub(super) fn reason<'a>(&'a self, called: &'a str, done: &'a str) -> &'a str {
        let calls = self.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        self.stop.as_deref().unwrap_or(if calls { called } else { done })
    }
}
