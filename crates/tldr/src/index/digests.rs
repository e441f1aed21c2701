//! What tells one state of the files from another without naming them.

use super::Hash;

/// What tells one state of the files from another. Sums, so that a file can be taken out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digests {
    /// Of their paths.
    pub paths: u128,
    /// Of their paths and contents.
    pub contents: u128,
}

impl Digests {
    /// Those of one file.
    pub(super) fn of(path: &str, content: Hash) -> Digests {
        let name = Hash::of(path.as_bytes());
        let both = Hash::of(&[name.0, content.0].concat());
        Digests { paths: u128::from_le_bytes(name.0), contents: u128::from_le_bytes(both.0) }
    }

    pub(super) fn add(&mut self, one: Digests) {
        self.paths = self.paths.wrapping_add(one.paths);
        self.contents = self.contents.wrapping_add(one.contents);
    }

    pub(super) fn subtract(&mut self, one: Digests) {
        self.paths = self.paths.wrapping_sub(one.paths);
        self.contents = self.contents.wrapping_sub(one.contents);
    }
}
