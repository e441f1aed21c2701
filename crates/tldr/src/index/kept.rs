//! An index on disk: for each file its path, what the file system said of it, its hash, and its facts. A sum of all that
//! comes first, so that a file that was cut, changed or written by another version is as good as none. Integers are little
//! endian, texts and facts have their length before them. What all uses mean lies in a second file that begins with the
//! sum of the first: it is true for those facts and for no others.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use code::facts::{FORMAT, Held};
use code::language::Language;
use code::memo::Memo;
use rayon::prelude::*;

use super::{Digests, File, Files, Hash};
use crate::walk::Stamp;

/// Our files begin with it; the last byte counts changes of this layout.
const MAGIC: &[u8; 8] = b"tldrix\x00\x03";

/// The same for what all uses mean.
const MEANING: &[u8; 8] = b"tldrmm\x00\x02";

/// What was kept of an index.
#[derive(Debug, Default)]
pub struct Kept {
    pub(super) files: Files,
    hash: Hash,
}

impl Kept {
    /// Whatever is wrong with the file, there is an index: an empty one.
    pub fn read(path: &Path) -> Kept {
        let bytes = std::fs::read(path).unwrap_or_default();
        parse(bytes).unwrap_or_default()
    }

    /// What all uses in these files mean, as far as it was kept: else nothing is known yet.
    pub fn memo(&self, path: &Path) -> Memo {
        let bytes = std::fs::read(path).unwrap_or_default();
        self.meaning(&bytes).unwrap_or_default()
    }

    fn meaning(&self, bytes: &[u8]) -> Option<Memo> {
        let mut input = bytes.strip_prefix(MEANING)?;
        if Hash(take(&mut input)?) != self.hash || Hash(take(&mut input)?) != sum(input) {
            return None;
        }
        let facts = |(path, file): (&String, &File)| Some((Arc::from(path.as_str()), file.facts.clone()?));
        let facts: Vec<_> = self.files.iter().filter_map(facts).collect();
        Memo::unpack(&facts, input)
    }
}

/// What uses mean, beside the index that it is true for, as bytes of a file.
pub(super) fn write_meaning(index: &[u8], packed: &[u8]) -> Vec<u8> {
    let hash = &index[MAGIC.len() + FORMAT.len()..][..size_of::<Hash>()];
    [MEANING.as_slice(), hash, &sum(packed).0, packed].concat()
}

pub(super) fn write(files: &Files) -> Vec<u8> {
    let mut body = Vec::new();
    for (path, file) in files {
        put(&mut body, path.as_bytes());
        body.extend(file.stamp.to_bytes());
        body.push(u8::from(file.settled));
        body.extend(file.hash.0);
        body.extend(file.bytes.to_le_bytes());
        put(&mut body, &file.facts.as_ref().map_or(Vec::new(), |facts| facts.pack()));
    }
    let mut whole = Vec::with_capacity(body.len() + 32);
    whole.extend(MAGIC);
    whole.extend(FORMAT);
    whole.extend(sum(&body).0);
    whole.extend(body);
    whole
}

fn parse(bytes: Vec<u8>) -> Option<Kept> {
    let mut input = bytes.strip_prefix(MAGIC)?;
    if take(&mut input)? != FORMAT {
        return None;
    }
    let hash = Hash(take(&mut input)?);
    if hash != sum(input) {
        return None;
    }
    let mut entries = Vec::new();
    while !input.is_empty() {
        let path = str::from_utf8(get(&mut input)?).ok()?.to_owned();
        let stamp = Stamp::from_bytes(take(&mut input)?);
        let [settled] = take(&mut input)?;
        let hash = Hash(take(&mut input)?);
        let length = u64::from_le_bytes(take(&mut input)?);
        let facts = get(&mut input)?.len();
        // Where in all bytes the facts are.
        let end = bytes.len() - input.len();
        entries.push((path, stamp, settled != 0, hash, length, end - facts..end));
    }
    let whole = Arc::new(bytes);
    let files = entries.into_par_iter().map(|(path, stamp, settled, hash, bytes, place)| {
        let language = Language::of_path(&path).filter(|_| !place.is_empty());
        let facts =
            language.map(|language| Held::packed(language, Slice { whole: Arc::clone(&whole), place }));
        let digests = Digests::of(&path, hash);
        (path, File { hash, digests, bytes, facts, stamp, settled })
    });
    Some(Kept { files: files.collect::<Vec<_>>().into_iter().collect(), hash })
}

/// Some of the bytes, which go when nobody needs any of them.
struct Slice {
    whole: Arc<Vec<u8>>,
    place: Range<usize>,
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        &self.whole[self.place.clone()]
    }
}

fn put(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend(u32::try_from(bytes.len()).expect("no file is that long").to_le_bytes());
    into.extend(bytes);
}

fn get<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(u32::from_le_bytes(take(input)?)).ok()?;
    let (bytes, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(bytes)
}

fn take<const N: usize>(input: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(*bytes)
}

/// A sum that tells bytes from those that a crash or a bad disk made of them. Nobody is kept out by it: whoever may write
/// the file could write the sum as well. So it need not cost what a hash against forgers does, which was a tenth of the time
/// from a start to the first answer.
fn sum(bytes: &[u8]) -> Hash {
    // Odd numbers with well mixed bits (from the golden ratio and the square roots of two and three).
    const ODD: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b];
    // Four lanes that do not wait for each other.
    let mut lanes = ODD;
    let mut mix = |chunk: &[u8; 32]| {
        for ((lane, word), odd) in lanes.iter_mut().zip(chunk.as_chunks::<8>().0).zip(ODD) {
            *lane = (lane.rotate_left(29) ^ u64::from_le_bytes(*word)).wrapping_mul(odd);
        }
    };
    let (chunks, rest) = bytes.as_chunks::<32>();
    chunks.iter().for_each(&mut mix);
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    mix(&last);
    mix(&[(bytes.len() as u64).to_le_bytes(); 4].concat().try_into().expect("four times eight bytes"));
    let [a, b, c, d] = lanes.map(|lane| lane ^ (lane >> 32));
    let halves = [a.wrapping_add(c.rotate_left(32)), b.wrapping_add(d.rotate_left(32))];
    Hash(*halves.map(u64::to_le_bytes).as_flattened().first_chunk().expect("twice eight bytes"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bit_that_fell_over_or_a_byte_that_is_missing_changes_the_sum(
            bytes in proptest::collection::vec(any::<u8>(), 1..200), at in any::<prop::sample::Index>(), bit in 0..8_u32
        ) {
            let mut other = bytes.clone();
            other[at.index(bytes.len())] ^= 1 << bit;
            prop_assert_ne!(sum(&bytes), sum(&other));
            prop_assert_ne!(sum(&bytes), sum(&bytes[..bytes.len() - 1]));
            prop_assert_ne!(sum(&bytes), sum(&[bytes.as_slice(), &[0]].concat()));
        }
    }
}
