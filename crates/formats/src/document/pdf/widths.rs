//! How far a character moves the pen, in thousandths of the font's size.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Object};

/// Helvetica, from the space to `~` (Adobe's font metrics for the 14 standard fonts).
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Times, likewise.
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500,
    500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333,
    389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469,
    500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389,
    278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];

/// The widths of a font.
#[derive(Debug)]
pub(super) enum Widths {
    /// By code, from the first; then the width of all others.
    Simple(u32, Vec<f64>, f64),
    /// By glyph, ranges of one width; then the width of all others.
    Composite(BTreeMap<u32, (u32, f64)>, f64),
    /// Of a standard font that does not say.
    Standard(&'static [u16; 95]),
    Fixed(f64),
}

impl Widths {
    pub(super) fn of_simple(font: &Dictionary, base: &str, document: &Document) -> Self {
        // A Type 3 font measures in units of its own (9.6.5).
        let unit = font
            .get_deref(b"FontMatrix", document)
            .and_then(Object::as_array)
            .ok()
            .and_then(|matrix| matrix.first()?.as_float().ok())
            .map_or(1.0, |scale| f64::from(scale) * 1000.0);
        if let Ok(widths) = font.get_deref(b"Widths", document).and_then(Object::as_array) {
            let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
            let missing = font
                .get_deref(b"FontDescriptor", document)
                .and_then(Object::as_dict)
                .and_then(|descriptor| descriptor.get_deref(b"MissingWidth", document))
                .and_then(Object::as_float)
                .map_or(500.0, f64::from);
            let widths =
                widths.iter().take(256).map(|width| number(width, document).unwrap_or(missing) * unit);
            return Self::Simple(u32::try_from(first).unwrap_or(0), widths.collect(), missing);
        }
        match base {
            base if base.contains("Courier") => Self::Fixed(600.0),
            base if base.contains("Times") => Self::Standard(&TIMES),
            _ => Self::Standard(&HELVETICA),
        }
    }

    /// Of the descendant of a composite font (9.7.4.3).
    pub(super) fn of_composite(descendant: &Dictionary, document: &Document) -> Self {
        let default =
            descendant.get_deref(b"DW", document).and_then(Object::as_float).map_or(1000.0, f64::from);
        let mut ranges = BTreeMap::new();
        let empty = Vec::new();
        let items = descendant.get_deref(b"W", document).and_then(Object::as_array).unwrap_or(&empty);
        let mut items = items.iter();
        while let Some(first) = items.next().and_then(|item| index(item, document)) {
            let Some((_, second)) = items.next().and_then(|item| document.dereference(item).ok()) else {
                break;
            };
            if let Ok(widths) = second.as_array() {
                for (glyph, width) in (first..).zip(widths) {
                    ranges.insert(glyph, (glyph, number(width, document).unwrap_or(default)));
                }
            } else if let Some(last) = index(second, document) {
                let width = items.next().and_then(|item| number(item, document)).unwrap_or(default);
                ranges.insert(first, (last, width));
            } else {
                break;
            }
        }
        Self::Composite(ranges, default)
    }

    pub(super) fn of(&self, code: u32) -> f64 {
        match self {
            Self::Fixed(width) => *width,
            Self::Simple(first, widths, missing) => {
                let at = code.checked_sub(*first).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| widths.get(at)).copied().unwrap_or(*missing)
            }
            Self::Composite(ranges, default) => match ranges.range(..=code).next_back() {
                Some((_, (last, width))) if code <= *last => *width,
                _ => *default,
            },
            Self::Standard(widths) => {
                let at = code.checked_sub(32).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| widths.get(at)).map_or(556.0, |width| f64::from(*width))
            }
        }
    }
}

fn number(object: &Object, document: &Document) -> Option<f64> {
    document.dereference(object).ok()?.1.as_float().ok().map(f64::from)
}

fn index(object: &Object, document: &Document) -> Option<u32> {
    u32::try_from(document.dereference(object).ok()?.1.as_i64().ok()?).ok()
}
