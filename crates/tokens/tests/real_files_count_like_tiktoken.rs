//! The recorded counts, and every source and Markdown file of the workspace.

mod common;

use std::fs;
use std::path::Path;

use briefing_tokens::{Encoding, Tokenizer};
use common::{assert_counts_like_tiktoken, shared};

#[test]
fn the_recorded_counts_hold() {
    let Some(path) = shared("fixtures/tokens/golden.json") else { return };
    let golden: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let tokenizer = Tokenizer::new(Encoding::O200kBase);
    for case in golden.as_array().unwrap() {
        let text = case["text"].as_str().unwrap().repeat(case["repeat"].as_u64().unwrap() as usize);
        assert_eq!(tokenizer.count(&text) as u64, case["tokens"].as_u64().unwrap(), "{case}");
        assert_counts_like_tiktoken(&text, &case.to_string());
    }
}

#[test]
fn spellings_of_special_tokens_are_ordinary_text() {
    let tokenizer = Tokenizer::new(Encoding::O200kBase);
    assert_eq!(tokenizer.count("<|endoftext|>"), 7);
    let Some(path) = shared("fixtures/tokens/special.txt") else { return };
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(tokenizer.count(&text), 44);
    assert_counts_like_tiktoken(&text, "special.txt");
}

#[test]
fn every_text_of_the_workspace_counts_like_tiktoken() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = 0;
    visit(&root, &mut files);
    assert!(files > 20, "only {files} files under {}", root.display());
}

#[test]
fn the_shared_texts_count_like_tiktoken() {
    let Some(path) = shared("seeds") else { return };
    let mut files = 0;
    visit(&path, &mut files);
    assert!(files > 0, "no files under {}", path.display());
}

fn visit(folder: &Path, files: &mut usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            visit(&path, files);
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            // Another process may be writing the file; what was read is what is compared.
            if let Ok(text) = fs::read_to_string(&path) {
                assert_counts_like_tiktoken(&text, &path.display().to_string());
                *files += 1;
            }
        }
    }
}
