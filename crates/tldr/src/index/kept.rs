//! An index on disk: for each file its path, what the file system said of it, its hash, and its facts. The hash of all that
//! comes first, so that a file that was cut, changed or written by another version is as good as none. Integers are little
//! endian, texts and facts have their length before them. What all uses mean lies in a second file that begins with the
//! hash of the first: it is true for those facts and for no others.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use code::facts::{FORMAT, Facts};
use code::memo::Memo;
use rayon::prelude::*;

use super::{File, Files, Hash};
use crate::walk::Stamp;

/// Our files begin with it; the last byte counts changes of this layout.
const MAGIC: &[u8; 8] = b"tldrix\x00\x02";

/// The same for what all uses mean.
const MEANING: &[u8; 8] = b"tldrmm\x00\x01";

/// What was kept of an index.
#[derive(Debug, Default)]
pub struct Kept {
    pub(super) files: BTreeMap<String, File>,
    hash: Hash,
}

impl Kept {
    /// Whatever is wrong with the file, there is an index: an empty one.
    pub fn read(path: &Path) -> Kept {
        let bytes = std::fs::read(path).unwrap_or_default();
        parse(&bytes).unwrap_or_default()
    }

    /// What all uses in these files mean, as far as it was kept: else nothing is known yet.
    pub fn memo(&self, path: &Path) -> Memo {
        let bytes = std::fs::read(path).unwrap_or_default();
        self.meaning(&bytes).unwrap_or_default()
    }

    fn meaning(&self, bytes: &[u8]) -> Option<Memo> {
        let mut input = bytes.strip_prefix(MEANING)?;
        if Hash(take(&mut input)?) != self.hash || Hash(take(&mut input)?) != Hash::of(input) {
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
    [MEANING.as_slice(), hash, &Hash::of(packed).0, packed].concat()
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
    whole.extend(Hash::of(&body).0);
    whole.extend(body);
    whole
}

fn parse(bytes: &[u8]) -> Option<Kept> {
    let mut input = bytes.strip_prefix(MAGIC)?;
    if take(&mut input)? != FORMAT {
        return None;
    }
    let hash = Hash(take(&mut input)?);
    if hash != Hash::of(input) {
        return None;
    }
    let mut entries = Vec::new();
    while !input.is_empty() {
        let path = str::from_utf8(get(&mut input)?).ok()?;
        let stamp = Stamp::from_bytes(take(&mut input)?);
        let [settled] = take(&mut input)?;
        let hash = Hash(take(&mut input)?);
        let length = u64::from_le_bytes(take(&mut input)?);
        let facts = get(&mut input)?;
        entries.push((path, stamp, settled != 0, hash, length, facts));
    }
    let files: Option<Vec<(String, File)>> = entries
        .into_par_iter()
        .map(|(path, stamp, settled, hash, bytes, facts)| {
            let facts = match facts {
                [] => None,
                packed => Some(Arc::new(Facts::unpack(packed)?)),
            };
            Some((path.to_owned(), File { hash, bytes, facts, stamp, settled }))
        })
        .collect();
    Some(Kept { files: files?.into_iter().collect(), hash })
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
