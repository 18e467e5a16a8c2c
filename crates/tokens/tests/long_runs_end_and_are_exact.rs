//! Inputs at which tokenizers turn quadratic, run out of stack or panic.

mod common;

use std::fs;

use briefing_tokens::{Encoding, Tokenizer};
use common::shared;
use proptest::prelude::*;

const MEGABYTE: usize = 1_000_000;

/// A linear engine without our shortcuts. It splits like tiktoken except for trailing white space in cl100k.
fn linear(encoding: Encoding, text: &str) -> usize {
    match encoding {
        Encoding::Cl100kBase => bpe_openai::cl100k_base().count(text),
        _ => bpe_openai::o200k_base().count(text),
    }
}

#[test]
fn a_megabyte_of_anything_ends_and_is_exact() {
    let pseudo_base64 = || {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = 1_u32;
        (0..MEGABYTE / 4)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(alphabet[(state >> 26) as usize])
            })
            .collect::<String>()
    };
    let repeated = [
        "a",
        "=",
        "/",
        "-",
        "\t",
        " ",
        "\u{3000}",
        "\n",
        "\r\n",
        "!",
        "_",
        "=-",
        "中",
        "中文字",
        "é",
        "e\u{301}",
    ];
    let mut texts: Vec<String> = repeated.iter().map(|unit| unit.repeat(MEGABYTE / unit.len())).collect();
    texts.push("\t".repeat(MEGABYTE) + "x");
    texts.push(pseudo_base64());
    texts.push(("=".repeat(700) + "-").repeat(200));
    for text in &texts {
        for encoding in Encoding::ALL {
            let start: String = text.chars().take(4).collect();
            assert_eq!(Tokenizer::new(encoding).count(text), linear(encoding, text), "{encoding} {start:?}…");
        }
    }
}

#[test]
fn white_space_that_breaks_backtracking_engines_follows_the_arithmetic_of_its_longest_token() {
    // 128 spaces are one token of o200k, and a longer run of spaces is made of those.
    let tokenizer = Tokenizer::new(Encoding::O200kBase);
    for tokens in [8_000, 16_000] {
        assert_eq!(tokenizer.count(&" ".repeat(128 * tokens)), tokens);
    }
}

#[test]
fn the_recipes_end() {
    let Some(path) = shared("fixtures/tokens/recipes.json") else { return };
    let recipes: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for recipe in recipes.as_array().unwrap().iter().filter(|recipe| recipe["bug"] == "BL-45") {
        let text = recipe["text"].as_str().unwrap().repeat(recipe["repeat"].as_u64().unwrap() as usize);
        for encoding in Encoding::ALL {
            assert_eq!(Tokenizer::new(encoding).count(&text), linear(encoding, &text), "{encoding} {recipe}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs_within_a_piece_are_exact_at_every_length(
        parts in prop::collection::vec(("[-=/ab\\t ~!*#_\\n]", prop_oneof![1..6_usize, 200..1_800_usize]), 1..5),
    ) {
        let text: String = parts.iter().map(|(unit, times)| unit.repeat(*times)).collect();
        for encoding in Encoding::ALL {
            // A last letter keeps the white space before it from being trailing.
            let text = format!("{text}x");
            prop_assert_eq!(Tokenizer::new(encoding).count(&text), linear(encoding, &text), "{}", encoding);
        }
    }
}
