//! Which entries of a partition have a word or an id, and where they stand: an inverted index beside each partition. Only
//! hashes of words are kept, so whoever uses it looks at the entry itself before believing it.

use super::sealed::{seal, unseal};

const MAGIC: [u8; 4] = *b"CHIX";
/// Set where a term has one entry, whose number stands in the place of a list.
const ALONE: u32 = 1 << 31;
/// Terms per bucket, about.
const BUCKET: usize = 8;

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
        let (mut starts, mut rows, mut lists) = (vec![0_u32; (1 << bits) + 1], Vec::new(), Vec::new());
        for postings in self.pairs.chunk_by(|left, right| left.0 == right.0) {
            let term = postings[0].0;
            starts[bucket(term, bits) + 1] += 1;
            let place = match postings {
                [(_, number)] => ALONE | number,
                _ => {
                    let place = lists.len() as u32;
                    list(&mut lists, postings);
                    place
                }
            };
            rows.push((tag(term, bits), place));
        }
        for next in 1..starts.len() {
            starts[next] += starts[next - 1];
        }
        let mut payload = covers.to_le_bytes().to_vec();
        for number in [self.offsets.len() as u32, rows.len() as u32, bits] {
            payload.extend(number.to_le_bytes());
        }
        payload.extend(self.offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        payload.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
        payload
            .extend(rows.iter().flat_map(|(tag, place)| [tag.to_le_bytes(), place.to_le_bytes()].concat()));
        payload.extend(lists);
        (terms, seal(MAGIC, &payload))
    }
}

/// An index in the bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Index<'a> {
    /// How long the partition was when this was made.
    pub(super) covers: u64,
    bits: u32,
    offsets: &'a [[u8; 8]],
    starts: &'a [[u8; 4]],
    rows: &'a [[u8; 8]],
    lists: &'a [u8],
}

impl<'a> Index<'a> {
    /// None if it is damaged or of another version.
    pub(super) fn read(sealed: &'a [u8]) -> Option<Index<'a>> {
        let (covers, rest) = unseal(MAGIC, sealed)?.split_first_chunk::<8>()?;
        let (entries, rest) = rest.split_first_chunk::<4>()?;
        let (terms, rest) = rest.split_first_chunk::<4>()?;
        let (bits, rest) = rest.split_first_chunk::<4>()?;
        let bits = u32::from_le_bytes(*bits);
        let part =
            |bytes: &'a [u8], count: usize, size: usize| bytes.split_at_checked(count.checked_mul(size)?);
        let (offsets, rest) = part(rest, u32::from_le_bytes(*entries) as usize, 8)?;
        let (starts, rest) = part(rest, 1_usize.checked_shl(bits)? + 1, 4)?;
        let (rows, lists) = part(rest, u32::from_le_bytes(*terms) as usize, 8)?;
        Some(Index {
            covers: u64::from_le_bytes(*covers),
            bits,
            offsets: offsets.as_chunks().0,
            starts: starts.as_chunks().0,
            rows: rows.as_chunks().0,
            lists,
        })
    }

    /// Where entries start that may have all terms, the last one first, each with the end of what it can be long.
    pub(super) fn with_all(&self, terms: &[u64]) -> Vec<(u64, u64)> {
        let mut numbers: Option<Vec<u32>> = None;
        for term in terms {
            let having = self.with(*term);
            let both = match numbers {
                None => having,
                Some(numbers) => shared(&numbers, &having),
            };
            if both.is_empty() {
                return Vec::new();
            }
            numbers = Some(both);
        }
        let span = |number: u32| {
            let start = u64::from_le_bytes(*self.offsets.get(number as usize)?);
            let end =
                self.offsets.get(number as usize + 1).map_or(self.covers, |next| u64::from_le_bytes(*next));
            Some((start, end))
        };
        numbers.unwrap_or_default().into_iter().rev().filter_map(span).collect()
    }

    /// In ascending order.
    fn with(&self, term: u64) -> Vec<u32> {
        let bucket = bucket(term, self.bits);
        let start =
            |bucket: usize| self.starts.get(bucket).map_or(0, |start| u32::from_le_bytes(*start) as usize);
        let rows = self.rows.get(start(bucket)..start(bucket + 1)).unwrap_or_default();
        let wanted = tag(term, self.bits).to_le_bytes();
        let Some(row) = rows.iter().find(|row| row[..4] == wanted) else { return Vec::new() };
        let place = u32::from_le_bytes([row[4], row[5], row[6], row[7]]);
        match place & ALONE {
            0 => numbers(self.lists.get(place as usize..).unwrap_or_default()),
            _ => vec![place & !ALONE],
        }
    }
}

/// The first bits choose the bucket, the next 32 tell terms in it apart.
fn bucket(term: u64, bits: u32) -> usize {
    term.checked_shr(64 - bits).unwrap_or(0) as usize
}

fn tag(term: u64, bits: u32) -> u32 {
    ((term << bits) >> 32) as u32
}

/// How many, then the distance of each from the one before.
fn list(lists: &mut Vec<u8>, postings: &[(u64, u32)]) {
    varint(lists, postings.len() as u32);
    let mut before = 0;
    for (_, number) in postings {
        varint(lists, number - before);
        before = *number;
    }
}

fn numbers(mut list: &[u8]) -> Vec<u32> {
    let count = read_varint(&mut list).unwrap_or(0);
    let mut number = 0_u32;
    (0..count)
        .map_while(|_| {
            number = number.wrapping_add(read_varint(&mut list)?);
            Some(number)
        })
        .collect()
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
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
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

    use super::super::sealed::hash;
    use super::*;

    proptest! {
        #[test]
        fn the_index_finds_exactly_the_entries_that_have_all_terms(
            entries in proptest::collection::vec(proptest::collection::btree_set(0_u8..40, 0..12), 0..200),
            asked in proptest::collection::vec(0_u8..44, 1..4),
        ) {
            let term = |number: &u8| hash(0, &[*number]);
            let mut builder = Builder::default();
            for (number, words) in entries.iter().enumerate() {
                builder.entry(number as u64 * 10, words.iter().map(term));
            }
            let covers = entries.len() as u64 * 10;
            let (terms, sealed) = builder.finish(covers);
            prop_assert_eq!(terms.len(), entries.iter().flatten().collect::<BTreeSet<_>>().len());
            let index = Index::read(&sealed).unwrap();
            let found = index.with_all(&asked.iter().map(term).collect::<Vec<_>>());
            let expected: Vec<(u64, u64)> = (0..entries.len()).rev()
                .filter(|number| asked.iter().all(|word| entries[*number].contains(word)))
                .map(|number| (number as u64 * 10, number as u64 * 10 + 10))
                .collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_bytes_are_an_index_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200), term in any::<u64>()) {
            if let Some(index) = Index::read(&seal(MAGIC, &bytes)) {
                let _ = index.with_all(&[term, term]);
            }
        }
    }
}
