//! Strings: how each form begins, escapes, interpolates and ends; and comments, which are strings nobody reads.

use super::{Doubt, Frame, Lexer};
use crate::elide::definition::Doc;

/// One form of string.
#[derive(Clone, Copy)]
pub(in crate::elide) struct Quote {
    pub(in crate::elide) mark: u8,
    /// How many marks end it.
    pub(in crate::elide) marks: usize,
    /// How many `#` must follow them.
    pub(in crate::elide) hashes: usize,
    pub(in crate::elide) escape: Escape,
    pub(in crate::elide) hole: Hole,
    pub(in crate::elide) multiline: bool,
    /// Whether surplus marks before the end belong to the string.
    pub(in crate::elide) greedy: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::elide) enum Escape {
    None,
    Backslash,
    /// The mark twice is the mark itself.
    Doubled,
}

/// How code is interpolated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::elide) enum Hole {
    None,
    /// `${…}`
    Dollar,
    /// `${…}`, and `$$` is a dollar.
    DollarEscaped,
    /// `{$…}` and `${…}`
    Php,
    /// `\(…)`, with the string's hashes between the two.
    Swift,
    /// `{…}` with as many braces as given; with one, `{{` is a brace.
    Braces(usize),
}

impl Quote {
    /// On one line, with backslashes.
    pub(in crate::elide) const fn plain(mark: u8) -> Self {
        let (escape, hole) = (Escape::Backslash, Hole::None);
        Self { mark, marks: 1, hashes: 0, escape, hole, multiline: false, greedy: false }
    }

    /// Over several lines, with backslashes.
    pub(in crate::elide) const fn long(mark: u8) -> Self {
        Self { multiline: true, ..Self::plain(mark) }
    }

    /// Three marks, over several lines, with backslashes.
    pub(in crate::elide) const fn triple() -> Self {
        Self { marks: 3, ..Self::long(b'"') }
    }

    pub(in crate::elide) const fn raw(self) -> Self {
        Self { escape: Escape::None, ..self }
    }

    pub(in crate::elide) const fn with(self, hole: Hole) -> Self {
        Self { hole, ..self }
    }

    pub(in crate::elide) const fn greedy(self) -> Self {
        Self { greedy: true, ..self }
    }
}

impl Lexer<'_> {
    /// Enters the first form of the language's table that begins here.
    pub(super) fn open_string(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let form = self.spec.strings.iter().find(|(open, _)| rest.starts_with(open.as_bytes()));
        let Some((open, quote)) = form else { return false };
        self.enter(Frame::Text(*quote), open.len());
        true
    }

    /// Reads on in a string, to its end or to the next hole.
    pub(super) fn text(&mut self, quote: Quote) -> Result<(), Doubt> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' if !quote.multiline => return Err(Doubt),
                b'\n' => self.newline(),
                b'\\' if quote.escape == Escape::Backslash => {
                    if self.escape(quote) {
                        return Ok(());
                    }
                }
                _ if byte == quote.mark => {
                    if self.closes(quote) {
                        self.leave();
                        return Ok(());
                    }
                }
                b'$' | b'{' => {
                    if self.opens_hole(quote.hole) {
                        return Ok(());
                    }
                }
                _ => self.at += 1,
            }
        }
        Err(Doubt)
    }

    /// Moves over a backslash and what it escapes. True if that opened a hole.
    fn escape(&mut self, quote: Quote) -> bool {
        if self.run(1, b'#', quote.hashes) < quote.hashes {
            self.at += 1;
            return false;
        }
        let opener = 1 + quote.hashes;
        if quote.hole == Hole::Swift && self.byte(opener) == b'(' {
            self.hole([b'(', b')'], 1, opener + 1);
            return true;
        }
        self.at = (self.at + opener).min(self.bytes.len());
        if self.byte(0) == b'\r' {
            self.at += 1;
        }
        match self.byte(0) {
            b'\n' => self.newline(),
            _ => self.at = (self.at + 1).min(self.bytes.len()),
        }
        false
    }

    /// Moves over marks. True if they end the string.
    fn closes(&mut self, quote: Quote) -> bool {
        let most = if quote.greedy { usize::MAX } else { quote.marks.max(2) };
        let found = self.run(0, quote.mark, most);
        if quote.escape == Escape::Doubled && found >= 2 {
            self.at += 2;
            return false;
        }
        let taken = if quote.greedy { found } else { quote.marks };
        let closes = found >= quote.marks && self.run(taken, b'#', quote.hashes) >= quote.hashes;
        self.at += match (closes, quote.marks) {
            (true, _) => taken + quote.hashes,
            // A shorter ending may begin at the next mark: `"""` inside `#""" """" """#`.
            (false, 1) => 1,
            (false, _) => {
                if found < quote.marks {
                    found
                } else {
                    1
                }
            }
        };
        closes
    }

    /// Moves over a `$` or `{`. True if it opened a hole.
    fn opens_hole(&mut self, hole: Hole) -> bool {
        let pair = [self.byte(0), self.byte(1)];
        match (hole, &pair) {
            (Hole::Dollar | Hole::DollarEscaped | Hole::Php, b"${") | (Hole::Php, b"{$") => {
                // What follows `{$` is the variable itself: the hole begins before the dollar.
                let opener = if pair[0] == b'{' { 1 } else { 2 };
                self.hole([b'{', b'}'], 1, opener);
                return true;
            }
            (Hole::DollarEscaped, b"$$") => self.at += 2,
            (Hole::Braces(1), b"{{") => self.at += 2,
            (Hole::Braces(width), [b'{', _]) => {
                let run = self.run(0, b'{', usize::MAX);
                if run >= width {
                    self.hole([b'{', b'}'], width, run);
                    return true;
                }
                self.at += run;
            }
            _ => self.at += 1,
        }
        false
    }

    fn hole(&mut self, [open, close]: [u8; 2], width: usize, opener: usize) {
        self.enter(Frame::Code { open, close, width, depth: 0 }, opener);
    }

    /// Moves over a comment, if one begins here.
    pub(super) fn comment(&mut self) -> Result<bool, Doubt> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"/*") && self.spec.block_comments {
            self.block_comment()?;
            return Ok(true);
        }
        if !self.spec.line_comments.iter().any(|open| rest.starts_with(open.as_bytes())) {
            return Ok(false);
        }
        self.line_comment();
        Ok(true)
    }

    fn line_comment(&mut self) {
        let start = self.at;
        self.skip_line();
        while self.spec.directives && continues(&self.bytes[start..self.at]) && self.at < self.bytes.len() {
            self.newline();
            self.skip_line();
        }
        if self.spec.inside_html
            && let Some(end) = self.text[start..self.at].find("?>")
        {
            self.at = start + end;
        }
        if self.fresh && self.frames.is_empty() {
            self.line_doc(&self.text[start..self.at]);
        }
    }

    /// Joins a `///` line to the run of them above it.
    fn line_doc(&mut self, comment: &str) {
        let lead = ["/// ", "//! "].into_iter().find(|lead| comment.starts_with(lead.trim_end()));
        let (Some(lead), line) = (lead.filter(|_| self.spec.line_docs), self.line as usize) else { return };
        match self.docs.last_mut() {
            Some(doc) if doc.lead == lead && doc.last_line + 1 == line => {
                doc.last_line = line;
                doc.hidden.1 = line;
            }
            _ => self.docs.push(Doc { last_line: line, hidden: (line + 1, line), lead, describes: None }),
        }
    }

    fn block_comment(&mut self) -> Result<(), Doubt> {
        let (start, first_line, fresh) = (self.at, self.line as usize, self.fresh);
        let (mut depth, mut at) = (1, self.at + 2);
        while depth > 0 {
            let found = self.bytes[at..].windows(2).position(|pair| pair == b"*/" || pair == b"/*");
            at += found.ok_or(Doubt)?;
            match (self.bytes[at], self.spec.nested_comments) {
                (b'*', _) => depth -= 1,
                (_, true) => depth += 1,
                // An opener that opens nothing: `/*/` may still end the comment with its second half.
                (_, false) => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
        }
        self.skip_to(at);
        let comment = &self.text[start..at];
        if fresh && self.frames.is_empty() && comment.starts_with("/**") && !comment.starts_with("/***") {
            self.block_doc(comment, first_line);
        }
        Ok(())
    }

    /// The first line with words stays, and so does the last line with the end of the comment.
    fn block_doc(&mut self, comment: &str, first_line: usize) {
        let worded = |line: &str| line.contains(|c: char| c.is_alphanumeric());
        let Some(summary) = comment.lines().position(worded) else { return };
        let last_line = self.line as usize;
        let hidden = (first_line + summary + 1, last_line.saturating_sub(1));
        self.docs.push(Doc { last_line, hidden, lead: "* ", describes: None });
    }
}

/// Whether a line of C goes on after its end.
fn continues(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
}
