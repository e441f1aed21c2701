//! A command line as a template and what fills its slots: `git commit -m <msg>` and the message. Pure and total:
//! every line has a template, the same one every time, and a template is its own template.
//!
//! Knows the shapes of words and the few commands of [`rules`]; never what a person or repository has run before.

mod rules;

use std::borrow::Cow;

use crate::command::Template;
pub use crate::words::SlotKind;
use crate::words::{self, Ending, Operator, Role, Segment, Word, marker_in, placeholder};

/// What a slot held, as it stands in a command line: quoted where it has to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slot {
    pub kind: SlotKind,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalised {
    pub template: Template,
    /// In the order of the template.
    pub slots: Vec<Slot>,
}

pub fn normalise(line: &str) -> Normalised {
    let segments = words::segments(line);
    let mut out = Render {
        text: String::with_capacity(line.len()),
        slots: Vec::new(),
        end: 0,
        before: Before::Nothing,
    };
    for segment in &segments {
        out.segment(segment);
    }
    if segments.is_empty() && line.trim_start().starts_with('#') {
        // A remark is the only thing without words that is worth keeping apart.
        line.trim().clone_into(&mut out.text);
    }
    Normalised { template: Template(out.text), slots: out.slots }
}

/// The line that has this template and these slots. `None` if the slots are not the template's, or one of them is
/// more than a single argument.
pub fn fill(template: &Template, slots: &[Slot]) -> Option<String> {
    let template = &template.0;
    let mut slots = slots.iter();
    let mut out = String::with_capacity(template.len());
    let mut end = 0;
    for (word, offset, kind) in holes(&words::segments(template)) {
        let slot = slots.next().filter(|slot| slot.kind == kind)?;
        let filled = format!("{}{}", &word.raw[..offset], slot.value);
        if !words::is_one_word(&filled) {
            return None;
        }
        out.push_str(&template[end..word.start]);
        out.push_str(&filled);
        end = word.span().end;
    }
    out.push_str(&template[end..]);
    slots.next().is_none().then_some(out)
}

/// What has to be known to fill a template.
pub fn slots_of(template: &Template) -> Vec<SlotKind> {
    holes(&words::segments(&template.0)).map(|(_, _, kind)| kind).collect()
}

fn holes<'s, 'a>(segments: &'s [Segment<'a>]) -> impl Iterator<Item = (&'s Word<'a>, usize, SlotKind)> {
    let words = segments.iter().flat_map(|segment| &segment.words).filter(|word| can_hold(word));
    words.filter_map(|word| placeholder(word.raw).map(|(offset, kind)| (word, offset, kind)))
}

fn can_hold(word: &Word<'_>) -> bool {
    matches!(word.role, Role::Plain | Role::Target) && !marker_in(word.raw)
}

/// From where on the text of a word is a slot, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hole {
    offset: usize,
    kind: SlotKind,
}

struct Render {
    text: String,
    slots: Vec<Slot>,
    /// Where the last word ended in the line.
    end: usize,
    before: Before,
}

/// What the next word follows in the template.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Group,
    Heredoc,
    Text,
}

impl Render {
    fn segment(&mut self, segment: &Segment<'_>) {
        match segment.operator_before {
            Some(Operator::Newline) => {
                self.text.push('\n');
                self.before = Before::Nothing;
            }
            Some(Operator::Semicolon) if self.before != Before::Heredoc => {
                self.text.push(';');
                self.before = Before::Text;
            }
            Some(operator) => self.spaced(operator.as_str()),
            None => {}
        }
        let holes = holes_in(segment);
        for (word, hole) in segment.words.iter().zip(holes) {
            self.word(word, segment.ending, hole);
        }
    }

    fn word(&mut self, word: &Word<'_>, ending: Ending, hole: Option<Hole>) {
        let in_group = self.before == Before::Group || word.role == Role::Group;
        let (prefix, slot) = cut(word, ending, hole);
        match word.role {
            Role::Heredoc => self.text.extend(["\n", word.raw]),
            _ if in_group && self.end == word.start => self.text.push_str(&prefix),
            _ => self.spaced(&prefix),
        }
        if let Some(slot) = slot {
            self.text.push_str(slot.kind.as_str());
            self.slots.push(slot);
        }
        self.end = word.span().end;
        self.before = match word.role {
            Role::Group => Before::Group,
            Role::Heredoc => Before::Heredoc,
            _ => Before::Text,
        };
    }

    fn spaced(&mut self, text: &str) {
        match self.before {
            Before::Nothing => {}
            Before::Heredoc => self.text.push('\n'),
            Before::Group | Before::Text => self.text.push(' '),
        }
        self.text.push_str(text);
        self.before = Before::Text;
    }
}

/// What of a word stays in the template, and what goes into a slot.
fn cut<'a>(word: &Word<'a>, ending: Ending, hole: Option<Hole>) -> (Cow<'a, str>, Option<Slot>) {
    if !can_hold(word) {
        return (Cow::Borrowed(word.raw), None);
    }
    if let Some((offset, kind)) = placeholder(word.raw) {
        return (Cow::Borrowed(&word.raw[..offset]), Some(Slot { kind, value: kind.as_str().to_owned() }));
    }
    // Beside something open, nothing may go or change that could close it.
    if ending == Ending::Open && words::quote(word.raw).is_none_or(|quoted| quoted != word.raw) {
        return (Cow::Borrowed(word.raw), None);
    }
    let Some(Hole { offset, kind }) = hole else { return (canonical(word), None) };
    if offset == 0 {
        return (Cow::Borrowed(""), Some(Slot { kind, value: canonical(word).into_owned() }));
    }
    if word.raw.starts_with(&word.text[..offset]) {
        let value = word.raw[offset..].to_owned();
        return (Cow::Borrowed(&word.raw[..offset]), Some(Slot { kind, value }));
    }
    // `"--message=fix it"`: the flag is inside the quotes.
    match word.quoted().and_then(|text| words::quote(&text[offset..])) {
        Some(value) => (Cow::Owned(word.text[..offset].to_owned()), Some(Slot { kind, value })),
        None => (Cow::Borrowed(word.raw), None),
    }
}

/// One way to write what can be quoted in several: `"a b"` and `'a b'` are the same word. What would need more than
/// a pair of quotes stays as the person wrote it.
fn canonical<'a>(word: &Word<'a>) -> Cow<'a, str> {
    match word.quoted().filter(|text| !text.contains(['\'', '\\'])).and_then(words::quote) {
        Some(quoted) => Cow::Owned(quoted),
        None => Cow::Borrowed(word.raw),
    }
}

fn holes_in(segment: &Segment<'_>) -> Vec<Option<Hole>> {
    let program = segment.program_name();
    let mut holes: Vec<Option<Hole>> = segment.words.iter().map(by_looks).collect();
    if let Some((name, at)) = program {
        segment.wrappers().chain([at]).for_each(|index| holes[index] = None);
        rules::apply(name, at, segment, &mut holes);
    }
    holes
}

/// The seed's slots, for a word of any command.
fn by_looks(word: &Word<'_>) -> Option<Hole> {
    let text = word.text.as_ref();
    if !matches!(word.role, Role::Plain | Role::Target) || word.runs_a_command() || text.contains('\n') {
        return None;
    }
    let offset = value_offset(text).unwrap_or(0);
    let value = &text[offset..];
    let kind = if is_url(value) {
        SlotKind::Url
    } else if value.starts_with('-') {
        return None;
    } else if is_number(value) {
        SlotKind::Num
    } else if is_sha(value) {
        SlotKind::Sha
    } else if is_path(value) {
        SlotKind::Path
    } else {
        return None;
    };
    Some(Hole { offset, kind })
}

/// Where the value of `--flag=value`, `NAME=value` or `of=value` begins.
fn value_offset(text: &str) -> Option<usize> {
    let name = text.split_once('=')?.0;
    let letters = name.trim_start_matches('-');
    let named = letters.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    named.then_some(name.len() + 1)
}

fn is_url(text: &str) -> bool {
    let is_scp = |rest: &str| rest.find(':').is_some_and(|colon| colon > 0);
    text.starts_with("http://")
        || text.starts_with("https://")
        || text.strip_prefix("git@").is_some_and(is_scp)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Numbers come first, so a letter is in it.
fn is_sha(text: &str) -> bool {
    (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_path(text: &str) -> bool {
    matches!(text, "." | "..") || text.starts_with('~') || text.contains('/')
}

#[cfg(test)]
#[path = "normalise/tests.rs"]
mod tests;
