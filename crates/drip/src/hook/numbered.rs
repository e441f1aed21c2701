//! Answers for a tool that numbers every line it shows: a heading takes the number before the first line, so that the
//! lines of one hunk get their own. Pure.

use kit::text::{plain, tokens};

use super::page::{Page, end_alike};
use crate::database::Touched;
use crate::diff::{self, Hunk};
use crate::lines::{Hash, Span};
use crate::plan::{Ask, Delta, Plan};
use crate::render::{Answer, Cost, Kind, hunk_summary, percent};

/// What the tool shows instead: lines, and the number of the first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbered {
    pub(super) content: String,
    pub(super) first: usize,
    pub(super) answer: Answer,
}

/// What an answer is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    /// As the caller spelled it.
    pub(super) path: &'a str,
    /// What the client would have shown, in bytes.
    pub(super) native: usize,
    /// Whether what is there now is in part the reader's own work, of which no answer has spoken yet.
    pub(super) edited: bool,
}

impl About<'_> {
    /// The plan as an answer; nothing where the client's own is as short, or says it better.
    pub(super) fn answer(&self, plan: &Plan, ask: &Ask) -> Option<Numbered> {
        let said = match plan {
            Plan::Unchanged(window) => self.unchanged(*window),
            Plan::Delta(delta) => self.delta(delta, ask)?,
            Plan::Whole(_) | Plan::Elided(_) | Plan::Part(_) => return None,
        };
        self.if_shorter(said)
    }

    /// An answer that is worth it.
    pub(super) fn if_shorter(&self, said: Numbered) -> Option<Numbered> {
        (shown(said.first, &said.content) < self.native).then_some(said)
    }

    pub(super) fn unchanged(&self, window: Option<Span>) -> Numbered {
        let (kind, what) = match window {
            None => (Kind::Unchanged, "unchanged since last read".to_owned()),
            Some(Span { first, last }) => (Kind::PartUnchanged, format!("unchanged (lines {first}-{last})")),
        };
        let edited = if self.edited { " | as your edit left it" } else { "" };
        self.heading_alone(kind, &format!("{what} | 0 tokens sent ({} saved){edited}", self.full()))
    }

    /// The reader's own edit, and nothing else, made the file what it is.
    pub(super) fn certificate(&self, touched: &[Touched], hash: &Hash) -> Numbered {
        let changed: Vec<String> = touched
            .iter()
            .map(|(symbol, span)| {
                format!("{symbol} (L{}-L{})", span.first, span.last).trim_start().to_owned()
            })
            .collect();
        self.heading_alone(
            Kind::Certificate,
            &format!(
                "edit verified | 100% reduction (0/{} tokens) | hash: {} | changed: {}; the rest is as you read it",
                self.full(),
                hash.short(),
                changed.join(", "),
            ),
        )
    }

    /// The same text under a name that the reader knows.
    pub(super) fn renamed(&self, from: &str) -> Numbered {
        let what = format!(
            "renamed from {} | unchanged since last read | 0 tokens sent ({} saved)",
            plain(from),
            self.full()
        );
        self.heading_alone(Kind::Renamed, &what)
    }

    fn heading_alone(&self, kind: Kind, what: &str) -> Numbered {
        self.compose(kind, 0, format!("[DRIP: {what} | {}]", plain(self.path)), "")
    }

    fn delta(&self, delta: &Delta, ask: &Ask) -> Option<Numbered> {
        if ask.view.is_none_or(|view| !end_alike(&view.text, ask.now)) {
            return None;
        }
        let lines = |hunk: &Hunk| Span::from_indices(&hunk.new).map_or("", |span| ask.now.slice(span));
        let (first, place, body) = match delta.hunks.as_slice() {
            // One empty line would look like none.
            [hunk] if lines(hunk) != "\n" => {
                (hunk.new.start, format!(" | {}", diff::place(hunk)), lines(hunk))
            }
            hunks => (0, hunk_summary(hunks), delta.body.as_str()),
        };
        let body = body.strip_suffix('\n').unwrap_or(body);
        // Both texts end alike, and the client has no such sign.
        let sign = body.strip_suffix(diff::NO_NEWLINE).and_then(|body| body.strip_suffix('\n'));
        let body = sign.filter(|_| delta.hunks.len() > 1).unwrap_or(body);
        let sent = tokens(shown(first + 1, body) as u64);
        let full = self.full();
        let (kind, lines) = match delta.window {
            None => (Kind::Delta, String::new()),
            Some(Span { first, last }) => (Kind::PartDelta, format!(" (lines {first}-{last})")),
        };
        let heading = format!(
            "[DRIP: delta only{lines} | {}% token reduction ({sent}/{full}){place} | {}]",
            percent(full, sent),
            plain(self.path)
        );
        Some(self.compose(kind, first, heading, body))
    }

    fn compose(&self, kind: Kind, first: usize, heading: String, body: &str) -> Numbered {
        let cost = Cost {
            full: self.full(),
            sent: tokens(shown(first + 1, body) as u64),
            overhead: tokens(shown(first, &heading) as u64),
        };
        let content = if body.is_empty() { heading } else { format!("{heading}\n{body}") };
        let answer = Answer { text: content.clone(), kind, reason: None, cost };
        Numbered { content, first, answer }
    }

    fn full(&self) -> u64 {
        tokens(self.native as u64)
    }
}

/// The client's own text, for the books.
pub(super) fn native(kind: Kind, reason: Option<String>, bytes: usize) -> Answer {
    let full = tokens(bytes as u64);
    Answer { text: "[native read]".to_owned(), kind, reason, cost: Cost { full, sent: full, overhead: 0 } }
}

fn shown(first: usize, content: &str) -> usize {
    if content.is_empty() { 0 } else { Page { first, content, cut: false }.bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::View;
    use crate::lines::Text;
    use crate::plan::{self, Limits, Policy, Shape};

    fn text(lines: usize) -> Text {
        Text::new((1..=lines).map(|line| format!("this is line {line} of the file\n")).collect::<String>())
    }

    fn answer(old: &Text, new: &Text) -> Option<Numbered> {
        answer_by(Policy::Gated, old, new)
    }

    fn answer_by(policy: Policy, old: &Text, new: &Text) -> Option<Numbered> {
        let view = View::whole(old.clone());
        let ask = Ask {
            now: new,
            window: None,
            view: Some(&view),
            language: None,
            name: "f",
            shape: Shape::Numbered,
            foreseen: None,
        };
        let plan = plan::plan(&ask, &Limits { elision: None, policy, ..Limits::default() });
        let native = Page { first: 1, content: new.as_str(), cut: false }.bytes();
        About { path: "/p/f", native, edited: false }.answer(&plan, &ask)
    }

    #[test]
    fn the_lines_of_one_hunk_have_their_own_numbers() {
        let old = text(60);
        let new = Text::new(old.as_str().replace("line 30 ", "LINE 30 "));
        let Numbered { content, first, answer } = answer(&old, &new).unwrap();
        assert_eq!(first, 26);
        let lines: Vec<&str> = content.split('\n').collect();
        assert!(
            lines[0].starts_with("[DRIP: delta only | ")
                && lines[0].ends_with(" | @@ -27,7 +27,7 @@ | /p/f]")
        );
        assert_eq!(lines.len(), 8);
        for (number, line) in (first..).zip(lines).skip(1) {
            assert_eq!(format!("{line}\n"), new.line(number).unwrap());
        }
        assert_eq!(answer.kind, Kind::Delta);
        assert!(answer.cost.sent + answer.cost.overhead < answer.cost.full);
    }

    #[test]
    fn a_hunk_of_one_empty_line_is_seen() {
        let old = text(60);
        let new = Text::new(old.as_str().replace("line 30 of the file\n", "line 30 of the file\n\n"));
        let said = answer_by(Policy::Cheapest, &old, &new).unwrap();
        assert!(said.content.ends_with(" | /p/f]\n@@ -30,0 +31,1 @@\n31\t"), "{}", said.content);
        assert_eq!(said.first, 0);
        let said = answer_by(Policy::Cheapest, &new, &old).unwrap();
        assert!(said.content.ends_with(" | @@ -31,1 +30,0 @@ | /p/f]"), "{}", said.content);
    }

    #[test]
    fn several_hunks_carry_their_own_numbers() {
        let old = text(60);
        let new = Text::new(old.as_str().replace("line 10 ", "LINE 10 ").replace("line 50 ", ""));
        let Numbered { content, first, .. } = answer(&old, &new).unwrap();
        assert_eq!(first, 0);
        assert!(content.contains("\n10\tthis is LINE 10 of the file\n") && !content.ends_with('\n'));
        assert!(
            content.starts_with("[DRIP: delta only | ") && content.contains(" | 2 hunks: ln 10, ln 50 | ")
        );
    }

    #[test]
    fn a_text_that_ends_without_a_line_end_needs_no_sign_for_it() {
        let old = Text::new(text(60).as_str().trim_end().to_owned());
        let new = Text::new(old.as_str().replace("line 10 ", "LINE 10 ").replace("line 60 ", "LINE 60 "));
        let content = answer(&old, &new).unwrap().content;
        assert!(content.ends_with("\n60\tthis is LINE 60 of the file"), "{content}");
        let new = Text::new(old.as_str().replace("line 60 ", "LINE 60 "));
        let content = answer(&old, &new).unwrap().content;
        assert!(content.ends_with("\nthis is LINE 60 of the file"), "{content}");
    }

    #[test]
    fn what_is_not_shorter_is_not_said() {
        let small = text(2);
        assert_eq!(answer(&small, &small), None);
        let unchanged = answer(&text(20), &text(20)).unwrap();
        assert_eq!(unchanged.content, "[DRIP: unchanged since last read | 0 tokens sent (152 saved) | /p/f]");
        assert_eq!(unchanged.first, 0);
    }

    #[test]
    fn a_line_end_that_came_or_went_at_the_end_is_left_to_the_client() {
        let old = text(60);
        let new = Text::new(old.as_str().trim_end().to_owned());
        assert_eq!(answer(&old, &new), None);
        assert_eq!(answer(&new, &old), None);
    }

    #[test]
    fn a_path_cannot_add_lines_to_the_answer() {
        let about = About { path: "/p/a\nb\u{1b}[2J", native: 500, edited: false };
        let said = about.unchanged(None).content;
        assert!(!said.contains(['\n', '\u{1b}']), "{said:?}");
    }
}
