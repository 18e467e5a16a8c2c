//! Runs of text that are not all ASCII: normalised first, then cut by script.

use crate::TermKind;
use crate::class::{self, Class};
use crate::fold;
use crate::parts::{self, Place, Span};
use crate::stream::{MAX_TERM, joins};

/// A character of a run after NFKC, in its original case, with the place in the text that it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) char: char,
    pub(crate) class: Class,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The run buffer is given back after a run of more characters than this, lest one odd text hold the memory for good.
const KEPT_UNITS: usize = 1 << 16;

/// The longest name of a language that `++` or `#` may follow (`notepad++`).
const LANGUAGE: usize = 8;

/// Collects the characters of the run at `start` into `units`, and returns where the next one may begin.
pub(crate) fn gather(text: &str, start: usize, units: &mut Vec<Unit>) -> usize {
    units.clear();
    units.shrink_to(KEPT_UNITS);
    let mut rest = text.get(start..).unwrap_or("");
    let offset = |rest: &str| text.len() - rest.len();
    while let Some(c) = rest.chars().next() {
        let from = offset(rest);
        let (cluster, tail) = fold::split_cluster(rest);
        let to = offset(tail);
        let class = class::of_char(c);
        match class {
            Class::Joiner | Class::Dot => {
                // What follows it is not part of it, but for what is ignored anyway.
                let own = c.len_utf8();
                let tail = rest.get(own..).unwrap_or("").trim_start_matches(class::is_ignorable);
                let before = units.last().map_or(Class::Other, |unit| unit.class);
                let after = tail.chars().next().map_or(Class::Other, class::of_char);
                if !joins(before, class, after) {
                    return offset(tail);
                }
                units.push(Unit { char: c, class, from, to: from + own });
                rest = tail;
                continue;
            }
            Class::Suffix => {
                let suffix = language_suffix(last_ascii_word(text, units), rest.as_bytes());
                let signs = rest.char_indices().take(suffix);
                units.extend(signs.map(|(at, char)| Unit {
                    char,
                    class,
                    from: from + at,
                    to: from + at + 1,
                }));
                return from + suffix.max(c.len_utf8());
            }
            _ if cluster.len() == c.len_utf8() && (c.is_ascii() || class::is_inert(c)) => {
                units.push(Unit { char: c, class, from, to });
                if class == Class::Other {
                    return to;
                }
            }
            _ => {
                let known = units.len();
                fold::compose(cluster, |char| {
                    units.push(Unit { char, class: of_composed(char), from, to });
                });
                if units.get(known..).and_then(<[Unit]>::last).is_some_and(|unit| unit.class == Class::Other)
                {
                    return to;
                }
            }
        }
        rest = tail;
    }
    text.len()
}

/// The class of a character that stands for itself. What joins words does so only where it is written as such: the dots
/// that an ellipsis decomposes to do not.
fn of_composed(c: char) -> Class {
    match class::of_char(c) {
        Class::Joiner | Class::Dot | Class::Suffix => Class::Other,
        class => class,
    }
}

/// The word of ASCII letters at the end of the run, as it stands in the text.
fn last_ascii_word<'a>(text: &'a str, units: &[Unit]) -> &'a [u8] {
    let word = units.iter().rev().take_while(|unit| family(unit.class) == Family::Word);
    match word.last().zip(units.last()) {
        Some((first, last)) => text.as_bytes().get(first.from..last.to).unwrap_or(&[]),
        None => &[],
    }
}

/// The length of the `++` or `#` that makes the word the name of a language: `C++`, `g++`, `C#`, `F#`; 0 if none does.
/// Neither `r#"` (a raw string of Rust) nor `page#section` is one.
pub(crate) fn language_suffix(word: &[u8], after: &[u8]) -> usize {
    if word.is_empty() || word.len() > LANGUAGE || !word.iter().all(u8::is_ascii_alphabetic) {
        return 0;
    }
    match after {
        [b'+', b'+', b'+', ..] | [b'#', b'#' | b'"', ..] => 0,
        [b'+', b'+', ..] => 2,
        [b'#', next, ..] if class::of_byte(*next).is_word() => 0,
        [b'#', ..] => 1,
        _ => 0,
    }
}

/// How the characters of a run are made into terms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Word,
    Cjk,
    Bigram,
    None,
}

fn family(class: Class) -> Family {
    match class {
        Class::Lower | Class::Upper | Class::Digit | Class::Underscore => Family::Word,
        Class::Joiner | Class::Dot | Class::Suffix => Family::Word,
        Class::Cjk => Family::Cjk,
        Class::Bigram => Family::Bigram,
        Class::Mark | Class::Other | Class::High => Family::None,
    }
}

/// Adds the terms of the run, cut where the script changes. A mark belongs to what stands before it.
pub(crate) fn split(units: &[Unit], out: &mut Vec<Span>) {
    let class = |at: usize| units.get(at).map_or(Class::Other, |unit| unit.class);
    let mut start = 0;
    while start < units.len() {
        let family = family(class(start));
        let same = |at: usize| class(at) == Class::Mark || self::family(class(at)) == family;
        let end = (start + 1..units.len()).find(|at| !same(*at)).unwrap_or(units.len());
        let first = out.len();
        match family {
            Family::Word => parts::split(start, end, class, out),
            Family::Cjk => grams(units, start, end, true, out),
            Family::Bigram => bigram_word(units, start, end, out),
            Family::None => {}
        }
        if let Some(first) = out.get_mut(first) {
            first.place = Place::NextWord;
        }
        start = end;
    }
}

/// Each character of a run, with its marks, and each two that are neighbours. Bigrams carry the meaning; characters
/// answer queries of one.
fn grams(units: &[Unit], start: usize, end: usize, characters: bool, out: &mut Vec<Span>) {
    let mut at = start;
    let mut next = after_character(units, at, end);
    while at < end {
        if characters {
            out.push(Span { start: at, end: next, kind: TermKind::CjkChar, place: Place::Next });
        }
        let after = after_character(units, next, end);
        if next < end {
            out.push(Span { start: at, end: after, kind: TermKind::CjkBigram, place: Place::Same });
        }
        (at, next) = (next, after);
    }
}

/// A word whose stem must be found without what clings to it: the word, its first character if the word is so short that
/// the stem may be that, and its bigrams.
fn bigram_word(units: &[Unit], start: usize, end: usize, out: &mut Vec<Span>) {
    let letters = units.get(start..end).unwrap_or(&[]).iter().filter(|unit| unit.class != Class::Mark);
    let (count, bytes) =
        letters.fold((0, 0), |(count, bytes), unit| (count + 1, bytes + unit.char.len_utf8()));
    // A longer one is a sentence without spaces; nobody asks for the whole of it.
    if bytes <= MAX_TERM {
        out.push(Span { start, end, kind: TermKind::Whole, place: Place::Same });
    }
    let first = after_character(units, start, end);
    if count == 2 || count == 3 {
        out.push(Span { start, end: first, kind: TermKind::CjkChar, place: Place::Same });
    }
    if count > 2 {
        grams(units, start, end, false, out);
    }
}

/// The end of the character at `at` with its marks.
fn after_character(units: &[Unit], at: usize, end: usize) -> usize {
    let is_mark = |at: &usize| units.get(*at).is_some_and(|unit| unit.class == Class::Mark);
    (at + 1..end).find(|at| !is_mark(at)).unwrap_or(end)
}
