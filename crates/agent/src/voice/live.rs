//! What a running command shows on a screen: its first lines as they come, and its last ones when it has ended. What is
//! between is the model's to read. Pure.

use std::collections::VecDeque;

use kit::text;

const FIRST: usize = 20;
const LAST: usize = 10;

/// A line that is longer is not waited for.
const LINE: usize = 4096;

/// The output of one command.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// A line that has not ended.
    rest: String,
    shown: usize,
    last: VecDeque<String>,
    /// Lines that are in neither.
    between: u64,
}

impl Live {
    /// Takes more output, and gives the lines to show now.
    pub(super) fn push(&mut self, words: &str) -> Vec<String> {
        let mut now = Vec::new();
        for piece in text::plain_lines(words).split_inclusive('\n') {
            self.rest.push_str(piece);
            if piece.ends_with('\n') || self.rest.len() > LINE {
                let line = std::mem::take(&mut self.rest);
                now.extend(self.line(line.trim_end_matches('\n').to_owned()));
            }
        }
        now
    }

    /// The lines to show in the end.
    pub(super) fn finish(mut self) -> Vec<String> {
        let mut end = Vec::new();
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            end.extend(self.line(rest));
        }
        if self.between > 0 {
            end.push(format!("… {} lines", text::thousands(self.between)));
        }
        end.extend(self.last);
        end
    }

    fn line(&mut self, line: String) -> Option<String> {
        if self.shown < FIRST {
            self.shown += 1;
            return Some(line);
        }
        self.last.push_back(line);
        if self.last.len() > LAST {
            self.last.pop_front();
            self.between += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_come_at_once_and_the_last_in_the_end() {
        let mut live = Live::default();
        assert_eq!(live.push("on"), [] as [&str; 0], "a line that has not ended");
        assert_eq!(live.push("e\ntwo\nthr"), ["one", "two"]);
        let many: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert_eq!(live.push(&many).len(), FIRST - 2);
        let end = live.finish();
        assert_eq!(
            (end.len(), end[0].as_str(), end[1].as_str(), end[10].as_str()),
            (11, "… 72 lines", "90", "99")
        );
    }

    #[test]
    fn what_has_no_end_is_shown_all_the_same() {
        let mut live = Live::default();
        assert_eq!(live.push(&"x".repeat(LINE + 1)).len(), 1);
        assert_eq!(live.push("last words"), [] as [&str; 0]);
        assert_eq!(live.finish(), ["last words"]);
    }
}
