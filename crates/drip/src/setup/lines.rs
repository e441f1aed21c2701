//! A block of whole lines at the end of a text, and the text without it. It never knows what the lines say.
//!
//! [`cut`] is the exact inverse of [`append`]: a block behind a finished line brings a line end like that line's, a
//! block behind an unfinished one (or in an empty file) brings the line break before it instead. Only a file that we
//! made begins with a block, and so only such a file goes when nothing is left in it.

use std::ops::Range;

/// The text with `block`, written with `\n` and without a last line end, behind it. None is a file that is missing.
pub(super) fn append(text: Option<&str>, block: &str) -> String {
    let newline = text.map_or("\n", newline_of);
    let block = block.replace('\n', newline);
    match text {
        None => block + newline,
        Some(text) if text.ends_with(['\n', '\r']) => [text, &block, newline].concat(),
        Some(text) => [text, newline, &block].concat(),
    }
}

/// The text without the lines in `range`, which ends before a line end. None if the file was made for them.
pub(super) fn cut(text: &str, range: Range<usize>) -> Option<String> {
    let (before, block, behind) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
    let last = LINE_ENDS.into_iter().find(|end| before.ends_with(end)).unwrap_or("");
    let next = LINE_ENDS.into_iter().find(|end| behind.starts_with(end)).unwrap_or("");
    if next.is_empty() && !behind.is_empty() {
        // Somebody wrote on in our last line.
        return Some([before, behind].concat());
    }
    // If the two differ, one of them was written later, and by another editor.
    let ours = before.is_empty() || last_line_end(block) == Some(next);
    if ours && !next.is_empty() {
        let behind = &behind[next.len()..];
        return (!before.is_empty() || !behind.is_empty()).then(|| [before, behind].concat());
    }
    Some([&before[..before.len() - last.len()], behind].concat())
}

/// How the lines of a text end: as its last one does.
pub(super) fn newline_of(text: &str) -> &'static str {
    last_line_end(text).unwrap_or("\n")
}

const LINE_ENDS: [&str; 3] = ["\r\n", "\n", "\r"];

fn last_line_end(text: &str) -> Option<&'static str> {
    let lines = &text[..=text.rfind(['\n', '\r'])?];
    LINE_ENDS.into_iter().find(|end| lines.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn where_in(text: &str) -> Range<usize> {
        let start = text.find("<<").unwrap();
        start..text.find(">>").unwrap() + 2
    }

    #[test]
    fn what_was_appended_is_cut_without_a_trace() {
        for text in
            ["", "\n", "a", "a\n", "a\n\n", "a\r\n", "a\r\nb", "a\r", "a\rb", "a\nb\r", "\r\n\na", " "]
        {
            let with = append(Some(text), "<<\n>>");
            assert_eq!(cut(&with, where_in(&with)).as_deref(), Some(text), "{with:?}");
        }
        let made = append(None, "<<\n>>");
        assert_eq!((made.as_str(), cut(&made, where_in(&made))), ("<<\n>>\n", None));
    }

    #[test]
    fn what_was_written_around_the_block_afterwards_stays_as_it_is() {
        for text in ["", "a", "a\n", "a\r\nb", "a\r\n"] {
            let with = append(Some(text), "<<\n>>");
            for more in ["\nlater", "\r\nlater\r\n", "\n\n\n"] {
                let edited = format!("{with}{more}");
                let left = cut(&edited, where_in(&edited)).unwrap();
                assert_eq!(left, format!("{text}{more}"), "{edited:?}");
            }
        }
        for earlier in ["earlier\n\n", "earlier\r\n"] {
            let made = format!("{earlier}{}", append(None, "<<\n>>"));
            assert_eq!(cut(&made, where_in(&made)).as_deref(), Some(earlier));
        }
    }
}
