//! Time, as an argument. Deadlines are compared with the orchestrator's database clock and nothing
//! else; what runners say about time is kept to be shown.

mod clock;

pub use clock::Clock;

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// Milliseconds since 1970 on the orchestrator's clock.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

/// Milliseconds on the lease clock, which stands still while no worker can be heard
/// ([`LeaseClock`](crate::lease::LeaseClock)).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct LeaseTime(pub u64);

macro_rules! seconds {
    ($($time:ident),+) => {$(
        impl $time {
            pub fn plus_seconds(self, seconds: u32) -> Self {
                Self(self.0.saturating_add(u64::from(seconds) * 1_000))
            }

            /// Whole seconds from `self` until `later`, rounded up: nobody is told that no time is left
            /// while some is. Zero if it has passed.
            pub fn seconds_until(self, later: Self) -> u32 {
                let millis = later.0.saturating_sub(self.0);
                u32::try_from(millis.div_ceil(1_000)).unwrap_or(u32::MAX)
            }
        }
    )+};
}
seconds!(Millis, LeaseTime);

impl Millis {
    /// For a message.
    pub fn timestamp(self) -> Timestamp {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        Timestamp(jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX))
    }
}

/// A time of day as messages have it (RFC 3339). Informational: nothing is decided by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub jiff::Timestamp);

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        let time = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        let text = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
        Schema::from(text.format(Some(time)).build()).into()
    }
}
impl ToSchema for Timestamp {}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_up() {
        assert_eq!(Millis(1_000).seconds_until(Millis(1_001)), 1);
        assert_eq!(Millis(1_000).seconds_until(Millis(3_000)), 2);
        assert_eq!(Millis(1_000).seconds_until(Millis(999)), 0);
    }

    #[test]
    fn timestamps_are_written_as_in_the_seed() {
        let text = r#""2026-01-04T08:00:00Z""#;
        let read: Timestamp = serde_json::from_str(text).expect("a time");
        assert_eq!(serde_json::to_string(&read).expect("json"), text);
        assert_eq!(Millis(1_767_513_600_000).timestamp(), read);
        assert!(serde_json::from_str::<Timestamp>(r#""yesterday""#).is_err());
    }
}
