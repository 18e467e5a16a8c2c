//! Number formats: how a cell shows its number.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::package::Package;
use super::super::xml::{Event, Xml};
use super::dates::{self, Shown};
use crate::document::DocumentError;

/// What is told apart of a number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    General,
    Moment(Shown),
    /// With so many decimals.
    Percent(usize),
    /// At least so many digits.
    Padded(usize),
}

/// The formats of a workbook, by the style index of cells.
#[derive(Debug)]
pub(super) struct Formats {
    cells: Vec<Format>,
    since_1904: bool,
}

impl Formats {
    pub(super) fn empty(since_1904: bool) -> Self {
        Self { cells: Vec::new(), since_1904 }
    }

    pub(super) fn read(
        package: &mut Package<'_>,
        part: &str,
        since_1904: bool,
    ) -> Result<Self, DocumentError> {
        let text = package.part(part)?;
        let mut xml = Xml::new(&text, part, package.limits, package.guard);
        let mut custom: BTreeMap<u32, Format> = BTreeMap::new();
        let mut ids = Vec::new();
        while let Some(event) = xml.next()? {
            let Event::Start(element) = event else { continue };
            match element.name() {
                "numFmt" => {
                    if let Some(id) = element.number("numFmtId") {
                        custom.insert(id, of_code(&element.attribute("formatCode").unwrap_or_default()));
                    }
                }
                "cellXfs" => {
                    while let Some(element) = xml.child()? {
                        ids.push(element.number::<u32>("numFmtId").unwrap_or(0));
                        xml.skip()?;
                    }
                }
                _ => {}
            }
        }
        let cells =
            ids.into_iter().map(|id| custom.get(&id).copied().unwrap_or_else(|| built_in(id))).collect();
        Ok(Self { cells, since_1904 })
    }

    /// A number as its cell shows it: dates in ISO 8601, shares in percent, else the number itself with the 15 digits
    /// that sheets calculate with.
    pub(super) fn written<'a>(&self, said: Cow<'a, str>, style: usize) -> Cow<'a, str> {
        let raw = said.trim();
        let format = self.cells.get(style).copied().unwrap_or(Format::General);
        if format == Format::General && is_settled(raw) {
            return said;
        }
        let Ok(number) = raw.parse::<f64>() else { return said };
        Cow::Owned(self.formatted(raw, number, format))
    }

    fn formatted(&self, raw: &str, number: f64, format: Format) -> String {
        match format {
            Format::Moment(shown) => {
                dates::written(number, shown, self.since_1904).unwrap_or_else(|| general(raw, number))
            }
            Format::Percent(decimals) if number.abs() < 1e13 => format!("{:.decimals$}%", number * 100.0),
            Format::Padded(digits) if number.fract() == 0.0 && (0.0..1e15).contains(&number) => {
                format!("{number:0digits$}")
            }
            _ => general(raw, number),
        }
    }
}

/// Whether a number stands as a sheet would show it: at most 15 digits, no exponent, nothing after the point but digits
/// that count.
fn is_settled(raw: &str) -> bool {
    let whole = raw.strip_prefix('-').unwrap_or(raw);
    let (whole, fraction) =
        whole.split_once('.').map_or((whole, None), |(whole, fraction)| (whole, Some(fraction)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(|fraction| digits(fraction) && !fraction.ends_with('0'))
        && whole.len() + fraction.map_or(0, str::len) <= 15
}

fn general(raw: &str, number: f64) -> String {
    if is_settled(raw) || !number.is_finite() {
        return raw.to_owned();
    }
    // The scientific form rounds to 15 digits; the shortest form of that number is what was typed.
    let rounded = format!("{number:.14e}").parse::<f64>().unwrap_or(number);
    let magnitude = rounded.abs();
    if rounded != 0.0 && !(1e-9..1e15).contains(&magnitude) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

/// The formats that need no entry (18.8.30), those of East Asian languages too.
fn built_in(id: u32) -> Format {
    match id {
        9 => Format::Percent(0),
        10 => Format::Percent(2),
        14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => Format::Moment(Shown::Date),
        18..=21 | 32 | 33 | 45 | 47 => Format::Moment(Shown::Time),
        34 | 35 | 55 | 56 => Format::Moment(Shown::Either),
        22 => Format::Moment(Shown::DateTime),
        46 => Format::Moment(Shown::Elapsed),
        _ => Format::General,
    }
}

/// Reads the first section of a format code (18.8.31): what is quoted, escaped or in brackets is no instruction, except
/// elapsed hours, minutes and seconds.
fn of_code(code: &str) -> Format {
    let mut letters = String::new();
    let mut elapsed = false;
    let mut chars = code.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => drop(chars.by_ref().find(|next| *next == '"')),
            '\\' | '_' | '*' => drop(chars.next()),
            '[' => {
                let inside: String = chars.by_ref().take_while(|next| *next != ']').collect();
                let inside = inside.to_ascii_lowercase();
                elapsed |= !inside.is_empty()
                    && ["h", "m", "s"].iter().any(|unit| inside.trim_start_matches(unit).is_empty());
            }
            ';' => break,
            char => letters.push(char.to_ascii_lowercase()),
        }
    }
    if letters.contains("general") {
        return Format::General;
    }
    let letters = letters.replace("am/pm", "h").replace("a/p", "h").replace("上午/下午", "h");
    let has = |wanted: &[char]| letters.contains(wanted);
    let date = has(&['y', 'd', 'b'])
        || (has(&['e']) && has(&['g', 'm', 'd']))
        || (has(&['m']) && !has(&['h', 's']) && !elapsed);
    match (date, has(&['h', 's'])) {
        (true, true) => return Format::Moment(Shown::DateTime),
        (true, false) => return Format::Moment(Shown::Date),
        _ if elapsed => return Format::Moment(Shown::Elapsed),
        (false, true) => return Format::Moment(Shown::Time),
        (false, false) => {}
    }
    if has(&['%']) {
        let decimals = letters
            .split_once('.')
            .map_or(0, |(_, tail)| tail.chars().take_while(|char| matches!(char, '0' | '#' | '?')).count());
        return Format::Percent(decimals.min(15));
    }
    let zeros = letters.len();
    if (2..=15).contains(&zeros) && letters.bytes().all(|byte| byte == b'0') {
        return Format::Padded(zeros);
    }
    Format::General
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart() {
        for (code, format) in [
            ("General", Format::General),
            ("#,##0.00 \"days\"", Format::General),
            ("[Red]0.0;\\d0", Format::General),
            ("0.00E+00", Format::General),
            ("yyyy\\-mm\\-dd", Format::Moment(Shown::Date)),
            ("yyyy\"年\"m\"月\"d\"日\"", Format::Moment(Shown::Date)),
            ("[$-409]d/m/yy h:mm AM/PM;@", Format::Moment(Shown::DateTime)),
            ("mmm", Format::Moment(Shown::Date)),
            ("mm:ss.0", Format::Moment(Shown::Time)),
            ("[h]:mm:ss", Format::Moment(Shown::Elapsed)),
            ("[$-411]ggge\"年\"", Format::Moment(Shown::Date)),
            ("0.0%", Format::Percent(1)),
            ("00000", Format::Padded(5)),
        ] {
            assert_eq!(of_code(code), format, "{code}");
        }
    }

    #[test]
    fn numbers_show_the_digits_that_were_typed() {
        let formats = Formats::empty(false);
        for (raw, text) in [
            ("3.1400000000000001", "3.14"),
            ("0.30000000000000004", "0.3"),
            ("42", "42"),
            ("-7", "-7"),
            ("123456789012345", "123456789012345"),
            ("1.5E3", "1500"),
            ("1E+30", "1e30"),
            ("2.5e-12", "2.5e-12"),
            ("0", "0"),
            ("not a number", "not a number"),
        ] {
            assert_eq!(formats.written(raw.into(), 0), text, "{raw}");
        }
        let styled = Formats { cells: vec![Format::Percent(1), Format::Padded(5)], since_1904: false };
        assert_eq!(styled.written("0.125".into(), 0), "12.5%");
        assert_eq!(styled.written("1234".into(), 1), "01234");
    }
}
