//! Folding: the one form in which texts are compared.
//!
//! NFKC, without the characters that have no shape, without the accents of Latin, Greek and Cyrillic, in lower case. It
//! follows `NFKC_Casefold` (Unicode Standard, 3.13) but for the accents, and for the few letters that [`letter`] spells
//! out.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::class;

/// The text as it is compared: `Straße` and `STRASSE`, `naïve` and `naive`, `ﬁle` and `file`, full and half width meet.
///
/// Folding twice is folding once. Nothing is allocated when a text of ASCII, Han, kana or Hangul is its own fold.
#[must_use]
pub fn fold(text: &str) -> Cow<'_, str> {
    let Some(start) = first_change(text) else { return Cow::Borrowed(text) };
    let (same, rest) = text.split_at_checked(start).unwrap_or(("", text));
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    out.push_str(same);
    fold_into(rest, &mut out);
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Where the first cluster begins that folding could change.
fn first_change(text: &str) -> Option<usize> {
    let ascii = text.bytes().take_while(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()).count();
    let mut last = ascii.saturating_sub(1);
    for (at, c) in text.get(ascii..)?.char_indices() {
        let at = ascii + at;
        if c.is_ascii_uppercase() {
            return Some(at);
        }
        if !c.is_ascii() && !class::is_inert(c) {
            return Some(if class::extends(c) { last } else { at });
        }
        last = at;
    }
    None
}

fn fold_into(text: &str, out: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        let ascii = rest.bytes().take_while(u8::is_ascii).count();
        let others = rest.get(ascii..).unwrap_or("");
        let inert =
            others.char_indices().find(|(_, c)| !class::is_inert(*c)).map_or(others.len(), |(at, _)| at);
        let (mut run, tail) = rest.split_at_checked(ascii + inert).unwrap_or((rest, ""));
        if tail.chars().next().is_some_and(class::extends) {
            // The last character before a mark is its base.
            run = run.char_indices().next_back().and_then(|(base, _)| run.get(..base)).unwrap_or("");
        }
        let from = out.len();
        out.push_str(run);
        if let Some(added) = out.get_mut(from..) {
            added.make_ascii_lowercase();
        }
        let (cluster, tail) = split_cluster(rest.get(run.len()..).unwrap_or(""));
        compose(cluster, |c| lower(c, |c| out.push(c)));
        rest = tail;
    }
}

/// Splits off the first character with all that must be normalised along with it.
pub(crate) fn split_cluster(text: &str) -> (&str, &str) {
    let end = text.char_indices().skip(1).find(|(_, c)| !class::extends(*c)).map_or(text.len(), |(at, _)| at);
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Gives the characters of the cluster in NFKC, without what is ignored and without accents. The case is kept, for
/// camelCase can only be seen before it is folded.
pub(crate) fn compose(cluster: &str, mut each: impl FnMut(char)) {
    let mut chars = cluster.chars();
    if let (Some(only), None) = (chars.next(), chars.next())
        && let Some(c) = compose_one(only)
    {
        return each(c);
    }
    let mut base = None;
    let decomposed = cluster.chars().filter(|c| !class::is_ignorable(*c)).nfkd();
    let kept = decomposed.filter(|c| {
        if !is_combining_mark(*c) {
            base = Some(*c);
            return !class::is_ignorable(*c);
        }
        !base.is_some_and(|base| class::is_accent(base, *c))
    });
    kept.nfc().for_each(&mut each);
}

/// The one character that a lone character composes to; nothing if it may come to none or several, which is for the
/// general way to find out.
fn compose_one(c: char) -> Option<char> {
    if c.is_ascii() || class::is_inert(c) {
        return Some(c);
    }
    if class::is_ignorable(c) {
        return None;
    }
    let (mut first, mut others) = (None, false);
    decompose_compatible(c, |part| match first {
        None => first = Some(part),
        Some(base) => others |= !(is_combining_mark(part) && class::is_accent(base, part)),
    });
    first.filter(|_| !others)
}

/// Gives the lower-case form of a composed character.
#[inline]
pub(crate) fn lower(c: char, mut each: impl FnMut(char)) {
    if c.is_ascii() {
        return each(c.to_ascii_lowercase());
    }
    if class::is_inert(c) {
        return each(c);
    }
    for c in c.to_lowercase() {
        match letter(c) {
            Some(spelt) => spelt.chars().for_each(&mut each),
            None => each(c),
        }
    }
}

/// Letters that lower-casing leaves apart though they are taken for one another.
///
/// `ß` and `ς` are the full case foldings of Unicode's `CaseFolding.txt` that compatibility decomposition and lower case
/// do not yield between them. The others are Latin letters whose stroke or ligature does not decompose, in the spelling
/// of Lucene's `ASCIIFoldingFilter`.
fn letter(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'ς' => "σ",
        'ı' => "i",
        'ø' => "o",
        'ł' => "l",
        'đ' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'æ' => "ae",
        'œ' => "oe",
        _ => return None,
    })
}
