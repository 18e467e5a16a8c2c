//! Newtypes for the ids that cross crate walls: cheap to clone, never blank.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Error;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $field:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes any text that is not blank, unchanged.
            ///
            /// # Errors
            /// [`Error::Blank`] where the text is empty or only white space.
            pub fn new(value: impl AsRef<str>) -> Result<Self, Error> {
                let value = value.as_ref();
                if value.trim().is_empty() {
                    return Err(Error::Blank { field: $field });
                }
                Ok(Self(Arc::from(value)))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;
            fn try_from(value: String) -> Result<Self, Error> {
                Self::new(value)
            }
        }

        impl std::str::FromStr for $name {
            type Err = Error;
            fn from_str(value: &str) -> Result<Self, Error> {
                Self::new(value)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = Error;
            fn try_from(value: &str) -> Result<Self, Error> {
                Self::new(value)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0.to_string()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }
    };
}

id!(/// Names one `TaskContext`.
    TaskContextId, "task_context_id");
id!(/// Names the task that a `TaskContext` serves.
    TaskId, "task_id");
id!(/// Names an entry or a source binding inside one `TaskContext`; both share one name space.
    BindingId, "binding_id");
id!(/// Names a source, stable across restarts.
    SourceId, "source_id");
id!(/// What sort of source it is (`task_workspace`, `record_store`, …); free text, chosen by the adapter.
    SourceKind, "source_kind");
id!(/// Names one piece of content inside a source.
    SourceRef, "source_ref");
id!(/// A source's version of everything it offers; compared for equality only.
    Revision, "revision");
id!(/// Names one descriptor inside a source; unique within a revision.
    DescriptorKey, "descriptor_key");
id!(/// Names one record of a store.
    RecordId, "record_id");
id!(/// Names one run of a task; its checkpoints, snapshots, lease and events are kept under it.
    RunId, "run_id");
id!(/// Names one package.
    PackageId, "package_id");
id!(/// Names one block inside a package.
    BlockId, "block_id");
id!(/// Names the request that consumed a package.
    RequestId, "request_id");
id!(/// Names the consumer that a reader serves.
    ConsumerId, "consumer_id");
id!(/// The phase of the task that a reader serves: free text; the usual ones are `direct`, `planning`, `execution`,
    /// `card`, `repair`, `verification` and `synthesis`.
    Phase, "phase");
id!(/// Which projection of a source's content its descriptors show; the usual one is `default`.
    ProjectionProfile, "projection_profile");

impl ProjectionProfile {
    /// The projection named `default`.
    #[must_use]
    pub fn standard() -> Self {
        Self(Arc::from("default"))
    }
}

impl Phase {
    /// The phase named `direct`.
    #[must_use]
    pub fn direct() -> Self {
        Self(Arc::from("direct"))
    }
}
