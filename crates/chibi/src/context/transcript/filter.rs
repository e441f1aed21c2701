//! Bloom filters: which partitions cannot have a word or an id. One per partition (`.bloom`); those of 64 partitions lie
//! once more side by side in a slab, so that a search asks 64 of them with a few small reads. A filter can be wrong in one
//! direction only, and nothing is lost without it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::sealed::{self, hash, mix, seal, unseal};

const MAGIC: [u8; 4] = *b"CHBF";
const SLAB: [u8; 4] = *b"CHSL";
/// At least ten bits and seven probes: fewer than one of a hundred partitions is looked at for nothing.
const BITS_PER_TERM: usize = 10;
const PROBES: u64 = 7;
/// A slab has a row for each bit of its filters: not more than 2^19 of them, 6 MB.
const MOST_BITS: u32 = 19;
/// 64 filters, one bit each, and a checksum.
const ROW: usize = 12;
const SLAB_HEAD: usize = sealed::AROUND + 8 + GROUP * 16;

/// So many filters lie in one slab.
pub(super) const GROUP: usize = 64;

/// `terms` are hashes, each once. `covers` is the length of the partition.
pub(super) fn build(terms: &[u64], covers: u64) -> Vec<u8> {
    let length = (terms.len() * BITS_PER_TERM).next_power_of_two().max(64);
    let bits = length.ilog2();
    let mut bytes = vec![0_u8; length / 8];
    for place in terms.iter().flat_map(|term| places(*term, bits)) {
        bytes[place / 8] |= 1 << (place % 8);
    }
    let mut payload = covers.to_le_bytes().to_vec();
    payload.extend(bytes);
    seal(MAGIC, &payload)
}

/// A filter in the bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter<'a> {
    /// How long the partition was when this was made.
    pub(super) covers: u64,
    bytes: &'a [u8],
}

impl<'a> Filter<'a> {
    /// None if it is damaged or somebody else's.
    pub(super) fn read(sealed: &'a [u8]) -> Option<Filter<'a>> {
        let (covers, bytes) = unseal(MAGIC, sealed)?.split_first_chunk::<8>()?;
        bytes.len().is_power_of_two().then_some(Filter { covers: u64::from_le_bytes(*covers), bytes })
    }

    /// False only if one of the terms is certainly not there.
    pub(super) fn may_have(&self, terms: &[u64]) -> bool {
        terms.iter().flat_map(|term| places(*term, self.bits())).all(|place| self.has(place))
    }

    fn bits(&self) -> u32 {
        (self.bytes.len() * 8).ilog2()
    }

    fn has(&self, place: usize) -> bool {
        self.bytes[place / 8] >> (place % 8) & 1 == 1
    }

    /// The same as one of `bits`, a place of which stands for several of ours or shares one of ours with others.
    fn has_in(&self, place: usize, bits: u32) -> bool {
        match self.bits().checked_sub(bits) {
            Some(more) => (place << more..(place + 1) << more).any(|place| self.has(place)),
            None => self.has(place >> (bits - self.bits())),
        }
    }
}

/// The filters of a group of partitions, by their names, side by side.
pub(super) fn slab(filters: &[(&str, Filter<'_>)]) -> Vec<u8> {
    let bits = filters.iter().map(|(_, filter)| filter.bits()).max().unwrap_or(6).min(MOST_BITS);
    let mut head = u64::from(bits).to_le_bytes().to_vec();
    for (stem, filter) in filters {
        head.extend(name(stem).to_le_bytes());
        head.extend(filter.covers.to_le_bytes());
    }
    head.resize(8 + GROUP * 16, 0);
    let mut slab = seal(SLAB, &head);
    for place in 0..1 << bits {
        let column = |(number, (_, filter)): (usize, &(&str, Filter<'_>))| {
            u64::from(filter.has_in(place, bits)) << number
        };
        let row = filters.iter().enumerate().map(column).fold(0, |row, bit| row | bit);
        slab.extend(row.to_le_bytes());
        slab.extend(row_sum(place, row).to_le_bytes());
    }
    slab
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
    pub(super) fn open(path: &Path) -> Option<Slab> {
        let file = File::open(path).ok()?;
        let mut head = vec![0; SLAB_HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let (bits, columns) = unseal(SLAB, &head)?.split_first_chunk::<8>()?;
        let bits = u32::try_from(u64::from_le_bytes(*bits)).ok().filter(|bits| *bits <= MOST_BITS)?;
        let numbers: Vec<u64> =
            columns.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
        let columns = numbers.as_chunks::<2>().0.iter().map(|[name, covers]| (*name, *covers)).collect();
        Some(Slab { file, bits, columns })
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
        for place in terms.iter().flat_map(|term| places(*term, self.bits)) {
            if mask == 0 {
                break;
            }
            let mut row = [0; ROW];
            self.file.read_exact_at(&mut row, (SLAB_HEAD + place * ROW) as u64).ok()?;
            let (row, sum) = row.split_first_chunk::<8>()?;
            let row = u64::from_le_bytes(*row);
            if row_sum(place, row).to_le_bytes() != *sum {
                return None;
            }
            mask &= row;
        }
        Some(mask)
    }
}

fn name(stem: &str) -> u64 {
    hash(b's', stem.as_bytes())
}

fn row_sum(place: usize, row: u64) -> u32 {
    mix(row ^ mix(place as u64 + 1)) as u32
}

/// Among two to the power of `bits` places.
fn places(term: u64, bits: u32) -> impl Iterator<Item = usize> {
    let step = mix(term) | 1;
    (0..PROBES).map(move |probe| (term.wrapping_add(step.wrapping_mul(probe)) >> (64 - bits)) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::Home;

    use super::*;

    fn terms(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|number| hash(0, &number.to_le_bytes())).collect()
    }

    #[test]
    fn one_of_a_hundred_strangers_passes_and_every_friend() {
        let sealed = build(&terms(0..6500), 1);
        let filter = Filter::read(&sealed).unwrap();
        assert!(terms(0..6500).iter().all(|term| filter.may_have(&[*term])));
        let passed = terms(10_000..20_000).iter().filter(|term| filter.may_have(&[**term])).count();
        assert!((20..200).contains(&passed), "{passed} of 10000");
        let friend = terms(0..1)[0];
        let both = terms(10_000..20_000).iter().filter(|term| filter.may_have(&[friend, **term])).count();
        assert_eq!(both, passed);
    }

    /// Filters of very different sizes, the largest larger than a slab's rows.
    #[test]
    fn a_slab_says_what_its_filters_say_and_nothing_when_damaged() {
        let home = Home::new();
        let sizes = [0, 1, 10, 300, 5000, 60_000];
        let sealed: Vec<Vec<u8>> = sizes.iter().map(|size| build(&terms(0..*size), *size)).collect();
        let stems: Vec<String> = (0..GROUP).map(|number| format!("{number}-x")).collect();
        let filters: Vec<(&str, Filter<'_>)> = stems
            .iter()
            .enumerate()
            .map(|(number, stem)| (stem.as_str(), Filter::read(&sealed[number % sizes.len()]).unwrap()))
            .collect();
        let bytes = slab(&filters);
        let path = home.write("slab", &bytes);
        let open = Slab::open(&path).unwrap();
        assert!(open.is_of(stems.iter().map(String::as_str)));
        assert!(!open.is_of(stems.iter().rev().map(String::as_str)) && !open.is_of([].into_iter()));
        for term in terms(0..100).into_iter().chain(terms(70_000..70_500)) {
            let mask = open.may_have(&[term]).unwrap();
            for (column, (_, filter)) in filters.iter().enumerate() {
                assert!(mask >> column & 1 == 1 || !filter.may_have(&[term]));
            }
        }
        let strangers = terms(100_000..100_200)
            .iter()
            .filter(|term| open.may_have(&[**term]).unwrap() & 0b1_1111 != 0)
            .count();
        assert!(strangers < 40, "{strangers} of 200 pass");
        assert_eq!(open.covers(3), 300);
        let term = terms(0..1)[0];
        let row = SLAB_HEAD + places(term, MOST_BITS).next().unwrap() * ROW;
        for place in [row, row + 11, 4, 20] {
            let mut damaged = bytes.clone();
            damaged[place] ^= 4;
            home.write("slab", damaged);
            assert_eq!(Slab::open(&path).and_then(|slab| slab.may_have(&[term])), None, "at {place}");
        }
        home.write("slab", &bytes[..row]);
        assert_eq!(Slab::open(&path).and_then(|slab| slab.may_have(&[term])), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_filter_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Filter::read(&bytes);
            if let Some(filter) = Filter::read(&seal(MAGIC, &bytes)) {
                let _ = filter.may_have(&[1, u64::MAX]);
            }
        }
    }
}
