//! Our words in the files that an agent reads at the start: a block between two markers, and the line that imports
//! one. Everything outside is the user's and stays byte for byte; it never knows which files there are.

use std::iter;
use std::ops::Range;

use super::lines;
use super::list::splice;
use super::tree::Fault;

/// The line in CLAUDE.md that makes Claude read `drip.md`.
pub(super) const IMPORT: &str = "@drip.md";

/// A text of ours and the markers around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) words: &'static str,
    pub(super) unclosed: Unclosed,
}

/// What a block without its closing marker means. Earlier versions wrote none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclosed {
    /// The whole file is ours.
    Everything,
    /// Nobody can tell where our words end.
    Unknown,
}

impl Block {
    /// The text with this block in it once, as it is now. None is a file that is missing.
    pub(super) fn put(&self, text: Option<&str>) -> Result<String, Fault> {
        let block = format!("{}\n{}{}", self.open, self.words, self.close);
        let Some(text) = text else { return Ok(lines::append(None, &block)) };
        let mut found = self.find(text)?;
        let mut left = text.to_owned();
        while found.len() > 1 {
            left = found.pop().and_then(|range| lines::cut(&left, range)).unwrap_or_default();
        }
        Ok(match found.pop() {
            None => lines::append(Some(&left), &block),
            Some(range) => splice(&left, range, &block.replace('\n', lines::newline_of(text))),
        })
    }

    /// The text without this block. None if the file was made for it.
    pub(super) fn take(&self, text: &str) -> Result<Option<String>, Fault> {
        let mut found = self.find(text)?;
        let mut left = Some(text.to_owned());
        while let (Some(range), Some(text)) = (found.pop(), &left) {
            left = if range == (0..text.len()) { None } else { lines::cut(text, range) };
        }
        Ok(left)
    }

    pub(super) fn is_in(&self, text: Option<&str>) -> Result<bool, Fault> {
        let Some(text) = text else { return Ok(false) };
        Ok(self.put(Some(text))? == text)
    }

    /// Every block, from marker to marker.
    fn find(&self, text: &str) -> Result<Vec<Range<usize>>, Fault> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(start) = text[from..].find(self.open).map(|start| from + start) {
            let Some(end) = text[start..].find(self.close) else {
                return match self.unclosed {
                    Unclosed::Everything => {
                        Ok(iter::once(0..text.trim_end_matches(['\n', '\r']).len()).collect())
                    }
                    Unclosed::Unknown => {
                        Err(Fault::Unfit(format!("`{}` is not closed by `{}`", self.open, self.close)))
                    }
                };
            };
            from = start + end + self.close.len();
            found.push(start..from);
        }
        Ok(found)
    }
}

/// The text with the importing line in it.
pub(super) fn put_import(text: Option<&str>) -> String {
    match text {
        Some(text) if !imports(text).is_empty() => text.to_owned(),
        text => lines::append(text, IMPORT),
    }
}

/// The text without importing lines. None if the file was made for one.
pub(super) fn take_import(text: &str) -> Option<String> {
    let mut left = text.to_owned();
    for range in imports(text).into_iter().rev() {
        left = lines::cut(&left, range)?;
    }
    Some(left)
}

/// Where the importing line stands, alone in its line.
pub(super) fn imports(text: &str) -> Vec<Range<usize>> {
    let lines = text.match_indices(IMPORT).map(|(start, line)| start..start + line.len());
    let ends = |text: &str| text.is_empty() || text.starts_with(['\n', '\r']);
    let begins = |text: &str| text.is_empty() || text.ends_with(['\n', '\r']);
    lines.filter(|line| begins(&text[..line.start]) && ends(&text[line.end..])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Block =
        Block { open: "<!-- a -->", close: "<!-- /a -->", words: "one\ntwo\n", unclosed: Unclosed::Unknown };

    #[test]
    fn a_block_comes_and_goes_and_nothing_else_changes() {
        for text in ["", "x", "x\n", "x\r\ny", "x\r\n", "\u{e9}\n\n"] {
            let with = BLOCK.put(Some(text)).unwrap();
            assert_eq!(BLOCK.put(Some(&with)).unwrap(), with);
            assert_eq!(BLOCK.take(&with).unwrap().as_deref(), Some(text));
            let edited = format!("before\n{with}\nbehind");
            assert_eq!(BLOCK.take(&edited).unwrap().unwrap(), format!("before\n{text}\nbehind"));
        }
        assert_eq!(BLOCK.take(&BLOCK.put(None).unwrap()).unwrap(), None);
        assert_eq!(BLOCK.put(Some("x\r\n")).unwrap(), "x\r\n<!-- a -->\r\none\r\ntwo\r\n<!-- /a -->\r\n");
    }

    #[test]
    fn an_old_block_is_renewed_where_it_stands_and_a_second_one_goes() {
        let text = "x\n<!-- a -->\nold\n<!-- /a -->\ny\n<!-- a --><!-- /a -->\nz";
        assert_eq!(BLOCK.put(Some(text)).unwrap(), "x\n<!-- a -->\none\ntwo\n<!-- /a -->\ny\nz");
        assert_eq!(BLOCK.take(text).unwrap().unwrap(), "x\ny\nz");
    }

    #[test]
    fn a_block_that_does_not_end_is_left_to_the_user_or_is_the_whole_file() {
        let text = "<!-- a -->\nold\nwhose is this?\n";
        assert!(BLOCK.put(Some(text)).is_err() && BLOCK.take(text).is_err());
        let whole = Block { unclosed: Unclosed::Everything, ..BLOCK };
        assert_eq!(whole.take(text).unwrap(), None);
        assert_eq!(whole.take(text.trim_end()).unwrap(), None, "also if an editor took the last line end");
        assert_eq!(whole.put(Some(text)).unwrap(), whole.put(None).unwrap());
    }

    #[test]
    fn only_a_line_of_its_own_imports() {
        let text = "see @drip.md\n@drip.mdx\n  @drip.md\n";
        assert!(imports(text).is_empty());
        for text in ["", "x", "x\n", text, "x\r\ny"] {
            let with = put_import(Some(text));
            assert_eq!(put_import(Some(&with)), with);
            assert_eq!(take_import(&with).as_deref(), Some(text));
        }
        assert_eq!(put_import(None), "@drip.md\n");
        assert_eq!(take_import("@drip.md\n"), None);
    }
}
