//! Lists, page by page.

use serde::{Deserialize, Serialize};

use crate::{Error, RecordFilter, RecordRef};

/// The order of a list: that in which the records were first put, as the store counts it, whatever the clock said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The latest first.
    #[default]
    Newest,
    /// The earliest first.
    Oldest,
}

/// What to list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListRequest {
    /// Which records.
    pub filter: RecordFilter,
    /// In which order.
    pub order: Order,
    /// The most records of a page.
    pub limit: usize,
    /// Where the page begins: the [`next`](RecordPage::next) of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<RecordCursor>,
}

impl Default for ListRequest {
    fn default() -> Self {
        Self { filter: RecordFilter::new(), order: Order::Newest, limit: 100, after: None }
    }
}

impl ListRequest {
    /// The newest hundred of the records that a filter means.
    #[must_use]
    pub fn of(filter: RecordFilter) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Sets the order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets the most records of a page.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Begins after a page.
    #[must_use]
    pub fn after(mut self, cursor: Option<RecordCursor>) -> Self {
        self.after = cursor;
        self
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.limit == 0 {
            return Err(briefing_core::Error::invalid("limit", 0, "at least 1").into());
        }
        Ok(())
    }
}

/// Where a page ends: the place of its last record in the order of the store. A record that is put or deleted meanwhile
/// makes a list neither repeat nor skip another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordCursor(pub(crate) u64);

impl RecordCursor {
    /// The cursor as a number that rises with the order of the store.
    #[must_use]
    pub fn place(self) -> u64 {
        self.0
    }

    /// The cursor at a place that [`place`](Self::place) gave.
    #[must_use]
    pub fn at(place: u64) -> Self {
        Self(place)
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordPage {
    /// The records.
    pub records: Vec<RecordRef>,
    /// Where the next page begins; `None` on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<RecordCursor>,
}
