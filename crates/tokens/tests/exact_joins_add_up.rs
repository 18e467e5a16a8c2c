//! Where `joins_exactly` says so, the counts of two texts add up.

mod common;

use briefing_tokens::{Encoding, Tokenizer, joins_exactly};
use common::any_text;
use proptest::prelude::*;

fn assert_adds_up(left: &str, right: &str) -> Result<(), TestCaseError> {
    for encoding in Encoding::ALL {
        let tokenizer = Tokenizer::new(encoding);
        let apart = tokenizer.count(left) + tokenizer.count(right);
        prop_assert_eq!(
            tokenizer.count(&[left, right].concat()),
            apart,
            "{}: {:?} | {:?}",
            encoding,
            left,
            right
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_new_line_that_begins_with_a_visible_char_adds_up(
        left in any_text(), end in "[\\r\\n]", right in any_text(),
    ) {
        let left = left + &end;
        let right = right.trim_start().trim_start_matches('/');
        prop_assume!(right.chars().next().is_some_and(|first| !first.is_whitespace()));
        prop_assert!(joins_exactly(&left, right));
        assert_adds_up(&left, right)?;
    }

    #[test]
    fn a_new_line_that_begins_with_an_indent_adds_up(
        left in any_text(), end in "[\\r\\n]", indent in "[ \\t\\u{a0}\\u{3000}\\u{2028}\\u{85}\\x0b\\x0c]{1,5}",
        slashes in "/{0,2}", right in any_text(),
    ) {
        let right = indent + &slashes + right.trim_start();
        prop_assume!(!right.trim_start().is_empty());
        let left = left + &end;
        prop_assert!(joins_exactly(&left, &right));
        assert_adds_up(&left, &right)?;
    }

    #[test]
    fn whatever_is_promised_holds(left in any_text(), right in any_text()) {
        if joins_exactly(&left, &right) {
            assert_adds_up(&left, &right)?;
        }
    }
}

#[test]
fn what_does_not_add_up_is_not_promised() {
    for (left, right) in
        [("to", "day"), (";\n", "//"), ("a\n", "\nb"), ("a\n", "  "), ("a\n", " \n b"), ("a ", "b")]
    {
        assert!(!joins_exactly(left, right), "{left:?} | {right:?}");
    }
    for (left, right) in [("", "day"), ("to", ""), ("", ""), ("a\n", "b"), ("a\r", " /b"), ("a\n", "\u{301}")]
    {
        assert!(joins_exactly(left, right), "{left:?} | {right:?}");
    }
}
