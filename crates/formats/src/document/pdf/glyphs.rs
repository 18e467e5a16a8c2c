//! What the codes of a simple font mean: its base encoding and the names of glyphs that differ from it.

use lopdf::{Dictionary, Document, Encoding, Object, dictionary};

/// The text of each code of one byte.
pub(super) type Table = Vec<Option<Box<str>>>;

/// The table of a simple font (ISO 32000-1, 9.6.6). `built_in` is what its program says of itself, for where the
/// dictionary names no base.
pub(super) fn table(
    font: &Dictionary,
    is_symbol: bool,
    built_in: Option<&[u8]>,
    document: &Document,
) -> Table {
    let encoding = font.get_deref(b"Encoding", document).ok();
    let base = match encoding {
        Some(Object::Name(name)) => Some(name.as_slice()),
        Some(Object::Dictionary(encoding)) => {
            encoding.get_deref(b"BaseEncoding", document).and_then(Object::as_name).ok()
        }
        _ => None,
    };
    let mut table =
        if is_symbol { symbols() } else { base_table(base.unwrap_or(b"StandardEncoding"), document) };
    if base.is_none() {
        for (code, name) in built_in.map(encoding_of_program).unwrap_or_default() {
            if let Some(place) = table.get_mut(code) {
                *place = glyph(name, document);
            }
        }
    }
    let differences = encoding
        .and_then(|encoding| encoding.as_dict().ok())
        .and_then(|encoding| encoding.get_deref(b"Differences", document).ok())
        .and_then(|differences| differences.as_array().ok());
    let mut code = 0_usize;
    for item in differences.into_iter().flatten() {
        match document.dereference(item).map(|(_, item)| item) {
            Ok(Object::Integer(next)) => code = usize::try_from(*next).unwrap_or(usize::MAX),
            Ok(Object::Name(name)) => {
                if let Some(place) = table.get_mut(code) {
                    *place = glyph(name, document);
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    table
}

/// The encoding in the clear part of a Type 1 font program: `dup 15 /bullet put` for every code (Adobe Type 1 Font Format,
/// 2.3).
fn encoding_of_program(program: &[u8]) -> Vec<(usize, &[u8])> {
    const SECRET: &[u8] = b"eexec";
    let end = program.windows(SECRET.len()).position(|window| window == SECRET).unwrap_or(program.len());
    let clear = program.get(..end).unwrap_or_default();
    let mut words = clear.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if word != b"dup" {
            continue;
        }
        let Some(code) = words.peek().and_then(|code| std::str::from_utf8(code).ok()?.parse().ok()) else {
            continue;
        };
        words.next();
        if let Some(name) = words.next_if(|name| name.starts_with(b"/")) {
            found.push((code, name.get(1..).unwrap_or_default()));
        }
    }
    found
}

/// The table of one of the named encodings, which lopdf holds.
fn base_table(name: &[u8], document: &Document) -> Table {
    let font = dictionary! { "Type" => "Font", "Encoding" => Object::Name(name.to_vec()) };
    let encoding = font.get_font_encoding(document).ok();
    (0..=u8::MAX).map(|code| encoding.as_ref().and_then(|encoding| decoded(encoding, code))).collect()
}

fn decoded(encoding: &Encoding<'_>, code: u8) -> Option<Box<str>> {
    // Strings often hold line ends and tabs, which no font draws.
    if matches!(code, b'\t' | b'\n' | b'\r') {
        return Some(" ".into());
    }
    encoding.bytes_to_string(&[code]).ok().filter(|text| !text.is_empty()).map(Into::into)
}

/// Of Symbol and Dingbats only the space and the bullet are sure.
fn symbols() -> Table {
    (0..=u8::MAX)
        .map(|code| match code {
            b' ' => Some(" ".into()),
            0xB7 => Some("•".into()),
            _ => None,
        })
        .collect()
}

/// The text of a glyph's name, by the rules of the Adobe Glyph List: a suffix after `.` is dropped, `_` joins parts, and
/// `uni` and `u` are followed by codes.
fn glyph(name: &[u8], document: &Document) -> Option<Box<str>> {
    let name = std::str::from_utf8(name).ok()?;
    if name == ".notdef" {
        return Some("".into());
    }
    let name = name.split('.').next().unwrap_or_default();
    let mut text = String::new();
    for part in name.split('_') {
        text.push_str(&component(part, document)?);
    }
    Some(text.into())
}

fn component(name: &str, document: &Document) -> Option<String> {
    let scalar = |hex: &str| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
    if let Some(hex) = name.strip_prefix("uni")
        && hex.len() >= 4
        && hex.len().is_multiple_of(4)
        && hex.is_ascii()
    {
        let text: Option<String> =
            hex.as_bytes().chunks(4).map(|unit| scalar(std::str::from_utf8(unit).ok()?)).collect();
        if text.is_some() {
            return text;
        }
    }
    if let Some(char) = name.strip_prefix('u').filter(|hex| (4..=6).contains(&hex.len())).and_then(scalar) {
        return Some(char.into());
    }
    // lopdf knows the list, but only as part of an encoding. A name that it does not know leaves code 0 without a meaning.
    let font = dictionary! {
        "Type" => "Font",
        "Encoding" => dictionary! {
            "Differences" => vec![Object::Integer(0), Object::Name(name.as_bytes().to_vec())],
        },
    };
    let text = font.get_font_encoding(document).ok()?.bytes_to_string(&[0]).ok()?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_glyphs_stand_for_text() {
        let document = Document::new();
        for (name, text) in [
            ("Euro", Some("€")),
            ("eacute", Some("é")),
            ("uni4E2D6587", Some("中文")),
            ("u1F600", Some("😀")),
            ("f_i", Some("fi")),
            ("A.swash", Some("A")),
            (".notdef", Some("")),
            ("g123", None),
        ] {
            assert_eq!(glyph(name.as_bytes(), &document).as_deref(), text, "{name}");
        }
    }

    #[test]
    fn a_name_that_nobody_knows_spoils_no_other() {
        let document = Document::new();
        let font = dictionary! {
            "Encoding" => dictionary! {
                "BaseEncoding" => "WinAnsiEncoding",
                "Differences" => vec![1.into(), "g1".into(), "Lslash".into()],
            },
        };
        let table = table(&font, false, None, &document);
        let text = |code: usize| table[code].as_deref();
        assert_eq!(
            (text(1), text(2), text(0x80), text(b'a'.into())),
            (None, Some("Ł"), Some("€"), Some("a"))
        );
    }

    #[test]
    fn a_font_program_says_what_its_codes_mean_where_the_dictionary_does_not() {
        let document = Document::new();
        let program = b"/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 15 /bullet put\ndup /x\neexec\ndup 16 /A put";
        let bare = table(&Dictionary::new(), false, Some(program), &document);
        assert_eq!((bare[15].as_deref(), bare[16].as_deref()), (Some("•"), None));
        let named = table(&dictionary! { "Encoding" => "WinAnsiEncoding" }, false, Some(program), &document);
        assert_eq!(named[15].as_deref(), None);
    }
}
