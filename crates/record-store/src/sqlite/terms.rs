//! Terms: what the text of a record is found by, as the full-text table holds it.

use briefing_analysis::Analyzer;

use crate::RecordContent;

/// Makes the text that the full-text table indexes: the terms of the analyser with spaces between them. The table's own
/// tokenizer only takes them apart again.
#[derive(Debug, Default)]
pub(super) struct Terms {
    analyzer: Analyzer,
}

impl Terms {
    pub(super) fn of_text(&mut self, text: &str) -> String {
        let mut terms = String::with_capacity(text.len() + text.len() / 4);
        self.analyzer.each_term(text, |term, _| {
            terms.push_str(term);
            terms.push(' ');
        });
        terms
    }

    pub(super) fn of_content(&mut self, content: &RecordContent) -> String {
        match content {
            RecordContent::Text(text) => self.of_text(text),
            RecordContent::Json(_) => self.of_text(&content.search_text()),
            RecordContent::Bytes(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The table's tokenizer splits at every ASCII sign that it is not told to keep.
        #[test]
        fn terms_hold_no_sign_at_which_the_table_would_split_them(text in "\\PC{0,40}[ -~]{0,40}") {
            let terms = Terms::default().of_text(&text);
            for term in terms.split(' ') {
                let splits = term.bytes().any(|byte| {
                    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"+#.".contains(&byte)
                });
                prop_assert!(!splits, "{term:?} of {text:?}");
            }
        }
    }
}
