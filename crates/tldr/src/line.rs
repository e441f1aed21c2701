//! A line that is said to somebody, in the pieces that it was made of: megabytes are not copied to be put behind a few
//! words of their own. Knows nothing of what it says.

use std::sync::Arc;

use code::memo::Text;

/// Without its newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    head: String,
    rest: Text,
    /// So many pieces of the rest do not belong to it.
    skipped: usize,
}

impl Line {
    /// Begins with `head` and goes on with the pieces of `rest` from a place on.
    pub(crate) fn new(head: String, rest: Text, skipped: usize) -> Line {
        Line { head, rest, skipped }
    }

    pub fn len(&self) -> usize {
        self.pieces().map(str::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        [&*self.head].into_iter().chain(self.rest.iter().skip(self.skipped).map(|piece| &**piece))
    }
}

impl From<String> for Line {
    fn from(head: String) -> Line {
        Line { head, rest: Arc::default(), skipped: 0 }
    }
}

impl From<Line> for String {
    fn from(line: Line) -> String {
        let mut whole = String::with_capacity(line.len());
        line.pieces().for_each(|piece| whole.push_str(piece));
        whole
    }
}
