//! An item more or less in a bracketed, comma-separated list, in JSON or in TOML. It knows brackets, commas, comments
//! and white space; it never knows what the items mean.
//!
//! [`List::remove`] is the exact inverse of [`List::append`], without a note about what was there before. What makes
//! that possible is one convention: *where a list was empty, the new item stands right behind its bracket*, and
//! everything inside stays behind the item. A list that we wrote ourselves has white space there, so that the two can
//! be told apart when the last item goes.

use std::ops::Range;

/// How the language writes comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// `// …` and `/* … */`.
    Slashes,
    /// `# …`.
    Hash,
}

/// The list between two brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    pub(super) comments: Comments,
    /// Behind the opening bracket.
    pub(super) open: usize,
    /// Before the closing one.
    pub(super) close: usize,
    pub(super) items: Vec<Range<usize>>,
}

/// How the file around is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) newline: &'static str,
    /// One step of indentation.
    pub(super) unit: String,
    /// What stands behind a comma or a colon in one line.
    pub(super) gap: &'static str,
    /// How the first item of an empty list is laid out.
    pub(super) layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Lines,
    Line,
}

/// Where an item is about to stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The indentation of its first line.
    pub(super) indent: String,
    pub(super) layout: Layout,
}

/// A list without one of its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Removed {
    Text(String),
    /// It was the only item of a list that we had made: the list itself has to go.
    Whole,
}

impl List {
    /// The list that is written in `range`, brackets included.
    pub(super) fn within(
        range: &Range<usize>,
        comments: Comments,
        items: impl IntoIterator<Item = Range<usize>>,
    ) -> List {
        List { comments, open: range.start + 1, close: range.end - 1, items: items.into_iter().collect() }
    }

    /// The text with one more item at the end of the list.
    pub(super) fn append(&self, text: &str, style: &Style, render: impl FnOnce(&Spot) -> String) -> String {
        let Some(last) = self.items.last() else { return self.append_first(text, style, render) };
        let comma = self.comma_after(text, last.end);
        let tail = comma.map_or(last.end, |comma| comma + 1);
        // Comments behind the last item stay with it; the white space before the bracket stays with the bracket.
        let keep = text[..self.close].trim_end().len().max(tail);
        let on_own_line = text[line_start(text, last.start)..last.start].trim().is_empty();
        let indent = line_indent(text, last.start).to_owned();
        let breaks = on_own_line || self.trivia(text, tail).last == Comment::Line;
        let layout = if breaks || text[last.clone()].contains('\n') { Layout::Lines } else { Layout::Line };
        let gap = if breaks { format!("{}{indent}", style.newline) } else { style.gap.to_owned() };
        let item = render(&Spot { indent, layout });
        let (before, behind) = if comma.is_some() { ("", ",") } else { (",", "") };
        [&text[..last.end], before, &text[last.end..keep], &gap, &item, behind, &text[keep..]].concat()
    }

    fn append_first(&self, text: &str, style: &Style, render: impl FnOnce(&Spot) -> String) -> String {
        let mut indent = line_indent(text, self.open).to_owned();
        if self.trivia(text, self.open).last == Comment::None {
            let item = render(&Spot { indent, layout: style.layout });
            return splice(text, self.open..self.open, &item);
        }
        indent.push_str(&style.unit);
        let keep = text[..self.close].trim_end().len();
        let item = render(&Spot { indent: indent.clone(), layout: Layout::Lines });
        splice(text, keep..keep, &[style.newline, &indent, &item].concat())
    }

    /// The text without the item at `index`.
    pub(super) fn remove(&self, text: &str, index: usize) -> Removed {
        let item = &self.items[index];
        let comma = self.comma_after(text, item.end);
        let before = &text[self.open..item.start];
        if self.items.len() == 1 && before.trim().is_empty() && !before.is_empty() {
            let behind = &text[comma.map_or(item.end, |comma| comma + 1)..self.close];
            if behind.trim().is_empty() {
                return Removed::Whole;
            }
        }
        let cuts = match (index, comma) {
            // What stands behind the bracket says whose list this is, also of the items that are left.
            (0, Some(comma)) if self.items.len() > 1 => {
                let rest = &text[comma + 1..];
                vec![item.clone(), comma..comma + 1 + rest.len() - rest.trim_start().len()]
            }
            (index, comma) => {
                let previous = index.checked_sub(1).map(|previous| self.items[previous].end);
                let comma = comma.or_else(|| self.comma_after(text, previous?));
                let comma = comma.map(|comma| comma..comma + 1);
                comma.into_iter().chain([self.with_space_before(text, item)]).collect()
            }
        };
        Removed::Text(without(text, cuts))
    }

    /// The item and the white space before it. A line comment before it needs its line break, though, unless
    /// another one follows.
    fn with_space_before(&self, text: &str, item: &Range<usize>) -> Range<usize> {
        let start = text[..item.start].trim_end().len().max(self.open);
        let previous = self.items.iter().rev().find(|other| other.end <= item.start);
        let from = previous.map_or(self.open, |previous| previous.end);
        let comma = self.comma_after(text, from).filter(|comma| *comma < item.start);
        let comment = self.trivia(text, comma.map_or(from, |comma| comma + 1)).last;
        let behind = text[item.end..].trim_start_matches(',');
        let blank = &behind[..behind.len() - behind.trim_start().len()];
        match comment == Comment::Line && !blank.contains(['\n', '\r']) {
            true => item.clone(),
            false => start..item.end,
        }
    }

    fn comma_after(&self, text: &str, from: usize) -> Option<usize> {
        let end = self.trivia(text, from).end;
        text[end..].starts_with(',').then_some(end)
    }

    /// The white space and comments from `from` on.
    fn trivia(&self, text: &str, from: usize) -> Trivia {
        let mut trivia = Trivia { end: from, last: Comment::None };
        loop {
            let rest = &text[trivia.end..];
            let space = rest.len() - rest.trim_start().len();
            let rest = &rest[space..];
            let line = match self.comments {
                Comments::Slashes => rest.starts_with("//"),
                Comments::Hash => rest.starts_with('#'),
            };
            let comment = if line {
                trivia.last = Comment::Line;
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if self.comments == Comments::Slashes && rest.starts_with("/*") {
                trivia.last = Comment::Block;
                rest[2..].find("*/").map_or(rest.len(), |end| end + 4)
            } else {
                trivia.end += space;
                return trivia;
            };
            trivia.end += space + comment;
        }
    }
}

struct Trivia {
    end: usize,
    last: Comment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comment {
    None,
    Block,
    Line,
}

/// The text with `new` in the place of `range`.
pub(super) fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    [&text[..range.start], new, &text[range.end..]].concat()
}

/// The text without the given ranges, which do not overlap.
pub(super) fn without(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| cut.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        out.push_str(&text[from..cut.start]);
        from = cut.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Where the line that holds `at` begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |newline| newline + 1)
}

/// The white space at the beginning of the line that holds `at`.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list between the first `[` and the last `]`, whose items are the digits.
    fn list(text: &str) -> List {
        let items = text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at..at + 1);
        let (open, close) = (text.find('[').unwrap() + 1, text.rfind(']').unwrap());
        List { comments: Comments::Slashes, open, close, items: items.collect() }
    }

    fn appended(text: &str) -> String {
        let style = Style { newline: "\n", unit: "  ".into(), gap: " ", layout: Layout::Line };
        list(text).append(text, &style, |_| "9".to_owned())
    }

    #[test]
    fn an_item_is_appended_in_the_way_of_its_list_and_removed_without_a_trace() {
        for (before, after) in [
            ("[]", "[9]"),
            ("[ ]", "[9 ]"),
            ("[\n]", "[9\n]"),
            ("[ // c\n]", "[ // c\n  9\n]"),
            ("[ /* c */ ]", "[ /* c */\n  9 ]"),
            ("[1]", "[1, 9]"),
            ("[1 ]", "[1, 9 ]"),
            ("[ 1, 2, ]", "[ 1, 2, 9, ]"),
            ("[\n\t1\n]", "[\n\t1,\n\t9\n]"),
            ("[\n\t1, // c\n]", "[\n\t1, // c\n\t9,\n]"),
            ("[\n\t1 // c, d  \n\n]", "[\n\t1, // c, d\n\t9  \n\n]"),
            ("[1 /* , */ , 2 /* , */ ]", "[1 /* , */ , 2, /* , */ 9 ]"),
            ("[1 // c\n]", "[1, // c\n9\n]"),
            ("[\r\n  1\r\n]", "[\r\n  1,\n  9\r\n]"),
        ] {
            assert_eq!(appended(before), after);
            let list = list(after);
            assert_eq!(list.remove(after, list.items.len() - 1), Removed::Text(before.to_owned()), "{after}");
        }
    }

    #[test]
    fn a_list_of_ours_goes_with_its_last_item_unless_it_holds_a_comment() {
        for text in ["[ 9]", "[\n  9\n]", "[ 9, ]"] {
            assert_eq!(list(text).remove(text, 0), Removed::Whole, "{text}");
        }
        let text = "[\n  9 // mine\n]";
        assert_eq!(list(text).remove(text, 0), Removed::Text("[ // mine\n]".to_owned()));
    }

    #[test]
    fn an_item_that_goes_first_leaves_the_sign_of_whose_list_it_is() {
        for (text, left) in
            [("[9,1]", "[1]"), ("[ 9,1]", "[ 1]"), ("[9, 1\n]", "[1\n]"), ("[\n 9,\n 1\n]", "[\n 1\n]")]
        {
            assert_eq!(list(text).remove(text, 0), Removed::Text(left.to_owned()));
        }
    }

    #[test]
    fn a_comment_before_an_item_never_swallows_what_follows_it() {
        for (text, index, left) in [
            ("[1, // c\n9, 2]", 1, "[1, // c\n 2]"),
            ("[1, // c\n9]", 1, "[1 // c\n]"),
            ("[9, // c\n1]", 0, "[// c\n1]"),
            ("[// c\n9]", 0, "[// c\n]"),
            ("[1, // c\n9\n]", 1, "[1 // c\n]"),
        ] {
            assert_eq!(list(text).remove(text, index), Removed::Text(left.to_owned()));
        }
    }
}
