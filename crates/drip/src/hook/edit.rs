//! An edit by the agent itself, as text: what it made of a file, and which lines its author knows now. Pure.
//!
//! Knowledge is counted in bytes: what was shown before and what the agent wrote. A line is known when all of it is, so
//! that replacing one word in a line that was never shown does not make the line known.

use std::ops::Range;

use crate::lines::{Ranges, Span, Text};

/// One replacement, as the client made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) everywhere: bool,
}

/// A text and the lines of it that somebody knows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    pub(super) text: Text,
    pub(super) shown: Ranges,
    /// Whether they still know where the lines that they do not know begin and end.
    pub(super) placed: bool,
}

/// Every replacement in turn; none if one of them does not fit.
pub(super) fn apply(before: &Known, replacements: &[Replacement]) -> Option<Known> {
    let mut known = before.clone();
    for replacement in replacements {
        known = replace(&known, replacement)?;
    }
    (!replacements.is_empty()).then_some(known)
}

/// The lines of a text that replacements would touch. Every occurrence counts: which one is meant is the client's secret.
pub(super) fn touched(text: &Text, replacements: &[Replacement]) -> Ranges {
    /// Shorter needles are everywhere, and say nothing about where.
    const SHORTEST: usize = 4;
    let lines = LineStarts::of(text);
    let needles = replacements.iter().map(|replacement| replacement.old.as_str());
    needles
        .filter(|needle| needle.len() >= SHORTEST)
        .flat_map(|needle| text.as_str().match_indices(needle))
        .map(|(at, found)| lines.span(at..at + found.len()))
        .collect()
}

fn replace(known: &Known, replacement: &Replacement) -> Option<Known> {
    let text = known.text.as_str();
    let Replacement { old, new, everywhere } = replacement;
    if old.is_empty() {
        // How a client's editing tool makes a file.
        return text.is_empty().then(|| whole(new));
    }
    // Of several places only the client knows which one it took.
    if !everywhere && text.matches(old.as_str()).nth(1).is_some() {
        return None;
    }
    let lines = LineStarts::of(&known.text);
    let is_known = mask(&known.text, &known.shown);
    let moves = old.matches('\n').count() != new.matches('\n').count();
    let (mut made, mut made_known) = (String::new(), Vec::new());
    // Whether the agent still knows which number a line has.
    let (mut at, mut placed) = (0, known.placed);
    for (start, _) in text.match_indices(old.as_str()) {
        made.push_str(&text[at..start]);
        made_known.extend(is_known[at..start].iter().map(|known| *known && placed));
        at = start + old.len();
        // Who was never shown the lines around does not know where what it wrote has come to stand.
        let is_placed = known.shown.covers(lines.span(start..at));
        made.push_str(new);
        made_known.resize(made.len(), placed && is_placed);
        placed &= !moves || is_placed;
    }
    if at == 0 {
        return None;
    }
    made.push_str(&text[at..]);
    made_known.extend(is_known[at..].iter().map(|known| *known && placed));
    let text = Text::new(made);
    let shown = known_lines(&text, &made_known);
    Some(Known { text, shown, placed })
}

fn whole(text: &str) -> Known {
    let text = Text::new(text);
    Known { shown: text.span().into_iter().collect(), text, placed: true }
}

/// For each byte, whether it is in a line that was shown.
fn mask(text: &Text, shown: &Ranges) -> Vec<bool> {
    let mut mask = vec![false; text.len()];
    let starts = LineStarts::of(text);
    for span in shown.iter().filter_map(|span| text.clip(span)) {
        mask[starts.bytes(span, text)].fill(true);
    }
    mask
}

fn known_lines(text: &Text, known: &[bool]) -> Ranges {
    let mut at = 0;
    let mut ranges = Ranges::new();
    for (number, line) in (1..).zip(text.lines()) {
        let bytes = at..at + line.len();
        at = bytes.end;
        if known[bytes].iter().all(|known| *known) {
            ranges.insert(Span { first: number, last: number });
        }
    }
    ranges
}

/// Where lines begin, in bytes.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn of(text: &Text) -> LineStarts {
        LineStarts(
            std::iter::once(0).chain(text.as_str().match_indices('\n').map(|(at, _)| at + 1)).collect(),
        )
    }

    /// The lines that hold these bytes, of which there is at least one.
    fn span(&self, bytes: Range<usize>) -> Span {
        let line = |at: usize| self.0.partition_point(|start| *start <= at);
        Span { first: line(bytes.start), last: line(bytes.end - 1) }
    }

    fn bytes(&self, span: Span, text: &Text) -> Range<usize> {
        self.0[span.first - 1]..self.0.get(span.last).copied().unwrap_or(text.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(text: &str, shown: &[(usize, usize)]) -> Known {
        let shown = shown.iter().map(|&pair| Span::from(pair)).collect();
        Known { text: Text::new(text), shown, placed: true }
    }

    fn edit(before: &Known, old: &str, new: &str, everywhere: bool) -> Option<(String, Vec<(usize, usize)>)> {
        let replacement = Replacement { old: old.to_owned(), new: new.to_owned(), everywhere };
        let after = apply(before, &[replacement])?;
        Some((after.text.as_str().to_owned(), after.shown.iter().map(<(usize, usize)>::from).collect()))
    }

    #[test]
    fn what_was_known_and_what_was_written_is_known() {
        let all = known("a\nb\nc\n", &[(1, 3)]);
        assert_eq!(edit(&all, "b\n", "x\ny\n", false), Some(("a\nx\ny\nc\n".into(), vec![(1, 4)])));
        assert_eq!(edit(&all, "nowhere", "x", false), None);
        assert_eq!(edit(&known("a\na\n", &[(1, 2)]), "a", "x", false), None);
    }

    #[test]
    fn a_word_replaced_in_a_line_that_was_never_shown_does_not_show_the_line() {
        let first = known("a\nlet x = old + secret;\nc\n", &[(1, 1)]);
        assert_eq!(
            edit(&first, "old", "new", false),
            Some(("a\nlet x = new + secret;\nc\n".into(), vec![(1, 1)]))
        );
        // All of the line was in the agent's own words, but where it stands was never shown.
        assert_eq!(
            edit(&first, "let x = old + secret;\n", "y\n", false),
            Some(("a\ny\nc\n".into(), vec![(1, 1)]))
        );
    }

    #[test]
    fn lines_behind_a_change_of_unknown_place_are_known_no_more_if_they_moved() {
        let ends = known("a\nold\nc\nd\n", &[(1, 1), (4, 4)]);
        assert_eq!(edit(&ends, "old", "1\n2", false), Some(("a\n1\n2\nc\nd\n".into(), vec![(1, 1)])));
        assert_eq!(edit(&ends, "old", "new", false), Some(("a\nnew\nc\nd\n".into(), vec![(1, 1), (4, 4)])));
    }

    #[test]
    fn replacing_everywhere_leaves_unseen_lines_unseen() {
        let first = known("x = 1\ny = 2\nx = 3 + y\n", &[(1, 2)]);
        assert_eq!(edit(&first, "x", "z", true), Some(("z = 1\ny = 2\nz = 3 + y\n".into(), vec![(1, 2)])));
    }

    #[test]
    fn every_place_that_an_edit_may_mean_is_touched() {
        let text = Text::new("a\nfn long_name() {\n}\nlong_name();\n");
        let replacement = |old: &str| Replacement { old: old.into(), new: String::new(), everywhere: false };
        let lines: Vec<(usize, usize)> =
            touched(&text, &[replacement("long_name"), replacement("a")]).iter().map(Into::into).collect();
        assert_eq!(lines, [(2, 2), (4, 4)]);
    }

    proptest! {
        #[test]
        fn no_line_becomes_known_that_holds_a_byte_nobody_told(
            lines in prop::collection::vec("[ab]{0,3}", 1..12),
            shown in prop::collection::vec((1usize..12, 0usize..3), 0..4),
            old in "[ab\n]{1,3}", new in "[xy\n]{0,3}", everywhere in any::<bool>(),
        ) {
            // Upper case marks what was never told; the edit itself is told.
            let text = lines.join("\n") + "\n";
            let shown: Ranges = shown.iter().map(|&(first, more)| Span { first, last: first + more }).collect();
            let before = Known { text: Text::new(text.clone()), shown: shown.clone(), placed: true };
            let replacement = Replacement { old: old.clone(), new: new.clone(), everywhere };
            let Some(after) = apply(&before, &[replacement]) else { return Ok(()) };
            let wanted = if everywhere { text.replace(&old, &new) } else { text.replacen(&old, &new, 1) };
            prop_assert_eq!(after.text.as_str(), wanted);
            let upper: String = (1..).zip(Text::new(text.clone()).lines()).map(|(number, line)| {
                if shown.contains(number) { line.to_owned() } else { line.to_uppercase() }
            }).collect();
            // The same edit on the marked text, by position.
            let mut marked = String::new();
            let mut at = 0;
            for (start, _) in text.match_indices(&old).take(if everywhere { usize::MAX } else { 1 }) {
                marked += &upper[at..start];
                marked += &new;
                at = start + old.len();
            }
            marked += &upper[at..];
            let marked = Text::new(marked);
            for span in after.shown.iter() {
                for number in span.first..=span.last {
                    let line = marked.line(number).unwrap();
                    prop_assert!(!line.contains(char::is_uppercase), "line {} is {:?}", number, line);
                }
            }
        }
    }
}
