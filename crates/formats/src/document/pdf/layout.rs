//! Pieces of text into lines, by where they stand.

/// A gap of so much of the font's size is a space. Letters stand closer even when spaced out, words of justified lines
/// seldom do.
const SPACE: f64 = 0.17;
/// A gap of so much is a column of a table.
const COLUMN: f64 = 2.0;
/// A step across the line of so much is another line; superscripts move by about a third.
const LINE: f64 = 0.5;
/// A step of so much leaves an empty line, which ends a paragraph.
const PARAGRAPH: f64 = 1.9;

/// Where a piece of text stands on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
    /// Where its line runs, of length one.
    pub(super) along: (f64, f64),
    /// The size of its font, on the page.
    pub(super) size: f64,
}

/// The text of a page as it grows.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) text: String,
    last: Option<Place>,
    /// Where the last piece begins in the text.
    last_start: usize,
}

impl Layout {
    pub(super) fn push(&mut self, piece: &str, place: Place) {
        if piece.is_empty() {
            return;
        }
        if let Some(last) = self.last {
            if is_redrawn(&last, &place) && self.text.get(self.last_start..).is_some_and(|text| text == piece)
            {
                // The same letters a hair aside are bold.
                return;
            }
            self.text.push_str(self.gap(&last, &place, piece));
        }
        self.last_start = self.text.len();
        self.text.push_str(piece);
        self.last = Some(place);
    }

    /// What stands between two pieces.
    fn gap(&self, last: &Place, place: &Place, piece: &str) -> &'static str {
        let size = last.size.max(place.size).max(f64::MIN_POSITIVE);
        let (x, y) = (place.from.0 - last.to.0, place.from.1 - last.to.1);
        let (dx, dy) = last.along;
        let forward = (x * dx + y * dy) / size;
        let across = (x * dy - y * dx) / size;
        let turned = dx * place.along.0 + dy * place.along.1 < 0.9;
        let spaced = self.text.ends_with(char::is_whitespace) || piece.starts_with(char::is_whitespace);
        match () {
            () if turned || across.abs() > PARAGRAPH => "\n\n",
            () if across.abs() > LINE => "\n",
            () if forward < -1.0 => "\n",
            () if forward > COLUMN => "\t",
            () if forward > SPACE && !spaced => " ",
            () => "",
        }
    }
}

fn is_redrawn(last: &Place, place: &Place) -> bool {
    let near = |one: f64, other: f64| (one - other).abs() < 0.1 * place.size;
    near(last.from.0, place.from.0) && near(last.from.1, place.from.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines_by_their_places() {
        let mut layout = Layout::default();
        for (piece, x, y) in [
            ("Well", 0.0, 100.0),
            ("Well", 0.3, 100.0),
            ("sur", 22.5, 100.0),
            ("vey", 37.6, 100.2),
            ("2024", 90.0, 100.0),
            ("Depth", 0.0, 87.0),
            ("Pump", 0.0, 40.0),
        ] {
            let to = (x + 5.0 * piece.len() as f64, y);
            layout.push(piece, Place { from: (x, y), to, along: (1.0, 0.0), size: 10.0 });
        }
        assert_eq!(layout.text, "Well survey\t2024\nDepth\n\nPump");
    }
}
