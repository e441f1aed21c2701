//! Markdown for a terminal, as it comes in: a line is shown when nothing that follows can change it. Knows no conversation
//! and no stream; whoever has no terminal writes the text as it is.

mod block;

use block::Block;

/// How wide lines may be, and whether they may have colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub width: usize,
    pub colour: bool,
}

/// A block that is longer is shown when it is complete.
const LONGEST: usize = 8 << 10;

/// Takes text in any pieces; what it gives does not depend on how they were cut.
#[derive(Debug)]
pub struct Markdown {
    look: Look,
    /// The line that is not complete.
    line: String,
    /// Lines of the block that is not complete.
    block: String,
    /// How many lines of it, as they are shown, were.
    given: usize,
    /// What opened the code that we are in.
    fence: Option<String>,
    /// Something was shown, and the next block stands apart from it.
    shown: bool,
}

impl Markdown {
    pub fn new(look: Look) -> Markdown {
        Markdown { look, line: String::new(), block: String::new(), given: 0, fence: None, shown: false }
    }

    /// What can be shown now.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if piece.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.take(&line, &mut out);
            }
        }
        self.give_what_is_sure(&mut out);
        out
    }

    /// The rest.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(&format!("{line}\n"), &mut out);
        }
        self.flush(&mut out);
        self.fence = None;
        self.shown = false;
        out
    }

    /// Drops the rest. Whether anything was shown before it.
    pub fn forget(&mut self) -> bool {
        std::mem::replace(self, Markdown::new(self.look)).shown
    }

    fn take(&mut self, line: &str, out: &mut String) {
        let bare = line.trim();
        if let Some(fence) = &self.fence {
            if bare.starts_with(fence.as_str()) && bare.chars().all(|c| fence.starts_with(c)) {
                self.fence = None;
            } else {
                out.push_str(&block::code_line(line.trim_end_matches(['\r', '\n']), self.look));
            }
            return;
        }
        if let Some(fence) = opening(line) {
            self.flush(out);
            self.part(out);
            self.fence = Some(fence);
        } else if bare.is_empty() {
            self.flush(out);
        } else {
            self.block.push_str(line);
        }
    }

    fn flush(&mut self, out: &mut String) {
        let text = std::mem::take(&mut self.block);
        if !text.trim().is_empty() {
            let rendered = Block::render(&text, self.look);
            self.give(rendered.lines(), out);
        }
        self.given = 0;
    }

    /// All lines of the block but the last, which may still grow.
    fn give_what_is_sure(&mut self, out: &mut String) {
        let so_far = format!("{}{}", self.block, self.line);
        // It is read again with every piece that comes.
        if so_far.len() > LONGEST
            || self.fence.is_some()
            || opening(&self.line).is_some()
            || !is_settled(&so_far)
        {
            return;
        }
        let rendered = Block::render(&so_far, self.look);
        let lines: Vec<&str> = rendered.lines().collect();
        let sure = lines.len().saturating_sub(1);
        self.give(lines.into_iter().take(sure), out);
    }

    /// Those of the block's lines that were not shown.
    fn give<'a>(&mut self, lines: impl Iterator<Item = &'a str>, out: &mut String) {
        for line in lines.skip(self.given).collect::<Vec<_>>() {
            if self.given == 0 {
                self.part(out);
            }
            out.push_str(line);
            out.push('\n');
            self.given += 1;
        }
    }

    fn part(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.shown, true) {
            out.push('\n');
        }
    }
}

/// Whether every mark that was opened is closed again, and nothing is a table: then what follows changes only the end.
fn is_settled(text: &str) -> bool {
    let count = |mark: char| text.chars().filter(|c| *c == mark).count();
    let even = |mark: char| {
        let doubles = text.matches(&*String::from_iter([mark, mark])).count();
        doubles.is_multiple_of(2) && (count(mark) - 2 * doubles).is_multiple_of(2)
    };
    let paired = ['*', '_', '`', '~'].into_iter().all(even);
    paired
        && count('[') == count(']')
        && count('(') == count(')')
        && count('|') == 0
        && count('<') == count('>')
}

/// The marks with which a block of code begins. Indented ones belong to a list, and are read with it.
fn opening(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let marks: String = line.chars().take_while(|c| *c == mark).collect();
    (marks.len() >= 3).then_some(marks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Look = Look { width: 30, colour: false };

    fn shown(text: &str, look: Look) -> String {
        let mut markdown = Markdown::new(look);
        let mut out = markdown.push(text);
        out.push_str(&markdown.finish());
        out
    }

    #[test]
    fn blocks_stand_apart_and_paragraphs_are_wrapped() {
        let text = "# Title\n\nSome *words* that are longer than the line may be, with `code`.\n\n- one\n- two\n  - below\n\n1. first\n2. second\n\n> said\n\n---\n";
        assert_eq!(
            shown(text, PLAIN),
            "# Title\n\nSome words that are longer\nthan the line may be, with\n`code`.\n\n• one\n• two\n  • below\n\n1. first\n2. second\n\n│ said\n\n──────────\n"
        );
    }

    #[test]
    fn code_is_never_wrapped_and_comes_line_by_line() {
        let mut markdown = Markdown::new(PLAIN);
        assert_eq!(markdown.push("```rust\nfn main() {"), "");
        assert_eq!(
            markdown.push(" a_very_long_line_that_stays_as_it_is(); }\nx"),
            "    fn main() { a_very_long_line_that_stays_as_it_is(); }\n"
        );
        assert_eq!(markdown.push("\n```\nafter"), "    x\n");
        assert_eq!(markdown.finish(), "\nafter\n");
    }

    #[test]
    fn a_long_paragraph_is_shown_line_by_line() {
        let mut markdown = Markdown::new(PLAIN);
        assert_eq!(markdown.push("One two three four five six"), "");
        assert_eq!(markdown.push(" seven eight **nine"), "", "a mark is open");
        assert_eq!(markdown.push("** ten"), "One two three four five six\n");
        assert_eq!(markdown.push("\n\nnext"), "seven eight nine ten\n");
        assert_eq!(markdown.finish(), "\nnext\n");
    }

    #[test]
    fn characters_that_take_two_columns_count_as_two() {
        let text = "日本語のテキスト 日本語のテキスト\n\n| 名前 | x |\n|---|---|\n| こんにちは | 🦀 |\n| e\u{301} | y |\n";
        assert_eq!(
            shown(text, PLAIN),
            "日本語のテキスト\n日本語のテキスト\n\n名前        x\n──────────  ──\nこんにちは  🦀\ne\u{301}           y\n"
        );
    }

    #[test]
    fn what_is_forgotten_is_never_shown() {
        let mut markdown = Markdown::new(PLAIN);
        assert_eq!(markdown.push("not shown"), "");
        assert!(!markdown.forget());
        assert_eq!(markdown.push("```\ncode\nmore"), "    code\n");
        assert!(markdown.forget());
        assert_eq!(markdown.push("*new*\n\n"), "new\n");
        assert_eq!(markdown.finish(), "");
    }

    #[test]
    fn colour_is_used_only_where_it_is_wanted() {
        let look = Look { width: 80, colour: true };
        assert_eq!(shown("a **b** `c`\n", look), "a \u{1b}[1mb\u{1b}[22m \u{1b}[36mc\u{1b}[39m\n");
        assert!(!shown("# a **b** `c`\n", PLAIN).contains('\u{1b}'));
    }

    #[test]
    fn a_table_is_aligned() {
        assert_eq!(shown("| a | bb |\n|---|----|\n| ccc | d |\n", PLAIN), "a    bb\n───  ──\nccc  d\n");
    }

    #[test]
    fn what_a_model_says_cannot_drive_the_terminal() {
        let hostile = "\u{1b}[2Jgone \u{202e}x\n\n```\n\u{1b}]0;t\u{7}code\n```\n";
        let out = shown(hostile, PLAIN);
        assert!(!out.contains('\u{1b}') && !out.contains('\u{7}'), "{out:?}");
    }

    #[test]
    fn the_pieces_in_which_it_comes_make_no_difference() {
        let text = "# é\n\ntext **bold\nmore** 日本語 and so on\n\n```\ncode\n\nmore\n```\n- a\n- b\n\n[link](http://x) ![i](y)\n\n~~~\nopen";
        let whole = shown(text, PLAIN);
        for size in [1, 2, 3, 7] {
            let mut markdown = Markdown::new(PLAIN);
            let characters: Vec<char> = text.chars().collect();
            let mut out: String = characters
                .chunks(size)
                .map(|piece| markdown.push(&piece.iter().collect::<String>()))
                .collect();
            out.push_str(&markdown.finish());
            assert_eq!(out, whole, "{size}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_in_whatever_pieces_there_is_an_end_and_no_escape(
            pieces in prop::collection::vec("[a-z*_`~|<>()\\[\\]#>\\-0-9. \n\u{1b}é日]{0,12}", 0..40),
            width in 0_usize..100,
        ) {
            let mut markdown = Markdown::new(Look { width, colour: false });
            let mut out: String = pieces.iter().map(|piece| markdown.push(piece)).collect();
            out.push_str(&markdown.finish());
            prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n'));
            let words = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
            prop_assert!(words(&out) <= words(&pieces.concat()));
        }
    }
}
