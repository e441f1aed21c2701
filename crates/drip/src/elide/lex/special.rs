//! What a table cannot say: the hooks of single languages. Each is tried first at every token of code; it moves over
//! what it knows and says so, leaves everything else alone, or doubts.

use super::{Doubt, Escape, Frame, Hole, Lexer, Quote, TokenKind};

/// What came before, as far as it decides what a `/` or a `<` means.
#[derive(Clone, Copy)]
pub(super) enum Previous<'a> {
    Nothing,
    Word(&'a str),
    /// A literal, or something else that a value ends with.
    Value,
    /// The end of an `if (…)`, `while (…)`, `for (…)` or `with (…)`.
    ControlHead,
    Punct(u8),
}

pub(in crate::elide) type Hook = fn(&mut Lexer) -> Result<bool, Doubt>;

/// As many as Rust allows around a raw string.
const MOST_HASHES: usize = 255;

pub(in crate::elide) fn nothing(_: &mut Lexer) -> Result<bool, Doubt> {
    Ok(false)
}

/// Lifetimes beside characters, and raw strings with any number of hashes.
pub(in crate::elide) fn rust(lexer: &mut Lexer) -> Result<bool, Doubt> {
    if lexer.byte(0) == b'\'' {
        return lexer.character();
    }
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| lexer.starts(prefix) && lexer.ends_word(prefix));
    let Some(prefix) = prefix else { return Ok(false) };
    let hashes = lexer.run(prefix.len(), b'#', MOST_HASHES);
    if lexer.byte(prefix.len() + hashes) == b'"' {
        let quote = Quote { hashes, ..Quote::long(b'"').raw() };
        lexer.enter(Frame::Text(quote), prefix.len() + hashes + 1);
        return Ok(true);
    }
    if prefix == "r" && hashes == 1 {
        // A raw identifier: never a keyword.
        let start = lexer.at;
        lexer.at += 2;
        while lexer.is_word_byte(lexer.byte(0)) {
            lexer.at += 1;
        }
        lexer.emit(TokenKind::Word, start, lexer.line);
        return Ok(true);
    }
    Ok(false)
}

/// Characters beside symbols, and strings that a word before them makes interpolated.
pub(in crate::elide) fn scala(lexer: &mut Lexer) -> Result<bool, Doubt> {
    match lexer.byte(0) {
        b'\'' => lexer.character(),
        b'"' if lexer.follows_word() => {
            let quote =
                if lexer.starts("\"\"\"") { Quote::triple().raw().greedy() } else { Quote::plain(b'"') };
            lexer.enter(Frame::Text(quote.with(Hole::DollarEscaped)), quote.marks);
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Raw strings with a delimiter of their own.
pub(in crate::elide) fn cpp(lexer: &mut Lexer) -> Result<bool, Doubt> {
    let Some(prefix) =
        ["R\"", "u8R\"", "uR\"", "UR\"", "LR\""].into_iter().find(|prefix| lexer.starts(prefix))
    else {
        return Ok(false);
    };
    let (start, line) = (lexer.at, lexer.line);
    let body = &lexer.rest()[prefix.len()..];
    let open = body.find('(').filter(|length| *length <= 16).ok_or(Doubt)?;
    let end = format!("){}\"", &body[..open]);
    let length = body.find(&end).ok_or(Doubt)?;
    lexer.skip_to(start + prefix.len() + length + end.len());
    lexer.literal_from(start, line);
    Ok(true)
}

/// Verbatim, interpolated and raw strings, and words that `@` keeps from being keywords.
pub(in crate::elide) fn csharp(lexer: &mut Lexer) -> Result<bool, Doubt> {
    if !matches!(lexer.byte(0), b'$' | b'@' | b'"') {
        return Ok(false);
    }
    let length = lexer.bytes[lexer.at..].iter().take_while(|byte| matches!(byte, b'$' | b'@')).count();
    let prefix = &lexer.bytes[lexer.at..lexer.at + length];
    let (verbatim, dollars) = (prefix.contains(&b'@'), prefix.iter().filter(|byte| **byte == b'$').count());
    let marks = lexer.run(length, b'"', usize::MAX);
    if marks == 0 {
        let start = lexer.at;
        if prefix != b"@" || !lexer.is_word_byte(lexer.byte(1)) {
            return Err(Doubt);
        }
        lexer.at += 1;
        while lexer.is_word_byte(lexer.byte(0)) {
            lexer.at += 1;
        }
        lexer.emit(TokenKind::Word, start, lexer.line);
        return Ok(true);
    }
    let hole = if dollars == 0 { Hole::None } else { Hole::Braces(dollars) };
    let (quote, opener) = if verbatim {
        (Quote { escape: Escape::Doubled, ..Quote::long(b'"') }, 1)
    } else if marks >= 3 {
        (Quote { marks, ..Quote::long(b'"').raw().greedy() }, marks)
    } else {
        (Quote::plain(b'"'), 1)
    };
    lexer.enter(Frame::Text(quote.with(hole)), length + opener);
    Ok(true)
}

/// A dollar before a quote changes what interpolates: too new to be sure of.
pub(in crate::elide) fn kotlin(lexer: &mut Lexer) -> Result<bool, Doubt> {
    let dollars = lexer.run(0, b'$', usize::MAX);
    if dollars > 0 && lexer.byte(dollars) == b'"' { Err(Doubt) } else { Ok(false) }
}

/// Strings between hashes. A regular expression looks like an operator until it is parsed: doubt.
pub(in crate::elide) fn swift(lexer: &mut Lexer) -> Result<bool, Doubt> {
    match lexer.byte(0) {
        b'#' => {
            let hashes = lexer.run(0, b'#', MOST_HASHES);
            let marks = lexer.run(hashes, b'"', 3);
            if lexer.byte(hashes) == b'/' {
                return Err(Doubt);
            }
            if marks == 0 {
                return Ok(false);
            }
            let quote = if marks >= 3 { Quote::triple() } else { Quote::plain(b'"') };
            let quote = Quote { hashes, ..quote.with(Hole::Swift) };
            lexer.enter(Frame::Text(quote), hashes + quote.marks);
            Ok(true)
        }
        b'/' if !matches!(lexer.byte(1), b'/' | b'*' | b' ' | b')' | b',' | b'=' | b'\n') => {
            if lexer.value_may_begin(&["return", "in", "case", "try", "await"]) {
                Err(Doubt)
            } else {
                Ok(false)
            }
        }
        _ => Ok(false),
    }
}

/// The end of code, attributes that look like comments, and here-documents.
pub(in crate::elide) fn php(lexer: &mut Lexer) -> Result<bool, Doubt> {
    let here = lexer.frames.is_empty();
    if lexer.starts("?>") && here {
        lexer.at += 2;
        lexer.html();
        return Ok(true);
    }
    if lexer.starts("#[") {
        lexer.punct(b'#');
        return Ok(true);
    }
    if lexer.starts("<<<") {
        return lexer.here_document();
    }
    if lexer.starts("__halt_compiler") { Err(Doubt) } else { Ok(false) }
}

/// Words after which an expression begins.
#[rustfmt::skip]
const BEFORE_VALUE: &[&str] = &[
    "return", "typeof", "instanceof", "in", "new", "delete", "void", "throw", "case", "do", "else", "default", "extends",
];

/// Regular expressions and markup, told from division and comparison by what came before.
pub(in crate::elide) fn script(lexer: &mut Lexer) -> Result<bool, Doubt> {
    match (lexer.byte(0), lexer.byte(1)) {
        // Two old forms of comment, in scripts that are no modules.
        (b'<' | b'-', _) if lexer.starts("<!--") || (lexer.fresh && lexer.starts("-->")) => Err(Doubt),
        (b'/', b'/' | b'*') => Ok(false),
        (b'/', _) => {
            // After a block a value begins, after an object it does not.
            if let Previous::Punct(b'}') | Previous::Word("of" | "yield" | "await") = lexer.previous {
                return Err(Doubt);
            }
            if !lexer.value_may_begin(BEFORE_VALUE) {
                return Ok(false);
            }
            lexer.regular_expression()?;
            Ok(true)
        }
        (b'<', next)
            if lexer.spec.markup && (next.is_ascii_alphabetic() || matches!(next, b'_' | b'$' | b'>')) =>
        {
            if let Previous::Punct(b'}') = lexer.previous {
                return Err(Doubt);
            }
            if !lexer.value_may_begin(BEFORE_VALUE) || lexer.is_type_parameter() {
                return Ok(false);
            }
            lexer.open_markup();
            Ok(true)
        }
        // `value!` asserts and stays a value; `!value` negates.
        (b'!', next) if next != b'=' && lexer.follows_value() => {
            let start = lexer.at;
            lexer.at += 1;
            lexer.emit(TokenKind::Punct(b'!'), start, lexer.line);
            Ok(true)
        }
        _ => Ok(false),
    }
}

impl Lexer<'_> {
    fn starts(&self, prefix: &str) -> bool {
        self.bytes[self.at..].starts_with(prefix.as_bytes())
    }

    /// Whether a prefix is followed by a quote or a hash, and not by more of a word.
    fn ends_word(&self, prefix: &str) -> bool {
        matches!(self.byte(prefix.len()), b'"' | b'#')
    }

    /// Whether a word ends right before this byte.
    fn follows_word(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| self.bytes[at]);
        before.is_some_and(|byte| self.is_word_byte(byte)) && matches!(self.previous, Previous::Word(_))
    }

    /// What a punctuation byte leaves behind for the next `/` or `<`.
    pub(super) fn remember(&mut self, byte: u8) {
        self.previous = match byte {
            b'(' => {
                let control = matches!(self.previous, Previous::Word("if" | "while" | "for" | "with"));
                self.parentheses.push(control);
                Previous::Punct(byte)
            }
            b')' if self.parentheses.pop().unwrap_or(false) => Previous::ControlHead,
            b')' | b']' => Previous::Value,
            // `i++ / 2` and `i-- / 2`.
            b'+' | b'-' if self.at >= 2 && self.bytes[self.at - 2] == byte => Previous::Value,
            _ => Previous::Punct(byte),
        };
    }

    /// Whether an expression can begin here, given the words after which one does.
    fn value_may_begin(&self, words: &[&str]) -> bool {
        match self.previous {
            Previous::Nothing | Previous::ControlHead => true,
            Previous::Word(word) => words.contains(&word),
            Previous::Value => false,
            Previous::Punct(byte) => byte != b'}',
        }
    }

    /// Whether a value ends right before this byte.
    fn follows_value(&self) -> bool {
        match self.previous {
            Previous::Word(word) => self.follows_word() && !BEFORE_VALUE.contains(&word),
            previous => matches!(previous, Previous::Value),
        }
    }

    /// A quote that is a character literal, or else only itself.
    fn character(&mut self) -> Result<bool, Doubt> {
        let (start, line) = (self.at, self.line);
        if self.byte(1) == b'\\' {
            let escaped = self.bytes.get(self.at + 3..).ok_or(Doubt)?;
            let length = escaped.iter().take(12).position(|byte| *byte == b'\'').ok_or(Doubt)?;
            self.at += 3 + length + 1;
            self.literal_from(start, line);
            return Ok(true);
        }
        let character = self.rest()[1..].chars().next().filter(|c| !matches!(c, '\'' | '\n'));
        let length = character.map_or(0, char::len_utf8);
        if length == 0 || self.byte(1 + length) != b'\'' {
            self.punct(b'\'');
            return Ok(true);
        }
        self.at += length + 2;
        self.literal_from(start, line);
        Ok(true)
    }

    fn regular_expression(&mut self) -> Result<(), Doubt> {
        let start = self.at;
        let mut in_class = false;
        self.at += 1;
        loop {
            match self.byte(0) {
                b'\n' | 0 => return Err(Doubt),
                b'\\' if self.byte(1) == b'\n' => return Err(Doubt),
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        while self.byte(0).is_ascii_alphabetic() {
            self.at += 1;
        }
        self.literal_from(start, self.line);
        Ok(())
    }

    /// Text around PHP code: one literal, up to and with the next opening tag.
    pub(super) fn html(&mut self) {
        let (start, line) = (self.at, self.line);
        let rest = self.rest();
        let tag = rest.match_indices("<?").find_map(|(at, _)| {
            let tag = rest[at..].get(..5).unwrap_or_default().to_ascii_lowercase();
            (tag == "<?php").then_some(at + 5).or((tag.starts_with("<?=")).then_some(at + 3))
        });
        self.skip_to(tag.map_or(self.bytes.len(), |length| start + length));
        self.literal_from(start, line);
    }

    /// `<<<LABEL`, `<<<"LABEL"` or `<<<'LABEL'`, up to the label on a line of its own.
    fn here_document(&mut self) -> Result<bool, Doubt> {
        let (start, line) = (self.at, self.line);
        let (head, body) = self.rest().split_once('\n').ok_or(Doubt)?;
        let label = head[3..].trim().trim_matches(['"', '\'']);
        if label.is_empty() || !label.bytes().all(|byte| self.is_word_byte(byte)) {
            return Err(Doubt);
        }
        let mut at = start + head.len() + 1;
        for row in body.split_inclusive('\n') {
            let indent = row.len() - row.trim_start().len();
            if let Some(after) = row[indent..].strip_prefix(label)
                && !after.bytes().next().is_some_and(|byte| self.is_word_byte(byte))
            {
                self.skip_to(at + indent + label.len());
                self.literal_from(start, line);
                return Ok(true);
            }
            at += row.len();
        }
        Err(Doubt)
    }
}
