//! Bloom filters: which partitions cannot have a word or an id. One per partition (`.bloom`), and all of them once more in
//! one file, because opening a thousand files takes longer than a search may. A filter can be wrong in one direction only,
//! and nothing is lost without it.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::super::fault::found;
use super::sealed::{mix, seal, unseal};

const MAGIC: [u8; 4] = *b"CHBF";
/// Before each filter of the common file, so that one that was torn does not hide the next.
const RECORD: [u8; 4] = *b"CHPK";
/// Ten bits and seven probes: one of a hundred partitions is looked at for nothing.
const BITS_PER_TERM: u64 = 10;
const PROBES: u64 = 7;

/// `terms` are hashes, each once. `covers` is the length of the partition.
pub(super) fn build(terms: &[u64], covers: u64) -> Vec<u8> {
    let words = (terms.len() as u64 * BITS_PER_TERM).div_ceil(64).max(1);
    let mut bits = vec![0_u64; words as usize];
    for term in terms {
        for place in places(*term, words * 64) {
            bits[(place / 64) as usize] |= 1 << (place % 64);
        }
    }
    let mut payload = covers.to_le_bytes().to_vec();
    payload.extend(bits.iter().flat_map(|word| word.to_le_bytes()));
    seal(MAGIC, &payload)
}

/// A filter in the bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter<'a> {
    /// How long the partition was when this was made.
    pub(super) covers: u64,
    bits: &'a [u8],
}

impl<'a> Filter<'a> {
    pub(super) fn read(sealed: &'a [u8]) -> Option<Filter<'a>> {
        let (covers, bits) = unseal(MAGIC, sealed)?.split_first_chunk::<8>()?;
        (!bits.is_empty() && bits.len().is_multiple_of(8))
            .then_some(Filter { covers: u64::from_le_bytes(*covers), bits })
    }

    /// False only if one of the terms is certainly not there.
    pub(super) fn may_have(&self, terms: &[u64]) -> bool {
        let length = self.bits.len() as u64 * 8;
        terms.iter().all(|term| {
            places(*term, length).all(|place| self.bits[(place / 8) as usize] >> (place % 8) & 1 == 1)
        })
    }
}

/// Adds a filter to the common file. What fails here is only missed as speed.
pub(super) fn pack(path: &Path, stem: &str, sealed: &[u8]) -> io::Result<()> {
    let mut record = RECORD.to_vec();
    record.extend((stem.len() as u32).to_le_bytes());
    record.extend((sealed.len() as u32).to_le_bytes());
    record.extend(stem.as_bytes());
    record.extend(sealed);
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(&record)
}

/// The common file; empty if there is none.
#[derive(Debug, Default)]
pub(super) struct Packed(Vec<u8>);

impl Packed {
    pub(super) fn load(path: &Path) -> io::Result<Packed> {
        Ok(Packed(found(fs::read(path))?.unwrap_or_default()))
    }

    /// By the name of the partition; of two the later.
    pub(super) fn filters(&self) -> HashMap<&str, Filter<'_>> {
        let mut filters = HashMap::new();
        let mut rest = self.0.as_slice();
        while let Some(start) = memchr::memmem::find(rest, &RECORD) {
            rest = &rest[start..];
            rest = match record(rest) {
                Some((stem, filter, after)) => {
                    filters.insert(stem, filter);
                    after
                }
                None => &rest[RECORD.len()..],
            };
        }
        filters
    }
}

fn record(bytes: &[u8]) -> Option<(&str, Filter<'_>, &[u8])> {
    let (stem, rest) = bytes.get(4..)?.split_first_chunk::<4>()?;
    let (filter, rest) = rest.split_first_chunk::<4>()?;
    let (stem, rest) = rest.split_at_checked(u32::from_le_bytes(*stem) as usize)?;
    let (filter, rest) = rest.split_at_checked(u32::from_le_bytes(*filter) as usize)?;
    Some((std::str::from_utf8(stem).ok()?, Filter::read(filter)?, rest))
}

fn places(term: u64, length: u64) -> impl Iterator<Item = u64> {
    let step = mix(term) | 1;
    (0..PROBES).map(move |probe| {
        let spread = term.wrapping_add(step.wrapping_mul(probe));
        ((u128::from(spread) * u128::from(length)) >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::Home;

    use super::super::sealed::hash;
    use super::*;

    fn terms(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|number| hash(0, &number.to_le_bytes())).collect()
    }

    #[test]
    fn one_of_a_hundred_strangers_passes_and_every_friend() {
        let sealed = build(&terms(0..5000), 1);
        let filter = Filter::read(&sealed).unwrap();
        assert!(terms(0..5000).iter().all(|term| filter.may_have(&[*term])));
        let passed = terms(10_000..20_000).iter().filter(|term| filter.may_have(&[**term])).count();
        assert!((20..200).contains(&passed), "{passed} of 10000");
        let friend = terms(0..1)[0];
        let both = terms(10_000..20_000).iter().filter(|term| filter.may_have(&[friend, **term])).count();
        assert_eq!(both, passed);
        assert!(sealed.len() < 5000 * 10 / 8 + 64);
    }

    #[test]
    fn a_torn_record_hides_no_other() {
        let home = Home::new();
        let path = home.path().join("filters");
        let sealed = build(&terms(0..100), 7);
        pack(&path, "1-2", &sealed).unwrap();
        let whole = fs::read(&path).unwrap();
        home.write("filters", [&whole[..], &whole[..whole.len() - 5]].concat());
        pack(&path, "3-4", &sealed).unwrap();
        let packed = Packed::load(&path).unwrap();
        let mut stems: Vec<&str> = packed.filters().into_keys().collect();
        stems.sort_unstable();
        assert_eq!(stems, ["1-2", "3-4"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_filters_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Filter::read(&bytes);
            let _ = Packed([&RECORD[..], &bytes].concat()).filters();
        }
    }
}
