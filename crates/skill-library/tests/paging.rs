//! Windows are exact in chars: joined they are the text, whatever their size.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_core::{ContextSource, ReadRequest};
use briefing_skill_library::{InstallOptions, SkillLibrary, SkillRevisionRef, TextWindow};
use common::{Home, required, skill, source_ref};
use proptest::prelude::*;

fn installed(library: &SkillLibrary, bytes: &[u8]) -> SkillRevisionRef {
    let files = [("SKILL.md", skill("pump", "# A\n").into_bytes()), ("references/a.txt", bytes.to_vec())];
    library.install_files(files, InstallOptions::trusted()).unwrap().revision.revision_ref
}

fn joined(library: &SkillLibrary, revision: &SkillRevisionRef, step: usize) -> String {
    let (mut text, mut start) = (String::new(), 0);
    loop {
        let page = library.read(revision, "references/a.txt", TextWindow::chars(start, step)).unwrap();
        assert!(page.text.chars().count() <= step && page.start_char == start);
        text.push_str(&page.text);
        match page.next_char {
            Some(next) => {
                assert!(next > start);
                start = next;
            }
            None => {
                assert_eq!(page.total_chars, text.chars().count());
                return text;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pages_of_any_size_are_the_text(text in "[a-z水泵é🦀\u{301}\r\n ]{0,200}", step in 1_usize..40) {
        let home = Home::new();
        let revision = installed(&home.library(), text.as_bytes());
        prop_assert_eq!(joined(&home.library(), &revision, step), text);
    }
}

#[tokio::test]
async fn the_source_pages_as_the_library_does() {
    let home = Home::new();
    let library = home.library();
    let text = "\u{6c34}\u{6cf5}\u{1f980}é".repeat(100);
    let revision = installed(&library, format!("\u{feff}{text}").as_bytes());
    // A byte order mark is no char of the text, and shifts no page.
    assert_eq!(joined(&library, &revision, 7), text);
    let source = required(&library, &revision);
    let (mut all, mut start) = (String::new(), 0);
    loop {
        let request = ReadRequest::whole(7).starting_at(start);
        let page = source.read_exact(&source_ref(&revision, "references/a.txt"), &request).await.unwrap();
        all.push_str(&page.content.to_text().unwrap());
        match page.next_range_start {
            Some(next) => start = next,
            None => break,
        }
    }
    assert_eq!(all, text);
}

#[test]
fn a_window_of_nothing_and_what_is_no_text_are_errors() {
    let home = Home::new();
    let library = home.library();
    let revision = installed(&library, b"\0\x01\x02\xff");
    let read = |window| library.read(&revision, "references/a.txt", window);
    assert_eq!(read(TextWindow::whole()).unwrap_err().code(), "skill.not_text");
    assert_eq!(library.read_bytes(&revision, "references/a.txt").unwrap(), b"\0\x01\x02\xff");
    let empty = library.read(&revision, "SKILL.md", TextWindow::chars(0, 0));
    assert_eq!(empty.unwrap_err().code(), "skill.empty_window");
    let missing = library.read(&revision, "references/b.txt", TextWindow::whole());
    assert_eq!(missing.unwrap_err().code(), "skill.no_such_file");
    let beyond = library.read(&revision, "SKILL.md", TextWindow::chars(10_000, 5)).unwrap();
    assert_eq!((beyond.text.as_str(), beyond.next_char), ("", None));
}
