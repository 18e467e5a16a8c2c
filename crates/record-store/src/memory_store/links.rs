//! Links, in the order in which they were made.

use std::sync::Arc;

use async_trait::async_trait;

use super::{MemoryBackend, State, in_range};
use crate::port::Links;
use crate::{Error, LinkFilter, NewLink, RecordFilter, RecordLink};

impl State {
    /// Refuses a link whose ends are not in the view.
    pub(super) fn check_link(&self, view: &RecordFilter, link: &RecordLink) -> Result<(), Error> {
        self.seen(view, &link.source)?;
        self.seen(view, &link.target)?;
        in_range(link.created_at_millis)?;
        Ok(())
    }

    fn sees(&self, view: &RecordFilter, link: &RecordLink) -> bool {
        self.seen(view, &link.source).is_ok() && self.seen(view, &link.target).is_ok()
    }
}

#[async_trait]
impl Links for MemoryBackend {
    async fn link_many(&self, view: &RecordFilter, links: Vec<NewLink>) -> Result<Vec<RecordLink>, Error> {
        let mut state = self.state();
        let mut made = Vec::with_capacity(links.len());
        for NewLink { source, target, relation, meta } in links {
            let id = self.environment.new_id("link");
            let created_at_millis = self.environment.now_unix_millis();
            let link = RecordLink { id, source, target, relation, created_at_millis, meta };
            state.check_link(view, &link)?;
            made.push(link);
        }
        state.links.extend(made.iter().cloned().map(Arc::new));
        Ok(made)
    }

    async fn links(&self, view: &RecordFilter, filter: &LinkFilter) -> Result<Vec<RecordLink>, Error> {
        let state = self.state();
        let found = state.links.iter().filter(|link| filter.admits(link) && state.sees(view, link));
        Ok(found.map(|link| RecordLink::clone(link)).collect())
    }

    async fn unlink(&self, view: &RecordFilter, id: &str) -> Result<bool, Error> {
        let mut state = self.state();
        let at = state.links.iter().position(|link| link.id == id && state.sees(view, link));
        if let Some(at) = at {
            state.links.remove(at);
        }
        Ok(at.is_some())
    }
}
