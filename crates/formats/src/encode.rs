//! Characters back to bytes, exactly or not at all.

use encoding_rs::{DecoderResult, EncoderResult, Encoding};

use crate::Error;

/// The inverse of [`decode`](crate::decode): the bytes of `text` in `encoding`, a name as
/// [`Decoded::encoding`](crate::Decoded::encoding) has it, after a byte order mark where `with_bom` asks for one.
///
/// Nothing is replaced or approximated: what is returned decodes to exactly `text`. Where the original of a decoded text
/// spelled a character in a way that its encoding has two of, the bytes may still differ from that original; whoever must
/// keep them compares, or keeps the bytes that do not change (see [`raw_offsets`]).
///
/// ```
/// use briefing_formats::{decode, encode};
///
/// assert_eq!(encode("é€", "windows-1252", false)?, b"\xe9\x80");
/// assert_eq!(encode("检", "windows-1252", false).unwrap_err().code(), "formats.unencodable");
///
/// let bytes = b"\xff\xfeo\0k\0";
/// let decoded = decode(bytes)?;
/// assert_eq!(encode(&decoded.text, decoded.encoding, decoded.had_bom)?, bytes);
/// # Ok::<(), briefing_formats::Error>(())
/// ```
///
/// # Errors
/// [`Error::Unencodable`] for the first character that the encoding has no place for, [`Error::NoMark`] for a mark in an
/// encoding without one, [`Error::UnknownEncoding`] for any other name.
pub fn encode(text: &str, encoding: &str, with_bom: bool) -> Result<Vec<u8>, Error> {
    let marked = if with_bom { "\u{feff}" } else { "" };
    let chars = || marked.chars().chain(text.chars());
    let utf16 = || marked.encode_utf16().chain(text.encode_utf16());
    match encoding {
        "utf-8" => Ok([marked, text].concat().into_bytes()),
        "utf-16le" => Ok(utf16().flat_map(u16::to_le_bytes).collect()),
        "utf-16be" => Ok(utf16().flat_map(u16::to_be_bytes).collect()),
        "utf-32le" => Ok(chars().flat_map(|char| u32::from(char).to_le_bytes()).collect()),
        "utf-32be" => Ok(chars().flat_map(|char| u32::from(char).to_be_bytes()).collect()),
        _ if with_bom => Err(Error::NoMark { encoding: older(encoding)?.0.to_owned() }),
        _ => encode_older(text, encoding),
    }
}

/// An older encoding by the name that `decode` gives it.
fn older(name: &str) -> Result<(&str, &'static Encoding), Error> {
    Encoding::for_label(name.as_bytes())
        // Encodings of the standard that nothing can be written in (UTF-16, "replacement") are written as another one.
        .filter(|found| found.output_encoding() == *found && found.name().eq_ignore_ascii_case(name))
        .map(|found| (name, found))
        .ok_or_else(|| Error::UnknownEncoding { encoding: name.to_owned() })
}

fn encode_older(text: &str, name: &str) -> Result<Vec<u8>, Error> {
    let (_, encoding) = older(name)?;
    let unencodable =
        |character, byte| Error::Unencodable { encoding: name.to_owned(), character, text_byte: byte };
    let mut encoder = encoding.new_encoder();
    let size = encoder.max_buffer_length_from_utf8_without_replacement(text.len()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(size);
    match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true) {
        (EncoderResult::InputEmpty, _) => {}
        (EncoderResult::Unmappable(char), read) => {
            return Err(unencodable(char, read.saturating_sub(char.len_utf8())));
        }
        (EncoderResult::OutputFull, read) => {
            return Err(unencodable(
                text.get(read..).and_then(|rest| rest.chars().next()).unwrap_or(' '),
                read,
            ));
        }
    }
    // Some encoders of the standard write a character as one that looks like it: Shift_JIS writes U+00A5 as a backslash.
    let back = encoding.decode_without_bom_handling_and_without_replacement(&bytes).unwrap_or_default();
    if back == text {
        return Ok(bytes);
    }
    let mut seen = back.chars();
    let lost = text.char_indices().find(|(_, char)| seen.next() != Some(*char));
    Err(lost.map_or_else(|| unencodable(' ', text.len()), |(byte, char)| unencodable(char, byte)))
}

/// Where some places of a decoded text lie in its bytes. `text` is what `bytes` hold in `encoding`, neither with a byte
/// order mark or both with it (as U+FEFF); `text_offsets` are offsets in UTF-8 bytes of the text, ascending and between
/// characters. With them a part of a file can be written anew while all other bytes stay as they are, even those that no
/// encoder would write again.
///
/// Takes time linear in the text.
///
/// ```
/// // "é" takes two bytes of UTF-8 and one of windows-1252.
/// assert_eq!(briefing_formats::raw_offsets(b"\xe9!", "windows-1252", "é!", &[2, 3])?, [1, 2]);
/// # Ok::<(), briefing_formats::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoBoundary`] where an offset is no such place, or where the encoding has one code for the characters before
/// and after it, and [`Error::UnknownEncoding`].
pub fn raw_offsets(
    bytes: &[u8],
    encoding: &str,
    text: &str,
    text_offsets: &[usize],
) -> Result<Vec<usize>, Error> {
    let no_boundary = |byte| Error::NoBoundary { encoding: encoding.to_owned(), text_byte: byte };
    let mut walk: Walk<'_> = match encoding {
        "utf-8" => Box::new(|part| Some(part.len())),
        "utf-16le" | "utf-16be" => {
            Box::new(|part| Some(part.chars().map(char::len_utf16).sum::<usize>() * 2))
        }
        "utf-32le" | "utf-32be" => Box::new(|part| Some(part.chars().count() * 4)),
        _ => {
            let (_, encoding) = older(encoding)?;
            if encoding.is_single_byte() {
                Box::new(|part| Some(part.chars().count()))
            } else {
                Box::new(bytes_by_decoding(bytes, encoding))
            }
        }
    };
    let (mut at, mut raw, mut found) = (0, 0_usize, Vec::with_capacity(text_offsets.len()));
    for offset in text_offsets {
        let part = text.get(at..*offset).ok_or_else(|| no_boundary(*offset))?;
        raw += walk(part).ok_or_else(|| no_boundary(*offset))?;
        found.push(raw);
        at = *offset;
    }
    Ok(found)
}

/// Tells how many bytes the next part of a text takes.
type Walk<'a> = Box<dyn FnMut(&str) -> Option<usize> + 'a>;

/// How many bytes the next part of a text takes, found by decoding them. No byte of an older encoding stands for more than
/// three bytes of UTF-8, those of a code that was begun before aside, so a third of what is missing never leads too far; the
/// rest is decoded byte by byte.
fn bytes_by_decoding(bytes: &[u8], encoding: &'static Encoding) -> impl FnMut(&str) -> Option<usize> {
    const MOST_BYTES: usize = 8 * 1024;
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let (mut rest, mut buffer) = (bytes, vec![0; MOST_BYTES * 4]);
    move |part| {
        let (mut written, mut read) = (0, 0);
        while written < part.len() {
            let step = ((part.len() - written) / 3).saturating_sub(4).clamp(1, MOST_BYTES);
            let (next, later) = rest.split_at_checked(step)?;
            let (result, taken, new) = decoder.decode_to_utf8_without_replacement(next, &mut buffer, false);
            if result != DecoderResult::InputEmpty || taken != step {
                return None;
            }
            (rest, written, read) = (later, written + new, read + step);
        }
        (written == part.len()).then_some(read)
    }
}
