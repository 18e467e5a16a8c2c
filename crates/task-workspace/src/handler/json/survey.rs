//! What a JSON text holds that a `Value` does not.

use std::collections::HashSet;

use briefing_core::{ContextDiagnostic, Severity};
use serde_json::Value;

use super::scan::{string_of, tokens};

/// What one walk over a JSON text found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    rounded: usize,
    first_rounded: Option<String>,
    repeated: usize,
    first_repeated: Option<String>,
}

impl Survey {
    pub(crate) fn of(text: &str) -> Self {
        let mut survey = Self::default();
        survey.add(text);
        survey
    }

    /// Adds what another text holds.
    pub(crate) fn add(&mut self, text: &str) {
        // The keys seen so far of each open object; of an array none.
        let mut open: Vec<HashSet<&str>> = Vec::new();
        let mut last = None;
        for token in tokens(text) {
            match token.kind() {
                b'{' | b'[' => open.push(HashSet::new()),
                b'}' | b']' => drop(open.pop()),
                b':' => {
                    if let (Some(keys), Some(key)) = (open.last_mut(), last)
                        && !keys.insert(key)
                    {
                        self.repeated += 1;
                        self.first_repeated.get_or_insert_with(|| string_of(key));
                    }
                }
                _ if token.is_number() && is_rounded(token.raw) => {
                    self.rounded += 1;
                    self.first_rounded.get_or_insert_with(|| token.raw.to_owned());
                }
                _ => {}
            }
            last = Some(token.raw);
        }
    }

    /// What the value loses against the text.
    pub(crate) fn losses(self) -> Vec<ContextDiagnostic> {
        let loss = |code: &str, count: usize, first: Option<String>| {
            first.map(|first| {
                ContextDiagnostic::new(code, Severity::Warning).with("count", count).with("first", first)
            })
        };
        [
            loss("workspace.json_numbers_rounded", self.rounded, self.first_rounded),
            loss("workspace.json_keys_repeated", self.repeated, self.first_repeated),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Whether a number has other digits after a `Value` held it.
fn is_rounded(literal: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(literal) else { return true };
    let held = value.to_string();
    held != literal && Decimal::of(&held) != Decimal::of(literal)
}

/// A number by its digits: sign, digits without zeros at either end, and the power of ten of the last digit.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    power: i128,
}

impl Decimal {
    fn of(literal: &str) -> Self {
        let (number, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let all = [whole.trim_start_matches('-'), fraction].concat();
        let digits = all.trim_end_matches('0');
        // An exponent beyond any integer is beyond any float, too, and such a literal has no value at all.
        let exponent: i128 = exponent.parse().unwrap_or(i128::MAX / 2);
        let zeros = all.len() - digits.len();
        let power = exponent - length(fraction.len()) + length(zeros);
        let digits = digits.trim_start_matches('0').to_owned();
        let power = if digits.is_empty() { 0 } else { power };
        Self { negative: literal.starts_with('-'), digits, power }
    }
}

fn length(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_rounded_only_where_its_digits_change() {
        let kept = [
            "0",
            "-0",
            "0.10",
            "1e3",
            "1E+3",
            "-12.50e-2",
            "18446744073709551615",
            "1.7976931348623157e308",
            "0e99",
        ];
        let changed =
            ["18446744073709551616", "0.1000000000000000055", "3.14159265358979323846", "1e999", "1e-999"];
        for literal in kept {
            assert!(!is_rounded(literal), "{literal}");
        }
        for literal in changed {
            assert!(is_rounded(literal), "{literal}");
        }
    }
}
