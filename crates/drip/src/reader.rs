//! The other side of an answer: a reader that holds lines and applies what it is sent. `verify` and the tests compare
//! what it then holds with the file. Shares no code with what writes deltas but the sign for a missing line end.

use std::ops::Range;

use crate::diff::NO_NEWLINE;
use crate::elide::Stub;
use crate::lines::{Hash, LineHash, Ranges, Span, Text};

/// What somebody who believes every answer holds of a file; unknown lines are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reader {
    lines: Vec<Option<String>>,
}

/// An answer that does not fit what the reader holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    #[error("`{0}` is not the head of a hunk")]
    Head(String),
    #[error("a hunk ends early")]
    Short,
    #[error("line {0} of the hunk is not what the reader holds")]
    Differs(usize),
    #[error("the hunk at line {0} lies beyond what the reader knows of")]
    Beyond(usize),
}

impl Reader {
    /// The whole file was sent.
    pub fn take_whole(&mut self, text: &str) {
        self.lines = Text::new(text).lines().into_iter().map(|line| Some(line.to_owned())).collect();
    }

    /// Some lines of the version that is held already, or of a first one.
    pub fn take_lines(&mut self, first: usize, text: &str) {
        let text = Text::new(text);
        let end = first - 1 + text.count();
        if self.lines.len() < end {
            self.lines.resize(end, None);
        }
        for (line, sent) in self.lines[first - 1..].iter_mut().zip(text.lines()) {
            *line = Some(sent.to_owned());
        }
    }

    /// Everything but what the stubs of an elided text stand for.
    pub fn take_elided(&mut self, text: &str, stubs: &[Stub]) {
        self.lines.clear();
        let mut stubs = stubs.iter().peekable();
        for (index, line) in Text::new(text).lines().into_iter().enumerate() {
            match stubs.next_if(|stub| stub.line_in_output == index + 1) {
                Some(stub) => self.lines.resize(stub.last_line, None),
                None => self.lines.push(Some(line.to_owned())),
            }
        }
    }

    /// Of what was held before, only these lines still count.
    pub fn retain(&mut self, lines: &Ranges) {
        self.lines.truncate(lines.iter().last().map_or(0, |span| span.last));
        for (index, line) in self.lines.iter_mut().enumerate() {
            if !lines.contains(index + 1) {
                *line = None;
            }
        }
    }

    /// Everything it holds, if there is no gap in it.
    pub fn text(&self) -> Option<String> {
        self.lines.iter().map(Option::as_deref).collect()
    }

    /// The name of everything it holds, if there is no gap in it.
    pub fn hash(&self) -> Option<Hash> {
        Some(Hash::of(self.text()?.as_bytes()))
    }

    /// The name of some of its lines, with their numbers; none if one of them is not held.
    pub fn hash_of(&self, lines: &Ranges) -> Option<Hash> {
        let mut named = LineHash::default();
        for number in lines.iter().flat_map(|span| span.first..=span.last) {
            named.add(number, self.lines.get(number - 1)?.as_deref()?);
        }
        Some(named.finish())
    }

    /// The body of a delta, in either encoding, is applied.
    pub fn take_delta(&mut self, body: &str) -> Result<(), Misfit> {
        let text = Text::new(body);
        let mut lines = text.lines().into_iter().peekable();
        let unified = lines.next_if(|line| line.starts_with("--- ")).is_some();
        if unified {
            lines.next();
        }
        // Numbers on the old side are those before the delta: what earlier hunks of it moved is added.
        let mut moved = 0isize;
        while let Some(head) = lines.next() {
            let place = parse_place(head).ok_or_else(|| Misfit::Head(head.to_owned()))?;
            let hunk =
                if unified { read_unified(&mut lines, &place)? } else { read_replaced(&mut lines, &place)? };
            let at = place.old.start.checked_add_signed(moved).ok_or(Misfit::Beyond(place.old.start))?;
            self.apply(at, &place, &hunk)?;
            moved += place.new.len() as isize - place.old.len() as isize;
        }
        Ok(())
    }

    /// Whether every line of a span is held as it is in a text.
    pub fn holds(&self, text: &Text, span: Span) -> bool {
        (span.first..=span.last)
            .all(|number| self.lines.get(number - 1).and_then(Option::as_deref) == text.line(number))
    }

    fn apply(&mut self, at: usize, place: &Place, hunk: &Hunk) -> Result<(), Misfit> {
        let end = at + place.old.len();
        if self.lines.len() < end {
            // A reader of a part does not know how long the file is.
            self.lines.resize(end, None);
        }
        for (index, (held, told)) in self.lines[at..end].iter().zip(&hunk.old).enumerate() {
            if held.is_some() && told.is_some() && held != told {
                return Err(Misfit::Differs(index + 1));
            }
        }
        self.lines.splice(at..end, hunk.new.iter().cloned().map(Some));
        Ok(())
    }
}

/// Both sides of a hunk's head, from 0, ends excluded.
struct Place {
    old: Range<usize>,
    new: Range<usize>,
}

/// Old lines as far as they are told, and new lines.
#[derive(Default)]
struct Hunk {
    old: Vec<Option<String>>,
    new: Vec<String>,
}

fn parse_place(head: &str) -> Option<Place> {
    let (sides, _) = head.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = sides.split_once(" +")?;
    let side = |text: &str| {
        let (start, count) = text.split_once(',')?;
        let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
        let start = if count == 0 { start } else { start.checked_sub(1)? };
        Some(start..start.checked_add(count)?)
    };
    Some(Place { old: side(old)?, new: side(new)? })
}

type Lines<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

fn read_unified(lines: &mut Lines, place: &Place) -> Result<Hunk, Misfit> {
    let mut hunk = Hunk::default();
    while hunk.old.len() < place.old.len() || hunk.new.len() < place.new.len() {
        let line = lines.next().ok_or(Misfit::Short)?;
        let (sign, text) = line.split_at_checked(1).ok_or_else(|| Misfit::Head(line.to_owned()))?;
        let text = whole_line(text, lines);
        match sign {
            " " => {
                hunk.old.push(Some(text.clone()));
                hunk.new.push(text);
            }
            "-" => hunk.old.push(Some(text)),
            "+" => hunk.new.push(text),
            _ => return Err(Misfit::Head(line.to_owned())),
        }
    }
    Ok(hunk)
}

fn read_replaced(lines: &mut Lines, place: &Place) -> Result<Hunk, Misfit> {
    let mut hunk = Hunk { old: vec![None; place.old.len()], new: Vec::new() };
    for number in place.new.clone() {
        let line = lines.next().ok_or(Misfit::Short)?;
        let text =
            line.strip_prefix(&format!("{}\t", number + 1)).ok_or_else(|| Misfit::Head(line.to_owned()))?;
        hunk.new.push(whole_line(text, lines));
    }
    Ok(hunk)
}

/// The line without the end that the diff gave it, if the next line says so.
fn whole_line(text: &str, lines: &mut Lines) -> String {
    let cut = lines.next_if(|next| next.strip_suffix('\n') == Some(NO_NEWLINE)).is_some();
    if cut { text.strip_suffix('\n').unwrap_or(text).to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diff::{self, Encoding};
    use crate::elide::Symbol;

    fn texts() -> impl Strategy<Value = (String, String)> {
        // Few different lines, so that there is much to be confused about; some look like parts of a diff.
        let line = prop::sample::select(vec![
            "a\n",
            "b\n",
            "\n",
            "@@ -1,1 +1,1 @@\n",
            "--- x\n",
            "\\ No newline at end of file\n",
            "é\r\n",
            "1\ta\n",
            "z",
        ]);
        let text = prop::collection::vec(line, 0..30).prop_map(|lines| {
            let last = lines.len().saturating_sub(1);
            let end = |(at, line): (usize, &&str)| {
                if at < last { format!("{}\n", line.trim_end_matches('\n')) } else { (*line).to_owned() }
            };
            lines.iter().enumerate().map(end).collect::<String>()
        });
        (text.clone(), text)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn applying_any_encoding_to_the_old_text_gives_the_new_one(
            (old, new) in texts(), first in 1usize..20, more in 0usize..10,
        ) {
            let (old, new) = (Text::new(old), Text::new(new));
            let changes = diff::changes(&old, &new);
            let symbols = [Symbol { name: "f".into(), first_line: first, last_line: (first + more).min(new.count().max(first)) }];
            for encoding in [Encoding::Unified(3), Encoding::Unified(1), Encoding::Unified(0), Encoding::Replaced(0), Encoding::Replaced(2), Encoding::Symbols] {
                let hunks = match encoding {
                    Encoding::Unified(context) | Encoding::Replaced(context) => diff::hunks(&changes, context, &old, &symbols),
                    Encoding::Symbols if symbols[0].last_line <= new.count() => diff::symbol_hunks(&changes, &symbols),
                    Encoding::Symbols => continue,
                };
                let body = diff::encode(encoding, &hunks, &old, &new, "x");
                let mut reader = Reader::default();
                reader.take_whole(old.as_str());
                prop_assert_eq!(reader.take_delta(&body), Ok(()), "{}", body);
                let mut wanted = Reader::default();
                wanted.take_whole(new.as_str());
                prop_assert_eq!(&reader, &wanted, "{:?}\n{}", encoding, body);
            }
        }
    }

    #[test]
    fn a_line_that_no_diff_has_does_not_fit() {
        for line in ["é\n", "x\n", "\n"] {
            let mut reader = Reader::default();
            reader.take_whole("a\n");
            let body = format!("--- x\n+++ x\n@@ -1,1 +1,1 @@\n{line}");
            assert_eq!(reader.take_delta(&body), Err(Misfit::Head(line.to_owned())));
        }
    }

    #[test]
    fn a_delta_against_another_text_does_not_fit() {
        let mut reader = Reader::default();
        reader.take_whole("a\nb\nc\n");
        let (old, new) = (Text::new("a\nX\nc\n"), Text::new("a\nY\nc\n"));
        let hunks = diff::hunks(&diff::changes(&old, &new), 1, &old, &[]);
        let body = diff::encode(Encoding::Unified(1), &hunks, &old, &new, "x");
        assert_eq!(reader.take_delta(&body), Err(Misfit::Differs(2)));
    }
}
