//! Bytes to characters, without a single one lost or made up.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use crate::Error;
use crate::text::{Bom, ByteOrder, utf16_without_mark};

/// The text of some bytes, and how it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded {
    /// The characters, without a byte order mark.
    pub text: String,
    /// The encoding's name in lower case: `utf-8`, `utf-16le`, `utf-32be`, or a label of the WHATWG encoding standard
    /// such as `gbk`, `shift_jis` or `windows-1252`.
    pub encoding: &'static str,
    /// Whether the bytes began with a byte order mark.
    pub had_bom: bool,
    /// Whether the encoding was guessed from the bytes and not stated by a mark or proven by valid UTF-8.
    pub guessed: bool,
}

/// Decodes `bytes`: UTF-8; UTF-8, UTF-16 or UTF-32 by byte order mark; UTF-16 without a mark where its NULs show it; else
/// an older encoding as `chardetng` guesses it, by the tables of the WHATWG encoding standard (`encoding_rs`).
///
/// The text never holds a U+FFFD that was not in the input.
///
/// # Errors
/// [`Error::Undecodable`] with the reason, where no encoding gives every character.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    if let Some((bom, skip)) = Bom::of(bytes) {
        return decode_marked(bom, bytes.get(skip..).unwrap_or_default());
    }
    let utf8 = std::str::from_utf8(bytes);
    let has_nul = bytes.contains(&0);
    if has_nul && let Some(order) = utf16_without_mark(bytes) {
        return decode_utf16(bytes, order, false);
    }
    match utf8 {
        Ok(text) => Ok(decoded(text.to_owned(), "utf-8", false, false)),
        Err(_) if has_nul => Err(undecodable("NUL bytes in something that is not UTF-8 or UTF-16")),
        Err(error) if is_damaged_utf8(bytes) => {
            Err(undecodable(format!("UTF-8 that is damaged at byte {}", error.valid_up_to())))
        }
        Err(_) => decode_legacy(bytes),
    }
}

fn decoded(text: String, encoding: &'static str, had_bom: bool, guessed: bool) -> Decoded {
    Decoded { text, encoding, had_bom, guessed }
}

fn undecodable(reason: impl Into<String>) -> Error {
    Error::Undecodable { reason: reason.into() }
}

fn decode_marked(bom: Bom, bytes: &[u8]) -> Result<Decoded, Error> {
    match bom {
        Bom::Utf8 => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(decoded(text.to_owned(), "utf-8", true, false)),
            Err(error) => {
                Err(undecodable(format!("marked as UTF-8 but damaged at byte {}", error.valid_up_to() + 3)))
            }
        },
        Bom::Utf16Le => decode_utf16(bytes, ByteOrder::Little, true),
        Bom::Utf16Be => decode_utf16(bytes, ByteOrder::Big, true),
        Bom::Utf32Le => decode_utf32(bytes, "utf-32le", u32::from_le_bytes),
        Bom::Utf32Be => decode_utf32(bytes, "utf-32be", u32::from_be_bytes),
    }
}

fn decode_utf16(bytes: &[u8], order: ByteOrder, had_bom: bool) -> Result<Decoded, Error> {
    let encoding = match order {
        ByteOrder::Little => "utf-16le",
        ByteOrder::Big => "utf-16be",
    };
    if !bytes.len().is_multiple_of(2) {
        return Err(undecodable(format!("{encoding} with an odd number of bytes")));
    }
    char::decode_utf16(order.units(bytes))
        .collect::<Result<String, _>>()
        .map(|text| decoded(text, encoding, had_bom, !had_bom))
        .map_err(|error| {
            undecodable(format!("{encoding} with the lone surrogate {:#06x}", error.unpaired_surrogate()))
        })
}

fn decode_utf32(bytes: &[u8], encoding: &'static str, value: fn([u8; 4]) -> u32) -> Result<Decoded, Error> {
    let (quads, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(undecodable(format!("{encoding} whose length is not a multiple of four bytes")));
    }
    quads
        .iter()
        .map(|quad| char::from_u32(value(*quad)).ok_or_else(|| value(*quad)))
        .collect::<Result<String, u32>>()
        .map(|text| decoded(text, encoding, true, false))
        .map_err(|value| undecodable(format!("{encoding} with {value:#x}, which is no character")))
}

/// Mostly multi-byte UTF-8 with few faults: an older encoding would turn all of it into nonsense. Continuation bytes are
/// counted, for by chance they seldom come in threes.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut sound, mut faults) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        sound += chunk.valid().chars().map(|char| char.len_utf8() - 1).sum::<usize>();
        faults += usize::from(!chunk.invalid().is_empty());
    }
    sound >= 3 && sound >= faults.saturating_mul(4)
}

fn decode_legacy(bytes: &[u8]) -> Result<Decoded, Error> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let name = encoding_name(encoding);
    let text = encoding
        .decode_without_bom_handling_and_without_replacement(bytes)
        .ok_or_else(|| undecodable(format!("not UTF-8, and {name} does not fit either")))?;
    // The tables of single-byte encodings give C1 controls where they have no character: nobody writes those.
    if let Some(control) = text.chars().find(|char| matches!(char, '\u{80}'..='\u{84}' | '\u{86}'..='\u{9F}'))
    {
        return Err(undecodable(format!("not UTF-8, and {name} gives the control character {control:?}")));
    }
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err(undecodable(format!("not UTF-8, and {name} gives replacement characters")));
    }
    Ok(decoded(text.into_owned(), name, false, true))
}

/// Lower-case labels of every encoding that the detector can answer with.
const NAMES: [&str; 32] = [
    "big5",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "gbk",
    "ibm866",
    "iso-2022-jp",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-13",
    "iso-8859-15",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "shift_jis",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "windows-874",
    "x-mac-cyrillic",
];

fn encoding_name(encoding: &'static Encoding) -> &'static str {
    let name = encoding.name();
    NAMES.into_iter().find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name)
}
