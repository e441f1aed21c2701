//! Bloom filters: which partitions cannot have a word or an id. One per partition (`.bloom`), of which a question reads one
//! block; those of 64 partitions lie once more side by side in a slab, so that one read asks all of them. A filter can be
//! wrong in one direction only, and nothing is lost without it; each part that is read has a checksum of its own.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::sealed::{self, checked, hash, mix, seal, unseal, verified};

const MAGIC: [u8; 4] = *b"CHBF";
const SLAB: [u8; 4] = *b"CHSL";
/// At least ten bits and seven probes: about one of a hundred partitions is looked at for nothing.
const BITS_PER_TERM: usize = 10;
const PROBES: u32 = 7;
/// All probes of a term fall into one block of 512 bits.
const BLOCK_BITS: u32 = 9;
const BLOCK: usize = 1 << BLOCK_BITS >> 3;
const BLOCK_ON_DISK: usize = BLOCK + 8;
/// A slab has a row for each bit of its filters: not more than 2^19 of them, 4 MB.
const MOST_BITS: u32 = 19;
const HEAD: usize = sealed::AROUND + 16;
const SLAB_HEAD: usize = sealed::AROUND + 8 + GROUP * 16;
/// The rows of one block of all filters.
const ROWS: usize = 1 << BLOCK_BITS;
const ROWS_ON_DISK: usize = ROWS * 8 + 8;
const KIND: u8 = b'f';

/// So many filters lie in one slab.
pub(super) const GROUP: usize = 64;

/// `terms` are hashes, each once. `covers` is the length of the partition.
pub(super) fn build(terms: &[u64], covers: u64) -> Vec<u8> {
    let bits = (terms.len() * BITS_PER_TERM).next_power_of_two().ilog2().max(BLOCK_BITS);
    let mut blocks = vec![[0_u8; BLOCK]; 1 << (bits - BLOCK_BITS)];
    for term in terms {
        let block = &mut blocks[block(*term, bits)];
        for place in places(*term) {
            block[place / 8] |= 1 << (place % 8);
        }
    }
    let mut filter = seal(MAGIC, &[covers.to_le_bytes(), u64::from(bits).to_le_bytes()].concat());
    for (number, block) in blocks.iter().enumerate() {
        filter.extend(checked(KIND, number, block));
    }
    filter
}

/// A filter that is open.
#[derive(Debug)]
pub(super) struct Filter {
    file: File,
    /// How long the partition was when this was made.
    pub(super) covers: u64,
    bits: u32,
}

impl Filter {
    /// None if it is damaged or somebody else's.
    pub(super) fn read(file: File) -> Option<Filter> {
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let (covers, bits) = unseal(MAGIC, &head)?.split_first_chunk::<8>()?;
        let bits = u32::try_from(u64::from_le_bytes(bits.try_into().ok()?)).ok()?;
        let is_sound = (BLOCK_BITS..40).contains(&bits);
        is_sound.then_some(Filter { file, covers: u64::from_le_bytes(*covers), bits })
    }

    /// False only if one of the terms is certainly not there. None if the filter is damaged.
    pub(super) fn may_have(&self, terms: &[u64]) -> Option<bool> {
        for term in terms {
            let block = self.block(block(*term, self.bits))?;
            if !places(*term).all(|place| block[place / 8] >> (place % 8) & 1 == 1) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn block(&self, number: usize) -> Option<[u8; BLOCK]> {
        let mut part = [0; BLOCK_ON_DISK];
        self.file.read_exact_at(&mut part, (HEAD + number * BLOCK_ON_DISK) as u64).ok()?;
        verified(KIND, number, &part)?.try_into().ok()
    }
}

/// The filters of a group of partitions, by their names, side by side. None if one of them is damaged.
pub(super) fn slab(filters: &[(&str, Filter)]) -> Option<Vec<u8>> {
    let bits = filters.iter().map(|(_, filter)| filter.bits).max()?.min(MOST_BITS);
    let mut head = u64::from(bits).to_le_bytes().to_vec();
    for (stem, filter) in filters {
        head.extend(name(stem).to_le_bytes());
        head.extend(filter.covers.to_le_bytes());
    }
    head.resize(8 + GROUP * 16, 0);
    let mut slab = seal(SLAB, &head);
    let mut rows = vec![[0_u64; ROWS]; 1 << (bits - BLOCK_BITS)];
    for (column, (_, filter)) in filters.iter().enumerate() {
        for number in 0..1_usize << (filter.bits - BLOCK_BITS) {
            let block = filter.block(number)?;
            // A block of ours stands for several of a smaller filter, or shares one of a larger filter with others.
            let range = match filter.bits.checked_sub(bits) {
                Some(more) => number >> more..(number >> more) + 1,
                None => number << (bits - filter.bits)..(number + 1) << (bits - filter.bits),
            };
            for rows in &mut rows[range] {
                add(rows, &block, column);
            }
        }
    }
    for (number, rows) in rows.iter().enumerate() {
        let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        slab.extend(checked(KIND, number, &bytes));
    }
    Some(slab)
}

fn add(rows: &mut [u64; ROWS], block: &[u8; BLOCK], column: usize) {
    for (place, row) in rows.iter_mut().enumerate() {
        *row |= u64::from(block[place / 8] >> (place % 8) & 1) << column;
    }
}

/// A slab that is open.
#[derive(Debug)]
pub(super) struct Slab {
    file: File,
    bits: u32,
    /// Name and length of each partition.
    columns: Vec<(u64, u64)>,
}

impl Slab {
    pub(super) fn read(file: File) -> Option<Slab> {
        let mut head = [0; SLAB_HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let (bits, columns) = unseal(SLAB, &head)?.split_first_chunk::<8>()?;
        let bits = u32::try_from(u64::from_le_bytes(*bits)).ok()?;
        let numbers: Vec<u64> =
            columns.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
        let columns = numbers.as_chunks::<2>().0.iter().map(|[name, covers]| (*name, *covers)).collect();
        (BLOCK_BITS..=MOST_BITS).contains(&bits).then_some(Slab { file, bits, columns })
    }

    /// Which partition stands in which column is for the slab to say, not for the manifest.
    pub(super) fn is_of<'a>(&self, stems: impl ExactSizeIterator<Item = &'a str>) -> bool {
        stems.len() == self.columns.len()
            && self.columns.iter().zip(stems).all(|((known, _), stem)| *known == name(stem))
    }

    /// How long the partition in this column was.
    pub(super) fn covers(&self, column: usize) -> u64 {
        self.columns[column].1
    }

    /// A bit for each partition, 0 if one of the terms is certainly not there. None if the slab is damaged.
    pub(super) fn may_have(&self, terms: &[u64]) -> Option<u64> {
        let mut mask = u64::MAX;
        for term in terms {
            let number = block(*term, self.bits);
            let mut part = [0; ROWS_ON_DISK];
            self.file.read_exact_at(&mut part, (SLAB_HEAD + number * ROWS_ON_DISK) as u64).ok()?;
            let rows = verified(KIND, number, &part)?.as_chunks::<8>().0;
            mask = places(*term).fold(mask, |mask, place| mask & u64::from_le_bytes(rows[place]));
        }
        Some(mask)
    }
}

fn name(stem: &str) -> u64 {
    hash(b's', stem.as_bytes())
}

/// The first bits of a term choose its block: the same as those of a smaller filter, and more of them.
fn block(term: u64, bits: u32) -> usize {
    term.checked_shr(64 - (bits - BLOCK_BITS)).unwrap_or(0) as usize
}

fn places(term: u64) -> impl Iterator<Item = usize> {
    let spread = mix(term);
    (0..PROBES).map(move |probe| (spread >> (probe * BLOCK_BITS)) as usize % ROWS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::Home;

    use super::*;

    fn terms(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|number| hash(0, &number.to_le_bytes())).collect()
    }

    fn open(home: &Home, name: &str, bytes: &[u8]) -> Option<Filter> {
        Filter::read(File::open(home.write(name, bytes)).unwrap())
    }

    #[test]
    fn one_of_a_hundred_strangers_passes_and_every_friend() {
        let home = Home::new();
        let filter = open(&home, "filter", &build(&terms(0..6500), 1)).unwrap();
        let passes = |terms: &[u64]| filter.may_have(terms).unwrap();
        assert!(terms(0..6500).iter().all(|term| passes(&[*term])));
        let passed = terms(10_000..20_000).iter().filter(|term| passes(&[**term])).count();
        assert!((20..250).contains(&passed), "{passed} of 10000");
        let friend = terms(0..1)[0];
        let both = terms(10_000..20_000).iter().filter(|term| passes(&[friend, **term])).count();
        assert_eq!(both, passed);
    }

    /// Filters of very different sizes, the largest larger than a slab's rows.
    #[test]
    fn a_slab_says_what_its_filters_say_and_nothing_when_damaged() {
        let home = Home::new();
        let sizes = [0, 1, 10, 300, 5000, 60_000];
        let stems: Vec<String> = (0..GROUP).map(|number| format!("{number}-x")).collect();
        let filter = |number: usize| {
            let size = sizes[number % sizes.len()];
            open(&home, &stems[number], &build(&terms(0..size), size)).unwrap()
        };
        let filters: Vec<(&str, Filter)> =
            stems.iter().enumerate().map(|(number, stem)| (stem.as_str(), filter(number))).collect();
        let bytes = slab(&filters).unwrap();
        let read = |bytes: &[u8]| Slab::read(File::open(home.write("slab", bytes)).unwrap());
        let whole = read(&bytes).unwrap();
        assert!(whole.is_of(stems.iter().map(String::as_str)));
        assert!(!whole.is_of(stems.iter().rev().map(String::as_str)) && !whole.is_of([].into_iter()));
        for term in terms(0..100).into_iter().chain(terms(70_000..70_500)) {
            let mask = whole.may_have(&[term]).unwrap();
            for (column, (_, filter)) in filters.iter().enumerate() {
                assert!(mask >> column & 1 == 1 || !filter.may_have(&[term]).unwrap());
            }
        }
        let strangers = terms(100_000..100_200);
        let passed =
            strangers.iter().filter(|term| whole.may_have(&[**term]).unwrap() & 0b1_1111 != 0).count();
        assert!(passed < 40, "{passed} of 200 pass");
        assert_eq!(whole.covers(3), 300);
        let term = terms(0..1)[0];
        let row = SLAB_HEAD + block(term, MOST_BITS) * ROWS_ON_DISK;
        for place in [row, row + ROWS_ON_DISK - 1, 4, 20] {
            let mut damaged = bytes.clone();
            damaged[place] ^= 4;
            assert_eq!(read(&damaged).and_then(|slab| slab.may_have(&[term])), None, "at {place}");
        }
        assert_eq!(read(&bytes[..row]).and_then(|slab| slab.may_have(&[term])), None);
    }

    proptest! {
        #[test]
        fn a_damaged_filter_says_so_or_the_truth(
            count in 0_u64..300, at in any::<proptest::sample::Index>(), flip in 1_u8.., cut in any::<bool>(),
        ) {
            let mut bytes = build(&terms(0..count), count);
            let place = at.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] ^= flip }
            let home = Home::new();
            if let Some(filter) = open(&home, "filter", &bytes) {
                prop_assert!(terms(0..count).iter().all(|term| filter.may_have(&[*term]) != Some(false)));
            }
        }
    }
}
