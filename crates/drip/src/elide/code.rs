//! Tokens of a bracketed language with every bracket matched, and the questions that header readers ask of them.
//! Knows no language.

use super::definition::{Definition, Kind};
use super::lex::{Token, TokenKind};

/// Nobody writes a header of this many tokens; giving up there keeps the scan linear in the file.
pub(super) const LONGEST_HEADER: usize = 400;

pub(super) struct Code<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// For every bracket the index of the other one; for every other token its own index.
    partner: Vec<usize>,
    /// For every token the index of the innermost open bracket around it.
    around: Vec<Option<usize>>,
}

impl<'a> Code<'a> {
    /// `None` if a bracket has no partner.
    pub(super) fn new(text: &'a str, tokens: Vec<Token>) -> Option<Self> {
        let mut partner: Vec<usize> = (0..tokens.len()).collect();
        let mut around = Vec::with_capacity(tokens.len());
        let mut open: Vec<usize> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if let TokenKind::Punct(byte @ (b')' | b']' | b'}')) = token.kind {
                let start = open.pop().filter(|start| tokens[*start].kind == opening(byte))?;
                (partner[at], partner[start]) = (start, at);
            }
            around.push(open.last().copied());
            if let TokenKind::Punct(b'(' | b'[' | b'{') = token.kind {
                open.push(at);
            }
        }
        open.is_empty().then_some(Self { text, tokens, partner, around })
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The word at an index, or an empty string.
    pub(super) fn word(&self, at: usize) -> &'a str {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => self.span(at, at),
            _ => "",
        }
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        !self.word(at).is_empty()
    }

    pub(super) fn is_literal(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Literal)
    }

    /// The punctuation byte at an index, or 0.
    pub(super) fn punct(&self, at: usize) -> u8 {
        match self.tokens.get(at).map(|token| token.kind) {
            Some(TokenKind::Punct(byte)) => byte,
            _ => 0,
        }
    }

    /// The punctuation byte before an index, or 0.
    pub(super) fn punct_before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |at| self.punct(at))
    }

    pub(super) fn word_before(&self, at: usize) -> &'a str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    /// Whether two punctuation bytes stand at an index with nothing between them.
    pub(super) fn pair(&self, at: usize, pair: [u8; 2]) -> bool {
        self.punct(at) == pair[0] && self.punct(at + 1) == pair[1] && self.adjacent(at)
    }

    /// Whether nothing stands between a token and the next one.
    pub(super) fn adjacent(&self, at: usize) -> bool {
        at + 1 < self.len() && self.tokens[at].end == self.tokens[at + 1].start
    }

    /// The index of the other bracket; the same index where there is none.
    pub(super) fn partner(&self, at: usize) -> usize {
        self.partner.get(at).copied().unwrap_or(at)
    }

    /// The index after a token, or after the whole group that it opens.
    pub(super) fn after(&self, at: usize) -> usize {
        self.partner(at).max(at) + 1
    }

    /// The index of a token, or of the bracket that opens the group it ends.
    pub(super) fn back(&self, at: usize) -> usize {
        self.partner(at).min(at)
    }

    pub(super) fn around(&self, at: usize) -> Option<usize> {
        self.around.get(at).copied().flatten()
    }

    /// Whether a token stands on a later line than the one before it.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        at > 0 && at < self.len() && self.tokens[at - 1].last_line < self.tokens[at].line
    }

    pub(super) fn line(&self, at: usize) -> usize {
        self.tokens[at].line as usize
    }

    /// The source from one token to another.
    pub(super) fn span(&self, first: usize, last: usize) -> &'a str {
        &self.text[self.tokens[first].start as usize..self.tokens[last].end as usize]
    }

    /// A definition that begins at `first` and ends with the braces at `open`.
    pub(super) fn definition(&self, name: &str, kind: Kind, first: usize, open: usize) -> Definition {
        let (first_line, last_line) = (self.line(first), self.line(self.partner(open)));
        Definition { name: name.to_owned(), kind, first_line, last_line, body: self.lines_inside(open) }
    }

    /// Like [`Code::definition`], for what has members instead of a body.
    pub(super) fn container(&self, name: &str, first: usize, open: usize) -> Definition {
        Definition { body: None, ..self.definition(name, Kind::Declared, first, open) }
    }

    /// The lines between a pair of braces, if no code and no open comment shares a line with either of them.
    fn lines_inside(&self, open: usize) -> Option<(usize, usize)> {
        let close = self.partner(open);
        let (first, last) = (self.line(open) + 1, self.line(close).checked_sub(1)?);
        // Only the gaps to the neighbouring tokens are looked at: a whole line can be the whole file.
        let after_open = self.gap(open + 1).split('\n').next()?.trim();
        let before_close = self.gap(close).rsplit('\n').next()?.trim();
        let alone = self.starts_line(open + 1)
            && self.starts_line(close)
            && ends_its_comment(after_open)
            && before_close.is_empty();
        (alone && first <= last).then_some((first, last))
    }

    /// The white space and comments before a token.
    fn gap(&self, at: usize) -> &'a str {
        &self.text[self.tokens[at - 1].end as usize..self.tokens[at].start as usize]
    }
}

/// The bracket that a closing one ends.
pub(super) fn opening(close: u8) -> TokenKind {
    TokenKind::Punct(match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    })
}

/// Whether what follows a brace on its line is nothing, or one comment that is over when the line is.
fn ends_its_comment(rest: &str) -> bool {
    let line_comment = (rest.starts_with("//") || rest.starts_with('#')) && !rest.ends_with('\\');
    let block = rest.strip_prefix("/*").and_then(|rest| rest.strip_suffix("*/"));
    rest.is_empty()
        || line_comment
        || block.is_some_and(|inner| !inner.contains("/*") && !inner.contains("*/"))
}
