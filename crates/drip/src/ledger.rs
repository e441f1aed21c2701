//! What a pair of eyes has been shown of one file in this epoch. A line counts as shown only if it was delivered.
//! Pure: the fold that every adapter (SQLite, the agent's window) does in the same way.

use crate::diff::{self, Change, Hunk};
use crate::elide::Elided;
use crate::lines::{Ranges, Span, Text};

/// A version of a file and the lines of it that were delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    pub text: Text,
    pub shown: Ranges,
    pub extent: Extent,
}

/// What the reader believes to have of the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The lines that were shown, and no word about others.
    Lines,
    /// The lines that were shown, and where the file ends.
    ToTheEnd,
    /// All of it: what is hidden is named by stubs.
    Elided,
}

impl Extent {
    /// Of lines that were asked for: whoever asked for more than there is has seen the end.
    pub fn of(asked: Span, now: &Text) -> Self {
        if asked.last > now.count() { Extent::ToTheEnd } else { Extent::Lines }
    }
}

impl View {
    /// The reader was given the whole text.
    pub fn whole(text: Text) -> Self {
        let shown = text.span().into_iter().collect();
        Self { text, shown, extent: Extent::ToTheEnd }
    }

    /// The reader was given some lines, and knows nothing else.
    pub fn lines(text: Text, shown: Ranges, extent: Extent) -> Self {
        Self { text, shown, extent }
    }

    /// The reader was given everything but what the stubs hide.
    pub fn elided(text: Text, elided: &Elided) -> Self {
        let hidden: Ranges =
            elided.stubs.iter().filter_map(|stub| Span::new(stub.first_line, stub.last_line)).collect();
        let shown = text.span().map(|span| hidden.gaps(span)).unwrap_or_default();
        Self { text, shown, extent: Extent::Elided }
    }

    /// Whether every line was shown, and that there are no more.
    pub fn is_whole(&self) -> bool {
        self.extent != Extent::Lines && self.text.span().is_none_or(|span| self.shown.covers(span))
    }

    /// Whether a reader can make sense of a delta of the whole file.
    pub fn is_base(&self) -> bool {
        self.extent == Extent::Elided || self.is_whole()
    }

    /// More lines were shown, perhaps of a newer version. Of an older version only what lies before its first change
    /// stays known: behind it numbers may have moved, and nobody told the reader. Nor was it told that the file became
    /// shorter.
    pub fn with_lines(&self, now: &Text, lines: Ranges, extent: Extent) -> Self {
        let mut shown = lines;
        if self.text == *now {
            shown.extend(self.shown.iter());
            let extent = if self.extent == Extent::Lines { extent } else { self.extent };
            return Self { text: now.clone(), shown, extent };
        }
        if let Some(prefix) = common_prefix(&self.text, now) {
            shown.extend(self.shown.within(prefix).iter());
        }
        let still_ends = self.extent == Extent::ToTheEnd && now.count() >= self.text.count();
        Self { text: now.clone(), shown, extent: if still_ends { Extent::ToTheEnd } else { extent } }
    }

    /// The reader was told all changes, in these hunks.
    pub fn with_delta(&self, now: &Text, changes: &[Change], hunks: &[Hunk]) -> Self {
        let mut shown = diff::carry(&self.shown, changes, &self.text, now);
        shown.extend(diff::shown(hunks).iter());
        Self { text: now.clone(), shown, extent: self.extent }
    }
}

/// The lines at the beginning that two texts share.
pub(crate) fn common_prefix(old: &Text, new: &Text) -> Option<Span> {
    let same = old.lines().iter().zip(new.lines()).take_while(|(old, new)| **old == *new).count();
    Span::new(1, same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[&str]) -> Text {
        Text::new(lines.iter().map(|line| format!("{line}\n")).collect::<String>())
    }

    fn span(first: usize, last: usize) -> Span {
        Span { first, last }
    }

    #[test]
    fn lines_of_a_newer_version_keep_what_lies_before_the_first_change() {
        let old = View::whole(text(&["a", "b", "c", "d"]));
        let now = text(&["a", "B", "c", "d"]);
        let view = old.with_lines(&now, span(4, 4).into(), Extent::Lines);
        assert_eq!(view.shown, [span(1, 1), span(4, 4)].into_iter().collect());
    }

    #[test]
    fn a_delta_moves_what_was_shown_and_leaves_the_unseen_unseen() {
        let old = View::lines(
            text(&["a", "b", "c", "d", "e"]),
            [span(1, 2), span(5, 5)].into_iter().collect(),
            Extent::Lines,
        );
        let now = text(&["new", "a", "b", "c", "d", "e"]);
        let changes = diff::changes(&old.text, &now);
        let view = old.with_delta(&now, &changes, &diff::hunks(&changes, 0, &old.text, &[]));
        assert_eq!(view.shown, [span(1, 3), span(6, 6)].into_iter().collect());
    }

    #[test]
    fn a_reader_of_lines_does_not_know_that_the_file_became_shorter() {
        let old = View::whole(text(&["a", "b", "c", "d"]));
        let now = text(&["a", "b"]);
        assert!(!old.with_lines(&now, span(2, 2).into(), Extent::of(span(2, 2), &now)).is_whole());
        assert!(old.with_lines(&now, span(2, 2).into(), Extent::of(span(2, 9), &now)).is_whole());
    }

    #[test]
    fn an_empty_file_is_wholly_known_once_delivered() {
        assert!(View::whole(Text::new("")).is_whole());
    }
}
