//! Counting.

use std::cell::RefCell;
use std::fmt;
use std::sync::LazyLock;
use std::thread::LocalKey;

use bpe_openai::byte_pair_encoding::BytePairEncoding;
use briefing_core::{PortError, TokenCounter};

use crate::Encoding;
use crate::cache::{PieceCache, Vocabulary};
use crate::pieces::Pieces;
use crate::runs;
use crate::seams::Seams;

/// Counts the tokens of one encoding, exactly and for every text.
///
/// The counts are those of tiktoken's `encode_ordinary`: text that looks like a special token is ordinary text. The
/// time is linear in the text. What pieces of text came to is remembered for each thread and encoding, in at most
/// 0.9 MiB. The tables of an encoding are loaded at first use, once for the process; making or copying a tokenizer
/// costs nothing after that.
///
/// ```
/// use briefing_tokens::{Encoding, Tokenizer};
///
/// let tokenizer = Tokenizer::new(Encoding::O200kBase);
/// assert_eq!(tokenizer.count("hello world"), 2);
/// assert_eq!(tokenizer.count("<|endoftext|>"), 7);
/// ```
#[derive(Clone, Copy)]
pub struct Tokenizer {
    encoding: Encoding,
    tables: &'static Tables,
}

/// What does not change once loaded.
struct Tables {
    bpe: &'static BytePairEncoding,
    vocabulary: Vocabulary,
    seams: Seams,
    longest_token: usize,
}

impl Tables {
    fn of(bpe: &'static BytePairEncoding) -> Self {
        let mut tables =
            Self { bpe, vocabulary: Vocabulary::default(), seams: Seams::default(), longest_token: 0 };
        // The lower the id, the more frequent the token.
        for id in (0..u32::try_from(bpe.num_tokens()).unwrap_or(u32::MAX)).rev() {
            let token = bpe.token_bytes(id);
            tables.vocabulary.add(token);
            tables.seams.add(token);
            tables.longest_token = tables.longest_token.max(token.len());
        }
        tables
    }
}

static O200K: LazyLock<Tables> = LazyLock::new(|| Tables::of(&bpe_openai::o200k_base().bpe));
static CL100K: LazyLock<Tables> = LazyLock::new(|| Tables::of(&bpe_openai::cl100k_base().bpe));

/// Pieces of up to this many bytes are not looked at for seams: one char and what leads it.
const WHOLE: usize = 6;

thread_local! {
    static O200K_PIECES: RefCell<PieceCache> = RefCell::default();
    static CL100K_PIECES: RefCell<PieceCache> = RefCell::default();
}

impl Tokenizer {
    /// The tokenizer of `encoding`. The first one of each encoding takes about a tenth of a second to load.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        let tables = match encoding {
            Encoding::O200kBase => &*O200K,
            Encoding::Cl100kBase => &*CL100K,
        };
        Self { encoding, tables }
    }

    /// The encoding that is counted.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many tokens `text` is.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.count_up_to(text, usize::MAX).unwrap_or(usize::MAX)
    }

    /// How many tokens `text` is if that is at most `limit`; [`None`] if it is more. It stops at the first piece
    /// that exceeds the limit, and does not encode a piece that is too long for what is left of it.
    ///
    /// ```
    /// # use briefing_tokens::{Encoding, Tokenizer};
    /// let tokenizer = Tokenizer::new(Encoding::Cl100kBase);
    /// assert_eq!(tokenizer.count_up_to("one two three", 3), Some(3));
    /// assert_eq!(tokenizer.count_up_to("one two three", 2), None);
    /// ```
    #[must_use]
    pub fn count_up_to(&self, text: &str, limit: usize) -> Option<usize> {
        let pieces: &'static LocalKey<RefCell<PieceCache>> = match self.encoding {
            Encoding::O200kBase => &O200K_PIECES,
            Encoding::Cl100kBase => &CL100K_PIECES,
        };
        pieces
            .try_with(|cache| self.tally(text, limit, &mut cache.borrow_mut()))
            // A thread that is ending has no cache any more.
            .unwrap_or_else(|_| self.tally(text, limit, &mut PieceCache::default()))
    }

    fn tally(&self, text: &str, limit: usize, cache: &mut PieceCache) -> Option<usize> {
        let Tables { bpe, ref vocabulary, ref seams, longest_token: longest } = *self.tables;
        let mut tokens = 0;
        for piece in Pieces::new(self.encoding, text) {
            let (mut start, end) = (piece.start, piece.end);
            if end - start > longest && (end - start).div_ceil(longest) > limit - tokens {
                return None;
            }
            // Only scripts outside ASCII have seams, and their pieces rarely end in ASCII.
            let whole = end - start <= WHOLE || text.as_bytes().get(end - 1).is_some_and(u8::is_ascii);
            while start < end {
                let length = if whole {
                    end - start
                } else {
                    seams.first_part(text.get(start..end).unwrap_or_default())
                };
                let rest = text.as_bytes().get(start..).unwrap_or_default();
                tokens += cache.get_or(vocabulary, rest, length, |part| runs::count(bpe, part));
                start += length;
            }
            if tokens > limit {
                return None;
            }
        }
        Some(tokens)
    }
}

impl TokenCounter for Tokenizer {
    fn encoding(&self) -> &str {
        self.encoding.name()
    }

    fn count(&self, text: &str) -> Result<usize, PortError> {
        Ok(Self::count(self, text))
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("encoding", &self.encoding).finish_non_exhaustive()
    }
}
