//! Facts by content: those of the files that are there, which files with the same content share, and of those that were
//! there the last few, since a branch or a stash may bring them back. Knows no path but for its ending.

use std::collections::{HashMap, VecDeque};

use code::facts::Held;
use wire::tldr::DedupStats;

use super::Hash;

/// So many bytes of former files have their facts remembered: a few hundred files of the usual size. Facts take several
/// times the room of their text, so a larger number would show in the memory of a daemon that lives through many edits.
const FORMER_BYTES: u64 = 4 << 20;

/// What facts are kept by: the same text is another program with another ending.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    hash: Hash,
    ending: Box<str>,
}

impl Content {
    pub(super) fn of(hash: Hash, path: &str) -> Content {
        let name = path.rsplit('/').next().unwrap_or(path);
        Content { hash, ending: name.rsplit_once('.').map_or(name, |(_, ending)| ending).into() }
    }
}

#[derive(Debug, Default)]
pub(super) struct Known {
    facts: HashMap<Content, Shared>,
    /// What no file holds any more, oldest first.
    former: VecDeque<(Content, u64)>,
    former_bytes: u64,
    dedup: DedupStats,
}

#[derive(Debug)]
struct Shared {
    facts: Held,
    files: usize,
}

impl Known {
    pub(super) fn find(&self, content: &Content) -> Option<Held> {
        self.facts.get(content).map(|shared| shared.facts.clone())
    }

    /// A file of this content came. Gives the facts that all of them share.
    pub(super) fn came(&mut self, content: Content, bytes: u64, facts: Held) -> Held {
        let shared = self.facts.entry(content).or_insert(Shared { facts, files: 0 });
        shared.files += 1;
        if shared.files == 1 {
            self.dedup.unique_hashes += 1;
        } else {
            self.dedup.duplicates_avoided += 1;
            self.dedup.bytes_saved += bytes;
        }
        shared.facts.clone()
    }

    /// A file of this content went.
    pub(super) fn went(&mut self, content: Content, bytes: u64) {
        let Some(shared) = self.facts.get_mut(&content) else { return };
        shared.files -= 1;
        if shared.files > 0 {
            self.dedup.duplicates_avoided -= 1;
            self.dedup.bytes_saved -= bytes;
            return;
        }
        self.dedup.unique_hashes -= 1;
        self.former_bytes += bytes;
        self.former.push_back((content, bytes));
        while self.former_bytes > FORMER_BYTES
            && let Some((oldest, bytes)) = self.former.pop_front()
        {
            self.former_bytes -= bytes;
            // It may have come back meanwhile.
            if self.facts.get(&oldest).is_some_and(|shared| shared.files == 0) {
                self.facts.remove(&oldest);
            }
        }
    }

    pub(super) fn dedup(&self) -> DedupStats {
        self.dedup
    }
}

#[cfg(test)]
mod tests {
    use code::facts::extract;
    use code::language::Language;

    use super::*;

    fn file(number: u64) -> (Content, Held) {
        let text = format!("def f{number}():\n    return {number}\n");
        let facts = extract(Language::named("python").unwrap(), "a.py", text.as_bytes()).unwrap();
        (Content::of(Hash::of(text.as_bytes()), "a.py"), facts.into())
    }

    #[test]
    fn files_of_one_content_share_and_count() {
        let mut known = Known::default();
        let (content, facts) = file(1);
        let one = known.came(content.clone(), 10, facts);
        let two = known.came(content.clone(), 10, file(1).1);
        assert!(one.is(&two));
        let stats = |known: &Known| {
            let stats = known.dedup();
            (stats.unique_hashes, stats.duplicates_avoided, stats.bytes_saved)
        };
        assert_eq!(stats(&known), (1, 1, 10));
        known.went(content.clone(), 10);
        assert_eq!(stats(&known), (1, 0, 0));
        known.went(content.clone(), 10);
        assert_eq!(stats(&known), (0, 0, 0));
        assert!(known.find(&content).is_some(), "it may come back");
    }

    #[test]
    fn what_was_there_long_ago_is_forgotten_and_what_came_back_is_not() {
        let mut known = Known::default();
        let (first, facts) = file(0);
        known.came(first.clone(), FORMER_BYTES / 2, facts.clone());
        known.went(first.clone(), FORMER_BYTES / 2);
        known.came(first.clone(), FORMER_BYTES / 2, facts);
        for number in 1..100 {
            let (content, facts) = file(number);
            known.came(content.clone(), FORMER_BYTES / 4, facts);
            known.went(content, FORMER_BYTES / 4);
        }
        assert!(known.find(&first).is_some());
        assert_eq!(known.facts.len(), 1 + 4, "the file that is there, and the last few that were");
    }
}
