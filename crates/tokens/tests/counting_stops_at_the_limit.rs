//! `count_up_to` gives the exact count up to the limit and nothing above it.

mod common;

use briefing_tokens::{Encoding, Tokenizer};
use common::any_text;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_count_is_given_exactly_where_it_is_within_the_limit(text in any_text(), below in 0..40_usize) {
        for encoding in Encoding::ALL {
            let tokenizer = Tokenizer::new(encoding);
            let count = tokenizer.count(&text);
            prop_assert_eq!(tokenizer.count_up_to(&text, count), Some(count));
            prop_assert_eq!(tokenizer.count_up_to(&text, count + 1), Some(count));
            prop_assert_eq!(tokenizer.count_up_to(&text, usize::MAX), Some(count));
            if let Some(limit) = count.checked_sub(below + 1) {
                prop_assert_eq!(tokenizer.count_up_to(&text, limit), None);
            }
        }
    }
}

#[test]
fn nothing_fits_a_limit_of_zero_but_the_empty_text() {
    for encoding in Encoding::ALL {
        let tokenizer = Tokenizer::new(encoding);
        assert_eq!(tokenizer.count_up_to("", 0), Some(0));
        assert_eq!(tokenizer.count_up_to("a", 0), None);
        assert_eq!(tokenizer.count_up_to(&" ".repeat(1_000_000), 0), None);
    }
}

#[test]
fn a_piece_that_is_too_long_for_the_limit_is_not_encoded() {
    let text = "ab".repeat(32_000_000);
    for encoding in Encoding::ALL {
        assert_eq!(Tokenizer::new(encoding).count_up_to(&text, 1_000), None);
    }
}
