//! The frame of every file that only makes things faster: what it is, which version, and a checksum. A frame that does not
//! hold is as good as no file. Knows nothing of what is inside.

const VERSION: u8 = 1;
const HEAD: usize = 8;
/// How many bytes a seal adds.
pub(super) const AROUND: usize = HEAD + 8;

pub(super) fn seal(magic: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(HEAD + payload.len() + 8);
    sealed.extend(magic);
    sealed.extend([VERSION, 0, 0, 0]);
    sealed.extend(payload);
    sealed.extend(checksum(&sealed).to_le_bytes());
    sealed
}

/// None if it is something else, of another version, or damaged.
pub(super) fn unseal(magic: [u8; 4], sealed: &[u8]) -> Option<&[u8]> {
    let (body, sum) = sealed.split_last_chunk::<8>()?;
    let payload = body.get(HEAD..)?;
    (body[..4] == magic && body[4] == VERSION && u64::from_le_bytes(*sum) == checksum(body))
        .then_some(payload)
}

/// A part of a file with its checksum behind it, which also knows which part it is.
pub(super) fn checked(kind: u8, number: usize, bytes: &[u8]) -> Vec<u8> {
    let mut part = bytes.to_vec();
    part.extend((checksum(bytes) ^ mix(u64::from(kind) << 32 ^ number as u64)).to_le_bytes());
    part
}

pub(super) fn verified(kind: u8, number: usize, part: &[u8]) -> Option<&[u8]> {
    let (bytes, sum) = part.split_last_chunk::<8>()?;
    (checksum(bytes) ^ mix(u64::from(kind) << 32 ^ number as u64) == u64::from_le_bytes(*sum))
        .then_some(bytes)
}

/// A stable 64-bit hash of a word; what `kind` says keeps ids and words apart.
pub(super) fn hash(kind: u8, word: &[u8]) -> u64 {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    mix([kind].iter().chain(word).fold(0xcbf2_9ce4_8422_2325, fnv))
}

/// Spreads every bit of a number over all others.
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Four sums side by side, which processors do at once.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sums = [1_u64, 2, 3, 4];
    let (pieces, rest) = bytes.as_chunks::<32>();
    for piece in pieces {
        let (words, _) = piece.as_chunks::<8>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = (*sum ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }
    let tail = rest.iter().fold(bytes.len() as u64, |sum, byte| mix(sum ^ u64::from(*byte)));
    sums.iter().fold(tail, |all, sum| mix(all ^ sum))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_seal_breaks_at_any_change(payload in proptest::collection::vec(any::<u8>(), 0..200), at in any::<proptest::sample::Index>(), flip in 1_u8..) {
            let sealed = seal(*b"TEST", &payload);
            prop_assert_eq!(unseal(*b"TEST", &sealed), Some(payload.as_slice()));
            prop_assert_eq!(unseal(*b"ELSE", &sealed), None);
            let mut damaged = sealed.clone();
            let place = at.index(damaged.len());
            damaged[place] ^= flip;
            // Three bytes behind the version are spare, and summed up like all others.
            prop_assert_eq!(unseal(*b"TEST", &damaged), None);
            prop_assert_eq!(unseal(*b"TEST", &sealed[..place]), None);
        }
    }
}
