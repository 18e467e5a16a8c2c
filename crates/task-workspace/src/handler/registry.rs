//! The handlers of one workspace, and whom to ask for a file.

use std::sync::Arc;

use super::{
    CsvHandler, FileFacts, FileHandler, HandlerError, JsonHandler, JsonLinesHandler, MarkdownHandler,
    NotebookHandler, TextHandler,
};

/// The handlers of one workspace. [`Handlers::default`] holds the built-in ones; a clone is a registry of its own that
/// shares the handlers.
#[derive(Debug, Clone)]
pub struct Handlers {
    /// In the order in which they are asked.
    handlers: Vec<Arc<dyn FileHandler>>,
}

impl Default for Handlers {
    fn default() -> Self {
        let mut handlers = Self::empty();
        handlers.handlers = vec![
            Arc::new(NotebookHandler),
            Arc::new(JsonLinesHandler),
            Arc::new(JsonHandler),
            Arc::new(CsvHandler::tabs()),
            Arc::new(CsvHandler::sniffing()),
            Arc::new(MarkdownHandler),
            Arc::new(TextHandler),
        ];
        handlers.sort();
        handlers
    }
}

impl Handlers {
    /// A registry without any handler.
    #[must_use]
    pub fn empty() -> Self {
        Self { handlers: Vec::new() }
    }

    /// Adds a handler.
    ///
    /// # Errors
    /// [`HandlerError::Duplicate`] where its id is taken. To replace a handler, [unregister](Self::unregister) it first.
    pub fn register(&mut self, handler: Arc<dyn FileHandler>) -> Result<(), HandlerError> {
        if self.ids().any(|id| id == handler.id()) {
            return Err(HandlerError::Duplicate { id: handler.id().to_owned() });
        }
        self.handlers.push(handler);
        self.sort();
        Ok(())
    }

    /// Takes a handler out and returns it; the next one that matches is asked from then on. `None` where nobody has the
    /// id.
    pub fn unregister(&mut self, id: &str) -> Option<Arc<dyn FileHandler>> {
        let at = self.handlers.iter().position(|handler| handler.id() == id)?;
        Some(self.handlers.remove(at))
    }

    /// The handlers that match a file, in the order in which they are to be asked.
    #[must_use]
    pub fn for_file(&self, file: &FileFacts<'_>) -> Vec<Arc<dyn FileHandler>> {
        self.handlers.iter().filter(|handler| handler.matches(file)).cloned().collect()
    }

    /// The handler with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<dyn FileHandler>> {
        self.handlers.iter().find(|handler| handler.id() == id)
    }

    /// The ids, in the order in which the handlers are asked.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.handlers.iter().map(|handler| handler.id())
    }

    fn sort(&mut self) {
        self.handlers.sort_by(|a, b| (a.priority(), a.id()).cmp(&(b.priority(), b.id())));
    }
}
