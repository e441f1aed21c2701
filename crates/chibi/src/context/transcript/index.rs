//! Which entries of a partition have a word or an id, and where they stand: an inverted index beside each partition, of
//! which a search reads a few hundred bytes. Only hashes of words are kept, so whoever uses it looks at the entry itself
//! before believing it; each part that is read has a checksum of its own.

use std::cmp::Ordering;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::sealed::{self, checked, seal, unseal, verified};

const MAGIC: [u8; 4] = *b"CHIX";
/// Terms per bucket, about.
const BUCKET: usize = 8;
/// Offsets are checked so many at a time.
const BLOCK: usize = 64;
const BLOCK_BYTES: usize = BLOCK * 8 + 8;
const HEAD: usize = sealed::AROUND + 16;
const BUCKET_KIND: u8 = b'b';
const BLOCK_KIND: u8 = b'o';
/// The head and where most buckets start, in one read.
const FIRST: usize = 1 << 14;
/// A part that is longer was made up by damage, and must not ask for memory.
const LONGEST: usize = 1 << 26;

/// What a partition has, while it is read for its index.
#[derive(Debug, Default)]
pub(super) struct Builder {
    offsets: Vec<u64>,
    /// A term and the number of an entry that has it.
    pairs: Vec<(u64, u32)>,
}

impl Builder {
    /// The entry that starts at `offset`, with the hashes of its terms in any order.
    pub(super) fn entry(&mut self, offset: u64, terms: impl IntoIterator<Item = u64>) {
        let number = self.offsets.len() as u32;
        self.offsets.push(offset);
        self.pairs.extend(terms.into_iter().map(|term| (term, number)));
    }

    /// The terms, each once, and the index. `covers` is the length of the partition.
    pub(super) fn finish(mut self, covers: u64) -> (Vec<u64>, Vec<u8>) {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        let mut terms: Vec<u64> = self.pairs.iter().map(|(term, _)| *term).collect();
        terms.dedup();
        let bits = (terms.len() / BUCKET).checked_ilog2().unwrap_or(0);
        let mut head = covers.to_le_bytes().to_vec();
        head.extend((self.offsets.len() as u32).to_le_bytes());
        head.extend(bits.to_le_bytes());
        let mut index = seal(MAGIC, &head);
        let (starts, buckets) = buckets(&self.pairs, bits);
        index.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
        for (number, block) in self.offsets.chunks(BLOCK).enumerate() {
            let mut bytes: Vec<u8> = block.iter().flat_map(|offset| offset.to_le_bytes()).collect();
            bytes.resize(BLOCK * 8, 0xff);
            index.extend(checked(BLOCK_KIND, number, &bytes));
        }
        index.extend(buckets);
        (terms, index)
    }
}

/// Where each bucket starts among the buckets, and the buckets.
fn buckets(pairs: &[(u64, u32)], bits: u32) -> (Vec<u32>, Vec<u8>) {
    let (mut starts, mut all) = (Vec::with_capacity((1 << bits) + 1), Vec::new());
    let mut rest = pairs;
    for number in 0..1_usize << bits {
        starts.push(all.len() as u32);
        let (mine, others) = rest.split_at(rest.partition_point(|(term, _)| bucket(*term, bits) == number));
        rest = others;
        let mut rows = Vec::new();
        for postings in mine.chunk_by(|left, right| left.0 == right.0) {
            rows.extend(tag(postings[0].0, bits).to_le_bytes());
            varint(&mut rows, postings.len() as u32);
            let mut before = 0;
            for (_, entry) in postings {
                varint(&mut rows, entry - before);
                before = *entry;
            }
        }
        if !rows.is_empty() {
            all.extend(checked(BUCKET_KIND, number, &rows));
        }
    }
    starts.push(all.len() as u32);
    (starts, all)
}

/// An index that is open.
#[derive(Debug)]
pub(super) struct Index {
    file: File,
    /// How the file begins.
    first: Vec<u8>,
    /// How long the partition was when this was made.
    pub(super) covers: u64,
    entries: u32,
    bits: u32,
}

impl Index {
    /// None without one that is whole, as far as its head tells.
    pub(super) fn read(file: File) -> Option<Index> {
        let mut first = vec![0; FIRST];
        let length = file.read_at(&mut first, 0).ok()?;
        first.truncate(length);
        let (covers, rest) = unseal(MAGIC, first.get(..HEAD)?)?.split_first_chunk::<8>()?;
        let (entries, bits) = rest.split_first_chunk::<4>()?;
        let (entries, bits) = (u32::from_le_bytes(*entries), u32::from_le_bytes(bits.try_into().ok()?));
        let covers = u64::from_le_bytes(*covers);
        (bits < 32).then_some(Index { file, first, covers, entries, bits })
    }

    /// Where entries start and end that may have all terms, the last one first. None if the index is damaged.
    pub(super) fn with_all(&self, terms: &[u64]) -> Option<Vec<(u64, u64)>> {
        let mut numbers: Option<Vec<u32>> = None;
        for term in terms {
            let having = self.with(*term)?;
            let both = match numbers {
                None => having,
                Some(numbers) => shared(&numbers, &having),
            };
            if both.is_empty() {
                return Some(Vec::new());
            }
            numbers = Some(both);
        }
        numbers.unwrap_or_default().into_iter().rev().map(|number| self.span(number)).collect()
    }

    /// In ascending order.
    fn with(&self, term: u64) -> Option<Vec<u32>> {
        let number = bucket(term, self.bits);
        let range = self.part(HEAD + number * 4, 8)?;
        let (start, end) = range.split_at(4);
        let (start, end) = (word(start)? as usize, word(end)? as usize);
        if start == end {
            return Some(Vec::new());
        }
        let bytes = self.part(self.buckets_at() + start, end.checked_sub(start)?)?;
        let mut rows = verified(BUCKET_KIND, number, &bytes)?;
        while !rows.is_empty() {
            let (tagged, rest) = rows.split_first_chunk::<4>()?;
            rows = rest;
            let is_wanted = u32::from_le_bytes(*tagged) == tag(term, self.bits);
            let mut entry = 0_u32;
            let mut list = Vec::new();
            for _ in 0..read_varint(&mut rows)? {
                entry = entry.checked_add(read_varint(&mut rows)?)?;
                if is_wanted {
                    list.push(entry);
                }
            }
            if is_wanted {
                return Some(list);
            }
        }
        Some(Vec::new())
    }

    fn span(&self, entry: u32) -> Option<(u64, u64)> {
        let next = entry + 1;
        let end = if next == self.entries { self.covers } else { self.offset(next)? };
        Some((self.offset(entry)?, end))
    }

    fn offset(&self, entry: u32) -> Option<u64> {
        let (block, place) = (entry as usize / BLOCK, entry as usize % BLOCK);
        let bytes = self.part(self.blocks_at() + block * BLOCK_BYTES, BLOCK_BYTES)?;
        let offsets = verified(BLOCK_KIND, block, &bytes)?.as_chunks::<8>().0;
        offsets.get(place).map(|offset| u64::from_le_bytes(*offset))
    }

    /// None if it is not there: a file that was cut.
    fn part(&self, at: usize, length: usize) -> Option<Vec<u8>> {
        if let Some(part) = self.first.get(at..at.checked_add(length)?) {
            return Some(part.to_vec());
        }
        let mut part = vec![0; (length <= LONGEST).then_some(length)?];
        self.file.read_exact_at(&mut part, at as u64).ok()?;
        Some(part)
    }

    fn blocks_at(&self) -> usize {
        HEAD + ((1 << self.bits) + 1) * 4
    }

    fn buckets_at(&self) -> usize {
        self.blocks_at() + (self.entries as usize).div_ceil(BLOCK) * BLOCK_BYTES
    }
}

fn word(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// The first bits choose the bucket, the next 32 tell terms in it apart.
fn bucket(term: u64, bits: u32) -> usize {
    term.checked_shr(64 - bits).unwrap_or(0) as usize
}

fn tag(term: u64, bits: u32) -> u32 {
    ((term << bits) >> 32) as u32
}

fn varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Both ascending.
fn shared(left: &[u32], right: &[u32]) -> Vec<u32> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut both = Vec::new();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            Ordering::Less => drop(left.next()),
            Ordering::Greater => drop(right.next()),
            Ordering::Equal => {
                both.push(**a);
                left.next();
                right.next();
            }
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use testkit::Home;

    use super::super::sealed::hash;
    use super::*;

    fn open(bytes: &[u8]) -> Option<Index> {
        let home = Home::new();
        Index::read(File::open(home.write("index", bytes)).unwrap())
    }

    fn term(number: &u8) -> u64 {
        hash(0, &[*number])
    }

    fn build(entries: &[BTreeSet<u8>]) -> (Vec<u64>, Vec<u8>) {
        let mut builder = Builder::default();
        for (number, words) in entries.iter().enumerate() {
            builder.entry(number as u64 * 10, words.iter().map(term));
        }
        builder.finish(entries.len() as u64 * 10)
    }

    fn expected(entries: &[BTreeSet<u8>], asked: &[u8]) -> Vec<(u64, u64)> {
        let has_all = |number: &usize| asked.iter().all(|word| entries[*number].contains(word));
        let spans = (0..entries.len()).rev().filter(has_all).map(|number| number as u64 * 10);
        spans.map(|start| (start, start + 10)).collect()
    }

    fn some_entries() -> impl Strategy<Value = Vec<BTreeSet<u8>>> {
        proptest::collection::vec(proptest::collection::btree_set(0_u8..40, 0..12), 0..200)
    }

    proptest! {
        #[test]
        fn the_index_finds_exactly_the_entries_that_have_all_terms(
            entries in some_entries(), asked in proptest::collection::vec(0_u8..44, 1..4),
        ) {
            let (terms, bytes) = build(&entries);
            prop_assert_eq!(terms.len(), entries.iter().flatten().collect::<BTreeSet<_>>().len());
            let index = open(&bytes).unwrap();
            let asked_terms: Vec<u64> = asked.iter().map(term).collect();
            prop_assert_eq!(index.with_all(&asked_terms), Some(expected(&entries, &asked)));
        }

        #[test]
        fn a_damaged_index_says_so_or_the_truth(
            entries in some_entries(), asked in 0_u8..44,
            at in any::<proptest::sample::Index>(), flip in 1_u8.., cut in any::<bool>(),
        ) {
            let (_, mut bytes) = build(&entries);
            let place = at.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] ^= flip }
            let found = open(&bytes).and_then(|index| index.with_all(&[term(&asked)]));
            if let Some(found) = found {
                prop_assert_eq!(found, expected(&entries, &[asked]));
            }
        }
    }
}
