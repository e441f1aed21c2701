//! From text to tokens: words, literals and punctuation, with comments dropped and strings kept whole. Driven by a
//! language's table; what a table cannot say is a small hook in [`special`]. An explicit stack holds what is open, so
//! that no depth of nesting can exhaust ours. Any doubt ends the scan.

mod directive;
mod markup;
mod quote;
pub(super) mod special;

use super::definition::Doc;
use super::language::Spec;
pub(super) use quote::{Escape, Hole, Quote};

/// The text cannot be read with certainty.
#[derive(Debug)]
pub(super) struct Doubt;

pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) line: u32,
    pub(super) last_line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A string with all that is interpolated into it, a number, a regular expression, a piece of markup.
    Literal,
    Punct(u8),
}

pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) docs: Vec<Doc>,
    pub(super) pinned: Vec<usize>,
}

pub(super) fn lex(spec: &'static Spec, text: &str) -> Result<Lexed, Doubt> {
    let mut lexer = Lexer::new(spec, text);
    lexer.opening_line();
    while lexer.at < lexer.bytes.len() {
        match lexer.frames.last().copied() {
            None | Some(Frame::Code { .. }) => lexer.code()?,
            Some(Frame::Text(quote)) => lexer.text(quote)?,
            Some(Frame::Markup(markup)) => lexer.markup(markup)?,
        }
    }
    let finished = lexer.frames.is_empty() && lexer.conditionals.is_empty();
    finished.then_some(Lexed { tokens: lexer.tokens, docs: lexer.docs, pinned: lexer.pinned }).ok_or(Doubt)
}

/// What is open around the current byte.
#[derive(Clone, Copy)]
enum Frame {
    Text(Quote),
    /// Code inside a string or markup. Ends at `close`, `width` times, when as many were closed as opened.
    Code {
        open: u8,
        close: u8,
        width: usize,
        depth: usize,
    },
    Markup(markup::Markup),
}

pub(super) struct Lexer<'a> {
    spec: &'static Spec,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    /// Whether nothing but white space came before on this line.
    fresh: bool,
    frames: Vec<Frame>,
    /// Where the outermost open literal began: byte and line.
    literal: (usize, u32),
    tokens: Vec<Token>,
    docs: Vec<Doc>,
    pinned: Vec<usize>,
    conditionals: Vec<directive::Conditional>,
    previous: special::Previous<'a>,
    /// For every open parenthesis, whether it belongs to a control statement.
    parentheses: Vec<bool>,
}

impl<'a> Lexer<'a> {
    fn new(spec: &'static Spec, text: &'a str) -> Self {
        Self {
            spec,
            text,
            bytes: text.as_bytes(),
            at: 0,
            line: 1,
            fresh: true,
            frames: Vec::new(),
            literal: (0, 1),
            tokens: Vec::new(),
            docs: Vec::new(),
            pinned: Vec::new(),
            conditionals: Vec::new(),
            previous: special::Previous::Nothing,
            parentheses: Vec::new(),
        }
    }

    /// A byte order mark and a `#!` line belong to no language.
    fn opening_line(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        if self.rest().starts_with("#!") && !self.rest().starts_with("#![") {
            self.skip_line();
        }
        if self.spec.inside_html {
            self.html();
        }
    }

    fn code(&mut self) -> Result<(), Doubt> {
        let byte = self.bytes[self.at];
        match byte {
            b'\n' => self.newline(),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
            _ if (self.spec.special)(self)? || self.comment()? => {}
            b'#' if self.spec.directives && self.fresh => self.directive()?,
            _ if self.open_string() => {}
            b'`' if self.spec.backtick_words => self.backtick_word()?,
            b'0'..=b'9' => self.number(),
            _ if self.is_word_byte(byte) => self.word(),
            // A backslash before a line end is white space where there is a preprocessor.
            b'\\' if self.spec.directives => self.at += 1,
            _ => self.punct(byte),
        }
        Ok(())
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.fresh = true;
    }

    /// Skips to a byte index, counting lines.
    fn skip_to(&mut self, end: usize) {
        let lines = self.bytes[self.at..end].iter().filter(|byte| **byte == b'\n').count();
        self.line += u32::try_from(lines).expect("a text has no more lines than bytes, which were counted");
        self.at = end;
    }

    /// Skips to the line end, without it.
    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn rest(&self) -> &'a str {
        // Every step moves over ASCII bytes or over whole runs of others, except into an escaped character.
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// How many times `byte` stands in a row from `ahead` on. Never counts further than `most`, so that a run which is
    /// looked at from each of its bytes costs no more than its length.
    fn run(&self, ahead: usize, byte: u8, most: usize) -> usize {
        self.bytes.iter().skip(self.at + ahead).take(most).take_while(|found| **found == byte).count()
    }

    fn is_word_byte(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || byte == b'_'
            || byte >= 0x80
            || (byte == b'$' && self.spec.dollar_words)
    }

    fn emit(&mut self, kind: TokenKind, start: usize, line: u32) {
        self.fresh = false;
        if !self.frames.is_empty() {
            return;
        }
        let index = |at: usize| u32::try_from(at).expect("longer texts are refused before");
        let (start, end) = (index(start), index(self.at));
        self.tokens.push(Token { kind, start, end, line, last_line: self.line });
    }

    fn word(&mut self) {
        let start = self.at;
        while self.is_word_byte(self.byte(0)) && self.at < self.bytes.len() {
            self.at += 1;
        }
        self.previous = special::Previous::Word(&self.text[start..self.at]);
        self.emit(TokenKind::Word, start, self.line);
    }

    fn backtick_word(&mut self) -> Result<(), Doubt> {
        let start = self.at;
        let length = self.rest()[1..].find(['`', '\n']).ok_or(Doubt)?;
        self.at += length + 2;
        if self.bytes[self.at - 1] != b'`' {
            return Err(Doubt);
        }
        self.previous = special::Previous::Word(&self.text[start..self.at]);
        self.emit(TokenKind::Word, start, self.line);
        Ok(())
    }

    fn number(&mut self) {
        let start = self.at;
        let separates = |quote: u8, digit: u8| quote == b'\'' && digit.is_ascii_alphanumeric();
        while self.byte(0).is_ascii_alphanumeric()
            || self.byte(0) == b'_'
            || (self.spec.quotes_in_numbers && separates(self.byte(0), self.byte(1)))
        {
            self.at += 1;
        }
        self.previous = special::Previous::Value;
        self.emit(TokenKind::Literal, start, self.line);
    }

    fn punct(&mut self, byte: u8) {
        if let Some(Frame::Code { open, close, width, depth }) = self.frames.last_mut() {
            if byte == *close && *depth == 0 {
                self.at += *width;
                self.frames.pop();
                return;
            }
            *depth = *depth + usize::from(byte == *open) - usize::from(byte == *close);
        }
        let start = self.at;
        self.at += 1;
        self.remember(byte);
        self.emit(TokenKind::Punct(byte), start, self.line);
    }

    /// A literal of one piece, from `start` to here.
    fn literal_from(&mut self, start: usize, line: u32) {
        self.previous = special::Previous::Value;
        self.emit(TokenKind::Literal, start, line);
    }

    /// Opens something that the main loop reads piece by piece.
    fn enter(&mut self, frame: Frame, opener: usize) {
        if self.frames.is_empty() {
            self.literal = (self.at, self.line);
        }
        self.frames.push(frame);
        self.at += opener;
        self.previous = special::Previous::Punct(b'(');
    }

    /// The innermost string or markup is over.
    fn leave(&mut self) {
        self.frames.pop();
        let (start, line) = self.literal;
        self.literal_from(start, line);
    }
}
