//! A plan in words, for readers of plain text: `drip read`, the MCP server, our agent. Pure; the words of a client's
//! own reading tool are its adapter's.

use kit::text::{plain, tokens};

use crate::diff::Hunk;
use crate::lines::{Span, Text};
use crate::plan::{self, Ask, Delta, Limits, Plan, Why};

/// What surrounds the answer.
#[derive(Debug, Clone, Default)]
pub struct Words<'a> {
    /// As the caller spelled it.
    pub path: &'a str,
    /// What the registry and the session have to say, each with its leading ` | `.
    pub remarks: String,
    /// Follows a first read.
    pub trailer: Option<String>,
}

/// What is sent, and what it is counted as.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    pub kind: Kind,
    /// Why the whole text was sent although something was known.
    pub reason: Option<String>,
    pub cost: Cost,
}

/// Tokens of a read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// What would have been sent without us.
    pub full: u64,
    /// Of the file, in any form.
    pub sent: u64,
    /// Our own words.
    pub overhead: u64,
}

/// What an answer was, as the store names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    First,
    Elided,
    Part,
    Unchanged,
    PartUnchanged,
    Delta,
    PartDelta,
    Certificate,
    Renamed,
    Deleted,
    Passthrough,
    Fallback,
    /// The client showed its own text.
    Native,
}

impl Kind {
    pub const ALL: [Kind; 13] = [
        Kind::First,
        Kind::Elided,
        Kind::Part,
        Kind::Unchanged,
        Kind::PartUnchanged,
        Kind::Delta,
        Kind::PartDelta,
        Kind::Certificate,
        Kind::Renamed,
        Kind::Deleted,
        Kind::Passthrough,
        Kind::Fallback,
        Kind::Native,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::First => "first",
            Kind::Elided => "first-compressed",
            Kind::Part => "partial",
            Kind::Unchanged => "unchanged",
            Kind::PartUnchanged => "partial-unchanged",
            Kind::Delta => "delta",
            Kind::PartDelta => "partial-delta",
            Kind::Certificate => "edit-cert",
            Kind::Renamed => "renamed",
            Kind::Deleted => "deleted",
            Kind::Passthrough => "passthrough",
            Kind::Fallback => "fallback",
            Kind::Native => "native",
        }
    }

    pub fn stored(name: &str) -> Option<Kind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Plans and writes the answer. Never longer than the text that was asked for, except for the heading of a first look.
pub fn answer(ask: &Ask, limits: &Limits, words: &Words) -> (Plan, Answer) {
    let plan = plan::plan(ask, limits);
    let answer = render(&plan, ask, words);
    let instead = match &plan {
        Plan::Unchanged(None) | Plan::Delta(Delta { window: None, .. }) => Plan::Whole(Why::WordsLarger),
        Plan::Unchanged(Some(window)) | Plan::Delta(Delta { window: Some(window), .. }) => {
            Plan::Part(*window)
        }
        Plan::Whole(_) | Plan::Elided(_) | Plan::Part(_) => return (plan, answer),
    };
    let asked_for = ask.window.map_or(ask.now.as_str(), |window| ask.now.slice(window));
    if answer.text.len() < asked_for.len() || asked_for.is_empty() {
        return (plan, answer);
    }
    let answer = render(&instead, ask, words);
    (instead, answer)
}

/// A plan as text.
pub fn render(plan: &Plan, ask: &Ask, words: &Words) -> Answer {
    match plan {
        Plan::Whole(why) => whole(*why, ask.now, words),
        Plan::Elided(elided) => {
            let (full, sent) = (size(ask.now.as_str()), size(&elided.text));
            let heading = format!(
                "[DRIP: full read (semantic-compressed) | {}% reduction ({sent}/{full} tokens) | {} functions elided, {} \
                 lines hidden{} | read it with `--full`, `--symbol NAME` or `--lines A-B` for what is hidden | {}]\n",
                percent(full, sent),
                elided.stubs.len(),
                elided.lines_hidden,
                words.remarks,
                words.path,
            );
            headed(Kind::Elided, heading, &elided.text, words.trailer.as_deref(), full)
        }
        Plan::Part(span) => part(*span, ask.now, words),
        Plan::Unchanged(None) => {
            let full = size(ask.now.as_str());
            let heading = match ask.now.is_empty() {
                true => format!("[DRIP: unchanged (empty file) | {}]\n", words.path),
                false => format!(
                    "[DRIP: unchanged since last read | 0 tokens sent ({full} saved){} | {}]\n",
                    words.remarks, words.path
                ),
            };
            headed(Kind::Unchanged, heading, "", None, full)
        }
        Plan::Unchanged(Some(window)) => {
            let full = size(ask.now.slice(*window));
            let heading = format!(
                "[DRIP: unchanged (lines {}-{}) | 0 tokens sent ({full} saved){} | {}]\n",
                window.first, window.last, words.remarks, words.path
            );
            headed(Kind::PartUnchanged, heading, "", None, full)
        }
        Plan::Delta(delta) => changed(delta, ask.now, words),
    }
}

/// The reader edited the file and it is as the edit left it: what it changed is named, and nothing is sent again.
pub fn certificate(now: &Text, touched: &[(String, Span)], words: &Words) -> Answer {
    let full = size(now.as_str());
    let hash = now.hash();
    let lines: String = touched
        .iter()
        .map(|(symbol, span)| format!("  {symbol} (L{}-L{})\n", span.first, span.last))
        .collect();
    let changed: usize = touched.iter().map(|(_, span)| span.count()).sum();
    let body = format!(
        "Edit applied successfully.\nChanged:\n{lines}Unchanged regions: {} lines\nFile hash: {}\n\
         Use `drip refresh {}` if you need full content.\n",
        now.count().saturating_sub(changed),
        hash.short(),
        words.path,
    );
    let heading = |sent: u64| {
        format!(
            "[DRIP: edit verified | {}% reduction ({sent}/{full} tokens) | hash: {} | {}]\n",
            percent(full, sent),
            hash.short(),
            words.path
        )
    };
    headed(Kind::Certificate, heading(size(&body)), &body, None, full)
}

/// The first read after an edit, where nothing shorter may be said.
pub fn passthrough(now: &Text, words: &Words) -> Answer {
    let heading =
        format!("[DRIP: post-edit passthrough | next read after this is normal | {}]\n", words.path);
    headed(Kind::Passthrough, heading, now.as_str(), None, size(now.as_str()))
}

/// The same text, under a name that these eyes know.
pub fn renamed(now: &Text, from: &str, words: &Words) -> Answer {
    let full = size(now.as_str());
    let heading = format!(
        "[DRIP: renamed from {} | unchanged since last read | 0 tokens sent ({full} saved) | {}]\n",
        plain(from),
        words.path
    );
    headed(Kind::Renamed, heading, "", None, full)
}

pub fn deleted(words: &Words) -> Answer {
    headed(Kind::Deleted, format!("[DRIP: file deleted since last read | {}]\n", words.path), "", None, 0)
}

/// A text with no word of ours.
pub fn bare(text: &str) -> Answer {
    headed(Kind::Native, String::new(), text, None, size(text))
}

/// A file that has no text to give: why, and one line in its place.
pub fn placeholder(label: &str, body: &str, words: &Words) -> Answer {
    let heading = format!("[DRIP: {label} | {} tokens | {}]\n", size(body), words.path);
    let mut answer = headed(Kind::Fallback, heading, body, None, 0);
    answer.reason = Some(label.to_owned());
    answer.cost = Cost::default();
    answer
}

/// How much less `sent` is than `full`, in percent; negative where it is more.
pub fn percent(full: u64, sent: u64) -> i64 {
    if full == 0 {
        return 0;
    }
    let saved = full as i64 - sent as i64;
    (saved as f64 * 100.0 / full as f64).round() as i64
}

fn whole(why: Why, now: &Text, words: &Words) -> Answer {
    let full = size(now.as_str());
    if now.is_empty() {
        return headed(Kind::First, format!("[DRIP: empty file | {}]\n", words.path), "", None, 0);
    }
    let label = match why {
        Why::First | Why::NotAllShown => {
            let heading = format!("[DRIP: full read | {full} tokens{} | {}]\n", words.remarks, words.path);
            return headed(Kind::First, heading, now.as_str(), words.trailer.as_deref(), full);
        }
        Why::Large => "large file".to_owned(),
        Why::Truncated => "truncated".to_owned(),
        Why::DiffLarger => "diff would cost more than the file itself".to_owned(),
        Why::WordsLarger => "DRIP marker would cost more than native read".to_owned(),
        Why::Complex { hunks, changed } => {
            format!("diff complexity: {hunks} hunks, {:.0}% changed", changed * 100.0)
        }
    };
    let heading = match why {
        Why::WordsLarger => String::new(),
        _ => format!("[DRIP: {label} | {full} tokens | {}]\n", words.path),
    };
    let mut answer = headed(Kind::Fallback, heading, now.as_str(), None, full);
    answer.reason = Some(label);
    answer
}

fn part(span: Span, now: &Text, words: &Words) -> Answer {
    let Some(clipped) = now.clip(span) else {
        let heading =
            format!("[DRIP: no line {} | the file has {} lines | {}]\n", span.first, now.count(), words.path);
        return headed(Kind::Part, heading, "", None, 0);
    };
    let body = now.slice(clipped);
    let heading = format!(
        "[DRIP: lines {}-{} of {} | {} tokens | {}]\n",
        clipped.first,
        clipped.last,
        now.count(),
        size(body),
        words.path
    );
    headed(Kind::Part, heading, body, None, size(body))
}

fn changed(delta: &Delta, now: &Text, words: &Words) -> Answer {
    let sent = size(&delta.body);
    let hunks = hunk_summary(&delta.hunks);
    let (kind, full, heading) = match delta.window {
        None => {
            let full = size(now.as_str());
            let percent = percent(full, sent);
            let heading = format!(
                "[DRIP: delta only | {percent}% token reduction ({sent}/{full}){hunks}{} | {}]\n",
                words.remarks, words.path
            );
            (Kind::Delta, full, heading)
        }
        Some(Span { first, last }) => {
            let full = size(now.slice(Span { first, last }));
            let percent = percent(full, sent);
            let heading = format!(
                "[DRIP: delta only (lines {first}-{last}) | {percent}% token reduction ({sent}/{full}) | {}]\n",
                words.path
            );
            (Kind::PartDelta, full, heading)
        }
    };
    headed(kind, heading, &delta.body, None, full)
}

/// Where the hunks are, if there are several; the first six by name.
pub fn hunk_summary(hunks: &[Hunk]) -> String {
    const NAMED: usize = 6;
    if hunks.len() < 2 {
        return String::new();
    }
    let line = |hunk: &Hunk| hunk.changes.first().map_or(hunk.new.start, |change| change.new.start) + 1;
    let name = |hunk: &Hunk| match &hunk.symbol {
        Some(symbol) => format!("{symbol} (ln {})", line(hunk)),
        None => format!("ln {}", line(hunk)),
    };
    let named: Vec<String> = hunks.iter().take(NAMED).map(name).collect();
    let more = match hunks.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", +{more} more"),
    };
    format!(" | {} hunks: {}{more}", hunks.len(), named.join(", "))
}

/// Puts heading, body and trailer together. What is printed ends with a line end.
fn headed(kind: Kind, heading: String, body: &str, trailer: Option<&str>, full: u64) -> Answer {
    let trailer = trailer.unwrap_or_default();
    let cost = Cost { full, sent: size(body) + size(trailer), overhead: size(&heading) };
    let mut text = heading;
    text += body;
    text += trailer;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Answer { text, kind, reason: None, cost }
}

fn size(text: &str) -> u64 {
    tokens(text.len() as u64)
}
