//! A prompt and all that came of it. Its shape is the rule that providers have: a round is calls with exactly their
//! results, and the roles take turns.

use std::collections::BTreeSet;
use std::fmt;

use llm::{Block, CallId, ToolResult, View};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{Ending, Record};
use super::reply::{Reply, sound, spelled};

/// What stands for a result without words: some providers refuse an empty one.
const NO_OUTPUT: &str = "(no output)";

/// The front's name for an exchange, such as the id of the prompt's entry in its log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExchangeId(pub String);

impl fmt::Display for ExchangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    id: ExchangeId,
    prompt: String,
    steps: Vec<Step>,
    pinned: bool,
    /// The last step is a reply that the provider will go on with.
    paused: bool,
}

/// What follows a prompt. Replies and what answers them take turns.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A reply without calls: the last step, or followed by a note.
    Said(Vec<Block>),
    Round(Round),
    /// Words of ours in the user's place.
    Note(String),
}

/// A reply with calls, and exactly their results in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    said: Vec<Block>,
    results: Vec<Returned>,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    pub result: ToolResult,
    /// Earlier results without which this one says nothing, such as the text that it is a change of. When one of them
    /// is no longer in the window, the model is told so instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<CallId>,
}

impl Round {
    pub fn said(&self) -> &[Block] {
        &self.said
    }

    pub fn results(&self) -> &[Returned] {
        &self.results
    }
}

impl Exchange {
    pub(super) fn new(id: ExchangeId, prompt: String) -> Exchange {
        Exchange { id, prompt, steps: Vec::new(), pinned: false, paused: false }
    }

    pub fn id(&self) -> &ExchangeId {
        &self.id
    }

    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// Whether a reply is due.
    pub fn is_open(&self) -> bool {
        self.paused || !matches!(self.steps.last(), Some(Step::Said(_)))
    }

    /// The last thing that the model said aloud.
    pub fn answer(&self) -> Option<String> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Said(blocks) => Some(blocks.iter().filter_map(Block::as_text).collect()),
            Step::Round(_) | Step::Note(_) => None,
        })
    }

    /// The model's blocks of the whole exchange.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.steps.iter().flat_map(|step| match step {
            Step::Said(blocks) => blocks.as_slice(),
            Step::Round(round) => &round.said,
            Step::Note(_) => &[],
        })
    }

    pub(super) fn set_pinned(&mut self, pinned: bool) {
        self.pinned = pinned;
    }

    pub(super) fn say(&mut self, reply: Reply) {
        let blocks = self.resumed(reply);
        self.end(blocks);
    }

    pub(super) fn pause(&mut self, reply: Reply) {
        let blocks = self.resumed(reply);
        // A pause without any content is nothing to go on with.
        if blocks.is_empty() {
            return self.end(blocks);
        }
        self.paused = true;
        self.steps.push(Step::Said(blocks));
    }

    /// `results` are those of the reply's calls.
    pub(super) fn round(&mut self, reply: Reply, mut results: Vec<Returned>) {
        let order: Vec<CallId> = reply.calls().iter().map(|call| call.id.clone()).collect();
        results.sort_by_key(|returned| order.iter().position(|id| *id == returned.result.id));
        for Returned { result, .. } in &mut results {
            if is_blank(&result.content) {
                NO_OUTPUT.clone_into(&mut result.content);
            }
        }
        let said = sound(self.resumed(reply));
        self.steps.push(Step::Round(Round { said, results }));
    }

    pub(super) fn note(&mut self, text: String) {
        self.steps.push(Step::Note(text));
    }

    /// Ends an open exchange that has steps.
    pub(super) fn close(&mut self, note: &str) {
        let mut blocks = self.paused_blocks();
        blocks.push(Block::text(note));
        self.end(blocks);
    }

    pub(super) fn call_names(&self) -> impl Iterator<Item = String> {
        self.blocks().filter_map(Block::as_call).map(|call| spelled(&call.id.0))
    }

    pub(super) fn record(&self, records: &mut Vec<Record>) {
        records.push(Record::Prompt { id: self.id.clone(), text: self.prompt.clone() });
        if self.pinned {
            records.push(Record::Pinned { id: self.id.clone() });
        }
        for (place, step) in self.steps.iter().enumerate() {
            let ending = match self.paused && place + 1 == self.steps.len() {
                true => Ending::Paused,
                false => Ending::Complete,
            };
            match step {
                Step::Said(blocks) => records.push(Record::Reply { blocks: blocks.clone(), ending }),
                Step::Note(text) => records.push(Record::Note { text: text.clone() }),
                Step::Round(round) => {
                    records.push(Record::Reply { blocks: round.said.clone(), ending });
                    records.extend(round.results.iter().cloned().map(Record::Result));
                }
            }
        }
    }

    /// The reply, behind what was paused before it.
    fn resumed(&mut self, reply: Reply) -> Vec<Block> {
        let mut blocks = self.paused_blocks();
        blocks.extend(reply.into_blocks());
        blocks
    }

    fn paused_blocks(&mut self) -> Vec<Block> {
        match std::mem::take(&mut self.paused).then(|| self.steps.pop()) {
            Some(Some(Step::Said(blocks))) => blocks,
            _ => Vec::new(),
        }
    }

    /// The last words. Calls that the provider was to answer itself, and has not, never will be.
    fn end(&mut self, mut last: Vec<Block>) {
        let answered: BTreeSet<String> =
            self.blocks().chain(&last).filter_map(|block| field(block, "tool_use_id")).collect();
        let stands =
            |block: &Block| server_call(block).is_none_or(|id| id.is_some_and(|id| answered.contains(&id)));
        for step in &mut self.steps {
            match step {
                Step::Said(said) | Step::Round(Round { said, .. }) if !said.iter().all(stands) => {
                    said.retain(stands);
                    *said = sound(std::mem::take(said));
                }
                Step::Said(_) | Step::Round(_) | Step::Note(_) => {}
            }
        }
        last.retain(stands);
        self.steps.push(Step::Said(sound(last)));
    }
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The text, if it has any words.
pub(super) fn words(text: &str) -> Option<String> {
    (!is_blank(text)).then(|| text.to_owned())
}

/// The id of a call that the provider answers itself, in the same reply or a later one. One without an id is a call that
/// nothing can answer.
fn server_call(block: &Block) -> Option<Option<String>> {
    match block.view() {
        View::Other(kind) if kind.ends_with("_tool_use") => Some(field(block, "id")),
        _ => None,
    }
}

fn field(block: &Block, name: &str) -> Option<String> {
    let View::Other(_) = block.view() else { return None };
    let raw: Value = serde_json::from_str(block.raw().get()).ok()?;
    Some(raw.get(name)?.as_str()?.to_owned())
}
