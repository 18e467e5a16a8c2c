//! What a piece of context is for, how much of it there is, and in which form.

/// Declares an enum whose values are words: JSON, `Display` and `FromStr` all use the same spelling.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $field:literal { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word that JSON and reports use.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::Error;
            fn from_str(word: &str) -> Result<Self, $crate::Error> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word).ok_or_else(|| {
                    $crate::Error::invalid($field, format!("{word:?}"), concat!("one of" $(, " ", $word)+))
                })
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a piece of context is for.
    Role, "role" {
        /// Tells the consumer what to do.
        Instruction = "instruction",
        /// Tells the consumer something.
        Information = "information",
        /// Shows the consumer how something looks.
        Example = "example",
        /// Where the task stands.
        State = "state",
        /// A result of the task.
        Artifact = "artifact",
        /// Something that the consumer can use.
        Capability = "capability",
        /// Says what else there is.
        Index = "index",
    }
}

words! {
    /// How much of the content a block or a read carries.
    Completeness, "completeness" {
        /// All of it.
        Complete = "complete",
        /// A part of it, cut at a limit.
        Truncated = "truncated",
        /// None of it: the ref alone.
        RefOnly = "ref_only",
        /// There was nothing to carry.
        Empty = "empty",
        /// It could not be read.
        Failed = "failed",
        /// A shortened account of all of it.
        Lossy = "lossy",
    }
}

words! {
    /// The form in which content is asked for or delivered.
    Representation, "representation" {
        /// Text that a parser took out of a document.
        ParsedText = "parsed_text",
        /// A bounded outline of required content that is too large.
        LossyDigest = "lossy_digest",
        /// A picture, for a consumer that takes pictures.
        ImageAttachment = "image_attachment",
    }
}
