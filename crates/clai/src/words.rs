//! A command line as words: what was typed, where, and what the shell will make of it. The lines of bash, zsh and
//! fish alike, best effort: nothing is expanded, nothing is run, and no program is known by name except those that
//! run another one.
//!
//! A small scanner finds where words and operators begin and end; what a word means is left to the `shlex` crate.

mod placeholder;
mod program;
mod scan;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use placeholder::marker_in;
pub use placeholder::{SlotKind, placeholder};
pub(crate) use program::assignment;

/// One simple command of a line, with its redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment<'a> {
    /// What stands between the segment before and this one.
    pub operator_before: Option<Operator>,
    /// Empty only where an operator has nothing behind it: `sleep 9 &`.
    pub words: Vec<Word<'a>>,
    pub ending: Ending,
}

/// Whether every quote and `$(` up to the end of a segment is closed. Behind a quote that is not, words are what lies
/// between blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Closed,
    Open,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// As it was typed, with its quotes.
    pub raw: &'a str,
    /// Without its quotes. A word with a command inside (`$(…)`) may stay as typed.
    pub text: Cow<'a, str>,
    /// Where `raw` begins in the line.
    pub start: usize,
    pub role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    /// `>`, `2>>`, `<`, `&>`, `<<`, or whole: `2>&1`.
    Redirection,
    /// What a redirection points at.
    Target,
    /// `(` or `)` standing for itself.
    Group,
    /// The word after `<<` that ends a here-document.
    Delimiter,
    /// The lines of a here-document, its last line included.
    Heredoc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Semicolon,
    /// `;;`, between the branches of a `case`.
    Branch,
    Background,
    And,
    Or,
    Pipe,
    /// `|&`
    PipeBoth,
    Newline,
}

impl Operator {
    pub fn as_str(self) -> &'static str {
        match self {
            Operator::Semicolon => ";",
            Operator::Branch => ";;",
            Operator::Background => "&",
            Operator::And => "&&",
            Operator::Or => "||",
            Operator::Pipe => "|",
            Operator::PipeBoth => "|&",
            Operator::Newline => "\n",
        }
    }

    /// Whether the output of what stands before is the input of what stands behind.
    pub fn is_pipe(self) -> bool {
        matches!(self, Operator::Pipe | Operator::PipeBoth)
    }
}

/// Cuts a line, of any length and content, in one pass.
pub fn segments(line: &str) -> Vec<Segment<'_>> {
    scan::segments(line)
}

/// The word as it can be put into a line of bash, zsh and fish and mean just itself there. `None` for text with
/// control or hidden characters: no quotes make them safe at a prompt.
///
/// Quoted text never holds a backslash or a quote: fish gives them a meaning there, and zsh may.
pub fn quote(word: &str) -> Option<String> {
    if kit::text::plain(word) != word {
        return None;
    }
    if !word.is_empty() && word.bytes().all(is_harmless) {
        return Some(word.to_owned());
    }
    if word.is_empty() {
        return Some("''".to_owned());
    }
    let mut out = String::with_capacity(word.len() + 2);
    for (run, special) in word.split_inclusive(['\'', '\\']).map(|run| match run.strip_suffix(['\'', '\\']) {
        Some(before) => (before, &run[before.len()..]),
        None => (run, ""),
    }) {
        if !run.is_empty() {
            out.extend(["'", run, "'"]);
        }
        if !special.is_empty() {
            out.extend(["\\", special]);
        }
    }
    Some(out)
}

/// Whether the text is one argument and nothing else, so that putting it into a line cannot add a command.
pub fn is_one_word(source: &str) -> bool {
    match segments(source).as_slice() {
        [Segment { operator_before: None, words, ending: Ending::Closed }] => {
            matches!(words.as_slice(), [word] if word.role == Role::Plain && word.raw == source)
        }
        _ => false,
    }
}

impl<'a> Word<'a> {
    /// Where the word stands in the line.
    pub fn span(&self) -> Range<usize> {
        self.start..self.start + self.raw.len()
    }

    /// Where the part of its text from `offset` on stands in the line, without the quotes around it if they
    /// surround the whole word; the whole word if quotes make it impossible to tell.
    pub fn span_from(&self, offset: usize) -> Range<usize> {
        let Range { start, end } = self.span();
        if self.raw.get(..offset) == self.text.get(..offset) && self.raw.get(..offset).is_some() {
            start + offset..end
        } else if self.quoted().is_some() {
            start + 1 + offset..end - 1
        } else {
            start..end
        }
    }

    /// The text between two quotes, if the word is nothing but that and means just that.
    pub fn quoted(&self) -> Option<&'a str> {
        // Beside an open quote the text of a word is as typed: its quotes pair up with others.
        let inner =
            |mark: char| self.raw.strip_prefix(mark)?.strip_suffix(mark).filter(|text| *text == self.text);
        let single = inner('\'').filter(|text| !text.contains('\''));
        single.or_else(|| inner('"').filter(|text| !text.contains(['"', '\\', '$', '`', '!'])))
    }

    /// Whether a command runs inside the word: `$(…)`, backticks, `<(…)`.
    pub fn runs_a_command(&self) -> bool {
        ["$(", "`", "<(", ">("].iter().any(|opening| self.raw.contains(opening))
    }
}

/// Characters that mean themselves, anywhere in a word, in all three shells.
fn is_harmless(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./:@+,".contains(&byte)
}

#[cfg(test)]
#[path = "words/tests.rs"]
pub(crate) mod tests;
