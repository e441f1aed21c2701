//! Putting a summary in the place of old exchanges: what to choose, what to ask the model, and whether its answer can be
//! used. Pure; nothing changes before [`crate::History::compact`] takes what was staged. Who asks the model, and in which
//! words, is the front's.

use std::collections::BTreeSet;
use std::fmt::Write;

use kit::text;
use llm::{Block, Reply, StopKind};
use serde_json::{Value, json};
use thiserror::Error;

use crate::history::{Exchange, ExchangeId, History, Refused, Step};

/// How much of one text a summary is made of: beyond that it is data, not conversation.
const EXCERPT: usize = 4000;

/// A compaction that was checked and has not happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staged {
    archived: Vec<ExchangeId>,
    summary: String,
}

/// Why a compaction cannot be staged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unusable {
    #[error("there is nothing to compact")]
    Nothing,
    #[error("the model gave no summary")]
    Empty,
    /// The provider's word for it. What was said until then is half of a summary, or none.
    #[error("the model did not finish its answer ({0})")]
    Unfinished(String),
    #[error("the model refused ({0})")]
    Declined(String),
    #[error("the model called `{0}` instead of answering")]
    Called(String),
    /// Then it would save nothing.
    #[error("the summary has {summary} bytes, and what it replaces {replaced}")]
    TooLong { summary: usize, replaced: usize },
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The oldest exchanges that may go: `percent` of all, at least one if there is any.
pub fn oldest(history: &History, percent: f64) -> Vec<ExchangeId> {
    let free: Vec<&Exchange> = history.exchanges().iter().filter(|exchange| is_free(exchange)).collect();
    let wanted = (history.exchanges().len() as f64 * percent.clamp(0.0, 100.0) / 100.0).round() as usize;
    free.iter().take(wanted.max(1)).map(|exchange| exchange.id().clone()).collect()
}

/// The exchanges that may go, for a model that shall choose: a JSON list of ids with the beginning of prompt and answer,
/// `excerpt` bytes of each.
pub fn listing(history: &History, excerpt: usize) -> String {
    let row = |exchange: &Exchange| {
        let answer = exchange.answer().unwrap_or_default();
        json!({
            "id": exchange.id().0,
            "user": text::clip(exchange.prompt(), excerpt, ""),
            "assistant": text::clip(&answer, excerpt, ""),
        })
    };
    let free = history.exchanges().iter().filter(|exchange| is_free(exchange));
    Value::Array(free.map(row).collect()).to_string()
}

/// Which exchanges a model chose: the strings of the JSON array in its answer that name one that may go, in the order of
/// the history. Empty if the answer cannot be used.
pub fn chosen(history: &History, answer: &str) -> Vec<ExchangeId> {
    let array = answer.find('[').and_then(|start| {
        let end = answer.rfind(']')?;
        serde_json::from_str::<Vec<Value>>(answer.get(start..=end)?).ok()
    });
    let named: BTreeSet<String> =
        array.iter().flatten().filter_map(|id| id.as_str().map(str::to_owned)).collect();
    let free = history.exchanges().iter().filter(|exchange| is_free(exchange));
    free.filter(|exchange| named.contains(&exchange.id().0)).map(|exchange| exchange.id().clone()).collect()
}

/// These exchanges as a text to be summed up, with the summary so far before them: who said what, which tools ran and how
/// they ended; long texts by their beginning and end.
pub fn transcript(history: &History, ids: &[ExchangeId]) -> String {
    resumed(history.summary(), &portions(history, ids, usize::MAX).concat())
}

/// The same in texts of about `most` bytes at the most, for a model that cannot read all of it at once. Each is to be summed up
/// [`resumed`] after the one before it.
pub fn portions(history: &History, ids: &[ExchangeId], most: usize) -> Vec<String> {
    let ids: BTreeSet<&ExchangeId> = ids.iter().collect();
    let mut portions: Vec<String> = Vec::new();
    for exchange in history.exchanges().iter().filter(|exchange| ids.contains(exchange.id())) {
        let told = text::clip(&told(exchange), most, "");
        match portions.last_mut() {
            Some(last) if last.len().saturating_add(told.len()) <= most => last.push_str(&told),
            _ => portions.push(told),
        }
    }
    portions
}

/// A text to be summed up, with the summary of what was before it.
pub fn resumed(summary: &str, text: &str) -> String {
    match summary.is_empty() {
        true => text.to_owned(),
        false => format!("[SUMMARY SO FAR]: {summary}\n\n{text}"),
    }
}

/// What a model answered, if that is all of its answer and nothing but an answer.
pub fn answer(reply: &Reply) -> Result<String, Unusable> {
    let stop = &reply.done.stop;
    match stop.kind {
        StopKind::Refusal => return Err(Unusable::Declined(stop.literal.clone())),
        StopKind::MaxTokens | StopKind::ContextFull | StopKind::PauseTurn | StopKind::Compaction => {
            return Err(Unusable::Unfinished(stop.literal.clone()));
        }
        StopKind::EndTurn | StopKind::ToolUse | StopKind::StopSequence | StopKind::Unknown => {}
    }
    match reply.blocks.iter().find_map(Block::as_call) {
        Some(call) => Err(Unusable::Called(call.name.clone())),
        None => Ok(reply.text()),
    }
}

/// Checks a summary of these exchanges.
pub fn stage(history: &History, archived: Vec<ExchangeId>, summary: &str) -> Result<Staged, Unusable> {
    if archived.is_empty() {
        return Err(Unusable::Nothing);
    }
    archivable(history, &archived)?;
    let summary = summary.trim();
    if summary.is_empty() {
        return Err(Unusable::Empty);
    }
    let ids: BTreeSet<&ExchangeId> = archived.iter().collect();
    let going = history.exchanges().iter().filter(|exchange| ids.contains(exchange.id()));
    let replaced = history.summary().len() + going.map(crate::window::exchange_weight).sum::<usize>();
    if summary.len() > replaced {
        return Err(Unusable::TooLong { summary: summary.len(), replaced });
    }
    Ok(Staged { archived, summary: summary.to_owned() })
}

impl Staged {
    /// Which exchanges will go.
    pub fn archived(&self) -> &[ExchangeId] {
        &self.archived
    }

    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// From a log: it has happened already.
    pub(crate) fn trusted(archived: Vec<ExchangeId>, summary: String) -> Staged {
        Staged { archived, summary }
    }

    pub(crate) fn into_parts(self) -> (Vec<ExchangeId>, String) {
        (self.archived, self.summary)
    }
}

/// Whether all of them are there and may go.
pub(crate) fn archivable(history: &History, ids: &[ExchangeId]) -> Result<(), Refused> {
    for id in ids {
        match history.exchange(id) {
            None => return Err(Refused::Unknown(id.clone())),
            Some(exchange) if exchange.is_pinned() => return Err(Refused::Pinned(id.clone())),
            Some(exchange) if exchange.is_open() => return Err(Refused::Open(id.clone())),
            Some(_) => {}
        }
    }
    Ok(())
}

fn is_free(exchange: &Exchange) -> bool {
    !exchange.is_pinned() && !exchange.is_open()
}

fn told(exchange: &Exchange) -> String {
    let mut out = String::new();
    let mut line = |who: &str, words: &str| {
        let _ = writeln!(out, "[{who}]: {}\n", text::clip(words, EXCERPT, ""));
    };
    line("USER", exchange.prompt());
    for step in exchange.steps() {
        match step {
            Step::Said(blocks) => spoken(blocks, &mut line),
            Step::Note(words) => line("NOTE", words),
            Step::Round(round) => {
                spoken(round.said(), &mut line);
                round.results().iter().for_each(|returned| line("TOOL RESULT", &returned.result.content));
            }
        }
    }
    out
}

fn spoken(blocks: &[Block], line: &mut impl FnMut(&str, &str)) {
    for block in blocks {
        if let Some(words) = block.as_text() {
            line("ASSISTANT", words);
        }
        if let Some(call) = block.as_call() {
            line("TOOL CALL", &format!("{} {}", call.name, call.input.json()));
        }
    }
}
