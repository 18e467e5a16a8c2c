//! Pieces with a very long run of one byte, counted from a shortened copy.
//!
//! A sequence of tokens is the encoding of its text exactly when every two neighbours are (van Antwerpen and
//! Neubeck, "So many tokens, so little time", <https://github.com/github/rust-gems/tree/main/crates/bpe>). So where
//! the encoding of the shortened copy has the same token twice in a row inside the run, that token can be repeated
//! there any number of times: the only neighbours that this adds are the two that are there already. A run that is
//! `k` tokens of that length longer therefore has `k` tokens more.

use bpe_openai::byte_pair_encoding::BytePairEncoding;

/// Runs shorter than this, in bytes, are left alone.
const LONG_RUN: usize = 512;
/// What is kept of a longer run at least; twice the longest token of either encoding.
const KEPT: usize = 256;

/// The exact number of tokens of one piece, or of one part of a piece.
pub(crate) fn count(bpe: &BytePairEncoding, piece: &[u8]) -> usize {
    if piece.len() < LONG_RUN {
        return bpe.count(piece);
    }
    count_shortened(bpe, piece).unwrap_or_else(|| bpe.count(piece))
}

/// What was cut from one run of the shortened copy.
struct Cut {
    start: usize,
    end: usize,
    token_length: usize,
    tokens: usize,
}

/// [`None`] where there is no long run, or where a run does not show the repetition that the proof needs.
fn count_shortened(bpe: &BytePairEncoding, piece: &[u8]) -> Option<usize> {
    let mut shortened = Vec::new();
    let mut cuts = Vec::new();
    for run in piece.chunk_by(|a, b| a == b) {
        let start = shortened.len();
        let mut kept = run;
        if run.len() >= LONG_RUN {
            let token_length = repeated_length(bpe, run.get(..KEPT)?)?;
            let tokens = (run.len() - KEPT) / token_length;
            kept = run.get(tokens * token_length..)?;
            cuts.push(Cut { start, end: start + kept.len(), token_length, tokens });
        }
        shortened.extend_from_slice(kept);
    }
    if cuts.is_empty() {
        return None;
    }
    let mut starts = vec![0];
    for token in bpe.encode_via_backtracking(&shortened) {
        starts.push(starts.last()? + bpe.token_len(token));
    }
    // Within a run two neighbours of one length are the same token.
    let repeats = |cut: &Cut| {
        starts.windows(3).any(|w| match *w {
            [a, b, c] => a >= cut.start && c <= cut.end && b - a == cut.token_length && c - b == b - a,
            _ => false,
        })
    };
    cuts.iter().all(repeats).then(|| starts.len() - 1 + cuts.iter().map(|cut| cut.tokens).sum::<usize>())
}

/// The length of the token that a run is made of: the first that follows itself.
fn repeated_length(bpe: &BytePairEncoding, run: &[u8]) -> Option<usize> {
    let tokens = bpe.encode_via_backtracking(run);
    let pair = tokens.windows(2).find(|pair| matches!(pair, [a, b] if a == b))?;
    pair.first().map(|&token| bpe.token_len(token))
}
