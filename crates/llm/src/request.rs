//! One request, in words that belong to no provider. Plain data: how it looks on a wire is told beside each wire.
//!
//! Two equal requests are sent as equal bytes, and a conversation that grows only at its end grows only at the end of
//! its bytes, so that a provider's cache finds the prefix again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::block::{Block, CallId};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    pub model: String,
    /// What never changes during a conversation. Empty: none.
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    pub cache: Cache,
    pub options: Options,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Instructions in the middle of a conversation, for what changes from turn to turn.
    System(String),
    User(String),
    Assistant(Vec<Block>),
    /// All results of one reply's calls, in the order of the calls.
    Results(Vec<ToolResult>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub id: CallId,
    pub content: String,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Done,
    Failed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments: an object.
    pub schema: Value,
}

/// Where the provider may cut what it remembers of a request. Providers that cache by themselves are told nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cache {
    Off,
    /// Behind the system text, and as far as the request goes.
    #[default]
    Whole,
    /// Behind the system text, and behind the message at this place, which is the user's or results: what follows it
    /// will have changed next time.
    Through(usize),
}

/// Everything that may be set; what is `None` or empty is left to the provider.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub frequency_penalty: Option<f64>,
    pub presence_penalty: Option<f64>,
    pub seed: Option<u64>,
    pub stop: Vec<String>,
    pub tool_choice: Option<ToolChoice>,
    pub parallel_tool_calls: Option<bool>,
    pub reasoning: Option<Reasoning>,
    pub format: Option<Format>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    /// Some tool.
    Required,
    Named(String),
}

/// How much the model shall think. `max_tokens` wins over `effort`: a provider that is told both refuses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reasoning {
    pub effort: Option<Effort>,
    pub max_tokens: Option<u32>,
    /// Think, but do not tell.
    pub exclude: Option<bool>,
    pub enabled: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
}

impl Effort {
    pub const ALL: [Effort; 6] =
        [Effort::None, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High, Effort::XHigh];

    pub fn word(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::XHigh => "xhigh",
        }
    }
}

/// What the text of the answer shall be.
#[derive(Debug, Clone, PartialEq)]
pub enum Format {
    Text,
    /// Any JSON object.
    Json,
    Schema {
        name: String,
        schema: Value,
        strict: Option<bool>,
    },
}
