//! Numbers as lists and outlines write them.

/// A number in one of the formats of ECMA-376 17.18.59 (`ST_NumberFormat`) or 20.1.10.61 (`ST_TextAutonumberScheme`); formats
/// that are not known here come as digits.
pub(super) fn written(number: u32, format: &str) -> String {
    match format {
        "lowerLetter" => letters(number).to_ascii_lowercase(),
        "upperLetter" => letters(number),
        "lowerRoman" => roman(number).to_ascii_lowercase(),
        "upperRoman" => roman(number),
        "decimalZero" => format!("{number:02}"),
        "chineseCounting"
        | "chineseCountingThousand"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand"
        | "japaneseCounting"
        | "ideographDigital"
        | "koreanCounting" => chinese(number),
        _ => number.to_string(),
    }
}

/// A, B, …, Z, AA, BB, …: Word repeats the letter.
fn letters(number: u32) -> String {
    let Some(before) = number.checked_sub(1) else { return "0".to_owned() };
    let letter = char::from(b'A' + u8::try_from(before % 26).unwrap_or(0));
    String::from(letter).repeat((before / 26 + 1).min(20) as usize)
}

fn roman(number: u32) -> String {
    const DIGITS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number == 0 || number >= 4000 {
        return number.to_string();
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, digit) in DIGITS {
        while rest >= value {
            text.push_str(digit);
            rest -= value;
        }
    }
    text
}

/// 一, 二, …, 十, 十一, …, 九十九.
fn chinese(number: u32) -> String {
    const DIGITS: [&str; 10] = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    let digit = |digit: u32| DIGITS.get(digit as usize).copied().unwrap_or_default();
    match number {
        1..=9 => digit(number).to_owned(),
        10..=19 => format!("十{}", digit(number - 10)),
        20..=99 => format!("{}十{}", digit(number / 10), digit(number % 10)),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn numbers_follow_their_format() {
        for (number, format, text) in [
            (4, "decimal", "4"),
            (28, "lowerLetter", "bb"),
            (1994, "upperRoman", "MCMXCIV"),
            (21, "chineseCounting", "二十一"),
            (7, "decimalZero", "07"),
            (3, "someNewFormat", "3"),
        ] {
            assert_eq!(written(number, format), text);
        }
    }
}
