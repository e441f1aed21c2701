//! What of a history is sent when all of it is too much. Pure: the same history gives the same window in every process,
//! and one that has only grown gives a window that has only grown, until the next time room must be made. So a
//! provider's cache finds its prefix again. Knows no provider and no request.

mod fold;
mod render;
mod weight;

use std::collections::{BTreeMap, HashSet};

use llm::{Block, Call, CallId, Message, ToolResult};

use crate::history::{Exchange, ExchangeId, History, Returned, Round, Step};

pub(crate) use weight::exchange as exchange_weight;

/// How much may be sent, in bytes of JSON; the messages only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    pub relief: Relief,
    pub summary: Shown,
}

/// What goes first when room must be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relief {
    /// The bodies of old results, then whole exchanges.
    ResultsFirst,
    /// Whole exchanges.
    Exchanges,
}

/// Where the summary of what was compacted is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// At the head of the first message.
    First,
    /// The caller puts it where it wants it.
    ByCaller,
}

impl Default for Limits {
    /// About 180,000 tokens: room for the rest of a request in a window of 200,000.
    fn default() -> Self {
        Limits { bytes: 720_000, relief: Relief::ResultsFirst, summary: Shown::First }
    }
}

/// What is sent of a history, and exactly what is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// Exchanges that are not sent, oldest first: what a summary should be made of.
    pub dropped: Vec<ExchangeId>,
    /// Results whose bodies are not sent.
    pub stubbed: Vec<CallId>,
    /// How many texts are sent by their beginning and end only.
    pub cut: usize,
    /// The size of what is sent.
    pub bytes: usize,
    kept: Vec<bool>,
    changes: BTreeMap<Site, Change>,
    limits: Limits,
}

/// A text in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    exchange: usize,
    /// 0 is the prompt, then the steps.
    step: usize,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// The text of a prompt or a note.
    Words,
    Block(usize),
    Result(usize),
}

/// How a text is sent that is not sent as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Stubbed,
    /// What it rests on is not there any more.
    Lost,
    Cut,
}

/// Chooses what is sent. Exchanges are kept or dropped as a whole, so that no call is parted from its result; the last
/// one and the pinned ones are kept. When the limit is passed, so much goes that it takes a while until that happens
/// again.
pub fn fit(history: &History, limits: &Limits) -> Fitted {
    let (kept, changes) = fold::fold(history, limits);
    let exchanges = history.exchanges();
    let dropped = exchanges.iter().zip(&kept).filter(|(_, kept)| !**kept);
    let dropped = dropped.map(|(exchange, _)| exchange.id().clone()).collect();
    let mut fitted =
        Fitted { dropped, stubbed: Vec::new(), cut: 0, bytes: 0, kept, changes, limits: limits.clone() };
    fitted.find_lost(history);
    for (site, change) in &fitted.changes {
        match (change, result_at(exchanges, *site)) {
            (Change::Stubbed | Change::Lost, Some(returned)) => {
                fitted.stubbed.push(returned.result.id.clone());
            }
            _ => fitted.cut += 1,
        }
    }
    fitted.bytes = fitted.messages(history).iter().map(weight::message).sum();
    fitted
}

impl Fitted {
    /// Even so it is more than the limit: the last exchange alone, or the pinned ones, are too large.
    pub fn is_over(&self) -> bool {
        self.bytes > self.limits.bytes
    }

    pub fn tokens(&self) -> u64 {
        kit::text::tokens(self.bytes as u64)
    }

    /// What is sent, of the history that was fitted.
    pub fn messages(&self, history: &History) -> Vec<Message> {
        render::messages(self, history)
    }

    /// The results that the model sees word for word, with their calls. Whatever is not among them it has not seen, or
    /// sees no more.
    pub fn verbatim<'a>(&'a self, history: &'a History) -> impl Iterator<Item = (&'a Call, &'a ToolResult)> {
        let unchanged = self.results(history).filter(|(site, _, _)| !self.changes.contains_key(site));
        unchanged.map(|(_, call, returned)| (call, &returned.result))
    }

    /// What came after the window was fitted is not left out.
    fn keeps(&self, place: usize) -> bool {
        self.kept.get(place).copied().unwrap_or(true)
    }

    /// The results in the exchanges that are sent.
    fn results<'a>(&'a self, history: &'a History) -> impl Iterator<Item = (Site, &'a Call, &'a Returned)> {
        let kept = history.exchanges().iter().enumerate().filter(|(place, _)| self.keeps(*place));
        kept.flat_map(|(exchange, kept)| rounds(kept).map(move |(step, round)| (exchange, step, round)))
            .flat_map(|(exchange, step, round)| {
                let calls = round.said().iter().filter_map(Block::as_call);
                calls.zip(round.results()).enumerate().map(move |(part, (call, returned))| {
                    (Site { exchange, step, part: Part::Result(part) }, call, returned)
                })
            })
    }

    /// A result that rests on another is worth nothing without it.
    fn find_lost(&mut self, history: &History) {
        let mut whole: HashSet<&CallId> = HashSet::new();
        let mut lost = Vec::new();
        for (site, call, returned) in self.results(history) {
            if self.changes.contains_key(&site) {
                continue;
            }
            match returned.rests_on.iter().all(|id| whole.contains(id)) {
                true => drop(whole.insert(&call.id)),
                false => lost.push(site),
            }
        }
        self.changes.extend(lost.into_iter().map(|site| (site, Change::Lost)));
    }
}

/// The rounds of an exchange, with the number of their step.
fn rounds(exchange: &Exchange) -> impl Iterator<Item = (usize, &Round)> {
    exchange.steps().iter().enumerate().filter_map(|(place, step)| match step {
        Step::Round(round) => Some((place + 1, round)),
        Step::Said(_) | Step::Note(_) => None,
    })
}

fn result_at(exchanges: &[Exchange], site: Site) -> Option<&Returned> {
    let Part::Result(part) = site.part else { return None };
    match exchanges.get(site.exchange)?.steps().get(site.step.checked_sub(1)?)? {
        Step::Round(round) => round.results().get(part),
        Step::Said(_) | Step::Note(_) => None,
    }
}
