//! Where words and operators begin and end. Knows quotes, substitutions, redirections, here-documents and comments;
//! does not know what any word means.
//!
//! Linear: a quote that is never closed ends the scan, and after one substitution that is never closed no further
//! one is looked for.

use std::borrow::Cow;
use std::mem;

use super::{Ending, Operator, Role, Segment, Word, placeholder};

pub(super) fn segments(line: &str) -> Vec<Segment<'_>> {
    let mut scan = Scan {
        line,
        bytes: line.as_bytes(),
        at: 0,
        done: Vec::new(),
        operator_before: None,
        words: Vec::new(),
        segment_start: 0,
        next_role: Role::Plain,
        heredocs: Vec::new(),
        substitutions: Substitutions::Nest,
    };
    scan.run();
    scan.done
}

struct Scan<'a> {
    line: &'a str,
    bytes: &'a [u8],
    at: usize,
    done: Vec<Segment<'a>>,
    operator_before: Option<Operator>,
    words: Vec<Word<'a>>,
    segment_start: usize,
    /// What the next word is to the redirection before it.
    next_role: Role,
    /// The last lines of here-documents that begin after this line.
    heredocs: Vec<Cow<'a, str>>,
    substitutions: Substitutions,
}

#[derive(PartialEq)]
enum Substitutions {
    Nest,
    AreText,
}

struct OpenQuote;

impl<'a> Scan<'a> {
    fn run(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.peek(1) == Some(b'\n') => self.at += 2,
                b'#' if self.substitutions == Substitutions::Nest => {
                    self.at += self.bytes[self.at..].iter().take_while(|byte| **byte != b'\n').count();
                }
                b'\n' if !self.heredocs.is_empty() => self.read_heredocs(),
                b'(' | b')' => self.push(self.at + 1, Role::Group),
                _ => {
                    if let Some(end) = self.redirection() {
                        self.push_redirection(end);
                    } else if let Some(operator) = self.operator() {
                        self.end_segment(Some(operator));
                    } else if let Ok(end) = self.word_end() {
                        let role = mem::replace(&mut self.next_role, Role::Plain);
                        self.push(end, role);
                    } else {
                        return self.end_with_open_quote();
                    }
                }
            }
        }
        self.end_segment(None);
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, end: usize, role: Role) {
        let raw = &self.line[self.at..end];
        if role == Role::Delimiter {
            self.heredocs.push(meaning(raw));
        }
        let text = if role == Role::Heredoc { Cow::Borrowed(raw) } else { meaning(raw) };
        self.words.push(Word { raw, text, start: self.at, role });
        self.at = end;
    }

    fn operator(&self) -> Option<Operator> {
        Some(match (self.peek(0)?, self.peek(1)) {
            (b';', Some(b';')) => Operator::Branch,
            (b';', _) => Operator::Semicolon,
            (b'&', Some(b'&')) => Operator::And,
            (b'&', _) => Operator::Background,
            (b'|', Some(b'|')) => Operator::Or,
            (b'|', Some(b'&')) => Operator::PipeBoth,
            (b'|', _) => Operator::Pipe,
            (b'\n', _) => Operator::Newline,
            _ => return None,
        })
    }

    fn end_segment(&mut self, operator: Option<Operator>) {
        let words = mem::take(&mut self.words);
        let before = mem::replace(&mut self.operator_before, operator);
        let separates = matches!(before, None | Some(Operator::Semicolon | Operator::Newline));
        if !(words.is_empty() && separates) {
            let before = if self.done.is_empty() && separates { None } else { before };
            let closed = self.substitutions == Substitutions::Nest;
            let ending = if closed { Ending::Closed } else { Ending::Open };
            self.done.push(Segment { operator_before: before, words, ending });
        }
        self.at += operator.map_or(0, |operator| operator.as_str().len());
        self.segment_start = self.at;
        self.next_role = Role::Plain;
    }

    fn end_with_open_quote(&mut self) {
        self.words.clear();
        let mut start = self.segment_start;
        for raw in self.line[start..].split([' ', '\t', '\n']) {
            if !raw.is_empty() {
                self.words.push(Word { raw, text: Cow::Borrowed(raw), start, role: Role::Plain });
            }
            start += raw.len() + 1;
        }
        self.end_segment(None);
        if let Some(last) = self.done.last_mut() {
            last.ending = Ending::Open;
        }
    }

    /// Where the redirection that begins here ends, if one does.
    fn redirection(&self) -> Option<usize> {
        let rest = &self.bytes[self.at..];
        if !matches!(rest, [b'0'..=b'9' | b'<' | b'>' | b'&', ..]) {
            return None;
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let arrows = &rest[digits..];
        if placeholder::length(arrows).is_some() || matches!(arrows, [b'<' | b'>', b'(', ..]) {
            return None;
        }
        const ARROWS: [&str; 12] = ["<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">|", ">&", ">"];
        let arrow = ARROWS.into_iter().find(|arrow| arrows.starts_with(arrow.as_bytes()))?;
        if arrow.starts_with('&') && digits > 0 {
            return None;
        }
        let end = self.at + digits + arrow.len();
        let descriptor =
            self.bytes[end..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
        Some(if arrow.ends_with('&') { end + descriptor } else { end })
    }

    fn push_redirection(&mut self, end: usize) {
        let raw = &self.line[self.at..end];
        self.next_role = match raw.trim_start_matches(|c: char| c.is_ascii_digit()) {
            "<<" | "<<-" => Role::Delimiter,
            arrow if arrow.ends_with(['<', '>', '|', '&']) => Role::Target,
            _ => Role::Plain,
        };
        self.push(end, Role::Redirection);
    }

    /// At a newline behind which here-documents begin: their lines become one word, up to the last line of the
    /// last of them or the end of everything.
    fn read_heredocs(&mut self) {
        self.at += 1;
        let mut end = self.at;
        for delimiter in mem::take(&mut self.heredocs) {
            for line in self.line[end..].split_inclusive('\n') {
                end += line.len();
                if line.trim_end_matches('\n').trim_start_matches('\t') == delimiter {
                    break;
                }
            }
        }
        let body = self.line[self.at..end].trim_end_matches('\n').len();
        if body > 0 {
            self.push(self.at + body, Role::Heredoc);
        }
    }

    fn word_end(&mut self) -> Result<usize, OpenQuote> {
        let mut at = self.at;
        while let Some(byte) = self.bytes.get(at).copied() {
            let rest = &self.bytes[at..];
            let length = match byte {
                b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')' => break,
                b'\\' => 2,
                b'\'' | b'"' => nested(rest).ok_or(OpenQuote)?,
                b'$' if rest.get(1) == Some(&b'\'') => nested(rest).ok_or(OpenQuote)?,
                b'`' => self.substitution(rest).unwrap_or(1),
                b'$' if matches!(rest.get(1), Some(b'(' | b'{')) => self.substitution(rest).unwrap_or(1),
                b'(' => match self.substitution(rest) {
                    Some(length) => length,
                    None => break,
                },
                b'<' | b'>' => match placeholder::length(rest) {
                    Some(length) => length,
                    None if rest.get(1) == Some(&b'(') => self.substitution(rest).unwrap_or(1),
                    None => break,
                },
                _ => 1,
            };
            at += length;
        }
        Ok(at.min(self.bytes.len()))
    }

    fn substitution(&mut self, rest: &[u8]) -> Option<usize> {
        if self.substitutions == Substitutions::AreText {
            return None;
        }
        let length = nested(rest);
        if length.is_none() {
            self.substitutions = Substitutions::AreText;
        }
        length
    }
}

/// The length of what begins with a quote, a backtick, `(`, `$(`, `${`, `<(` or `$'`, up to where it is closed.
fn nested(bytes: &[u8]) -> Option<usize> {
    let mut closers: Vec<u8> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let inside = closers.last().copied();
        at += match (inside, byte) {
            (Some(b'\''), b'\\') => 1,
            (_, b'\\') => 2,
            (Some(closer), byte) if byte == closer || closer == ANSI_QUOTE && byte == b'\'' => {
                closers.pop();
                1
            }
            (Some(b'\'' | ANSI_QUOTE), _) => 1,
            (_, b'$') if matches!(bytes.get(at + 1), Some(b'(')) => open(&mut closers, b')', 2),
            (_, b'$') if matches!(bytes.get(at + 1), Some(b'{')) => open(&mut closers, b'}', 2),
            (_, b'`') => open(&mut closers, b'`', 1),
            (Some(b'"'), _) => 1,
            (_, b'$') if matches!(bytes.get(at + 1), Some(b'\'')) => open(&mut closers, ANSI_QUOTE, 2),
            (_, b'\'') => open(&mut closers, b'\'', 1),
            (_, b'"') => open(&mut closers, b'"', 1),
            (_, b'(') => open(&mut closers, b')', 1),
            _ => 1,
        };
        // The first character may be the arrow of `<(`, which opens nothing by itself.
        if closers.is_empty() && at > 1 {
            return (at <= bytes.len()).then_some(at);
        }
    }
    None
}

/// Stands for the end of `$'…'`, where a backslash hides a quote, unlike in `'…'`. No text holds this byte.
const ANSI_QUOTE: u8 = 0xff;

fn open(closers: &mut Vec<u8>, closer: u8, length: usize) -> usize {
    closers.push(closer);
    length
}

/// What the shell makes of one word; the word as it is where quotes and substitutions are entangled.
fn meaning(raw: &str) -> Cow<'_, str> {
    if !raw.contains(['\'', '"', '\\']) {
        return Cow::Borrowed(raw);
    }
    match shlex::split(raw) {
        Some(mut words) if words.len() == 1 => Cow::Owned(words.swap_remove(0)),
        _ => Cow::Borrowed(raw),
    }
}
