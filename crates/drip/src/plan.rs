//! The decision: what to send to a reader who asks for a file, given what it was shown before. Pure.
//!
//! Everything that may be sent instead of the text is correct by construction of the ledger; whether it is *worth*
//! sending is the policy. The seed's gates are the default; `Cheapest` weighs encodings against each other.

use crate::diff::{self, Change, Encoding, Hunk};
use crate::elide::{self, Elided, Language};
use crate::ledger::{self, Extent, View};
use crate::lines::{Ranges, Span, Text};

/// A reader's question.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    pub now: &'a Text,
    /// The lines asked for; nothing means all of them.
    pub window: Option<Span>,
    /// What these eyes hold, if it may be built upon.
    pub view: Option<&'a View>,
    /// Known for files whose symbols can be named.
    pub language: Option<Language>,
    /// The file's own name, for the headings of a diff.
    pub name: &'a str,
    pub shape: Shape,
    /// What changed since the view, if somebody compared them before; believed only where it explains both texts.
    pub foreseen: Option<&'a [Change]>,
}

/// How this reader is shown changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As a diff, under a heading.
    Diff,
    /// As numbered lines of the new text, which is how the client shows every read.
    Numbered,
}

/// When a delta is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub policy: Policy,
    pub max_hunks: usize,
    /// Added and removed lines, as a part of the lines there are now.
    pub max_changed: f64,
    /// More than three hunks farther apart than this are hard to follow.
    pub max_spread: usize,
    /// Larger texts are not compared under the gates.
    pub max_bytes: usize,
    /// Whether and from where on bodies are left out of a first read.
    pub elision: Option<elide::Limits>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Gated,
    Cheapest,
}

/// What to send.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    Whole(Why),
    Elided(Elided),
    /// The lines asked for, which are not all.
    Part(Span),
    /// Nothing but the word, about these lines or all.
    Unchanged(Option<Span>),
    Delta(Delta),
}

/// Why the whole text is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// These eyes have seen nothing of it.
    First,
    /// They have seen only a part.
    NotAllShown,
    Large,
    Truncated,
    /// The diff would be no shorter.
    DiffLarger,
    /// Our own words about it would be no shorter.
    WordsLarger,
    Complex {
        hunks: usize,
        changed: f64,
    },
}

/// All changes since the version that the reader holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    /// The lines asked for, if not all; every hunk lies in them.
    pub window: Option<Span>,
    pub changes: Vec<Change>,
    pub hunks: Vec<Hunk>,
    pub encoding: Encoding,
    pub body: String,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            policy: Policy::Gated,
            max_hunks: 6,
            max_changed: 0.40,
            max_spread: 200,
            max_bytes: 100_000,
            elision: Some(elide::Limits::default()),
        }
    }
}

/// Lines of context in a diff, as the seed has it: enough to find the place, little enough to stay small.
pub const CONTEXT: usize = 3;

pub fn plan(ask: &Ask, limits: &Limits) -> Plan {
    let window = ask.window.and_then(|window| ask.now.clip(window)).filter(|window| {
        let all = ask.now.span();
        Some(*window) != all
    });
    let asks_past_the_end = ask.window.is_some_and(|window| ask.now.clip(window).is_none());
    match (ask.view, window) {
        (_, None) if asks_past_the_end => Plan::Part(ask.window.expect("it was just looked at")),
        (None, None) => first(ask, limits),
        (None, Some(window)) => Plan::Part(window),
        (Some(view), window) if view.text == *ask.now => again(view, window),
        (Some(view), None) => changed(ask, view, limits),
        (Some(view), Some(window)) => changed_window(ask, view, window, limits),
    }
}

impl Plan {
    /// What the reader holds once this was delivered.
    pub fn after(&self, ask: &Ask) -> View {
        let now = ask.now.clone();
        match (self, ask.view) {
            (Plan::Whole(_), _) => View::whole(now),
            (Plan::Elided(elided), _) => View::elided(now, elided),
            (Plan::Part(span), view) => {
                let extent = Extent::of(ask.window.unwrap_or(*span), ask.now);
                match (ask.now.clip(*span), view) {
                    (Some(lines), Some(view)) => view.with_lines(&now, lines.into(), extent),
                    (Some(lines), None) => View::lines(now, lines.into(), extent),
                    // Past the end there is nothing to see.
                    (None, Some(view)) => view.clone(),
                    (None, None) => View::lines(now, Ranges::new(), Extent::Lines),
                }
            }
            (Plan::Unchanged(_), Some(view)) => view.clone(),
            (Plan::Unchanged(_), None) => unreachable!("nothing is unchanged for eyes that saw nothing"),
            (Plan::Delta(delta), Some(view)) => view.with_delta(ask.now, &delta.changes, &delta.hunks),
            (Plan::Delta(_), None) => unreachable!("a delta has a base"),
        }
    }
}

/// Whoever needs what was left out reads the file twice: leaving out less than a fifth is not worth that.
fn first(ask: &Ask, limits: &Limits) -> Plan {
    let elided = limits
        .elision
        .zip(ask.language)
        .and_then(|(limits, language)| elide::elide(language, ask.now.as_str(), &limits))
        .filter(|elided| elided.text.len() * 5 <= ask.now.len() * 4);
    elided.map_or(Plan::Whole(Why::First), Plan::Elided)
}

/// The text is the one that the reader holds.
fn again(view: &View, window: Option<Span>) -> Plan {
    match window {
        None if view.is_whole() => Plan::Unchanged(None),
        None => Plan::Whole(Why::NotAllShown),
        Some(window) if view.shown.covers(window) => Plan::Unchanged(Some(window)),
        Some(window) => Plan::Part(window),
    }
}

fn changed(ask: &Ask, view: &View, limits: &Limits) -> Plan {
    if !view.is_base() {
        return Plan::Whole(Why::NotAllShown);
    }
    let (old, new) = (&view.text, ask.now);
    if limits.policy == Policy::Gated {
        if old.len().max(new.len()) > limits.max_bytes {
            return Plan::Whole(Why::Large);
        }
        if new.len() * 2 < old.len() {
            return Plan::Whole(Why::Truncated);
        }
    }
    let delta = delta(ask, old, None, limits);
    if limits.policy == Policy::Gated
        && let Some(why) = too_complex(&delta, new, limits)
    {
        return Plan::Whole(why);
    }
    if delta.body.len() >= new.len() {
        return Plan::Whole(Why::DiffLarger);
    }
    Plan::Delta(delta)
}

/// Lines of a changed text. What lies before the first change is as it was, numbers included; and where all changes
/// lie in the window, the delta of the window is the delta of the file.
fn changed_window(ask: &Ask, view: &View, window: Span, limits: &Limits) -> Plan {
    let (old, new) = (&view.text, ask.now);
    // Whoever asks beyond the end and holds lines there must be shown that they are gone.
    let is_cut = ask.window.is_some_and(|asked| asked.last > new.count()) && old.count() > new.count();
    if is_cut {
        return Plan::Part(window);
    }
    if ledger::common_prefix(old, new).is_some_and(|prefix| window.last <= prefix.last)
        && view.shown.covers(window)
    {
        return Plan::Unchanged(Some(window));
    }
    if limits.policy == Policy::Gated && old.len().max(new.len()) > limits.max_bytes {
        return Plan::Part(window);
    }
    let delta = delta(ask, old, Some(window), limits);
    let inside = |change: &Change| change.new.start + 1 >= window.first && change.new.end <= window.last;
    let held_before = Span::new(window.first, (window.last + old.count()).saturating_sub(new.count()));
    let was_shown = view.extent != Extent::Elided && held_before.is_some_and(|span| view.shown.covers(span));
    if !was_shown || !delta.changes.iter().all(inside) {
        return Plan::Part(window);
    }
    let complex = limits.policy == Policy::Gated && too_complex(&delta, new, limits).is_some();
    if complex || delta.body.len() >= new.slice(window).len() {
        Plan::Part(window)
    } else {
        Plan::Delta(delta)
    }
}

/// Every way to say the changes that the policy allows, the shortest of them.
fn delta(ask: &Ask, old: &Text, window: Option<Span>, limits: &Limits) -> Delta {
    let foreseen = ask.foreseen.filter(|changes| diff::explains(changes, old, ask.now));
    let changes = foreseen.map_or_else(|| diff::changes(old, ask.now), <[Change]>::to_vec);
    let symbols = ask.language.map(|language| elide::symbols(language, ask.now.as_str())).unwrap_or_default();
    let ways: &[Encoding] = match (ask.shape, limits.policy) {
        (Shape::Diff, Policy::Gated) => &[Encoding::Unified(CONTEXT)],
        (Shape::Numbered, Policy::Gated) => &[Encoding::Replaced(CONTEXT)],
        (Shape::Numbered, Policy::Cheapest) => {
            &[Encoding::Replaced(1), Encoding::Replaced(0), Encoding::Symbols]
        }
        (Shape::Diff, Policy::Cheapest) => &[
            Encoding::Unified(CONTEXT),
            Encoding::Unified(1),
            Encoding::Unified(0),
            Encoding::Replaced(0),
            Encoding::Symbols,
        ],
    };
    let write = |&encoding: &Encoding| {
        let hunks = match encoding {
            Encoding::Unified(context) | Encoding::Replaced(context) => {
                diff::hunks(&changes, context, old, &symbols)
            }
            Encoding::Symbols => diff::symbol_hunks(&changes, &symbols),
        };
        let body = diff::encode(encoding, &hunks, old, ask.now, ask.name);
        (hunks, encoding, body)
    };
    let (hunks, encoding, body) =
        ways.iter().map(write).min_by_key(|(_, _, body)| body.len()).expect("there is always a way");
    Delta { window, changes, hunks, encoding, body }
}

fn too_complex(delta: &Delta, new: &Text, limits: &Limits) -> Option<Why> {
    let touched: usize = delta.changes.iter().map(|change| change.old.len() + change.new.len()).sum();
    let changed = touched as f64 / new.count().max(1) as f64;
    let hunks = delta.hunks.len();
    let spread = match (delta.hunks.first(), delta.hunks.last()) {
        (Some(first), Some(last)) => last.new.start - first.new.start,
        _ => 0,
    };
    let scattered = hunks > 3 && spread > limits.max_spread;
    (hunks > limits.max_hunks || changed > limits.max_changed || scattered)
        .then_some(Why::Complex { hunks, changed })
}
