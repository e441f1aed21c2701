//! Preprocessor lines. Their own text is no code; the branches between them are. Where branches leave brackets open we
//! follow one configuration, the first branch or none, and whatever has such a place in it stays visible, since where
//! it ends depends on a configuration we do not know. If that one does not close its brackets, the file stays whole.

use super::{Doubt, Lexer, Token, TokenKind};
use crate::elide::code::opening;

/// Deeper nesting than anyone writes; each level looks at its tokens once more.
const DEEPEST: usize = 32;

/// A conditional whose end has not come.
pub(super) struct Conditional {
    /// The tokens at which it and its current branch begin.
    begin: usize,
    start: usize,
    /// Whether the first branch closes what it opens, once it is over.
    first_balanced: Option<bool>,
    has_else: bool,
}

impl Lexer<'_> {
    pub(super) fn directive(&mut self) -> Result<(), Doubt> {
        let word = self.rest()[1..].trim_start_matches([' ', '\t']);
        let word = &word[..word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len())];
        match word {
            "if" | "ifdef" | "ifndef" if self.conditionals.len() >= DEEPEST => return Err(Doubt),
            "if" | "ifdef" | "ifndef" => {
                let begin = self.tokens.len();
                self.conditionals.push(Conditional {
                    begin,
                    start: begin,
                    first_balanced: None,
                    has_else: false,
                });
            }
            "else" | "elif" | "elifdef" | "elifndef" => {
                self.end_branch()?;
                self.conditionals.last_mut().ok_or(Doubt)?.has_else |= word == "else";
            }
            "endif" => {
                self.end_branch()?;
                let done = self.conditionals.pop().ok_or(Doubt)?;
                // `extern "C" {` for C++ alone is the most common of these.
                if !done.has_else && done.first_balanced == Some(false) {
                    self.tokens.truncate(done.begin);
                }
            }
            "define" | "include" | "import" => self.pinned.push(self.line as usize),
            _ => {}
        }
        self.skip_directive()
    }

    /// Branches that close what they open all count, one after the other. Of others only the first does.
    fn end_branch(&mut self) -> Result<(), Doubt> {
        let line = self.line as usize;
        let conditional = self.conditionals.last_mut().ok_or(Doubt)?;
        let balanced = is_balanced(&self.tokens[conditional.start..]);
        if !balanced {
            self.pinned.push(line);
        }
        match conditional.first_balanced {
            None => conditional.first_balanced = Some(balanced),
            Some(true) if balanced => {}
            Some(_) => self.tokens.truncate(conditional.start),
        }
        conditional.start = self.tokens.len();
        Ok(())
    }

    /// To the line end that neither a backslash nor an open comment carries over.
    fn skip_directive(&mut self) -> Result<(), Doubt> {
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b'\n' => return Ok(()),
                b'\\' if self.byte(1) == b'\n' => {
                    self.at += 1;
                    self.newline();
                }
                b'\\' if self.byte(1) == b'\r' => {
                    self.at += 2;
                    self.newline();
                }
                b'/' if self.byte(1) == b'*' => {
                    self.comment()?;
                }
                b'/' if self.byte(1) == b'/' => {
                    self.comment()?;
                    return Ok(());
                }
                // A comment cannot begin inside a string; a lone quote is prose.
                b'"' => {
                    let end = self.rest()[1..].find(['"', '\n']).unwrap_or(0);
                    self.at += if self.byte(end + 1) == b'"' { end + 2 } else { 1 };
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }
}

/// Whether every bracket among these tokens has its partner among them.
fn is_balanced(tokens: &[Token]) -> bool {
    let mut open: Vec<TokenKind> = Vec::new();
    for token in tokens {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => open.push(token.kind),
            TokenKind::Punct(byte @ (b')' | b']' | b'}')) if open.pop() != Some(opening(byte)) => {
                return false;
            }
            _ => {}
        }
    }
    open.is_empty()
}
