//! What pieces came to, remembered within fixed bounds.

/// The pieces that one thread has counted, in four tables by length. Longer pieces are not remembered.
#[derive(Debug, Default)]
pub(crate) struct PieceCache {
    words: Table<1, 15>,
    phrases: Table<2, 13>,
    lines: Table<4, 9>,
    blocks: Table<16, 7>,
}

impl PieceCache {
    /// The count of the first `length` bytes of `rest`, from memory or from `count`.
    #[inline]
    pub(crate) fn get_or(&mut self, rest: &[u8], length: usize, count: impl Fn(&[u8]) -> usize) -> usize {
        match length {
            ..=14 => self.words.get_or(rest, length, count),
            15..=30 => self.phrases.get_or(rest, length, count),
            31..=62 => self.lines.get_or(rest, length, count),
            63..=254 => self.blocks.get_or(rest, length, count),
            _ => count(rest.get(..length).unwrap_or_default()),
        }
    }
}

/// The bytes of a piece, padded with NUL; its length in the last byte but one; its count in the last byte.
type Entry<const WORDS: usize> = [u128; WORDS];
const LENGTH_SHIFT: u32 = 112;
const COUNT_SHIFT: u32 = 120;

/// `2^BITS` sets of two entries for pieces of up to `16 * WORDS - 2` bytes. A new piece displaces the older one of
/// its set, so the table never grows and never needs tending. A piece has at most as many tokens as bytes, so its
/// count fits in a byte.
#[derive(Debug)]
struct Table<const WORDS: usize, const BITS: u32> {
    sets: Vec<[Entry<WORDS>; 2]>,
}

impl<const WORDS: usize, const BITS: u32> Default for Table<WORDS, BITS> {
    fn default() -> Self {
        Self { sets: Vec::new() }
    }
}

impl<const WORDS: usize, const BITS: u32> Table<WORDS, BITS> {
    /// The count of the first `length` bytes of `rest`.
    #[inline]
    fn get_or(&mut self, rest: &[u8], length: usize, count: impl Fn(&[u8]) -> usize) -> usize {
        let key = key(rest, length);
        if let Some(tokens) = self.find(&key) {
            return tokens;
        }
        let tokens = count(rest.get(..length).unwrap_or_default());
        self.insert(key, tokens);
        tokens
    }

    #[inline]
    fn find(&self, key: &Entry<WORDS>) -> Option<usize> {
        let [newer, older] = self.sets.get(Self::set_of(key))?;
        found(newer, key).or_else(|| found(older, key))
    }

    fn insert(&mut self, mut entry: Entry<WORDS>, tokens: usize) {
        if self.sets.is_empty() {
            self.sets = vec![[[0; WORDS]; 2]; 1 << BITS];
        }
        let index = Self::set_of(&entry);
        if let Some(last) = entry.last_mut() {
            *last |= (tokens as u128) << COUNT_SHIFT;
        }
        if let Some([newer, older]) = self.sets.get_mut(index) {
            *older = std::mem::replace(newer, entry);
        }
    }

    #[inline]
    fn set_of(key: &Entry<WORDS>) -> usize {
        (hash(key) >> (64 - BITS)) as usize
    }
}

/// The tokens that are short enough to be looked up whole: nine pieces of ten are a single token. Few of them find
/// their set full; those are counted like any other piece.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    tokens: Table<1, 17>,
}

impl Vocabulary {
    pub(crate) fn add(&mut self, token: &[u8]) {
        if token.len() <= 14 {
            self.tokens.insert(key(token, token.len()), 1);
        }
    }

    /// Whether `piece` is known to be one token.
    pub(crate) fn holds(&self, piece: &[u8]) -> bool {
        piece.len() <= 14 && self.tokens.find(&key(piece, piece.len())).is_some()
    }
}

#[inline]
fn key<const WORDS: usize>(rest: &[u8], length: usize) -> Entry<WORDS> {
    let mut key = [0; WORDS];
    let (chunks, tail) = rest.as_chunks::<16>();
    for (at, word) in key.iter_mut().enumerate() {
        let left = length.saturating_sub(16 * at).min(16);
        if left == 0 {
            break;
        }
        let whole = match chunks.get(at) {
            Some(chunk) => u128::from_le_bytes(*chunk),
            None => tail.iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte)),
        };
        *word = whole & (u128::MAX >> (128 - 8 * left));
    }
    if let Some(last) = key.last_mut() {
        *last |= (length as u128) << LENGTH_SHIFT;
    }
    key
}

#[inline]
fn found<const WORDS: usize>(entry: &Entry<WORDS>, key: &Entry<WORDS>) -> Option<usize> {
    let (last, head) = entry.split_last()?;
    let (key_last, key_head) = key.split_last()?;
    (head == key_head && last << 8 == key_last << 8).then_some((last >> COUNT_SHIFT) as usize)
}

#[inline]
fn hash<const WORDS: usize>(key: &Entry<WORDS>) -> u64 {
    let hash = key.iter().fold(0_u64, |hash, word| {
        let low = (hash ^ *word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (low ^ low >> 32 ^ (word >> 64) as u64).wrapping_mul(0xd6e8_feb8_6659_fd93)
    });
    hash ^ hash << 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_counted_once_whatever_stands_around_it() {
        let mut cache = PieceCache::default();
        for length in [1, 2, 14, 15, 16, 17, 30, 31, 62, 63, 64, 254] {
            let piece = "x".repeat(length);
            for (before, after) in [("", ""), ("ab", ""), ("", &*"x".repeat(40)), ("abc", "\n")] {
                let text = format!("{before}{piece}{after}");
                let first = before.is_empty() && after.is_empty();
                let count = cache.get_or(&text.as_bytes()[before.len()..], length, |piece| {
                    assert!(first, "counted again");
                    piece.len()
                });
                assert_eq!(count, length, "{before:?} {length} {after:?}");
            }
        }
    }

    #[test]
    fn pieces_that_differ_only_in_trailing_nul_are_different() {
        let mut cache = PieceCache::default();
        assert_eq!(cache.get_or(b"a", 1, |_| 1), 1);
        assert_eq!(cache.get_or(b"a\0", 2, |_| 2), 2);
        assert_eq!(cache.get_or(b"a\0", 1, |_| 3), 1);
    }

    #[test]
    fn pieces_that_displace_each_other_keep_their_own_counts() {
        let mut cache = PieceCache::default();
        for round in 0..3 {
            for number in 0..100_000_usize {
                let text = number.to_string();
                let count = cache.get_or(text.as_bytes(), text.len(), |_| number % 251);
                assert_eq!(count, number % 251, "{number} in round {round}");
            }
        }
    }

    #[test]
    fn very_long_pieces_are_not_kept() {
        let mut cache = PieceCache::default();
        let text = [b'x'; 255];
        assert_eq!(cache.get_or(&text, 255, |_| 7), 7);
        assert_eq!(cache.get_or(&text, 255, |_| 8), 8);
    }
}
