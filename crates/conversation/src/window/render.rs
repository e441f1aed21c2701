//! A window as messages, with every word that stands in place of what was left out. All texts that a model sees because
//! of a window are in this file.

use kit::text;
use llm::{Block, Message, ToolResult};

use super::{Change, Fitted, Part, Shown, Site};
use crate::history::{Exchange, History, Step};

/// How much of an oversized text is sent.
pub(super) const CUT_TO: usize = 2000;

/// How much of the first prompt is sent when its exchange is not.
const BEGAN: usize = 1000;

pub(super) const LOST: &str = "[this rests on a result that is no longer shown; call the tool again]";

pub(super) fn messages(fitted: &Fitted, history: &History) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut left_out = 0;
    for (place, exchange) in history.exchanges().iter().enumerate() {
        if !fitted.keeps(place) {
            left_out += 1;
            continue;
        }
        let mut head = Vec::new();
        if messages.is_empty() {
            head.push(history.opening().to_owned());
            if fitted.limits.summary == Shown::First {
                head.push(summary(history.summary()));
            }
            // A summary says it already.
            if left_out > 0 && history.summary().is_empty() {
                head.push(began(history.exchanges()[0].prompt()));
            }
        }
        if left_out > 0 {
            head.push(gap(std::mem::take(&mut left_out)));
        }
        head.retain(|part| !part.is_empty());
        render(fitted, place, exchange, head, &mut messages);
    }
    messages
}

/// The summary, as the head of the first message shows it.
pub(super) fn summary(summary: &str) -> String {
    if summary.is_empty() { String::new() } else { format!("[Summary of what was said before]\n{summary}") }
}

/// How the conversation began, when that is not shown.
pub(super) fn began(prompt: &str) -> String {
    format!("[The conversation began with]\n{}", text::clip(prompt, BEGAN, ""))
}

pub(super) fn gap(exchanges: usize) -> String {
    let s = if exchanges == 1 { "" } else { "s" };
    format!("[{exchanges} earlier exchange{s} left out here to make room]")
}

/// What is sent in place of a text.
pub(super) fn changed(words: &str, change: Change) -> String {
    match change {
        Change::Stubbed => format!(
            "[{} bytes left out to make room; call the tool again if they matter]",
            text::thousands(words.len() as u64)
        ),
        Change::Lost => LOST.to_owned(),
        Change::Cut => text::clip(words, CUT_TO, "ask again for the part that matters"),
    }
}

fn render(fitted: &Fitted, place: usize, exchange: &Exchange, head: Vec<String>, out: &mut Vec<Message>) {
    let shown = |step, part, words: &str| {
        let change = fitted.changes.get(&Site { exchange: place, step, part });
        change.map_or_else(|| words.to_owned(), |change| changed(words, *change))
    };
    let blocks = |step, said: &[Block]| {
        let block = |(part, block): (usize, &Block)| {
            let change = fitted.changes.get(&Site { exchange: place, step, part: Part::Block(part) });
            match (change, block.as_text()) {
                (Some(change), Some(words)) => Block::text(&changed(words, *change)),
                _ => block.clone(),
            }
        };
        Message::Assistant(said.iter().enumerate().map(block).collect())
    };
    let mut prompt = head;
    prompt.push(shown(0, Part::Words, exchange.prompt()));
    out.push(Message::User(prompt.join("\n\n")));
    for (number, step) in exchange.steps().iter().enumerate() {
        let number = number + 1;
        match step {
            Step::Said(said) => out.push(blocks(number, said)),
            Step::Note(words) => out.push(Message::User(shown(number, Part::Words, words))),
            Step::Round(round) => {
                out.push(blocks(number, round.said()));
                let results = round.results().iter().map(|returned| &returned.result).enumerate();
                let results = results.map(|(part, result)| ToolResult {
                    id: result.id.clone(),
                    content: shown(number, Part::Result(part), &result.content),
                    outcome: result.outcome,
                });
                out.push(Message::Results(results.collect()));
            }
        }
    }
}
