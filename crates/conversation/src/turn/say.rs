//! What a turn tells while it runs, for people to see. Nothing here is needed to keep a history.

use std::fmt;
use std::time::Duration;

use llm::{Note, Stop, Usage};

use crate::history::Refused;

/// Something to show.
#[derive(Debug, Clone, PartialEq)]
pub enum Say {
    /// The model has begun to answer.
    Started {
        model: Option<String>,
    },
    Text(String),
    Thinking(String),
    /// A call is being spoken; `index` tells those apart that are spoken at the same time.
    Calling {
        index: usize,
        name: String,
    },
    Arguments {
        index: usize,
        json: String,
    },
    /// A reply is complete.
    Replied {
        stop: Stop,
        usage: Option<Usage>,
    },
    /// What was shown of this reply does not count.
    Retract,
    /// Another attempt follows when the time that is left has passed. Said again each second.
    Retrying {
        error: String,
        attempt: u32,
        left: Duration,
    },
    /// What a running tool shows of its work.
    Live {
        place: usize,
        text: String,
    },
    Note(Note),
    Warning(Warning),
}

/// What becomes of words that were shown and do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Whoever reads them can be told.
    Retractable,
    /// They are in somebody's pipe. Another attempt would put a second beginning behind the first.
    Gone,
}

/// What somebody should know, in words for an error stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The reply was cut off; the provider's word for it.
    CutOff(String),
    /// The model ended without a word.
    NothingSaid,
    /// The provider found the request too long; it is sent again with at most so many bytes of messages.
    Shrunk(usize),
    /// The model calls the same tool with the same arguments again and again.
    Repeating(String),
    NotCompacted(Refused),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::CutOff(literal) => write!(f, "the reply was cut off ({literal})"),
            Warning::NothingSaid => write!(f, "the model ended without a word"),
            Warning::Shrunk(bytes) => {
                let bytes = kit::text::thousands(*bytes as u64);
                write!(f, "the request was too long; trying with {bytes} bytes of messages")
            }
            Warning::Repeating(name) => write!(f, "the model repeats the same call of `{name}`"),
            Warning::NotCompacted(refused) => write!(f, "the conversation was not compacted: {refused}"),
        }
    }
}
