//! `drip read` and the MCP tool: a path in, plain text out, and the delivery written down. The seed's order of questions
//! is kept: owed after an edit, ignored, gone, what kind of file, known under another name, and only then the plan.

mod file;
mod remarks;

use std::path::Path;

use kit::text::plain;

use crate::database::{DatabaseError, Form, Touched};
use crate::desk::{self, Desk, Look};
use crate::ignored::Ignored;
use crate::ledger::View;
use crate::lines::{Span, Text};
use crate::plan::{Ask, Limits, Plan, Shape};
use crate::render::{self, Answer, Words};
use crate::settings::Settings;
use file::{Material, fits, material, sized};

pub use file::{Located, locate, read_raw};
pub(crate) use file::{escaped, language_of, name_of};
pub(crate) use remarks::age;

/// A reader's wish.
#[derive(Debug, Clone)]
pub struct Wish {
    /// As it was typed.
    pub spelled: String,
    /// The same, without anything that could pass for a line of ours.
    pub shown: String,
    pub window: Window,
    /// An answer that takes more bytes than this in JSON is not given.
    pub room: usize,
}

impl Wish {
    /// All of a file, to somebody with any amount of room.
    pub fn all(spelled: &str) -> Wish {
        Wish { spelled: spelled.to_owned(), shown: plain(spelled), window: Window::All, room: usize::MAX }
    }
}

/// Which part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Window {
    /// All of it, as briefly as may be.
    All,
    /// All of it, word for word.
    Full,
    Lines(Span),
    /// The lines of a definition.
    Symbol(String),
}

/// What may be said in answer, besides the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("file not found: {0}")]
    Missing(String),
    #[error("refusing to read non-regular file: {0} is a {1}")]
    NotRegular(String, &'static str),
    #[error("cannot read {0}: {1}")]
    Unreadable(String, String),
    #[error("{0} is being written to")]
    Changing(String),
    #[error("{path} takes {bytes} bytes and {room} are left: ask for some of its lines")]
    NoRoom { path: String, bytes: usize, room: usize },
    #[error("the path {0} is not valid UTF-8")]
    NotUtf8(String),
    #[error("no definition named `{symbol}` in {path}{}", similar_names(.known))]
    NoSymbol { path: String, symbol: String, known: Vec<String> },
    #[error("`{symbol}` is defined {} times in {path}: lines {}", .places.len(), line_list(.places))]
    Ambiguous { path: String, symbol: String, places: Vec<Span> },
}

/// Answers a wish without a store: everything is a first read, and nothing is written down.
pub fn read_blind(
    settings: &Settings,
    ignored: &Ignored,
    cwd: &Path,
    wish: &Wish,
) -> Result<Answer, ReadError> {
    let located = locate(&wish.spelled, cwd)?;
    let words = Words { path: &wish.shown, ..Words::default() };
    let now = match material(settings, ignored, &located, &words)? {
        Material::Text(text) => text,
        Material::Instead(answer) => return Ok(answer),
        Material::Gone => return Err(ReadError::Missing(located.key)),
    };
    let (window, limits) = sized(&now, &located, wish, settings)?;
    let ask = ask(&now, window, None, &located);
    let answer = render::answer(&ask, &limits, &words).1;
    fits(wish, &answer)?;
    Ok(answer)
}

/// An answer, and what is to be written down once it has arrived.
pub struct Prepared {
    pub answer: Answer,
    receipt: Receipt,
}

enum Receipt {
    /// Something was shown that is no text: what was known of the file under this name is no longer the last word.
    Unplaced(String),
    /// The file under this name may not be kept, or no longer.
    Disowned(String),
    /// The file that was known under this name is gone.
    Gone(String),
    Shown(Box<Shown>),
}

struct Shown {
    key: String,
    look: Look,
    now: Text,
    what: What,
    after: View,
}

enum What {
    Planned(Plan),
    Certificate,
    Passthrough,
    /// From this name.
    Renamed(String),
}

/// How a question ended: with an answer, with words for the caller, or without a store.
pub type Outcome<T> = Result<Result<T, ReadError>, DatabaseError>;

impl Desk<'_> {
    /// Answers a wish and writes the answer down, for a reader who cannot miss it.
    pub fn read(&mut self, ignored: &Ignored, wish: &Wish) -> Outcome<Answer> {
        match self.prepare(ignored, wish)? {
            Ok(prepared) => {
                self.record(&prepared)?;
                Ok(Ok(prepared.answer))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// The answer that a wish gets now. It counts as shown only when it is recorded, which is for the caller to do once
    /// the reader has it.
    pub fn prepare(&self, ignored: &Ignored, wish: &Wish) -> Outcome<Prepared> {
        let located = match locate(&wish.spelled, &self.caller.cwd) {
            Ok(located) => located,
            Err(error) => return Ok(Err(error)),
        };
        let words = Words { path: &wish.shown, ..Words::default() };
        let now = match material(self.settings, ignored, &located, &words) {
            Ok(Material::Text(text)) => text,
            Ok(Material::Instead(answer)) => {
                let receipt = match ignored.verdict_of_read(&located.path).is_free() {
                    true => Receipt::Unplaced(located.key),
                    false => Receipt::Disowned(located.key),
                };
                return Ok(Ok(Prepared { answer, receipt }));
            }
            Ok(Material::Gone) => return self.gone(&located, &words),
            Err(error) => return Ok(Err(error)),
        };
        let (window, limits) = match sized(&now, &located, wish, self.settings) {
            Ok(sized) => sized,
            Err(error) => return Ok(Err(error)),
        };
        let look = self.look(&located.key, &now)?;
        let (answer, what, after) = match self.owed_or_renamed(&located, wish, &now, &look)? {
            Some(answered) => answered,
            None => self.planned(&located, wish, &now, (window, &limits), &look)?,
        };
        if let Err(error) = fits(wish, &answer) {
            return Ok(Err(error));
        }
        let receipt = Receipt::Shown(Box::new(Shown { key: located.key, look, now, what, after }));
        Ok(Ok(Prepared { answer, receipt }))
    }

    /// Writes down that an answer has arrived.
    pub fn record(&mut self, prepared: &Prepared) -> Result<(), DatabaseError> {
        let answer = &prepared.answer;
        match &prepared.receipt {
            Receipt::Unplaced(key) => self.database.forget_head(&self.caller.eyes(), key),
            Receipt::Disowned(key) => self.database.disown(key),
            Receipt::Gone(key) => self.deliver_deleted(key, answer).map(drop),
            Receipt::Shown(shown) => {
                let Shown { key, look, now, what, after } = &**shown;
                let (form, plan) = match what {
                    What::Planned(plan) => (desk::form(plan, now), Some(plan)),
                    What::Certificate => (Form::Nothing, None),
                    What::Passthrough => (Form::Whole, None),
                    What::Renamed(from) => (Form::Renamed(from), None),
                };
                self.deliver(key, look, answer, form, after.clone(), plan)?;
                match what {
                    What::Certificate | What::Passthrough => {
                        self.database.settle_edit(&self.caller.eyes(), key)
                    }
                    What::Planned(_) | What::Renamed(_) => Ok(()),
                }
            }
        }
    }

    fn planned(
        &self,
        located: &Located,
        wish: &Wish,
        now: &Text,
        (window, limits): (Option<Span>, &Limits),
        look: &Look,
    ) -> Result<(Answer, What, View), DatabaseError> {
        let words = self.words(located, wish, now, look)?;
        let view = look.view.as_ref().filter(|_| wish.window != Window::Full);
        let ask = Ask { foreseen: look.foreseen.as_deref(), ..ask(now, window, view, located) };
        let (plan, answer) = render::answer(&ask, limits, &words);
        let after = plan.after(&ask);
        Ok((answer, What::Planned(plan), after))
    }

    /// The first read after an edit of the reader's own, or of a file that it knows under another name.
    fn owed_or_renamed(
        &self,
        located: &Located,
        wish: &Wish,
        now: &Text,
        look: &Look,
    ) -> Result<Option<(Answer, What, View)>, DatabaseError> {
        if wish.window != Window::All {
            return Ok(None);
        }
        let words = Words { path: &wish.shown, ..Words::default() };
        if self.database.owes_answer(&self.caller.eyes(), &located.key)? {
            return Ok(Some(match (self.certificate(located, now, look, &words)?, &look.view) {
                (Some(answer), Some(view)) => (answer, What::Certificate, view.clone()),
                _ => (render::passthrough(now, &words), What::Passthrough, View::whole(now.clone())),
            }));
        }
        let Some(from) = self.renamed_from(look, now)? else { return Ok(None) };
        let answer = render::renamed(now, &from, &words);
        let is_shorter = answer.text.len() < now.len();
        Ok(is_shorter.then(|| (answer, What::Renamed(from), View::whole(now.clone()))))
    }

    /// A certificate, if the file is as the edit left it, all of it was shown, and saying so is shorter.
    pub(crate) fn certificate(
        &self,
        located: &Located,
        now: &Text,
        look: &Look,
        words: &Words,
    ) -> Result<Option<Answer>, DatabaseError> {
        let touched = self.certified(located, now, look)?;
        let answer = touched.map(|touched| render::certificate(now, &touched, words));
        Ok(answer.filter(|answer| answer.text.len() < now.len()))
    }

    /// What the edit touched, if the file is as the edit left it and all of it was shown.
    pub(crate) fn certified(
        &self,
        located: &Located,
        now: &Text,
        look: &Look,
    ) -> Result<Option<Vec<Touched>>, DatabaseError> {
        let settings = &self.settings.certificates;
        let holds_all = look.view.as_ref().is_some_and(|view| view.text == *now && view.is_whole());
        if !settings.enabled || !holds_all {
            return Ok(None);
        }
        let since = self.database.now() - i64::try_from(settings.window.as_secs()).unwrap_or(i64::MAX);
        self.database.unused_edit(&self.caller.eyes(), &located.key, &look.hash, since)
    }

    fn gone(&self, located: &Located, words: &Words) -> Outcome<Prepared> {
        let eyes = self.caller.eyes();
        let meeting = self.database.meet(&eyes)?;
        if !meeting.remembers || self.database.head(&eyes, &located.key, meeting.epoch)?.is_none() {
            return Ok(Err(ReadError::Missing(located.key.clone())));
        }
        let receipt = Receipt::Gone(located.key.clone());
        Ok(Ok(Prepared { answer: render::deleted(words), receipt }))
    }
}

fn ask<'a>(now: &'a Text, window: Option<Span>, view: Option<&'a View>, located: &'a Located) -> Ask<'a> {
    Ask {
        now,
        window,
        view,
        language: language_of(located),
        name: name_of(located),
        shape: Shape::Diff,
        foreseen: None,
    }
}

fn similar_names(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; it has {}", known.join(", ")) }
}

fn line_list(places: &[Span]) -> String {
    let each: Vec<String> = places.iter().map(|span| format!("{}-{}", span.first, span.last)).collect();
    each.join(", ")
}
