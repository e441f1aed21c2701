//! A block of whole lines at the end of a text, and the text without it. It never knows what the lines say.
//!
//! [`cut`] is the exact inverse of [`append`]: a block behind a finished line brings its own line end, a block behind
//! an unfinished one (or in an empty file) brings the line break before it instead. Only a file that we made begins with
//! a block, and so only such a file goes when nothing is left in it.

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
    let block = &text[range.clone()];
    // The lines around may have come later, and from another editor.
    let newline = newline_of(if block.contains(['\n', '\r']) { block } else { text });
    let (before, behind) = (&text[..range.start], &text[range.end..]);
    if let Some(behind) = behind.strip_prefix(newline) {
        return (!before.is_empty() || !behind.is_empty()).then(|| [before, behind].concat());
    }
    let unfinished = behind.is_empty() || behind.starts_with(['\n', '\r']);
    let before = if unfinished { before.strip_suffix(newline).unwrap_or(before) } else { before };
    Some([before, behind].concat())
}

/// How the lines of a text end: as its first line does.
pub(super) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        None if text.contains('\r') => "\r",
        _ => "\n",
    }
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
        for text in ["", "\n", "a", "a\n", "a\n\n", "a\r\n", "a\r\nb", "a\r", "a\rb", "a\nb\r", "\r\n\na", " "] {
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
        let made = format!("earlier\n\n{}", append(None, "<<\n>>"));
        assert_eq!(cut(&made, where_in(&made)).as_deref(), Some("earlier\n\n"));
    }
}
