//! What the names in a content stream refer to.

use lopdf::{Dictionary, Document, Object, ObjectId};

/// The resources of a page or form, the nearest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Resources<'a>(Vec<&'a Dictionary>);

impl<'a> Resources<'a> {
    pub(super) fn of_page(page: ObjectId, document: &'a Document) -> Self {
        let Ok((own, referred)) = document.get_page_resources(page) else { return Self::default() };
        let referred = referred.into_iter().filter_map(|id| document.get_dictionary(id).ok());
        Self(own.into_iter().chain(referred).collect())
    }

    /// Of a form: its own, or those of where it is drawn (ISO 32000-1, 7.8.3).
    pub(super) fn of_form(form: &'a Dictionary, around: &Self, document: &'a Document) -> Self {
        match form.get_deref(b"Resources", document).and_then(Object::as_dict) {
            Ok(own) => Self(vec![own]),
            Err(_) => around.clone(),
        }
    }

    pub(super) fn find(&self, category: &[u8], name: &[u8], document: &'a Document) -> Option<&'a Object> {
        self.0.iter().find_map(|resources| {
            let entries = resources.get_deref(category, document).ok()?.as_dict().ok()?;
            entries.get_deref(name, document).ok()
        })
    }
}
