//! What the model holds of each file: a fold over the results that stand in its window now, read back from their own
//! words. Nothing is remembered beside the window, so a trim, a compaction, a rewind, a resume or a fork cannot be
//! missed. Pure: knows no disk; what is held is compared line by line with what the file is now.

mod held;
mod told;

use std::collections::HashMap;
use std::ops::Range;

use conversation::tools::Output;
use conversation::turn::Turn;
use drip::elide::Language;
use drip::lines::{Span, Text};
use drip::plan::{self, Ask, Limits, Plan, Shape};
use llm::{Call, Outcome, ToolResult};

use crate::page::Page;
use crate::tools::{EDIT_FILE, READ_FILE};
use held::Held;
use told::{Told, What};

/// Everything that one window shows of files.
#[derive(Debug, Clone, Default)]
pub struct Eyes {
    files: HashMap<String, Held>,
}

/// What an edit did to a file, in the words that its result ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Created,
    /// Old lines became new lines; counted from 0, ends excluded.
    Replaced {
        old: Range<usize>,
        new: Range<usize>,
    },
    Everywhere(usize),
}

/// An answer to somebody who reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub output: Output,
    /// Bytes of the lines that were asked for: what would have been sent to somebody who remembers nothing.
    pub full: usize,
}

impl Eyes {
    /// What the model sees while its calls are worked on: the window, and what the calls of this reply gave already.
    pub fn of(turn: &Turn) -> Eyes {
        let window = turn.window();
        let given = turn.given().map(|(call, returned)| (call, &returned.result));
        Eyes::fold(window.verbatim(turn.history()).chain(given))
    }

    pub fn fold<'a>(results: impl IntoIterator<Item = (&'a Call, &'a ToolResult)>) -> Eyes {
        let mut eyes = Eyes::default();
        for (call, result) in results {
            if result.outcome == Outcome::Done && [READ_FILE, EDIT_FILE].contains(&call.name.as_str()) {
                eyes.take(call, &result.content);
            }
        }
        eyes
    }

    /// What to answer a model that asks for a file, or for some of its lines.
    pub fn answer(&self, path: &str, now: &Page, window: Option<Span>) -> Answer {
        let held = self.files.get(path).filter(|held| held.form == now.form);
        let view = held.and_then(|held| held.view(now, window));
        let name = path.rsplit('/').next().unwrap_or(path);
        let ask = Ask {
            now: &now.text,
            window,
            view: view.as_ref(),
            language: name.rsplit_once('.').and_then(|(_, extension)| Language::from_extension(extension)),
            name,
            shape: Shape::Diff,
            foreseen: None,
        };
        let plan = plan::plan(&ask, &Limits { elision: None, ..Limits::default() });
        let asked =
            window.and_then(|window| now.text.clip(window)).filter(|asked| Some(*asked) != now.text.span());
        let lines = asked.or(now.text.span()).map(|span| numbered(&now.text, span)).unwrap_or_default();
        let plain = told(path, asked.map_or(What::Whole, What::Part), now, &lines);
        let answer = |output: Output| Answer { output, full: lines.len() };
        let short = match &plan {
            Plan::Part(span) if now.text.clip(*span).is_none() => {
                return answer(Output::failed(past_the_end(path, *span, now.text.count())));
            }
            Plan::Whole(_) | Plan::Elided(_) | Plan::Part(_) => return answer(Output::done(plain)),
            Plan::Unchanged(None) => told(path, What::Same, now, "As you read it; nothing has changed.\n"),
            Plan::Unchanged(Some(span)) => {
                told(path, What::SamePart(*span), now, "These lines are as you read them.\n")
            }
            Plan::Delta(delta) => {
                let words = "Changed since you read it. The rest is as it was:\n";
                told(path, What::Changes, now, &format!("{words}{}", delta.body))
            }
        };
        if short.len() >= plain.len() {
            return answer(Output::done(plain));
        }
        answer(Output::done(short).resting_on(held.map(|held| held.from.clone()).unwrap_or_default()))
    }

    /// Whether the file is another one than the model was shown last. A file that it never saw is not.
    pub fn is_stale(&self, path: &str, now: &Page) -> bool {
        self.files.get(path).is_some_and(|held| held.tag != now.tag())
    }

    fn take(&mut self, call: &Call, content: &str) {
        let (body, last) = content.rsplit_once('\n').unwrap_or(("", content));
        let Some(told) = Told::parse(last) else { return };
        let path = told.path.clone();
        let before = self.files.remove(&path);
        self.files.insert(path, Held::after(before, call, &told, body));
    }
}

/// What the result of an edit ends with.
pub(crate) fn edited(path: &str, done: &Done, before: Option<&Page>, now: &Page) -> String {
    let what = match (before.map(Page::tag), done.clone()) {
        (Some(base), Done::Replaced { old, new }) => What::Edited { base, old, new },
        (Some(base), Done::Everywhere(places)) => What::EditedPlaces { base, places },
        (_, Done::Created) | (None, _) => What::Created,
    };
    told(path, what, now, "")
}

/// `12: text` for each line, the last one ended.
pub(crate) fn numbered(text: &Text, span: Span) -> String {
    let mut out = String::with_capacity(text.slice(span).len() + span.count() * 8);
    for number in span.first..=span.last {
        let Some(line) = text.line(number) else { break };
        out += &number.to_string();
        out += ": ";
        out += line.strip_suffix('\n').unwrap_or(line);
        out.push('\n');
    }
    out
}

fn told(path: &str, what: What, now: &Page, body: &str) -> String {
    match Told::new(path, what, now) {
        Some(told) => format!("{body}{told}"),
        None => body.to_owned(),
    }
}

pub(crate) fn past_the_end(path: &str, asked: Span, count: usize) -> String {
    format!("{path} has {count} lines; there is no line {}", asked.first)
}
