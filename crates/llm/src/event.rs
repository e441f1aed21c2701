//! What a stream tells, the same for every provider. Plain data; knows no wire.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::block::{Block, CallId};
use crate::price::Cost;

/// One thing that happened. Deltas are for showing; what counts for the history are the blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The model has begun to answer.
    Started {
        id: Option<String>,
        model: Option<String>,
    },
    Text(String),
    Thinking(String),
    /// `index` tells calls apart that are spoken at the same time.
    CallStarted {
        index: usize,
        id: CallId,
        name: String,
    },
    CallArguments {
        index: usize,
        json: String,
    },
    /// A block is complete. Calls that were cut off by a limit never get here.
    Block(Block),
    /// Something was wrong with the stream that did not end it.
    Note(Note),
    /// The last event of a good stream.
    Done(Done),
}

/// What was odd and passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A frame that is not JSON, or not of this wire, was left out.
    BadFrame(String),
    /// The model stopped for a reason that we do not know.
    UnknownStop(String),
    /// Settings that this provider does not take were left out of the request.
    Ignored(Vec<&'static str>),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::BadFrame(why) => write!(f, "left out a part of the stream: {why}"),
            Note::UnknownStop(reason) => write!(f, "the model stopped for an unknown reason: {reason}"),
            Note::Ignored(names) => write!(f, "this provider does not take {}", names.join(", ")),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    pub stop: Stop,
    /// What the provider counted, if it did.
    pub usage: Option<Usage>,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub kind: StopKind,
    /// The provider's own word for it.
    pub literal: String,
    /// What it adds: the stop sequence that was met, or why it refused.
    pub detail: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    EndTurn,
    /// There are calls to answer.
    ToolUse,
    MaxTokens,
    StopSequence,
    /// Send the same again, with what was said so far as the last message.
    PauseTurn,
    Refusal,
    ContextFull,
    /// The provider has summed up; send the same again.
    Compaction,
    Unknown,
}

/// Tokens as the provider counted them. The whole input is `input + cache_read + cache_write`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input that was in no cache.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
    /// How much of the output was thinking, if told.
    pub thinking: Option<u64>,
    /// What the provider says it cost, or what our table says.
    pub cost: Option<Cost>,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
    }

    /// What is not known of either is not known to be nothing.
    pub fn add(&mut self, more: &Usage) {
        self.input = self.input.saturating_add(more.input);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
        self.output = self.output.saturating_add(more.output);
        if let Some(thinking) = more.thinking {
            self.thinking = Some(self.thinking.unwrap_or(0).saturating_add(thinking));
        }
        if let Some(cost) = more.cost {
            let so_far = self.cost.unwrap_or_default().nanodollars;
            self.cost = Some(Cost { nanodollars: so_far.saturating_add(cost.nanodollars) });
        }
    }
}
