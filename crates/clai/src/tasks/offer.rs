//! The only way from a name in a stranger's file to a command. Knows no file.

use std::collections::HashSet;

use super::{Kind, Task};
use crate::words;

/// More than this nobody reads, and no honest file has.
const PER_FILE: usize = 500;
const LONGEST_NAME: usize = 200;
const LONGEST_DESCRIPTION: usize = 200;
/// Of all descriptions of one file together.
const DESCRIPTIONS: usize = 100 * 1024;

#[derive(Debug, Default)]
pub(super) struct Offers {
    pub(super) tasks: Vec<Task>,
    seen: HashSet<(Kind, String)>,
    in_this_file: usize,
    described: usize,
}

impl Offers {
    pub(super) fn next_file(&mut self) {
        self.in_this_file = 0;
        self.described = 0;
    }

    pub(super) fn are_too_many(&self) -> bool {
        self.in_this_file > PER_FILE
    }

    /// Offers `command`, words of our own, followed by `argument`, one word of theirs. The first of a name wins.
    pub(super) fn add(&mut self, kind: Kind, name: &str, command: &str, argument: &str, description: &str) {
        // Quotes do not help against the tool itself: `-f` is an option to all of them, `a=b` a variable to make,
        // task and rake, `+x` another toolchain to cargo.
        let is_name = !argument.is_empty() && !argument.starts_with(['-', '+']) && !argument.contains('=');
        let Some(quoted) = words::quote(argument).filter(|_| is_name && name.len() <= LONGEST_NAME) else {
            return;
        };
        if kit::text::plain(name) != name || self.seen.contains(&(kind, name.to_owned())) {
            return;
        }
        self.in_this_file += 1;
        if self.are_too_many() {
            return;
        }
        self.seen.insert((kind, name.to_owned()));
        let description = self.describe(description);
        self.tasks.push(Task {
            kind,
            name: name.to_owned(),
            command: format!("{command} {quoted}"),
            description,
        });
    }

    fn describe(&mut self, description: &str) -> Option<String> {
        // Cut first: cleaning a megabyte to keep a line would be work for nothing.
        let plain = kit::text::plain(kit::text::head(description.trim(), 4 * LONGEST_DESCRIPTION));
        let description = kit::text::head(plain.trim(), LONGEST_DESCRIPTION).trim_end();
        self.described += description.len();
        (!description.is_empty() && self.described <= DESCRIPTIONS).then(|| description.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use testkit::Random;

    use super::*;

    #[test]
    fn every_name_is_one_word_or_not_offered() {
        const LETTERS: &[char] = &[
            'a', 'Z', '0', '-', '+', '=', '_', '.', '/', ':', '@', '%', ',', ' ', '\t', '\n', '\r', '\0',
            '\u{1b}', '\u{7f}', ';', '&', '|', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '*', '?', '[',
            ']', '#', '~', '{', '}', '!', '^', 'é', '日', '\u{202e}', '\u{200b}', '\u{a0}', '\u{2028}',
            '\u{85}', '\u{fffd}',
        ];
        let mut random = Random::new(7);
        let mut offered = 0;
        for _ in 0..20_000 {
            let name: String = (0..=random.below(6)).map(|_| *random.pick(LETTERS)).collect();
            let mut offers = Offers::default();
            offers.add(Kind::Npm, &name, "npm run", &name, &name);
            for task in &offers.tasks {
                let words = shlex::split(&task.command).expect("quotes are closed");
                assert_eq!(words, ["npm", "run", &name], "{task:?}");
                offered += 1;
            }
        }
        assert!(offered > 1000, "{offered}");
    }

    #[test]
    fn the_first_of_a_name_wins_within_its_kind() {
        let mut offers = Offers::default();
        offers.add(Kind::Tox, "lint", "tox -e", "lint", "one");
        offers.add(Kind::Tox, "lint", "tox -e", "lint", "two");
        offers.add(Kind::Nox, "lint", "nox -s", "lint", "");
        let descriptions: Vec<_> = offers.tasks.iter().map(|task| task.description.as_deref()).collect();
        assert_eq!(descriptions, [Some("one"), None]);
    }
}
