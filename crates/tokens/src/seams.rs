//! Places inside a piece that no token of the vocabulary spans, so that both sides can be counted apart.
//!
//! Byte-pair encoding joins two neighbours only into a token of the vocabulary. Where no token holds the end of one
//! char followed by the start of the next, no merge ever crosses, and the merges on either side cannot see each
//! other. In scripts without spaces most neighbouring chars have such a seam between them.

/// 2^19 bits; some 20,000 pairs of o200k leave one false alarm in 25, which only costs a longer part.
const PAIR_BITS: u32 = 19;

/// The pairs of neighbouring chars, at least one of them outside ASCII, that some token spans.
#[derive(Debug)]
pub(crate) struct Seams {
    /// A bit for each hash of two whole chars.
    pairs: Vec<u64>,
    /// A bit for each last byte and first byte, where a token holds only a part of either char.
    torn: Vec<u64>,
}

impl Default for Seams {
    fn default() -> Self {
        Self { pairs: vec![0; 1 << (PAIR_BITS - 6)], torn: vec![0; (1 << 16) / 64] }
    }
}

impl Seams {
    /// Takes note of every pair that `token` spans.
    pub(crate) fn add(&mut self, token: &[u8]) {
        for at in 1..token.len() {
            let (left, right) = token.split_at(at);
            let (Some(&last), Some(&first)) = (left.last(), right.first()) else { continue };
            if is_continuation(first) || (last.is_ascii() && first.is_ascii()) {
                continue;
            }
            match (last_char(left), first_char(right)) {
                (Some(before), Some(after)) => set(&mut self.pairs, pair_hash(before, after)),
                _ => set(&mut self.torn, byte_pair(last, first)),
            }
        }
    }

    /// The byte length of the first part of `piece`; all of it where there is no seam.
    #[inline]
    pub(crate) fn first_part(&self, piece: &str) -> usize {
        let bytes = piece.as_bytes();
        let mut chars = piece.char_indices();
        let Some((_, mut before)) = chars.next() else { return 0 };
        for (at, after) in chars {
            let spanned = (before.is_ascii() && after.is_ascii())
                || is_set(&self.pairs, pair_hash(before, after))
                || match (bytes.get(at - 1), bytes.get(at)) {
                    (Some(&last), Some(&first)) => is_set(&self.torn, byte_pair(last, first)),
                    _ => true,
                };
            if !spanned {
                return at;
            }
            before = after;
        }
        piece.len()
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The last char of a token, if the token holds all of it.
fn last_char(bytes: &[u8]) -> Option<char> {
    let start = bytes.iter().rposition(|&byte| !is_continuation(byte))?;
    std::str::from_utf8(bytes.get(start..)?).ok()?.chars().next()
}

/// The first char of a token, if the token holds all of it.
fn first_char(bytes: &[u8]) -> Option<char> {
    let end = bytes.iter().skip(1).position(|&byte| !is_continuation(byte)).map_or(bytes.len(), |at| at + 1);
    std::str::from_utf8(bytes.get(..end)?).ok()?.chars().next()
}

#[inline]
fn pair_hash(before: char, after: char) -> usize {
    let pair = u64::from(u32::from(before)) << 32 | u64::from(u32::from(after));
    (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32).wrapping_mul(0xd6e8_feb8_6659_fd93)
        >> (64 - PAIR_BITS)) as usize
}

#[inline]
fn byte_pair(last: u8, first: u8) -> usize {
    usize::from(last) << 8 | usize::from(first)
}

fn set(bits: &mut [u64], index: usize) {
    if let Some(word) = bits.get_mut(index / 64) {
        *word |= 1 << (index % 64);
    }
}

#[inline]
fn is_set(bits: &[u64], index: usize) -> bool {
    bits.get(index / 64).is_none_or(|word| word >> (index % 64) & 1 == 1)
}
