//! What a turn may spend, what it has spent, and how it ended. Pure arithmetic.

use std::fmt;
use std::time::Duration;

use kit::{Exit, text};
use llm::{Cost, Stop, StopKind, Usage};

use crate::check::Fault;

/// What a turn may spend. It ends when something is used up; what is under way is finished first, but for time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Rounds of tools.
    pub rounds: u32,
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
    /// From its beginning, whatever it waits for.
    pub time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        // Enough for a long repair; without an end a looping model never stops.
        Budget { rounds: 50, tokens: None, cost: None, time: None }
    }
}

/// Which budget was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Rounds(u32),
    Tokens(u64),
    Cost(Cost),
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Rounds(rounds) => write!(f, "the limit of {rounds} rounds of tools is reached"),
            Limit::Tokens(tokens) => write!(f, "the limit of {} tokens is reached", text::thousands(*tokens)),
            Limit::Cost(cost) => write!(f, "the limit of {cost} is reached"),
            Limit::Time => write!(f, "its time is over"),
        }
    }
}

/// What was spent. Without counts of the provider tokens are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// That were sent, whatever came of them.
    pub requests: u32,
    pub rounds: u32,
    pub usage: Usage,
    /// Some of the usage is an estimate.
    pub estimated: bool,
}

impl Spent {
    /// Adds what others spent.
    pub fn add(&mut self, more: &Spent) {
        self.requests += more.requests;
        self.rounds += more.rounds;
        self.usage.add(&more.usage);
        self.estimated |= more.estimated;
    }

    /// Adds a reply. `guess` is input and output in tokens.
    pub(super) fn pay(&mut self, counted: Option<Usage>, guess: (u64, u64)) {
        self.estimated |= counted.is_none();
        let (input, output) = guess;
        self.usage.add(&counted.unwrap_or(Usage { input, output, ..Usage::default() }));
    }
}

impl Budget {
    /// What does not allow another request.
    pub(super) fn reached(&self, spent: &Spent) -> Option<Limit> {
        if spent.rounds > 0 && spent.rounds >= self.rounds {
            return Some(Limit::Rounds(self.rounds));
        }
        if let Some(tokens) = self.tokens.filter(|tokens| spent.usage.total() >= *tokens) {
            return Some(Limit::Tokens(tokens));
        }
        self.cost.filter(|cost| spent.usage.cost.unwrap_or_default() >= *cost).map(Limit::Cost)
    }
}

/// How a turn ended.
#[derive(Debug)]
pub enum End {
    Done,
    /// The last reply was cut off at a limit; what was said is kept.
    Truncated(Stop),
    /// The model will not answer this.
    Refused(Stop),
    Budget(Limit),
    /// A gate said no.
    Blocked(String),
    Interrupted,
    Failed(llm::Error),
    /// The request would have been refused.
    Invalid(Fault),
}

impl End {
    pub fn exit(&self) -> Exit {
        match self {
            End::Done => Exit::Done,
            End::Truncated(stop) if stop.kind == StopKind::MaxTokens => Exit::Budget,
            End::Truncated(_) | End::Refused(_) | End::Failed(_) => Exit::Provider,
            End::Budget(_) => Exit::Budget,
            End::Blocked(_) | End::Invalid(_) => Exit::Failed,
            End::Interrupted => Exit::Interrupted,
        }
    }

    /// Why it ended, as the model is told.
    pub(super) fn reason(&self) -> String {
        match self {
            End::Done => "it is done".to_owned(),
            End::Truncated(stop) => format!("the reply was cut off ({})", stop.literal),
            End::Refused(_) => "the request was refused".to_owned(),
            End::Budget(limit) => limit.to_string(),
            End::Blocked(why) => why.clone(),
            End::Interrupted => "the user interrupted it".to_owned(),
            End::Failed(error) => error.to_string(),
            End::Invalid(fault) => fault.to_string(),
        }
    }
}
