//! Exact token counts, fast enough to count everything.
//!
//! This crate owns the counting of the encodings `o200k_base` and `cl100k_base`. The counts are those of tiktoken's
//! `encode_ordinary` on every text; the time is linear in the text, whatever it holds. It never gives out token ids,
//! never estimates, never fails and never treats a text such as `<|endoftext|>` as anything but text.
//!
//! ```
//! use briefing_core::TokenCounter;
//! use briefing_tokens::{Encoding, Tokenizer};
//!
//! let tokenizer = Tokenizer::new("o200k_base".parse()?);
//! assert_eq!(tokenizer.count("预算之内选择上下文"), 6);
//! assert_eq!(tokenizer.count("fn main() {\n    println!(\"{}\", 1);\n}\n"), 11);
//! assert_eq!(tokenizer.count_up_to("one two three", 2), None);
//!
//! let counter: &dyn TokenCounter = &tokenizer;
//! assert_eq!(counter.encoding(), "o200k_base");
//! assert_eq!(counter.count("hello world")?, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! How it is fast: the pre-tokenizers are written out by hand instead of as regular expressions, pieces that were
//! counted before are looked up, and long pieces of a script without spaces are cut where no token can span. The
//! rest is encoded by [`bpe_openai`], in linear time.

mod cache;
mod classes;
mod encoding;
mod joins;
mod pieces;
mod runs;
mod seams;
mod tokenizer;

pub use encoding::{Encoding, UnknownEncoding};
pub use joins::joins_exactly;
pub use tokenizer::Tokenizer;
