//! Python: logical lines, their indentation, and the functions that they open and end. Strings, brackets and
//! backslashes join lines; a comment or an empty line ends nothing.

use super::definition::{Definition, Doc, Kind, Outline};

/// A statement with all the lines it covers.
struct Line<'a> {
    first: usize,
    last: usize,
    indent: &'a str,
    /// The source without comments at its end.
    code: &'a str,
    /// Whether it is nothing but one string.
    string_only: bool,
}

/// A block that has begun and not ended.
struct Open<'a> {
    indent: &'a str,
    /// The indentation of its statements, once the first has come.
    inside: Option<&'a str>,
    definition: Option<Definition>,
}

pub(super) fn outline(text: &str) -> Option<Outline> {
    let lines = Reader::read(text)?;
    let (mut definitions, mut docs) = (Vec::new(), Vec::new());
    let mut open: Vec<Open> = Vec::new();
    let mut decorated = None;
    let mut last_line = 0;
    for (index, line) in lines.iter().enumerate() {
        while open.last().is_some_and(|block| line.indent.len() <= block.indent.len()) {
            close(open.pop()?, last_line, &mut definitions)?;
        }
        fits(open.last_mut(), line.indent)?;
        let first_line = decorated.unwrap_or(line.first);
        decorated = line.code.starts_with('@').then_some(first_line);
        let definition = definition(line, first_line, lines.get(index + 1));
        if opens_block(line) {
            open.push(Open { indent: line.indent, inside: None, definition });
        } else {
            // All on one line: it has a name to keep and nothing to hide.
            definitions.extend(definition.map(|definition| Definition { body: None, ..definition }));
        }
        // A string at the head of a block belongs to what the block defines; at the head of the file, to the file.
        let head = open.last().filter(|_| index > 0 && opens_block(&lines[index - 1]));
        let describes =
            head.and_then(|block| block.definition.as_ref()).map(|definition| definition.name.clone());
        if line.string_only && (index == 0 || describes.is_some()) {
            docs.extend(docstring(line, describes));
        }
        last_line = line.last;
    }
    while let Some(block) = open.pop() {
        close(block, last_line, &mut definitions)?;
    }
    Some(Outline { definitions, docs, pinned: Vec::new() })
}

/// All statements of a block are indented alike, and deeper than its head with the same tabs and spaces.
fn fits<'a>(block: Option<&mut Open<'a>>, indent: &'a str) -> Option<()> {
    let fits = match block {
        None => indent.is_empty(),
        Some(Open { inside: Some(inside), .. }) => *inside == indent,
        Some(block) => {
            block.inside = Some(indent);
            indent.starts_with(block.indent)
        }
    };
    fits.then_some(())
}

/// A block without a statement is no Python.
fn close(block: Open, last_line: usize, definitions: &mut Vec<Definition>) -> Option<()> {
    block.inside?;
    definitions.extend(block.definition.map(|definition| Definition {
        last_line,
        body: definition.body.map(|(first, _)| (first, last_line)).filter(|(first, last)| first <= last),
        ..definition
    }));
    Some(())
}

fn opens_block(line: &Line) -> bool {
    line.code.ends_with(':')
}

/// `def name(`, `async def name[` or `class Name`, with what can be hidden of a function's body: all but a docstring,
/// which belongs to what a caller needs to know.
fn definition(head: &Line, first_line: usize, next: Option<&Line>) -> Option<Definition> {
    let code = head.code.strip_prefix("async").map_or(head.code, str::trim_start);
    let (function, rest) = match code.split_once([' ', '\t'])? {
        ("def", rest) => (true, rest.trim_start()),
        ("class", rest) => (false, rest.trim_start()),
        _ => return None,
    };
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|end| *end > 0)?;
    let sign = rest[end..].trim_start();
    if function && !sign.starts_with(['(', '[']) {
        return None;
    }
    let body = next.map(|next| if next.string_only { next.last + 1 } else { head.last + 1 });
    Some(Definition {
        name: rest[..end].to_owned(),
        kind: Kind::Declared,
        first_line,
        last_line: head.last,
        body: body.filter(|_| function).map(|first| (first, first)),
    })
}

/// The first line with words stays, and so does the line with the closing quotes.
fn docstring(line: &Line, describes: Option<String>) -> Option<Doc> {
    let words = line.code.trim_start_matches(|c: char| c.is_alphabetic());
    let summary = words.lines().position(|line| line.contains(|c: char| c.is_alphanumeric()))?;
    let hidden = (line.first + summary + 1, line.last.saturating_sub(1));
    Some(Doc { last_line: line.last, hidden, lead: "", describes })
}

/// Reads logical lines.
struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    /// Every line with code, or `None` if a string or a bracket has no end.
    fn read(text: &'a str) -> Option<Vec<Line<'a>>> {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut reader = Reader { text, bytes: text.as_bytes(), at: start, line: 1 };
        let mut lines = Vec::new();
        while reader.at < reader.bytes.len() {
            lines.extend(reader.logical_line()?);
        }
        Some(lines)
    }

    /// The next line, if it holds code; empty lines and comments are passed over.
    fn logical_line(&mut self) -> Option<Option<Line<'a>>> {
        let rest = &self.text[self.at..];
        let code = rest.trim_start_matches([' ', '\t', '\u{c}']);
        let indent = &rest[..rest.len() - code.len()];
        // A form feed starts the indentation anew.
        let indent = indent.rsplit('\u{c}').next().unwrap_or(indent);
        self.at += rest.len() - code.len();
        let (first, start) = (self.line, self.at);
        let mut end = start;
        let (mut brackets, mut strings, mut others) = (Vec::new(), 0, 0);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' if brackets.is_empty() => break,
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' | 0x0c => {}
                b'#' => {
                    self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
                    continue;
                }
                b'\\' => self.line_join()?,
                b'"' | b'\'' => {
                    self.string(byte)?;
                    strings += 1;
                    end = self.at;
                    continue;
                }
                b'(' | b'[' | b'{' => brackets.push(byte),
                b')' | b']' | b'}' => {
                    let open = brackets.pop()?;
                    if !matches!((open, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}')) {
                        return None;
                    }
                }
                // The letters before a string's quote belong to it.
                b'r' | b'R' | b'b' | b'B' | b'u' | b'U' | b'f' | b'F' if others == 0 && self.is_prefix() => {}
                _ => others += 1,
            }
            self.at += 1;
            if !matches!(byte, b'\n' | b' ' | b'\t' | b'\r' | 0x0c | b'\\') {
                end = self.at;
            }
        }
        if !brackets.is_empty() {
            return None;
        }
        let last = self.line;
        self.at += 1;
        self.line += 1;
        let line = Line {
            first,
            last,
            indent,
            code: &self.text[start..end],
            string_only: strings == 1 && others == 0,
        };
        Some((end > start).then_some(line))
    }

    /// A backslash joins two lines and stands nowhere else.
    fn line_join(&mut self) -> Option<()> {
        let length = match &self.bytes[self.at + 1..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        self.at += length;
        self.line += 1;
        Some(())
    }

    fn is_prefix(&self) -> bool {
        let letters =
            self.bytes[self.at..].iter().take(3).take_while(|byte| byte.is_ascii_alphabetic()).count();
        letters <= 2 && matches!(self.bytes.get(self.at + letters), Some(b'"' | b'\''))
    }

    /// Moves over a string. A backslash keeps the next character from ending it, in raw strings as well.
    fn string(&mut self, mark: u8) -> Option<()> {
        let triple = self.bytes[self.at..].starts_with(&[mark; 3]);
        self.at += if triple { 3 } else { 1 };
        loop {
            match *self.bytes.get(self.at)? {
                b'\\' => {
                    self.at += 1;
                    if self.bytes.get(self.at) == Some(&b'\r') {
                        self.at += 1;
                    }
                    self.line += usize::from(*self.bytes.get(self.at)? == b'\n');
                }
                b'\n' if !triple => return None,
                b'\n' => self.line += 1,
                byte if byte == mark && !triple => {
                    self.at += 1;
                    return Some(());
                }
                byte if byte == mark && self.bytes[self.at..].starts_with(&[mark; 3]) => {
                    self.at += 3;
                    return Some(());
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
