//! Whatever the text is, the count is that of tiktoken's `encode_ordinary`.

mod common;

use briefing_tokens::{Encoding, Tokenizer};
use common::{any_text, assert_counts_like_tiktoken, tiktoken};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_tiktoken(text in any_text()) {
        for encoding in Encoding::ALL {
            let expected = tiktoken(encoding).encode_ordinary(&text).len();
            prop_assert_eq!(Tokenizer::new(encoding).count(&text), expected, "{}: {:?}", encoding, text);
        }
    }

    #[test]
    fn any_bytes_that_are_text_count_like_tiktoken(text in any::<String>()) {
        for encoding in Encoding::ALL {
            let expected = tiktoken(encoding).encode_ordinary(&text).len();
            prop_assert_eq!(Tokenizer::new(encoding).count(&text), expected, "{}: {:?}", encoding, text);
        }
    }
}

#[test]
fn every_char_counts_like_tiktoken_wherever_it_stands() {
    // The planes that have assigned chars; private use above them has one class throughout.
    let chars: Vec<char> = ('\0'..'\u{33480}').chain('\u{e0000}'..'\u{e0200}').collect();
    for chunk in chars.chunks(64) {
        let mut text = String::new();
        for c in chunk {
            text.extend(["a", "b", " ", "A", "'", "\n"].map(|around| format!("{around}{c}")));
        }
        assert_counts_like_tiktoken(&text, &format!("{:?} and the 63 after it", chunk[0]));
    }
}

#[test]
fn trailing_white_space_with_a_newline_in_it_is_counted_as_each_encoding_does() {
    for text in ["a\n  ", "a \n\t", "\n ", " \r\n ", "x\n\u{3000}", "a\n  b", "a;\n/ ", "\n\n   \n  "] {
        assert_counts_like_tiktoken(text, &format!("{text:?}"));
    }
}
