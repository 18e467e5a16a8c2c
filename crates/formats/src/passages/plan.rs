//! Where one passage ends and the next begins.

use std::ops::Range;

use super::PassageLimits;
use super::survey::Unit;

/// Chooses the passages, as ranges of units in order.
pub(super) fn plan(units: &[Unit], limits: PassageLimits) -> Vec<Range<usize>> {
    let mut planner = Planner { units, limits, cuts: Vec::new() };
    if chars_of(units, &(0..units.len())) > limits.max_chars {
        planner.run();
    } else if !units.is_empty() {
        planner.keep(0..units.len());
    }
    planner.cuts
}

struct Planner<'a> {
    units: &'a [Unit],
    limits: PassageLimits,
    cuts: Vec<Range<usize>>,
}

impl Planner<'_> {
    /// Sections are gathered until they reach the smallest size. What grows too large is split; what is left over at the
    /// end goes to the passage before it, where it fits.
    fn run(&mut self) {
        let (mut begin, mut gathered) = (0, 0);
        let mut at = 0;
        while at < self.units.len() {
            let (end, chars) = self.section(at);
            let fits_alone = chars <= self.limits.max_chars && gathered >= self.limits.min_chars / 2;
            if gathered > 0 && gathered + chars > self.limits.max_chars && fits_alone {
                // Near enough to the smallest size to stand alone; less than that is split together with what follows.
                self.keep(begin..at);
                (begin, gathered) = (at, 0);
            }
            gathered += chars;
            at = end;
            if gathered > self.limits.max_chars {
                self.split(begin..at, gathered);
                (begin, gathered) = (at, 0);
            } else if gathered >= self.limits.min_chars {
                self.keep(begin..at);
                (begin, gathered) = (at, 0);
            }
        }
        if begin < at {
            self.keep_rest(begin..at, gathered);
        }
    }

    /// Where the section that begins at `at` ends, and how many chars it has.
    fn section(&self, at: usize) -> (usize, usize) {
        let mut chars = 0;
        for (offset, unit) in self.units.iter().skip(at).enumerate() {
            if offset > 0 && unit.score.begins_section() {
                return (at + offset, chars);
            }
            chars += unit.chars;
        }
        (self.units.len(), chars)
    }

    fn keep(&mut self, range: Range<usize>) {
        self.cuts.push(range);
    }

    fn keep_rest(&mut self, range: Range<usize>, chars: usize) {
        if let Some(last) = self.cuts.last_mut()
            && chars + chars_of(self.units, last) <= self.limits.max_chars
        {
            last.end = range.end;
        } else {
            self.keep(range);
        }
    }

    /// Splits units that are too large together: at each step the best border within reach, and of equal ones the nearest
    /// to an even share, so that no crumb is left at the end.
    fn split(&mut self, range: Range<usize>, chars: usize) {
        let PassageLimits { min_chars, max_chars } = self.limits;
        let (mut begin, mut left) = (range.start, chars);
        while left > max_chars {
            let pieces = left.div_ceil((max_chars - max_chars / 4).max(1)).max(2);
            let share = left / pieces;
            let least = min_chars.max(share / 2);
            let (mut end, mut taken) = (begin + 1, self.units.get(begin).map_or(0, |unit| unit.chars));
            let (mut size, mut best) = (taken, None);
            for (at, unit) in self.units.iter().enumerate().take(range.end).skip(begin + 1) {
                // A border that leaves too little on its left counts only until there is a better one.
                let rank = (
                    unit.score.is_line_border() && size >= least,
                    unit.score,
                    std::cmp::Reverse(size.abs_diff(share)),
                );
                if best.as_ref().is_none_or(|best| rank > *best) {
                    (best, end, taken) = (Some(rank), at, size);
                }
                size += unit.chars;
                if size > max_chars {
                    break;
                }
            }
            self.keep(begin..end);
            (begin, left) = (end, left - taken);
        }
        if begin < range.end {
            self.keep_rest_of_split(begin..range.end, left);
        }
    }

    fn keep_rest_of_split(&mut self, range: Range<usize>, chars: usize) {
        if chars < self.limits.min_chars { self.keep_rest(range, chars) } else { self.keep(range) }
    }
}

fn chars_of(units: &[Unit], range: &Range<usize>) -> usize {
    units.get(range.clone()).unwrap_or_default().iter().map(|unit| unit.chars).sum()
}
