//! What short pieces come to: the tokens of the vocabulary, and pieces that were counted before.

/// The tokens that are short enough to be looked up whole, shared by all threads. Nine pieces of ten are one of them.
/// A token that finds its set full is left out; pieces that are such a token are counted like any other.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    tokens: Table<1, 17>,
}

impl Vocabulary {
    /// Takes note of a token. Those that come later stay, so the most frequent should come last.
    pub(crate) fn add(&mut self, token: &[u8]) {
        if token.len() <= 14 {
            self.tokens.insert(key(token, token.len()), 1);
        }
    }
}

/// The pieces of more than one token that one thread has counted, in four tables by length. Longer pieces are not
/// remembered.
#[derive(Debug, Default)]
pub(crate) struct PieceCache {
    words: Table<1, 14>,
    phrases: Table<2, 12>,
    lines: Table<4, 8>,
    blocks: Table<16, 6>,
}

impl PieceCache {
    /// The count of the first `length` bytes of `rest`: one, or from memory, or from `count`.
    #[inline]
    pub(crate) fn get_or(
        &mut self,
        vocabulary: &Vocabulary,
        rest: &[u8],
        length: usize,
        count: impl Fn(&[u8]) -> usize,
    ) -> usize {
        let count = || count(rest.get(..length).unwrap_or_default());
        match length {
            ..=14 => {
                let key = key(rest, length);
                vocabulary.tokens.find(&key).unwrap_or_else(|| self.words.get_or(key, count))
            }
            15..=30 => self.phrases.get_or(key(rest, length), count),
            31..=62 => self.lines.get_or(key(rest, length), count),
            63..=254 => self.blocks.get_or(key(rest, length), count),
            _ => count(),
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
    /// The count of the piece with this key, from the table or from `count`.
    #[inline]
    fn get_or(&mut self, key: Entry<WORDS>, count: impl Fn() -> usize) -> usize {
        self.find(&key).unwrap_or_else(|| {
            let tokens = count();
            self.insert(key, tokens);
            tokens
        })
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

    const NONE: Vocabulary = Vocabulary { tokens: Table { sets: Vec::new() } };

    #[test]
    fn a_piece_is_counted_once_whatever_stands_around_it() {
        let mut cache = PieceCache::default();
        for length in [1, 2, 14, 15, 16, 17, 30, 31, 62, 63, 64, 254] {
            let piece = "x".repeat(length);
            for (before, after) in [("", ""), ("ab", ""), ("", &*"x".repeat(40)), ("abc", "\n")] {
                let text = format!("{before}{piece}{after}");
                let first = before.is_empty() && after.is_empty();
                let count = cache.get_or(&NONE, &text.as_bytes()[before.len()..], length, |piece| {
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
        assert_eq!(cache.get_or(&NONE, b"a", 1, |_| 1), 1);
        assert_eq!(cache.get_or(&NONE, b"a\0", 2, |_| 2), 2);
        assert_eq!(cache.get_or(&NONE, b"a\0", 1, |_| 3), 1);
    }

    #[test]
    fn pieces_that_displace_each_other_keep_their_own_counts() {
        let mut cache = PieceCache::default();
        for round in 0..3 {
            for number in 0..100_000_usize {
                let text = number.to_string();
                let count = cache.get_or(&NONE, text.as_bytes(), text.len(), |_| number % 251);
                assert_eq!(count, number % 251, "{number} in round {round}");
            }
        }
    }

    #[test]
    fn very_long_pieces_are_not_kept() {
        let mut cache = PieceCache::default();
        let text = [b'x'; 255];
        assert_eq!(cache.get_or(&NONE, &text, 255, |_| 7), 7);
        assert_eq!(cache.get_or(&NONE, &text, 255, |_| 8), 8);
    }
}
