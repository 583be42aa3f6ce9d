//! Short words that are compared: tags of capabilities and labels of limits.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Longest tag or label.
const WORD_BYTES_MAX: usize = 128;

fn check(text: &str) -> Result<(), &'static str> {
    if text.is_empty() || text.len() > WORD_BYTES_MAX {
        return Err("must have 1 to 128 characters");
    }
    if !text.bytes().all(|b| b.is_ascii_graphic() && !b"\"'\\,".contains(&b)) {
        return Err("may only have visible ASCII without quotes, backslashes and commas");
    }
    Ok(())
}

macro_rules! word {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Reads one.
            pub fn new(text: &str) -> Result<Self, &'static str> {
                check(text)?;
                Ok(Self(text.into()))
            }

            /// As it was written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

word!(
    /// What a runner has and a job needs: `os:linux`, `arch:x86_64`, `dotnet:9`.
    Tag
);
word!(
    /// What jobs of different runs share a limit by: `deploy:production`.
    Label
);
