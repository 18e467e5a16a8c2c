//! A read that begins where something is said: at a literal, else at the line with most of its words.

use std::collections::BTreeSet;

/// How many chars before the place are read with it, at most, and no more than a quarter of the window.
const LEAD_CHARS: usize = 200;

/// Where a window of `max_chars` begins, in chars, so that it holds the first occurrence of `locator`: as it is, else in
/// any case, else the first of the lines that hold most of its words. `None` where nothing of it is there. The same text
/// and locator give the same place.
pub(super) fn start_of_window(text: &str, locator: &str, max_chars: usize) -> Option<usize> {
    let locator = locator.trim();
    let found = match locator {
        "" => None,
        locator => {
            text.find(locator).or_else(|| in_any_case(text, locator)).or_else(|| best_line(text, locator))
        }
    };
    let place = text.get(..found?).map_or(0, |before| before.chars().count());
    if text.chars().count() <= max_chars {
        return Some(0);
    }
    let earliest = place.saturating_sub(LEAD_CHARS.min(max_chars / 4));
    // From the start of a line where one begins in the lead.
    let lead: Vec<char> = text.chars().skip(earliest).take(place - earliest).collect();
    let line = lead.iter().position(|char| *char == '\n').map_or(earliest, |at| earliest + at + 1);
    Some(if earliest == 0 { 0 } else { line })
}

fn in_any_case(text: &str, locator: &str) -> Option<usize> {
    let wanted: Vec<char> = locator.chars().flat_map(char::to_lowercase).collect();
    let folded: Vec<(usize, char)> = text
        .char_indices()
        .flat_map(|(at, char)| char.to_lowercase().map(move |folded| (at, folded)))
        .collect();
    let found = folded.windows(wanted.len()).find(|window| window.iter().map(|(_, char)| char).eq(&wanted));
    found.and_then(|window| window.first()).map(|(at, _)| *at)
}

fn best_line(text: &str, locator: &str) -> Option<usize> {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|char: char| !char.is_alphanumeric() && char != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let wanted = words(locator);
    let (mut best, mut place, mut at) = (0, None, 0);
    for line in text.split_inclusive('\n') {
        let shared = words(line).intersection(&wanted).count();
        if shared > best {
            (best, place) = (shared, Some(at));
        }
        at += line.len();
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_the_first_literal_else_the_best_line() {
        let filler = "filler line\n".repeat(100);
        let text =
            format!("{filler}The Pump is \u{6c34}\u{6cf5}.\n{filler}a pump that is checked weekly\n{filler}");
        let shown = |locator: &str| -> String {
            text.chars().skip(start_of_window(&text, locator, 60).unwrap()).take(60).collect()
        };
        assert!(shown("\u{6c34}\u{6cf5}").contains("\u{6c34}\u{6cf5}"));
        assert!(shown("the pump is").contains("The Pump is"));
        assert!(shown("weekly checks: is it checked?").contains("checked weekly"));
        assert_eq!(start_of_window(&text, "zebra", 60), None);
        assert_eq!(start_of_window(&text, " ", 60), None);
        assert_eq!(start_of_window("short \u{6cf5}", "\u{6cf5}", 60), Some(0));
    }
}
