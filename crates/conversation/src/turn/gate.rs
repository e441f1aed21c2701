//! Where a front may look, change and refuse. Each front maps these to its own hooks and questions; the machine knows
//! none of them.

use llm::Stop;
use serde_json::{Map, Value};

use crate::compact::Staged;
use crate::tools::{Output, Task};

/// A question to the front. The turn waits for the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Gate {
    /// Before the prompt is part of the history.
    BeforePrompt { text: String },
    /// Before each request. `round` rounds of tools are done: at 0 it is the first request of the turn.
    BeforeRequest { round: u32 },
    /// Before a tool starts: permissions, too. Calls that cannot run do not get here.
    BeforeTool { place: usize, task: Task },
    /// After a tool ran.
    AfterTool { place: usize, task: Task, output: Output },
    /// After the last reply, which is in the history.
    BeforeStop { text: String, stop: Stop },
}

/// The answer to a [`Gate`].
#[derive(Debug, Clone, PartialEq)]
pub enum Passed {
    Prompt(Entry),
    Request(Departure),
    Tool { place: usize, permit: Permit },
    Output { place: usize, output: Output },
    Stop(Finale),
}

/// What becomes of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// As it was, or in other words.
    Send(String),
    Refuse(String),
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Departure {
    Send,
    /// After this compaction.
    Compact(Staged),
    Refuse(String),
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Permit {
    Run,
    /// With other arguments. The history keeps the model's own.
    RunWith(Map<String, Value>),
    /// The model is told this.
    Deny(String),
}

/// What becomes of a turn that could end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finale {
    End,
    /// The model gets this in the user's place, and goes on.
    GoOn(String),
}
