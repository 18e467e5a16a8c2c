//! The tokenizer behind the `TokenCounter` port, from many threads at once.

use briefing_core::TokenCounter;
use briefing_tokens::{Encoding, Tokenizer, UnknownEncoding};

#[test]
fn the_port_gives_the_name_and_the_count_of_its_encoding() {
    for encoding in Encoding::ALL {
        let counter: Box<dyn TokenCounter> = Box::new(Tokenizer::new(encoding));
        assert_eq!(counter.encoding().parse(), Ok(encoding));
        assert_eq!(counter.count("hello world").unwrap(), 2);
        assert_eq!(counter.count("").unwrap(), 0);
    }
}

#[test]
fn unknown_names_are_refused_with_what_would_be_accepted() {
    for name in ["", "gpt-4o", "O200K_BASE", "o200k_base "] {
        let error: UnknownEncoding = name.parse::<Encoding>().unwrap_err();
        assert_eq!((error.found(), error.code()), (name, "encoding.unknown"));
        assert!(error.to_string().contains("o200k_base or cl100k_base"), "{error}");
    }
}

#[test]
fn threads_agree() {
    let text = include_str!("the_port_is_served.rs");
    for encoding in Encoding::ALL {
        let expected = Tokenizer::new(encoding).count(text);
        let counts: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Tokenizer::new(encoding).count(text))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(counts, [expected; 8]);
    }
}
