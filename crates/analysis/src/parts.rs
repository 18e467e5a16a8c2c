//! Where a word falls into parts.

use crate::TermKind;
use crate::class::Class;
use crate::stream::MAX_TERM;

/// A piece of a word, by the indices of its first character and the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: TermKind,
    pub(crate) place: Place,
}

/// Where a term stands, seen from the term before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the same position.
    Same,
    /// At the next position, in the same source word.
    Next,
    /// At the next position, first of a source word.
    NextWord,
}

/// Pieces of a word are worth their place in the index only if they are words too. The digits and letters of a hash or of
/// base64 are not: a word of more pieces than this whose pieces are shorter than `SHORT_PIECE` on average stays whole.
const MANY_PIECES: usize = 4;
const SHORT_PIECE: usize = 3;

/// A compound of at most this many characters (`x-y`, `I'm`, `C++`) keeps its one-letter parts: they are most of it.
const TINY: usize = 3;

/// What sets the parts of a compound apart, from the outside in: `v1.2-rc_3` is `v1.2` and `rc_3`, which are `v1`, `2` and
/// `rc`, `3`.
const LEVELS: [u16; 3] =
    [Class::Joiner.bit() | Class::Suffix.bit(), Class::Dot.bit(), Class::Underscore.bit()];

/// Adds the terms of one word or compound, whose characters run over `start..end`: the whole, and its parts level by level.
/// Nothing if it has no letter or digit.
///
/// Of a compound that is longer than a term may be, only its words are terms; of such a word, only the beginning.
pub(crate) fn split(start: usize, end: usize, class: impl Fn(usize) -> Class, out: &mut Vec<Span>) {
    let (start, end) = trim(start, end, &class);
    if start == end {
        return;
    }
    let first = out.len();
    let found = (start..end).fold(0, |found, at| found | class(at).bit());
    if end - start <= MAX_TERM || found & Class::Joiner.bit() == 0 {
        out.push(Span { start, end, kind: TermKind::Whole, place: Place::Same });
    }
    // Most words have nothing of the outer levels, many nothing of any.
    let levels =
        LEVELS.iter().position(|level| found & level != 0).and_then(|outermost| LEVELS.get(outermost..));
    if end - start <= MAX_TERM || found & Class::Joiner.bit() != 0 {
        split_level(start, end, &class, levels.unwrap_or(&[]), out);
    }
    if let Some(first) = out.get_mut(first) {
        first.place = Place::NextWord;
    }
}

fn split_level(
    start: usize,
    end: usize,
    class: &impl Fn(usize) -> Class,
    levels: &[u16],
    out: &mut Vec<Span>,
) {
    let Some((level, inner)) = levels.split_first() else {
        return split_case(start, end, class, out);
    };
    // `1_000_000` is one number.
    if inner.is_empty() && !(start..end).any(|at| matches!(class(at), Class::Lower | Class::Upper)) {
        return;
    }
    let tiny = end - start <= TINY;
    let mut from = start;
    while from < end {
        let to = (from..end).find(|at| class(*at).is_in(*level)).unwrap_or(end);
        let (word, word_end) = trim(from, to, class);
        let length = word_end - word;
        if length < end - start && length > 0 && (tiny || is_worthy(word, word_end, class)) {
            out.push(Span { start: word, end: word_end, kind: TermKind::Part, place: Place::Same });
        }
        if length <= MAX_TERM {
            split_level(word, word_end, class, inner, out);
        }
        from = to + 1;
    }
}

/// The word without the `_` and the stray marks at its ends; nothing is left of one without a letter or digit.
fn trim(start: usize, end: usize, class: &impl Fn(usize) -> Class) -> (usize, usize) {
    let start = (start..end).find(|at| class(*at).is_alphanumeric()).unwrap_or(end);
    let end = (start..end).rfind(|at| !class(*at).is_silent()).map_or(start, |last| last + 1);
    (start, end)
}

/// A part of one letter says nothing; one digit may be a version.
fn is_worthy(from: usize, to: usize, class: &impl Fn(usize) -> Class) -> bool {
    match to - from {
        0 => false,
        1 => class(from) == Class::Digit,
        _ => (from..to).any(|at| class(at).is_alphanumeric()),
    }
}

/// Adds the pieces of one word by case and digits, unless it is all one piece.
fn split_case(from: usize, to: usize, class: &impl Fn(usize) -> Class, out: &mut Vec<Span>) {
    let first = out.len();
    let (mut piece, mut pieces) = (from, 0);
    for at in from + 1..to {
        if is_border(at, to, piece, class) {
            pieces += 1;
            let starts_with_digit = pieces == 1 && at - from == 1 && class(from) == Class::Digit;
            let one_letter = pieces == 1 && at - from == 1 && class(at) == Class::Digit;
            // `0xff`, `1u8`, `2D` and `u8`, `i32`, `x1` are names of their own; in `v2.4` the digits count.
            if starts_with_digit
                || (one_letter && !(class(to) == Class::Dot && class(to + 1) == Class::Digit))
            {
                out.truncate(first);
                return;
            }
            push_piece(piece, at, class, out);
            piece = at;
        }
    }
    if pieces == 0 {
        return;
    }
    push_piece(piece, to, class, out);
    if pieces + 1 > MANY_PIECES && (pieces + 1) * SHORT_PIECE > to - from {
        out.truncate(first);
    }
}

fn push_piece(start: usize, end: usize, class: &impl Fn(usize) -> Class, out: &mut Vec<Span>) {
    if is_worthy(start, end, class) {
        out.push(Span { start, end, kind: TermKind::Part, place: Place::Same });
    }
}

/// Whether a piece begins at `at`: between letter and digit, at `fooBar`, at the last capital of `HTTPResponse`, and
/// before the one small letter that ends a run of capitals (`URLs`, `IPv6`). `piece` is where the current piece began.
fn is_border(at: usize, to: usize, piece: usize, class: &impl Fn(usize) -> Class) -> bool {
    let (before, here) = (class(at - 1), class(at));
    let next = if at + 1 < to { class(at + 1) } else { Class::Other };
    match (before, here) {
        (Class::Digit, Class::Lower | Class::Upper) | (Class::Lower | Class::Upper, Class::Digit) => true,
        (Class::Lower | Class::Mark, Class::Upper) => true,
        (Class::Upper, Class::Upper) => {
            // `HTTPRe`, but not `URLs`: two small letters begin a word.
            next == Class::Lower && at + 2 < to && matches!(class(at + 2), Class::Lower | Class::Mark)
        }
        (Class::Upper, Class::Lower) => at - piece >= 2 && !matches!(next, Class::Lower | Class::Mark),
        _ => false,
    }
}
