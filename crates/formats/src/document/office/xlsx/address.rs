//! Addresses of cells.

/// The last column, `XFD`, from 1.
pub(super) const COLUMNS: u32 = 16_384;
/// The last row.
pub(super) const ROWS: u32 = 1_048_576;

/// The letters of a column, from 1: `A`, …, `Z`, `AA`, ….
pub(super) fn letters(column: u32) -> String {
    let mut rest = column;
    let mut letters = Vec::new();
    while rest > 0 {
        letters.push(char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or(0)));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}

/// The column and row of an address such as `B12`, from 1; `None` for what is no cell of a sheet.
pub(super) fn parsed(address: &str) -> Option<(u32, u32)> {
    let letters = address.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (column, row) = address.split_at_checked(letters)?;
    if column.is_empty() || column.len() > 3 {
        return None;
    }
    let column = column
        .bytes()
        .fold(0_u32, |sum, letter| sum * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    let row: u32 = row.parse().ok()?;
    ((1..=COLUMNS).contains(&column) && (1..=ROWS).contains(&row)).then_some((column, row))
}

/// Numbers as runs: `4, 7-9`.
pub(super) fn runs(numbers: &[(u32, u32)], name: impl Fn(u32) -> String) -> String {
    numbers
        .iter()
        .map(
            |(first, last)| {
                if first == last { name(*first) } else { format!("{}-{}", name(*first), name(*last)) }
            },
        )
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_there_and_back() {
        for (address, column, row) in
            [("A1", 1, 1), ("Z9", 26, 9), ("AA10", 27, 10), ("XFD1048576", 16_384, 1_048_576)]
        {
            assert_eq!(parsed(address), Some((column, row)));
            assert_eq!(format!("{}{row}", letters(column)), address);
        }
        for nonsense in ["", "A", "1", "A0", "XFE1", "A1048577", "AAAA1", "A-1", "A1B"] {
            assert_eq!(parsed(nonsense), None, "{nonsense}");
        }
    }
}
