//! How much of a history without times was imported before. Its times are made up anew at every import, since the file
//! was written since and perhaps cut at its beginning: so its lines are known by their order alone. Knows no format.

use std::collections::{HashSet, VecDeque};

/// So many lines in a row are the end of what was imported before; fewer could be a habit.
const TAIL: usize = 16;

/// How many of `lines` were there when `earlier` was imported, which is what is left of them: some were never kept, and
/// some may be forgotten. None when the end of it is not to be found.
pub fn imported_before(earlier: &[String], lines: impl Iterator<Item = String>) -> usize {
    let kept: HashSet<&str> = earlier.iter().map(String::as_str).collect();
    let tail = &earlier[earlier.len().saturating_sub(TAIL)..];
    let (mut recent, mut known) = (VecDeque::with_capacity(TAIL + 1), 0);
    for (at, line) in lines.enumerate() {
        if kept.contains(line.as_str()) {
            recent.push_back(line);
            if recent.len() > tail.len() {
                recent.pop_front();
            }
            if recent == tail {
                known = at + 1;
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    fn known(earlier: &str, file: &str) -> usize {
        imported_before(&lines(earlier), lines(file).into_iter())
    }

    #[test]
    fn what_was_added_at_the_end_is_new() {
        assert_eq!(known("a b c", "a b c"), 3);
        assert_eq!(known("a b c", "a b c d a"), 3);
        assert_eq!(known("", "a b c"), 0);
    }

    #[test]
    fn lines_that_were_not_kept_or_are_forgotten_do_not_matter() {
        assert_eq!(known("a b c", "secret a gone b c d"), 5);
    }

    #[test]
    fn a_file_that_was_cut_at_its_beginning_is_known_by_the_end_of_what_was_imported() {
        let earlier = (0..100).map(|n| format!("l{n}")).collect::<Vec<_>>().join(" ");
        let file = (60..120).map(|n| format!("l{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(known(&earlier, &file), 40);
        assert_eq!(known(&earlier, "l99 l0 l1"), 0, "one line could be anything");
    }

    #[test]
    fn of_a_habit_the_latest_counts() {
        assert_eq!(known("a b a b", "a b a b a b c"), 6);
    }
}
