//! What tells one state of the files from another without naming them.

use super::{File, Hash};

/// What tells one state of the files from another. Sums, so that a file can be taken out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digests {
    /// Of their paths.
    pub paths: u128,
    /// Of their paths and contents.
    pub contents: u128,
}

impl Digests {
    pub(super) fn add(&mut self, path: &str, file: &File) {
        let (one, other) = Digests::of(path, file);
        self.paths = self.paths.wrapping_add(one);
        self.contents = self.contents.wrapping_add(other);
    }

    pub(super) fn subtract(&mut self, path: &str, file: &File) {
        let (one, other) = Digests::of(path, file);
        self.paths = self.paths.wrapping_sub(one);
        self.contents = self.contents.wrapping_sub(other);
    }

    pub(super) fn of(path: &str, file: &File) -> (u128, u128) {
        let name = Hash::of(path.as_bytes());
        let both = Hash::of(&[name.0, file.hash.0].concat());
        (u128::from_le_bytes(name.0), u128::from_le_bytes(both.0))
    }
}
