//! Whom the registry asks.

use std::sync::Arc;

use briefing_core::media::MediaKind;
use briefing_task_workspace::handler::{
    FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError, Handlers, TextHandler,
};

#[derive(Debug)]
struct Named(&'static str, i32);

impl FileHandler for Named {
    fn id(&self) -> &str {
        self.0
    }

    fn priority(&self) -> i32 {
        self.1
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        file.has_suffix(&["json"])
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        TextHandler.read(bytes, request)
    }
}

fn asked(handlers: &Handlers, path: &str, kind: MediaKind, media_type: Option<&str>) -> Vec<String> {
    let file = FileFacts { path, kind, media_type };
    handlers.for_file(&file).iter().map(|handler| handler.id().to_owned()).collect()
}

#[test]
fn the_handler_of_the_format_is_asked_before_the_one_of_any_text() {
    let handlers = Handlers::default();
    let first = |path: &str, media_type| asked(&handlers, path, MediaKind::Text, media_type).concat();
    assert_eq!(first("a/Plan.JSON", None), "jsontext");
    assert_eq!(first("a.jsonl", Some("application/json")), "json-linesjsontext");
    assert_eq!(first("a.ipynb", Some("application/x-ipynb+json")), "notebookjsontext");
    assert_eq!(first("a", Some("application/problem+json; charset=utf-8")), "jsontext");
    assert_eq!(first("a.b/table", Some("Text/CSV")), "csvtext");
    assert_eq!(first("t.tsv", None), "tsvtext");
    assert_eq!(first("README.md", None), "markdowntext");
    assert_eq!(first("main.rs", None), "text");
    assert_eq!(first(".json", None), "text");
}

#[test]
fn nobody_is_asked_for_what_is_no_text() {
    for kind in
        [MediaKind::Binary, MediaKind::Image, MediaKind::Unknown, MediaKind::Unspecified, MediaKind::Pdf]
    {
        assert_eq!(asked(&Handlers::default(), "a.json", kind, None), Vec::<String>::new(), "{kind:?}");
    }
}

#[test]
fn lower_priorities_come_first_and_ties_go_by_id() {
    let mut handlers = Handlers::default();
    for handler in [Named("late", 999), Named("b", 7), Named("a", 7), Named("first", -1)] {
        handlers.register(Arc::new(handler)).unwrap();
    }
    let order = asked(&handlers, "x.json", MediaKind::Text, None);
    assert_eq!(order, ["first", "a", "b", "json", "text", "late"]);
    assert_eq!(handlers.ids().take(3).collect::<Vec<_>>(), ["first", "a", "b"]);
}

#[test]
fn a_repeated_id_is_refused_and_an_unregistered_handler_gives_way_to_the_next() {
    let mut handlers = Handlers::default();
    let error = handlers.register(Arc::new(Named("json", 1))).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("\"json\"")), ("workspace.handler_duplicate", true));

    let taken = handlers.unregister("json").unwrap();
    assert_eq!(taken.id(), "json");
    assert!(handlers.unregister("json").is_none());
    assert_eq!(asked(&handlers, "x.json", MediaKind::Text, None), ["text"]);

    handlers.register(Arc::new(Named("json", 1))).unwrap();
    assert_eq!(handlers.get("json").unwrap().priority(), 1);
}

#[test]
fn a_clone_is_a_registry_of_its_own() {
    let handlers = Handlers::default();
    let mut other = handlers.clone();
    other.unregister("text").unwrap();
    assert!(handlers.get("text").is_some());
    assert_eq!(Handlers::empty().ids().count(), 0);
}

#[test]
fn a_handler_that_does_not_say_how_to_write_does_not() {
    let error = Named("reads", 1).write(None, &FormatValue::from("x")).unwrap_err();
    assert_eq!(error.code(), "workspace.handler_unsupported");
    assert_eq!(error.to_string(), "the handler reads does not write a text");
}
