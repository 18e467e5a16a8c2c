//! The stream of terms of a text.

use tantivy_tokenizer_api::{Token, TokenStream};

use crate::TermKind;
use crate::class::{self, Class};
use crate::fold;
use crate::parts::{self, Place, Span};
use crate::runs::{self, Unit};

/// The longest term, in bytes of its folded form: of a longer word only the beginning is indexed.
pub(crate) const MAX_TERM: usize = 256;

/// What a stream works with, kept from one text to the next so that a term costs no allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    token: Token,
    /// The terms of the current word, and how many have been given.
    spans: Vec<Span>,
    given: usize,
    /// The characters of the current run, when it is not all ASCII; the spans then count these and not bytes.
    units: Vec<Unit>,
    in_units: bool,
    kind: TermKind,
    /// The number of the current source word, from 1.
    group: usize,
}

impl Scratch {
    fn reset(&mut self) {
        self.token.reset();
        self.begin_run(false);
        self.group = 0;
    }

    /// Forgets the terms of the run before.
    fn begin_run(&mut self, in_units: bool) {
        self.spans.clear();
        self.given = 0;
        self.in_units = in_units;
    }
}

/// The terms of a text, one after another, each in its folded form.
///
/// A term's offsets are those of the original text. The whole and the parts of a word share one position, so do a
/// character and the bigram it begins; each word, and each character of a CJK run, moves the position on by one.
#[derive(Debug)]
pub struct Terms<'a> {
    text: &'a str,
    at: usize,
    scratch: &'a mut Scratch,
}

/// What came of looking for the next word.
enum Found {
    /// A word of one term, which is in the token already.
    Term,
    /// A run of characters whose terms, if any, wait in `spans`.
    Spans,
    End,
}

impl<'a> Terms<'a> {
    pub(crate) fn new(text: &'a str, scratch: &'a mut Scratch) -> Self {
        scratch.reset();
        Self { text, at: 0, scratch }
    }

    pub(crate) fn kind(&self) -> TermKind {
        self.scratch.kind
    }

    /// The number of the source word that the current term comes from.
    pub(crate) fn group(&self) -> usize {
        self.scratch.group.saturating_sub(1)
    }

    fn class_at(&self, at: usize) -> Class {
        self.text.as_bytes().get(at).map_or(Class::Other, |byte| class::of_byte(*byte))
    }

    fn find(&mut self) -> Found {
        let bytes = self.text.as_bytes();
        let tail = bytes.get(self.at..).unwrap_or(&[]);
        let Some(skipped) = tail.iter().position(|byte| {
            let class = class::of_byte(*byte);
            class.is_word() || class == Class::High
        }) else {
            return Found::End;
        };
        let start = self.at + skipped;
        match self.scan(start) {
            Some((end, found)) => {
                self.at = end;
                if self.is_plain(start, end, found) {
                    self.give_plain(start, end);
                    if found & Class::Upper.bit() != 0 {
                        self.scratch.token.text.make_ascii_lowercase();
                    }
                    return Found::Term;
                }
                self.scratch.begin_run(false);
                let class = |at: usize| bytes.get(at).map_or(Class::Other, |byte| class::of_byte(*byte));
                parts::split(start, end, class, &mut self.scratch.spans);
                Found::Spans
            }
            None => {
                let scratch = &mut *self.scratch;
                scratch.begin_run(true);
                self.at = runs::gather(self.text, start, &mut scratch.units);
                runs::split(&scratch.units, &mut scratch.spans);
                Found::Spans
            }
        }
    }

    /// The end of the ASCII word or compound at `start`, and the classes found in it. Nothing if a character outside ASCII
    /// belongs to it or stands next to it.
    #[inline]
    fn scan(&self, start: usize) -> Option<(usize, u16)> {
        let bytes = self.text.as_bytes();
        let mut at = start;
        let mut found = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or(&[]);
            for byte in rest {
                let class = class::of_byte(*byte);
                if !class.is_word() {
                    break;
                }
                found |= class.bit();
                at += 1;
            }
            let here = self.class_at(at);
            match here {
                Class::Joiner | Class::Dot => {
                    let before = at.checked_sub(1).map_or(Class::Other, |before| self.class_at(before));
                    let next = self.class_at(at + 1);
                    if next == Class::High && (here == Class::Joiner || before == Class::Digit) {
                        return None;
                    }
                    if !joins(before, here, next) {
                        return Some((at, found));
                    }
                    found |= here.bit();
                    at += 1;
                }
                Class::Suffix => {
                    let word = bytes.get(start..at).unwrap_or(&[]);
                    let after = bytes.get(at..).unwrap_or(&[]);
                    return Some(match runs::language_suffix(word, after) {
                        0 => (at, found),
                        suffix => (at + suffix, found | here.bit()),
                    });
                }
                Class::High => return None,
                _ => return Some((at, found)),
            }
        }
    }

    /// Whether the word is one piece, such as `bar`, `Bar`, `BAR` and `12`.
    #[inline]
    fn is_plain(&self, start: usize, end: usize, found: u16) -> bool {
        const CAPITALISED: u16 = Class::Lower.bit() | Class::Upper.bit();
        if found.count_ones() == 1 {
            return found != Class::Underscore.bit();
        }
        let mut small = self.text.as_bytes().get(start + 1..end).unwrap_or(&[]).iter();
        found == CAPITALISED && small.all(u8::is_ascii_lowercase)
    }

    /// Makes the token of a word that is one piece, but for its case.
    #[inline]
    fn give_plain(&mut self, start: usize, end: usize) {
        let scratch = &mut *self.scratch;
        scratch.group += 1;
        scratch.kind = TermKind::Whole;
        let token = &mut scratch.token;
        token.position = token.position.wrapping_add(1);
        token.offset_from = start;
        token.offset_to = end;
        token.text.clear();
        token.text.push_str(self.text.get(start..end.min(start + MAX_TERM)).unwrap_or(""));
    }

    /// Makes the token of a span. False if nothing is left of its text.
    fn give(&mut self, span: Span) -> bool {
        let scratch = &mut *self.scratch;
        let token = &mut scratch.token;
        token.text.clear();
        if scratch.in_units {
            let units = scratch.units.get(span.start..span.end).unwrap_or(&[]);
            let (Some(first), Some(last)) = (units.first(), units.last()) else { return false };
            (token.offset_from, token.offset_to) = (first.from, last.to);
            push_units(units, &mut token.text);
        } else {
            (token.offset_from, token.offset_to) = (span.start, span.end);
            let word = self.text.get(span.start..span.end).unwrap_or("");
            for spoken in word.split(|c: char| class::of_byte(c as u8).is_silent()) {
                let room = MAX_TERM - token.text.len();
                token.text.push_str(spoken.get(..spoken.len().min(room)).unwrap_or(""));
            }
            token.text.make_ascii_lowercase();
        }
        if token.text.is_empty() {
            return false;
        }
        if span.place != Place::Same {
            token.position = token.position.wrapping_add(1);
        }
        scratch.group += usize::from(span.place == Place::NextWord);
        scratch.kind = span.kind;
        true
    }
}

/// Whether a joiner or dot stands between the characters of one compound.
pub(crate) fn joins(before: Class, joint: Class, after: Class) -> bool {
    match joint {
        Class::Joiner => before.is_word() && after.is_alphanumeric(),
        Class::Dot => before == Class::Digit && after == Class::Digit,
        _ => false,
    }
}

/// The folded text of a span, up to the longest term.
fn push_units(units: &[Unit], out: &mut String) {
    let mut full = false;
    for unit in units.iter().filter(|unit| !unit.class.is_silent()) {
        fold::lower(unit.char, |c| {
            full |= out.len() + c.len_utf8() > MAX_TERM;
            if !full {
                out.push(c);
            }
        });
        if full {
            return;
        }
    }
}

impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        loop {
            if let Some(span) = self.scratch.spans.get(self.scratch.given).copied() {
                self.scratch.given += 1;
                if self.give(span) {
                    return true;
                }
                continue;
            }
            match self.find() {
                Found::Term => return true,
                Found::Spans => {}
                Found::End => return false,
            }
        }
    }

    fn token(&self) -> &Token {
        &self.scratch.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.scratch.token
    }
}
