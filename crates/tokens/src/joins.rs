//! Where counts simply add up.

/// Whether `left` and `right` are guaranteed to join without a change: in every encoding,
/// `count(left + right) == count(left) + count(right)`.
///
/// That is so where `left` ends in `\n` or `\r` and `right` begins
/// - with a char that is neither white space nor `/`, or
/// - with white space that has no `\n` or `\r` in it, followed by a char that is not white space;
///
/// and where either of them is empty. `false` only says that nothing is guaranteed.
///
/// The reason is in the pre-tokenizers' expressions, whose pieces are encoded apart. No alternative can match across
/// that place, nor does what stands behind it change what matches before it: white space with newlines in it is a
/// piece up to its last newline (`\s*[\r\n]+`), the newlines behind punctuation are taken together with slashes at
/// most (`[\r\n/]*`), and the char that may lead a word is never a newline (`[^\r\n\p{L}\p{N}]?`).
///
/// So a document whose parts start and end like that can be counted part by part, and each part only once.
///
/// ```
/// use briefing_tokens::{Encoding, Tokenizer, joins_exactly};
///
/// let (left, right) = ("fn main() {\n", "    run();\n}\n");
/// assert!(joins_exactly(left, right));
/// let tokenizer = Tokenizer::new(Encoding::O200kBase);
/// assert_eq!(tokenizer.count(&[left, right].concat()), tokenizer.count(left) + tokenizer.count(right));
///
/// assert!(!joins_exactly("to", "day"));
/// assert!(!joins_exactly("}\n", "// and more"));
/// assert!(!joins_exactly("}\n", "\n"));
/// ```
#[must_use]
pub fn joins_exactly(left: &str, right: &str) -> bool {
    let Some(first) = right.chars().next() else { return true };
    if left.is_empty() {
        return true;
    }
    if !left.ends_with(['\n', '\r']) {
        return false;
    }
    if !first.is_whitespace() {
        return first != '/';
    }
    let word = right.trim_start();
    let indent = right.strip_suffix(word).unwrap_or_default();
    !word.is_empty() && !indent.contains(['\n', '\r'])
}
