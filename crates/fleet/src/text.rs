//! Validated short texts: one type each, checked on construction.

/// Defines a text type. `$check` validates it, `$show` makes what `Debug` and `Display` print; only
/// serialising reveals all of it.
macro_rules! bounded_text {
    ($(#[$doc:meta])* $name:ident, $error:ty, $check:expr, $show:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            pub fn new(text: &str) -> Result<Self, $error> {
                let check: fn(&str) -> Result<(), $error> = $check;
                check(text)?;
                Ok(Self(text.into()))
            }

            /// The whole text. Never log it if it is a secret.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let show: fn(&str, &mut std::fmt::Formatter<'_>) -> std::fmt::Result = $show;
                show(&self.0, f)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::text::string_schema()
            }
        }
        impl utoipa::ToSchema for $name {}

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(json)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use bounded_text;

/// For texts that are no secrets.
pub(crate) fn plain(text: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    f.write_str(text)
}

/// Its schema.
pub(crate) fn string_schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
    use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
    let text = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
    Schema::from(text.build()).into()
}
