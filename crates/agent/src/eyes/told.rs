//! The last line of every result about a file, `[src/a.rs | lines 10-20 of 303 | 1f2e3d4c]`: for the model to know what
//! it got, and for us to read back from the window what that was. Written and read here only.

use std::fmt::{self, Display};
use std::ops::Range;

use drip::lines::Span;

use crate::page::{Ends, Form, Mark, Page, Tag};

/// What a result says about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) path: String,
    pub(super) what: What,
    /// Lines of the whole file, now.
    pub(super) count: usize,
    pub(super) form: Form,
    pub(super) ending: Ending,
    pub(super) tag: Tag,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Whole,
    Part(Span),
    Same,
    SamePart(Span),
    /// The result holds all changes since what the model held.
    Changes,
    /// In this version old lines became new lines by the model's own call; counted from 0, ends excluded.
    Edited {
        base: Tag,
        old: Range<usize>,
        new: Range<usize>,
    },
    EditedPlaces {
        base: Tag,
        places: usize,
    },
    Created,
}

/// How the last line of a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Newline,
    Bare,
}

impl Told {
    /// None for a path that cannot stand in a line: then nothing is counted as seen.
    pub(super) fn new(path: &str, what: What, page: &Page) -> Option<Told> {
        let text = page.text.as_str();
        let bare = !text.is_empty() && !text.ends_with('\n');
        let told = Told {
            path: path.to_owned(),
            what,
            count: page.text.count(),
            form: page.form,
            ending: if bare { Ending::Bare } else { Ending::Newline },
            tag: page.tag(),
        };
        (Told::parse(&told.to_string()).as_ref() == Some(&told)).then_some(told)
    }

    pub(super) fn parse(line: &str) -> Option<Told> {
        let mut parts = line.strip_prefix('[')?.strip_suffix(']')?.rsplitn(3, " | ");
        let (tag, words, path) = (Tag::read(parts.next()?)?, parts.next()?, parts.next()?);
        if path.is_empty() || path.contains(char::is_control) {
            return None;
        }
        let (words, ending) = match words.strip_suffix(BARE) {
            Some(words) => (words, Ending::Bare),
            None => (words, Ending::Newline),
        };
        let (words, mark) = match words.strip_suffix(BOM) {
            Some(words) => (words, Mark::Bom),
            None => (words, Mark::Absent),
        };
        let (words, ends) = match words.strip_suffix(CRLF) {
            Some(words) => (words, Ends::CrLf),
            None => (words, Ends::AsShown),
        };
        let (what, count) = parse_what(words)?;
        Some(Told { path: path.to_owned(), what, count, form: Form { mark, ends }, ending, tag })
    }
}

const CRLF: &str = ", CRLF line ends";
const BOM: &str = ", byte order mark";
const BARE: &str = ", no newline at the end";

impl Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = Lines(self.count);
        write!(f, "[{} | ", self.path)?;
        match &self.what {
            What::Whole => write!(f, "{lines}")?,
            What::Part(span) => write!(f, "lines {}-{} of {}", span.first, span.last, self.count)?,
            What::Same => write!(f, "unchanged: {lines}")?,
            What::SamePart(span) => {
                write!(f, "unchanged: lines {}-{} of {}", span.first, span.last, self.count)?;
            }
            What::Changes => write!(f, "changes to {lines}")?,
            What::Edited { base, old, new } => {
                let (old, new) = (Side(old), Side(new));
                write!(f, "edited {} @@ -{old} +{new} @@ {lines}", base.as_str())?;
            }
            What::EditedPlaces { base, places } => {
                write!(f, "edited {} in {places} places: {lines}", base.as_str())?;
            }
            What::Created => write!(f, "created: {lines}")?,
        }
        f.write_str(if self.form.ends == Ends::CrLf { CRLF } else { "" })?;
        f.write_str(if self.form.mark == Mark::Bom { BOM } else { "" })?;
        f.write_str(if self.ending == Ending::Bare { BARE } else { "" })?;
        write!(f, " | {}]", self.tag.as_str())
    }
}

struct Lines(usize);

impl Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "line" } else { "lines" })
    }
}

/// As `diff -u` numbers it: an empty side names the line before it.
struct Side<'a>(&'a Range<usize>);

impl Display for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.0.start + usize::from(!self.0.is_empty()), self.0.len())
    }
}

fn parse_what(words: &str) -> Option<(What, usize)> {
    if let Some(rest) = words.strip_prefix("unchanged: ") {
        return match parse_what(rest)? {
            (What::Whole, count) => Some((What::Same, count)),
            (What::Part(span), count) => Some((What::SamePart(span), count)),
            _ => None,
        };
    }
    if let Some(rest) = words.strip_prefix("lines ") {
        let (span, count) = rest.split_once(" of ")?;
        let (first, last) = span.split_once('-')?;
        return Some((What::Part(Span::new(number(first)?, number(last)?)?), number(count)?));
    }
    if let Some(rest) = words.strip_prefix("edited ") {
        let (base, rest) = rest.split_once(' ')?;
        return parse_edit(Tag::read(base)?, rest);
    }
    if let Some(lines) = words.strip_prefix("changes to ") {
        return Some((What::Changes, parse_lines(lines)?));
    }
    if let Some(lines) = words.strip_prefix("created: ") {
        return Some((What::Created, parse_lines(lines)?));
    }
    Some((What::Whole, parse_lines(words)?))
}

fn parse_edit(base: Tag, words: &str) -> Option<(What, usize)> {
    if let Some(rest) = words.strip_prefix("in ") {
        let (places, lines) = rest.split_once(" places: ")?;
        return Some((What::EditedPlaces { base, places: number(places)? }, parse_lines(lines)?));
    }
    let (sides, lines) = words.strip_prefix("@@ -")?.split_once(" @@ ")?;
    let (old, new) = sides.split_once(" +")?;
    Some((What::Edited { base, old: parse_side(old)?, new: parse_side(new)? }, parse_lines(lines)?))
}

fn parse_lines(words: &str) -> Option<usize> {
    number(words.strip_suffix(" lines").or_else(|| words.strip_suffix(" line"))?)
}

fn parse_side(words: &str) -> Option<Range<usize>> {
    let (start, count) = words.split_once(',')?;
    let (start, count) = (number(start)?, number(count)?);
    let start = start.checked_sub(usize::from(count > 0))?;
    Some(start..start.checked_add(count)?)
}

/// No file that is shown whole has more lines than bytes: whoever changed our words shall not make us reserve more.
fn number(digits: &str) -> Option<usize> {
    const MOST: usize = 2 << 20;
    let plain = (1..=7).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten().filter(|number| *number <= MOST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whats() -> impl Strategy<Value = What> {
        let span = || (1usize..500, 0usize..500).prop_map(|(first, more)| Span { first, last: first + more });
        let range = || (0usize..500, 0usize..9).prop_map(|(start, count)| start..start + count);
        prop_oneof![
            Just(What::Whole),
            Just(What::Same),
            Just(What::Changes),
            Just(What::Created),
            span().prop_map(What::Part),
            span().prop_map(What::SamePart),
            (2usize..99).prop_map(|places| What::EditedPlaces { base: Tag::of(b"base"), places }),
            (range(), range()).prop_map(|(old, new)| What::Edited { base: Tag::of(b"base"), old, new }),
        ]
    }

    proptest! {
        #[test]
        fn what_was_told_is_read_back(
            what in whats(), path in "[a-z |\\[\\]é,:]{1,12}", raw in "(\u{feff}|a|\r\n|\n){0,9}",
        ) {
            let told = Told::new(&path, what, &Page::of(&raw)).unwrap();
            prop_assert_eq!(Told::parse(&told.to_string()), Some(told));
        }

        #[test]
        fn any_line_is_read_without_a_panic(line in "\\[?[-a-z0-9 |@,+]{0,60}\\]?") {
            let _ = Told::parse(&line);
        }
    }

    #[test]
    fn a_path_that_cannot_stand_in_a_line_is_not_told() {
        assert_eq!(Told::new("a\nb", What::Whole, &Page::of("x")), None);
    }
}
