//! Text as numbered lines, and sets of line numbers. Knows nothing of files or readers.
//!
//! A line ends with `\n` and keeps it; a last line without one is a line of its own kind, so that the end of a file is
//! compared as it is. Numbers start at 1 and spans include both ends, as in every message that people and models see.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A text that knows where its lines begin. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Text {
    text: Arc<str>,
    /// Where each line begins, and the end of the text.
    bounds: Arc<[usize]>,
    /// Asked for again and again, and the dearest thing to know of a text.
    hash: Arc<OnceLock<Hash>>,
}

/// The name of a text: SHA-256 of its bytes, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hash(String);

/// Lines `first` to `last`, both included; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub struct Span {
    pub first: usize,
    pub last: usize,
}

/// A set of lines, as ascending spans that do not touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Span>", into = "Vec<Span>")]
pub struct Ranges(Vec<Span>);

impl Text {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut bounds: Vec<usize> = std::iter::once(0).chain(after_newlines).collect();
        if bounds.last() != Some(&text.len()) {
            bounds.push(text.len());
        }
        Self { bounds: bounds.into(), text, hash: Arc::default() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// How many lines there are; an empty text has none.
    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The whole text as a span, unless it is empty.
    pub fn span(&self) -> Option<Span> {
        Span::new(1, self.count())
    }

    /// A line with its end, or `None` past the last one.
    pub fn line(&self, number: usize) -> Option<&str> {
        let start = *self.bounds.get(number.checked_sub(1)?)?;
        let end = *self.bounds.get(number)?;
        Some(&self.text[start..end])
    }

    /// The lines of a span that exist, as one piece.
    pub fn slice(&self, span: Span) -> &str {
        match self.clip(span) {
            Some(span) => &self.text[self.bounds[span.first - 1]..self.bounds[span.last]],
            None => "",
        }
    }

    /// What of a span exists here.
    pub fn clip(&self, span: Span) -> Option<Span> {
        Span::new(span.first, span.last.min(self.count()))
    }

    /// Every line with its end, in order.
    pub fn lines(&self) -> Vec<&str> {
        self.bounds.windows(2).map(|pair| &self.text[pair[0]..pair[1]]).collect()
    }

    pub fn hash(&self) -> Hash {
        self.hash.get_or_init(|| Hash::of(self.text.as_bytes())).clone()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Hash {
    pub fn of(bytes: &[u8]) -> Self {
        Self::finished(Sha256::new_with_prefix(bytes))
    }

    fn finished(digest: Sha256) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits =
            |byte: u8| [DIGITS[usize::from(byte >> 4)] as char, DIGITS[usize::from(byte & 15)] as char];
        Self(digest.finalize().into_iter().flat_map(digits).collect())
    }

    /// A name that was stored before.
    pub fn stored(hex: String) -> Self {
        Self(hex)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it for a reader to recognise.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

/// Names some lines of a text together with their numbers.
#[derive(Default)]
pub(crate) struct LineHash(Sha256);

impl LineHash {
    pub(crate) fn add(&mut self, number: usize, line: &str) {
        self.0.update(number.to_string());
        self.0.update("\t");
        self.0.update(line);
    }

    pub(crate) fn finish(self) -> Hash {
        Hash::finished(self.0)
    }
}

impl Span {
    /// `None` if there would be no line in it.
    pub fn new(first: usize, last: usize) -> Option<Self> {
        (first >= 1 && first <= last).then_some(Self { first, last })
    }

    /// The span of a range that counts from 0 and excludes its end.
    pub fn from_indices(indices: &Range<usize>) -> Option<Self> {
        Self::new(indices.start + 1, indices.end)
    }

    pub fn count(self) -> usize {
        self.last - self.first + 1
    }

    pub fn contains(self, line: usize) -> bool {
        (self.first..=self.last).contains(&line)
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl From<(usize, usize)> for Span {
    fn from((first, last): (usize, usize)) -> Self {
        Self { first: first.max(1), last: last.max(first.max(1)) }
    }
}

impl From<Span> for (usize, usize) {
    fn from(span: Span) -> Self {
        (span.first, span.last)
    }
}

impl Ranges {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn insert(&mut self, span: Span) {
        let from = self.0.partition_point(|known| known.last + 1 < span.first);
        let to = self.0.partition_point(|known| known.first <= span.last + 1);
        let mut merged = span;
        for known in &self.0[from..to] {
            merged = Span { first: merged.first.min(known.first), last: merged.last.max(known.last) };
        }
        self.0.splice(from..to, [merged]);
    }

    pub fn covers(&self, span: Span) -> bool {
        let next = self.0.partition_point(|known| known.last < span.first);
        self.0.get(next).is_some_and(|known| known.first <= span.first && span.last <= known.last)
    }

    pub fn contains(&self, line: usize) -> bool {
        self.covers(Span { first: line, last: line })
    }

    /// The part of the set that lies in a span.
    pub fn within(&self, span: Span) -> Self {
        let cut = |known: &Span| Span::new(known.first.max(span.first), known.last.min(span.last));
        Self(self.0.iter().filter_map(cut).collect())
    }

    /// What of a span is not in the set.
    pub fn gaps(&self, span: Span) -> Self {
        let mut next = span.first;
        let mut gaps = Vec::new();
        for known in self.within(span).0 {
            gaps.extend(Span::new(next, known.first - 1));
            next = known.last + 1;
        }
        gaps.extend(Span::new(next, span.last));
        Self(gaps)
    }

    pub fn iter(&self) -> impl Iterator<Item = Span> {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many lines are in the set.
    pub fn count(&self) -> usize {
        self.0.iter().map(|span| span.count()).sum()
    }
}

impl From<Span> for Ranges {
    fn from(span: Span) -> Self {
        Self(vec![span])
    }
}

impl Extend<Span> for Ranges {
    fn extend<I: IntoIterator<Item = Span>>(&mut self, spans: I) {
        spans.into_iter().for_each(|span| self.insert(span));
    }
}

impl FromIterator<Span> for Ranges {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        let mut ranges = Self::new();
        ranges.extend(spans);
        ranges
    }
}

impl From<Vec<Span>> for Ranges {
    fn from(spans: Vec<Span>) -> Self {
        spans.into_iter().collect()
    }
}

impl From<Ranges> for Vec<Span> {
    fn from(ranges: Ranges) -> Self {
        ranges.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_keep_their_ends_and_a_last_line_may_lack_one() {
        let text = Text::new("a\r\nb\n\nc");
        assert_eq!(text.lines(), ["a\r\n", "b\n", "\n", "c"]);
        assert_eq!(text.line(4), Some("c"));
        assert_eq!(text.line(5), None);
        assert_eq!(text.line(0), None);
        assert_eq!(text.slice(Span { first: 2, last: 99 }), "b\n\nc");
        assert_eq!(Text::new("a\n").count(), 1);
        assert_eq!(Text::new("").count(), 0);
        assert_eq!(Text::new("").span(), None);
    }

    #[test]
    fn touching_spans_become_one() {
        let mut ranges = Ranges::new();
        ranges.extend([Span { first: 5, last: 6 }, Span { first: 1, last: 2 }, Span { first: 3, last: 4 }]);
        assert_eq!(ranges, Ranges::from(Span { first: 1, last: 6 }));
    }

    proptest! {
        #[test]
        fn a_set_of_spans_is_the_set_of_its_lines(
            spans in prop::collection::vec((1usize..40, 0usize..8), 0..12),
            asked in (1usize..45, 0usize..8),
        ) {
            let spans: Vec<Span> = spans.iter().map(|&(first, more)| Span { first, last: first + more }).collect();
            let ranges: Ranges = spans.iter().copied().collect();
            let asked = Span { first: asked.0, last: asked.0 + asked.1 };
            let inside = |line: usize| spans.iter().any(|span| span.contains(line));
            prop_assert_eq!(ranges.covers(asked), (asked.first..=asked.last).all(inside));
            prop_assert_eq!(ranges.count(), (1..60).filter(|line| inside(*line)).count());
            let gaps = ranges.gaps(asked);
            for line in asked.first..=asked.last {
                prop_assert_eq!(gaps.contains(line), !inside(line));
                prop_assert_eq!(ranges.within(asked).contains(line), inside(line));
            }
        }
    }
}
