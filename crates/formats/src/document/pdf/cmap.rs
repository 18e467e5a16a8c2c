//! `ToUnicode` maps: from character codes to text (ISO 32000-1, 9.10.3).

use std::borrow::Cow;

use super::content::{Operand, Operators};

/// The chars that a range of codes stands for.
#[derive(Debug)]
struct Range {
    /// How many bytes a code has.
    bytes: usize,
    first: u32,
    last: u32,
    to: Target,
}

#[derive(Debug)]
enum Target {
    /// The text of the first code, in UTF-16; the last unit counts up.
    Counted(Vec<u16>),
    /// The text of each.
    Listed(Vec<Vec<u16>>),
}

/// A map of codes. Takes memory in proportion to the stream it is read from, whatever ranges that claims.
#[derive(Debug, Default)]
pub(super) struct CMap {
    /// In order, for binary search.
    ranges: Vec<Range>,
    /// How long codes are: by the bytes they may begin with.
    spaces: Vec<Space>,
}

#[derive(Debug)]
struct Space {
    bytes: usize,
    low: u32,
    high: u32,
}

impl CMap {
    pub(super) fn parse(data: &[u8]) -> Self {
        let mut map = Self::default();
        let mut operators = Operators::of_map(data);
        let mut operands = Vec::new();
        while let Some(operator) = operators.next(&mut operands) {
            match operator {
                b"endcodespacerange" => Section::of(&mut operands).spaces(&mut map),
                b"endbfchar" => Section::of(&mut operands).chars(&mut map),
                b"endbfrange" => Section::of(&mut operands).ranges(&mut map),
                _ => {}
            }
        }
        map.ranges.sort_by_key(|range| (range.bytes, range.first));
        map
    }

    /// Whether it maps anything.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How long the code at the start of `bytes` is, where the map says so.
    pub(super) fn code_length(&self, bytes: &[u8]) -> Option<usize> {
        (1..=4_usize.min(bytes.len())).find(|length| {
            self.spaces.iter().any(|space| {
                space.bytes == *length
                    // Each byte has bounds of its own (9.7.5.1 of the CMap specification).
                    && bytes.iter().take(*length).enumerate().all(|(at, byte)| {
                        let shift = 8 * (length - 1 - at);
                        let within = |edge: u32| u8::try_from(edge >> shift & 0xFF).unwrap_or(0);
                        (within(space.low)..=within(space.high)).contains(byte)
                    })
            })
        })
    }

    /// Appends what a code of so many bytes stands for; `false` where the map does not say.
    pub(super) fn push(&self, code: u32, bytes: usize, text: &mut String) -> bool {
        if self.is_empty() {
            return false;
        }
        let after = self.ranges.partition_point(|range| (range.bytes, range.first) <= (bytes, code));
        let Some(range) = after.checked_sub(1).and_then(|at| self.ranges.get(at)) else { return false };
        if range.bytes != bytes || code > range.last {
            return false;
        }
        let offset = code - range.first;
        let units = match &range.to {
            Target::Counted(units) => {
                let mut units = units.clone();
                if let Some(last) = units.last_mut() {
                    *last = last.wrapping_add(u16::try_from(offset & 0xFFFF).unwrap_or(0));
                }
                Cow::Owned(units)
            }
            Target::Listed(texts) => match usize::try_from(offset).ok().and_then(|at| texts.get(at)) {
                Some(units) => Cow::Borrowed(units),
                None => return false,
            },
        };
        text.extend(
            char::decode_utf16(units.iter().copied()).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)),
        );
        true
    }
}

/// The items of a section.
#[derive(Debug, Default)]
struct Section {
    items: Vec<Item>,
}

#[derive(Debug)]
enum Item {
    Code(Vec<u8>),
    List(Vec<Vec<u16>>),
}

impl Section {
    fn of(operands: &mut Vec<Operand<'_>>) -> Self {
        let mut section = Self::default();
        for operand in operands.drain(..) {
            match operand {
                Operand::Text(bytes) => section.items.push(Item::Code(bytes.into_owned())),
                Operand::Array(items) => section.items.push(Item::List(
                    items
                        .into_iter()
                        .filter_map(|item| match item {
                            Operand::Text(bytes) => Some(units(&bytes)),
                            _ => None,
                        })
                        .collect(),
                )),
                _ => {}
            }
        }
        section
    }

    fn spaces(&self, map: &mut CMap) {
        for pair in self.items.chunks_exact(2) {
            if let [Item::Code(low), Item::Code(high)] = pair
                && low.len() == high.len()
                && let (Some(from), Some(to)) = (code(low), code(high))
            {
                map.spaces.push(Space { bytes: low.len(), low: from, high: to });
            }
        }
    }

    fn chars(&self, map: &mut CMap) {
        for pair in self.items.chunks_exact(2) {
            if let [Item::Code(from), Item::Code(to)] = pair
                && let Some(first) = code(from)
            {
                map.ranges.push(Range {
                    bytes: from.len(),
                    first,
                    last: first,
                    to: Target::Counted(units(to)),
                });
            }
        }
    }

    fn ranges(&mut self, map: &mut CMap) {
        for triple in self.items.chunks_exact_mut(3) {
            let [Item::Code(from), Item::Code(until), to] = triple else { continue };
            let (Some(first), Some(last)) = (code(from), code(until)) else { continue };
            let to = match to {
                Item::Code(bytes) => Target::Counted(units(bytes)),
                Item::List(texts) => Target::Listed(std::mem::take(texts)),
            };
            map.ranges.push(Range { bytes: from.len(), first, last, to });
        }
    }
}

fn code(bytes: &[u8]) -> Option<u32> {
    (1..=4).contains(&bytes.len()).then(|| bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
}

fn units(bytes: &[u8]) -> Vec<u16> {
    match bytes {
        [one] => vec![u16::from(*one)],
        bytes => bytes
            .chunks_exact(2)
            .map(|pair| {
                u16::from_be_bytes([pair.first().copied().unwrap_or(0), pair.last().copied().unwrap_or(0)])
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(map: &CMap, code: u32, bytes: usize) -> Option<String> {
        let mut text = String::new();
        map.push(code, bytes, &mut text).then_some(text)
    }

    #[test]
    fn codes_stand_for_text() {
        let map = CMap::parse(
            b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap
            1 begincodespacerange <0000> <FFFF> endcodespacerange
            2 beginbfchar <0003> <0020> <0010> <00660069> endbfchar
            2 beginbfrange <0024> <0026> <0041> <0030> <0031> [<4E2D> <D840DC00>] endbfrange endcmap",
        );
        assert_eq!(shown(&map, 3, 2).as_deref(), Some(" "));
        assert_eq!(shown(&map, 0x10, 2).as_deref(), Some("fi"));
        assert_eq!(shown(&map, 0x26, 2).as_deref(), Some("C"));
        assert_eq!(shown(&map, 0x31, 2).as_deref(), Some("\u{20000}"));
        assert_eq!(shown(&map, 0x27, 2), None);
        assert_eq!(shown(&map, 3, 1), None);
        assert_eq!(map.code_length(&[0, 3, 0]), Some(2));
    }

    #[test]
    fn a_range_of_all_codes_costs_nothing() {
        let map = CMap::parse(b"1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange");
        assert_eq!(shown(&map, 2, 4).as_deref(), Some("C"));
        assert_eq!(map.ranges.len(), 1);
    }

    #[test]
    fn long_sections_are_read_whole() {
        use std::fmt::Write as _;
        let mut data = String::from("100 beginbfchar\n");
        for code in 0..100 {
            writeln!(data, "<{code:02x}> <{:04x}>", 0x4E00 + code).unwrap();
        }
        data.push_str("endbfchar");
        let map = CMap::parse(data.as_bytes());
        assert_eq!(map.ranges.len(), 100);
        assert_eq!(shown(&map, 99, 1).as_deref(), Some("\u{4e63}"));
    }
}
