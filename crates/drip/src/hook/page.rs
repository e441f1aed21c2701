//! What a client showed, held against a text: which lines of it were delivered. Pure.

use std::borrow::Cow;

use crate::lines::{Span, Text};

/// Lines as a client's reading tool shows them, from `first` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) first: usize,
    pub(super) content: &'a str,
    /// Whether the client cut it short: then its last line may be a part of one.
    pub(super) cut: bool,
}

/// A page that shows something else than the text: which of the two is older, nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Differs;

impl Page<'_> {
    /// The lines of a text that the page shows, if it shows any.
    pub(super) fn lines_of(&self, text: &Text) -> Result<Option<Span>, Differs> {
        let mut last = 0;
        let mut lines = self.content.split('\n').zip(self.first..).peekable();
        while let Some((line, number)) = lines.next() {
            match text.line(number) {
                Some(known) if known.strip_suffix('\n').unwrap_or(known) == line => last = number,
                // What is behind the last line end counts as one more line there.
                None if line.is_empty() && number == text.count() + 1 && text.as_str().ends_with('\n') => {}
                _ if self.cut && lines.peek().is_none() => {}
                _ => return Err(Differs),
            }
        }
        Ok(Span::new(self.first, last))
    }

    /// What it costs the model: each line with its number, a tab and a line end.
    pub(super) fn bytes(&self) -> usize {
        let lines = self.content.split('\n').zip(self.first..);
        lines.map(|(line, number)| digits(number) + line.len() + 2).sum()
    }
}

/// A text as Claude Code shows it: without a byte order mark, and with plain line ends.
pub(super) fn as_shown(raw: &str) -> Cow<'_, str> {
    let text = raw.strip_prefix('\u{feff}').unwrap_or(raw);
    match text.contains("\r\n") {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    }
}

/// Whether two texts both end with a line end, or both do not. Clients show that in ways that no delta has.
pub(super) fn end_alike(one: &Text, other: &Text) -> bool {
    one.as_str().ends_with('\n') == other.as_str().ends_with('\n')
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |tens| tens as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, first: usize, content: &str, cut: bool) -> Result<Option<(usize, usize)>, Differs> {
        let page = Page { first, content, cut };
        page.lines_of(&Text::new(text)).map(|span| span.map(|span| (span.first, span.last)))
    }

    #[test]
    fn a_page_proves_the_lines_that_it_shows_word_for_word() {
        assert_eq!(lines("a\nb\nc\n", 1, "a\nb\nc\n", false), Ok(Some((1, 3))));
        assert_eq!(lines("a\nb\nc\n", 2, "b\nc", false), Ok(Some((2, 3))));
        assert_eq!(lines("a\nb", 1, "a\nb", false), Ok(Some((1, 2))));
        assert_eq!(lines("a\n", 2, "", false), Ok(None));
        for (text, first, content) in [
            ("a\nb\n", 1, "a\nx"),
            ("a\nb\n", 2, "a"),
            ("a\nb", 1, "a\nb\n"),
            ("a\n", 1, "a\nb"),
            ("a\n", 3, ""),
            ("", 1, "a"),
        ] {
            assert_eq!(lines(text, first, content, false), Err(Differs), "{text:?} {content:?}");
        }
    }

    #[test]
    fn of_a_page_that_was_cut_the_last_line_may_be_a_part_and_does_not_count() {
        assert_eq!(lines("a\nbcd\ne\n", 1, "a\nbc", true), Ok(Some((1, 1))));
        assert_eq!(lines("abc\n", 1, "ab", true), Ok(None));
        assert_eq!(lines("a\nb\nc\n", 1, "x\nb", true), Err(Differs));
    }

    #[test]
    fn line_ends_and_the_mark_are_shown_plain() {
        assert_eq!(as_shown("\u{feff}a\r\nb\rc\n"), "a\nb\rc\n");
        assert!(matches!(as_shown("a\n"), Cow::Borrowed("a\n")));
    }

    #[test]
    fn a_page_is_as_long_as_the_client_makes_it() {
        assert_eq!(Page { first: 9, content: "a\nbc", cut: false }.bytes(), "9\ta\n10\tbc\n".len());
        assert_eq!(Page { first: 0, content: "x", cut: false }.bytes(), "0\tx\n".len());
    }
}
