//! The name of a blob is what is in it. Knows nothing of files.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of some bytes, written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the 64 lower-case hex digits of a digest")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    /// Exactly what [`fmt::Display`] writes: one digest has one spelling, and so one file.
    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(NotADigest);
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| NotADigest)?;
        }
        Ok(Digest(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_digest_of_abc_is_the_published_one() {
        assert_eq!(Digest::of(b"abc").to_string(), ABC);
        assert_eq!(ABC.parse(), Ok(Digest::of(b"abc")));
    }

    #[test]
    fn a_digest_has_one_spelling() {
        for text in
            ["", "ba", &ABC.to_uppercase(), &ABC.replace('b', "+"), &format!("{ABC}00"), &"é".repeat(32)]
        {
            assert_eq!(text.parse::<Digest>(), Err(NotADigest), "{text}");
        }
    }
}
