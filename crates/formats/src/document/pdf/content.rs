//! Content streams as operators with their operands (ISO 32000-1, 7.8.2).

use std::borrow::Cow;

/// An operand. What text never needs comes as `Other`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand<'a> {
    Number(f64),
    Name(Cow<'a, [u8]>),
    Text(Cow<'a, [u8]>),
    /// The numbers and strings of an array.
    Array(Vec<Operand<'a>>),
    Other,
}

/// No operator has more operands than this; what stands before is dropped, as it would be by a viewer.
const MAX_OPERANDS: usize = 64;

/// Reads operators. Bytes that are no token are passed over.
#[derive(Debug)]
pub(super) struct Operators<'a> {
    data: &'a [u8],
    at: usize,
    max_operands: usize,
}

enum Token<'a> {
    Operand(Operand<'a>),
    Open,
    Close,
    /// The border of a dictionary.
    Brace(bool),
    Operator(&'a [u8]),
}

fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0xC | b'\r' | b' ')
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

impl<'a> Operators<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0, max_operands: MAX_OPERANDS }
    }

    /// Of a character map, whose sections are operators with hundreds of operands.
    pub(super) fn of_map(data: &'a [u8]) -> Self {
        Self { data, at: 0, max_operands: usize::MAX }
    }

    /// The next operator, its operands in `operands`; `None` at the end.
    pub(super) fn next(&mut self, operands: &mut Vec<Operand<'a>>) -> Option<&'a [u8]> {
        operands.clear();
        // Arrays within arrays lend their items to the outermost one; dictionaries count for nothing.
        let (mut array, mut arrays, mut braces) = (Vec::new(), 0_usize, 0_usize);
        loop {
            match self.token()? {
                Token::Brace(true) => braces += 1,
                Token::Brace(false) => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 && arrays == 0 {
                        operands.push(Operand::Other);
                    }
                }
                Token::Operator(operator) => {
                    if operator == b"BI" {
                        self.skip_inline_image();
                    }
                    return Some(operator);
                }
                _ if braces > 0 => {}
                Token::Open => arrays += 1,
                Token::Close if arrays == 1 => {
                    arrays = 0;
                    operands.push(Operand::Array(std::mem::take(&mut array)));
                }
                Token::Close => arrays = arrays.saturating_sub(1),
                Token::Operand(operand) if arrays > 0 => array.push(operand),
                Token::Operand(operand) => {
                    if operands.len() == self.max_operands {
                        operands.remove(0);
                    }
                    operands.push(operand);
                }
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    fn token(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                byte if is_space(byte) => {}
                b'%' => {
                    while self.peek().is_some_and(|byte| byte != b'\n' && byte != b'\r') {
                        self.at += 1;
                    }
                }
                b'(' => return Some(Token::Operand(Operand::Text(self.literal()))),
                b'<' if self.peek() == Some(b'<') => {
                    self.at += 1;
                    return Some(Token::Brace(true));
                }
                b'<' => return Some(Token::Operand(Operand::Text(self.hexadecimal()))),
                b'>' if self.peek() == Some(b'>') => {
                    self.at += 1;
                    return Some(Token::Brace(false));
                }
                b'[' => return Some(Token::Open),
                b']' => return Some(Token::Close),
                b'/' => {
                    let name = self.word();
                    return Some(Token::Operand(Operand::Name(unescaped(name))));
                }
                b')' | b'>' | b'{' | b'}' => {}
                b'0'..=b'9' | b'+' | b'-' | b'.' => {
                    self.at -= 1;
                    return Some(Token::Operand(number(self.word())));
                }
                _ => {
                    self.at -= 1;
                    return Some(match self.word() {
                        b"true" | b"false" | b"null" => Token::Operand(Operand::Other),
                        word => Token::Operator(word),
                    });
                }
            }
        }
    }

    fn word(&mut self) -> &'a [u8] {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|byte| is_space(*byte) || is_delimiter(*byte)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// A string in parentheses (7.3.4.2).
    fn literal(&mut self) -> Cow<'a, [u8]> {
        let start = self.at;
        let mut depth = 1_usize;
        let mut plain = true;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => {
                    plain = false;
                    self.at += 1;
                }
                b'\r' => plain = false,
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        let inside = self.data.get(start..self.at - 1).unwrap_or_default();
                        return if plain { Cow::Borrowed(inside) } else { Cow::Owned(unquoted(inside)) };
                    }
                }
                _ => {}
            }
        }
        Cow::Owned(unquoted(self.data.get(start..).unwrap_or_default()))
    }

    /// A string in angle brackets (7.3.4.3).
    fn hexadecimal(&mut self) -> Cow<'a, [u8]> {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'>').unwrap_or(rest.len());
        self.at += end + 1;
        let mut digits = rest.iter().take(end).filter_map(|byte| char::from(*byte).to_digit(16));
        let mut bytes = Vec::with_capacity(end / 2 + 1);
        while let Some(high) = digits.next() {
            let low = digits.next().unwrap_or(0);
            bytes.push(u8::try_from(high * 16 + low).unwrap_or(0));
        }
        Cow::Owned(bytes)
    }

    /// Passes over an image within the stream, to its `EI`: a word of its own that is followed by what could be
    /// operators, since the bytes of the image may hold the two letters too.
    fn skip_inline_image(&mut self) {
        while let Some(token) = self.token() {
            if matches!(token, Token::Operator(b"ID")) {
                break;
            }
        }
        let rest = self.data.get(self.at..).unwrap_or_default();
        let end = rest.windows(2).enumerate().position(|(at, window)| {
            window == b"EI"
                && at.checked_sub(1).and_then(|before| rest.get(before)).is_none_or(|byte| is_space(*byte))
                && rest.get(at + 2).is_none_or(|byte| is_space(*byte))
                && rest
                    .get(at + 2..)
                    .unwrap_or_default()
                    .iter()
                    .take(8)
                    .all(|byte| is_space(*byte) || byte.is_ascii_graphic())
        });
        self.at += end.map_or(rest.len(), |at| at + 2);
    }
}

fn number(word: &[u8]) -> Operand<'static> {
    let text = std::str::from_utf8(word).unwrap_or_default();
    // Some writers put a sign in the middle, as in `0.-12`; viewers read up to it.
    let number = text.parse::<f64>().ok().or_else(|| {
        let sign = text.char_indices().skip(1).find(|(_, char)| *char == '-').map(|(at, _)| at)?;
        text.get(..sign)?.parse().ok()
    });
    Operand::Number(number.filter(|number| number.is_finite()).unwrap_or(0.0))
}

/// A name, in which `#41` is `A` (7.3.5).
fn unescaped(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.contains(&b'#') {
        return Cow::Borrowed(name);
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, tail)) = rest.split_first() {
        let code = match tail {
            [high, low, ..] if *first == b'#' => {
                char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16))
            }
            _ => None,
        };
        match code {
            Some((high, low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(0));
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    Cow::Owned(bytes)
}

/// The bytes of a string with escapes.
fn unquoted(inside: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte == b'\r' {
            rest.next_if_eq(&b'\n');
            bytes.push(b'\n');
            continue;
        }
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'b') => bytes.push(8),
            Some(b'f') => bytes.push(12),
            Some(b'\r') => drop(rest.next_if_eq(&b'\n')),
            Some(b'\n') | None => {}
            Some(digit @ b'0'..=b'7') => {
                let mut code = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|byte| matches!(byte, b'0'..=b'7')) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                }
                bytes.push(u8::try_from(code & 0xFF).unwrap_or(0));
            }
            Some(other) => bytes.push(other),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(data: &[u8]) -> Vec<String> {
        let mut operators = Operators::new(data);
        let mut operands = Vec::new();
        let mut found = Vec::new();
        while let Some(operator) = operators.next(&mut operands) {
            found.push(format!("{} {operands:?}", String::from_utf8_lossy(operator)));
        }
        found
    }

    #[test]
    fn operators_come_with_their_operands() {
        let data = b"BT /F#31 12 Tf (a\\(b\\051\\\nc) Tj [<41 4>-20.5(x)[1]] TJ % note\n/P <</MCID 0>> BDC .5 -.5 Td ET";
        let text = |bytes: &[u8]| format!("Text({bytes:?})");
        assert_eq!(
            all(data),
            [
                "BT []".to_owned(),
                format!("Tf [Name({:?}), Number(12.0)]", b"F1"),
                format!("Tj [{}]", text(b"a(b)c")),
                format!("TJ [Array([{}, Number(-20.5), {}, Number(1.0)])]", text(b"A@"), text(b"x")),
                format!("BDC [Name({:?}), Other]", b"P"),
                "Td [Number(0.5), Number(-0.5)]".to_owned(),
                "ET []".to_owned(),
            ]
        );
    }

    #[test]
    fn images_within_the_stream_are_no_operators() {
        let found = all(b"BI /W 1 /H 1 ID \xff EI\x01 Tj (no) EI Q (yes) Tj");
        assert_eq!(found, ["BI []".to_owned(), "Q []".to_owned(), format!("Tj [Text({:?})]", b"yes")]);
    }

    #[test]
    fn any_bytes_come_to_an_end() {
        for data in [
            &b"(((("[..],
            b"<<<<",
            b"[[[[",
            b">>>>]]]]",
            b"/",
            b"<4",
            b"(\\",
            b"BI",
            b"BI ID",
            b"- + . 1-2 Tj",
        ] {
            all(data);
        }
    }
}
