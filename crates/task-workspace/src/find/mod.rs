//! Finding files: by listing, by glob, by what they hold.

mod grep;
mod list;
mod search;
mod text_of;

pub use self::grep::{GrepCursor, GrepMatch, GrepPage, GrepRequest};
pub use self::list::{EntryKind, ListRequest, Listing, ListingEntry};
pub use self::search::{SearchHit, SearchPage, SearchRequest};
