//! The text test: whether bytes read as characters, and by which family of encodings.

/// How many bytes are looked at where a sample is enough.
const SAMPLE_BYTES: usize = 64 * 1024;

/// An encoding that a byte order mark names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bom {
    Utf8,
    Utf16Le,
    Utf16Be,
    Utf32Le,
    Utf32Be,
}

impl Bom {
    /// The mark at the start of `bytes`, and how many bytes it takes.
    pub(crate) fn of(bytes: &[u8]) -> Option<(Self, usize)> {
        match bytes {
            // UTF-32LE begins with the two bytes of UTF-16LE, so it is asked first.
            [0xFF, 0xFE, 0, 0, ..] => Some((Self::Utf32Le, 4)),
            [0, 0, 0xFE, 0xFF, ..] => Some((Self::Utf32Be, 4)),
            [0xEF, 0xBB, 0xBF, ..] => Some((Self::Utf8, 3)),
            [0xFF, 0xFE, ..] => Some((Self::Utf16Le, 2)),
            [0xFE, 0xFF, ..] => Some((Self::Utf16Be, 2)),
            _ => None,
        }
    }
}

/// The byte order of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(crate) fn unit(self, pair: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(pair),
            Self::Big => u16::from_be_bytes(pair),
        }
    }

    /// The code units of `bytes`; an odd last byte is left out.
    pub(crate) fn units(self, bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
        bytes.as_chunks::<2>().0.iter().map(move |pair| self.unit(*pair))
    }
}

/// Whether the bytes read as text: UTF-8 without NUL, UTF-16 or UTF-32 with a byte order mark, UTF-16 without one where
/// the NULs show it, or bytes of an older encoding without control characters. `bytes` may be the beginning of something
/// longer: a character that is cut at the end does not count against it. Empty is text.
///
/// ```
/// assert!(briefing_formats::is_text("水泵".as_bytes()));
/// assert!(!briefing_formats::is_text(b"\x7fELF\x02\x01\x01\0\0\0"));
/// ```
#[must_use]
pub fn is_text(bytes: &[u8]) -> bool {
    match Bom::of(bytes) {
        Some((Bom::Utf8, skip)) => is_plain_utf8(bytes.get(skip..).unwrap_or_default()),
        Some((Bom::Utf16Le, skip)) => {
            reads_as_utf16(sample(bytes).get(skip..).unwrap_or_default(), ByteOrder::Little)
        }
        Some((Bom::Utf16Be, skip)) => {
            reads_as_utf16(sample(bytes).get(skip..).unwrap_or_default(), ByteOrder::Big)
        }
        Some((Bom::Utf32Le, skip)) => {
            reads_as_utf32(sample(bytes).get(skip..).unwrap_or_default(), u32::from_le_bytes)
        }
        Some((Bom::Utf32Be, skip)) => {
            reads_as_utf32(sample(bytes).get(skip..).unwrap_or_default(), u32::from_be_bytes)
        }
        None if bytes.contains(&0) => utf16_without_mark(bytes).is_some(),
        None if is_utf8_prefix(bytes) => !is_mostly_control(bytes),
        None => !sample(bytes).iter().any(|byte| is_control(*byte)),
    }
}

/// Valid UTF-8 (a cut last character allowed) without NUL.
pub(crate) fn is_plain_utf8(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && is_utf8_prefix(bytes)
}

fn is_utf8_prefix(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// The byte order of UTF-16 without a mark, where the zero bytes of its ASCII characters give it away: nearly all units
/// are characters of living scripts in that order, and a fair share are ASCII.
pub(crate) fn utf16_without_mark(bytes: &[u8]) -> Option<ByteOrder> {
    let sample = bytes.get(..4096).unwrap_or(bytes);
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| {
        let (mut units, mut ascii, mut odd) = (0_usize, 0_usize, 0_usize);
        for unit in order.units(sample) {
            units += 1;
            match unit {
                0x20..=0x7E | 0x09 | 0x0A | 0x0D => ascii += 1,
                unit if is_living_script(unit) => {}
                _ => odd += 1,
            }
            // So many show already that it is none.
            if odd * 50 > sample.len() {
                return false;
            }
        }
        let ascii_share = if units < 16 { 2 } else { 20 };
        bytes.len().is_multiple_of(2) && units >= 2 && odd * 50 <= units && ascii * ascii_share >= units
    })
}

/// Code units that ordinary text is made of, ASCII aside.
fn is_living_script(unit: u16) -> bool {
    matches!(unit,
        0x00A0..=0x052F | 0x0590..=0x06FF | 0x0900..=0x097F | 0x0E00..=0x0E7F | 0x1E00..=0x1FFF | 0x2000..=0x27BF
        | 0x2E80..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7A3 | 0xD800..=0xDFFF | 0xFF00..=0xFFEF)
}

fn reads_as_utf16(bytes: &[u8], order: ByteOrder) -> bool {
    let mut chars = char::decode_utf16(order.units(bytes)).peekable();
    while let Some(next) = chars.next() {
        match next {
            Ok(char) if char == '\0' || is_noncharacter(char) => return false,
            // A pair that is cut at the end of the sample is no fault.
            Err(_) if chars.peek().is_some() => return false,
            _ => {}
        }
    }
    true
}

fn reads_as_utf32(bytes: &[u8], value: fn([u8; 4]) -> u32) -> bool {
    bytes.as_chunks::<4>().0.iter().all(|quad| char::from_u32(value(*quad)).is_some_and(|char| char != '\0'))
}

fn is_noncharacter(char: char) -> bool {
    u32::from(char) & 0xFFFE == 0xFFFE
}

fn sample(bytes: &[u8]) -> &[u8] {
    bytes.get(..SAMPLE_BYTES).unwrap_or(bytes)
}

/// A control byte that text does not hold. Backspace and escape stay allowed: terminal logs are text.
pub(crate) fn is_control(byte: u8) -> bool {
    matches!(byte, 0x00..=0x07 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

/// More than a tenth of the bytes are control characters.
fn is_mostly_control(bytes: &[u8]) -> bool {
    let sample = sample(bytes);
    sample.iter().filter(|byte| is_control(**byte)).count() * 10 > sample.len()
}
