//! What a scan finds in a file, the same for languages with braces and with indentation. Knows nothing of limits
//! or stubs.

use super::Symbol;
use super::code::Code;
use super::language::{Language, Shape, Spec};
use super::lex;
use super::{declared, indented, introduced, script};

/// Everything the cut needs to know about a file.
pub(super) struct Outline {
    /// In the order of their first lines, outer before inner.
    pub(super) definitions: Vec<Definition>,
    pub(super) docs: Vec<Doc>,
    /// Lines that must stay visible wherever they stand, in order: macro definitions, inclusions, and what is declared
    /// without braces.
    pub(super) pinned: Vec<usize>,
}

pub(super) struct Definition {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) first_line: usize,
    pub(super) last_line: usize,
    /// The lines of the body that can be left out and leave whole lines of valid code around them.
    pub(super) body: Option<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Declared under its name: must stay visible even inside another body.
    Declared,
    /// A function value that got its name from an assignment or a property: local to the body it stands in.
    Assigned,
}

/// A doc comment of several lines: all of them, and those that can be left out.
pub(super) struct Doc {
    pub(super) last_line: usize,
    pub(super) hidden: (usize, usize),
    /// What a line of this comment begins with.
    pub(super) lead: &'static str,
    /// The definition it stands in, where it stands in one.
    pub(super) describes: Option<String>,
}

impl Definition {
    pub(super) fn into_symbol(self) -> Symbol {
        Symbol { name: self.name, first_line: self.first_line, last_line: self.last_line }
    }
}

/// The file's definitions, or `None` if any part of it could not be read with certainty.
pub(super) fn outline(language: Language, text: &str) -> Option<Outline> {
    let spec = language.spec();
    let strange = u32::try_from(text.len()).is_err() || has_lone_return(text);
    if strange || spec.poison.iter().any(|poison| text.contains(poison)) {
        return None;
    }
    let mut outline = match spec.shape {
        Shape::Indented => indented::outline(text)?,
        Shape::Declared(table) => bracketed(spec, text, |code| declared::find(code, table))?,
        Shape::Introduced(table) => bracketed(spec, text, |code| introduced::find(code, table))?,
        Shape::Script => bracketed(spec, text, script::find)?,
    };
    outline.definitions.sort_by_key(|definition| (definition.first_line, usize::MAX - definition.last_line));
    Some(outline)
}

/// The outline by what a search finds: definitions, and more lines that must stay visible.
fn bracketed(
    spec: &'static Spec,
    text: &str,
    find: impl Fn(&Code) -> (Vec<Definition>, Vec<usize>),
) -> Option<Outline> {
    let lexed = lex::lex(spec, text).ok()?;
    let code = Code::new(text, lexed.tokens)?;
    let (definitions, mut pinned) = find(&code);
    pinned.extend(lexed.pinned);
    pinned.sort_unstable();
    Some(Outline { definitions, docs: lexed.docs, pinned })
}

/// A carriage return alone ends a line for some compilers and not for others.
fn has_lone_return(text: &str) -> bool {
    let bytes = text.as_bytes();
    let lone = |(at, byte): (usize, &u8)| *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    bytes.iter().enumerate().any(lone)
}
