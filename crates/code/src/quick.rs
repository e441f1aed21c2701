//! Maps keyed by small numbers and short names, where a hash that resists attackers costs more than the map: the keys
//! come from one file, and the worst a hostile file can do is to be slow by itself.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;
pub(crate) type QuickSet<K> = HashSet<K, BuildHasherDefault<Quick>>;

/// A multiply-and-rotate hash, a word at a time.
#[derive(Default)]
pub(crate) struct Quick(u64);

impl Quick {
    fn add(&mut self, word: u64) {
        // An odd number with well mixed bits (from the golden ratio).
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Half of a hash, made of all of it.
pub(crate) fn fold(hash: u64) -> u32 {
    let [a, b, c, d, e, f, g, h] = hash.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes([e, f, g, h])
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.add(u64::from_le_bytes(word.try_into().expect("a chunk of eight")));
        }
        let mut rest = [0; 8];
        rest[..words.remainder().len()].copy_from_slice(words.remainder());
        self.add(u64::from_le_bytes(rest) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        // The map takes the low bits for its buckets; the high ones are the better mixed.
        self.0.rotate_left(26)
    }
}
