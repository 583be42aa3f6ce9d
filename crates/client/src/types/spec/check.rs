//! Checks in JSON: `{"NumericRange":{"field":"…","min":"…","max":"…"}}`.

use crate::types::scalar::HexAddress;
use crate::types::view::{ToView, view};
use core::fmt;
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::json::{Decimal, DecimalError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An exact decimal such as `-0.25`, in text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String")]
pub struct DecimalText(pub String);

impl fmt::Display for DecimalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl TryFrom<String> for DecimalText {
    type Error = DecimalError;
    fn try_from(text: String) -> Result<Self, DecimalError> {
        Decimal::parse_plain(&text).map(|_| Self(text))
    }
}
impl ToView for Decimal {
    type View = DecimalText;
    fn to_view(&self) -> DecimalText {
        DecimalText(self.to_string())
    }
}

view! {
    #[serde(deny_unknown_fields)]
    pub enum CheckView of VerifierCheck {
        /// Keeps the largest group of results that agree at a field.
        MajorityVote {
            /// Path of the field.
            field: String,
        },
        /// Keeps results that a schema accepts.
        JsonSchemaValid {
            /// The schema as JSON text.
            schema: String,
        },
        /// Keeps the largest group of results that agree at all of some fields.
        StructuredMatch {
            /// Paths of the fields, at least one.
            fields: Vec<String>,
        },
        /// Keeps results whose number is near the lower median.
        NumericTolerance {
            /// Path of the number.
            field: String,
            /// Largest distance from the lower median.
            tolerance: DecimalText,
        },
        /// Keeps results whose number is in a range.
        NumericRange {
            /// Path of the number.
            field: String,
            /// Lower end, included.
            min: DecimalText,
            /// Upper end, included.
            max: DecimalText,
        },
        /// Asks an actor's method.
        Custom {
            /// The actor that is called.
            actor: HexAddress,
            method: String,
        },
        /// Keeps results whose runner saw a TXT record.
        DnsTxtRecordMatch {
            /// The name that is looked up.
            fqdn: String,
            /// The value that one record must have.
            expected_value: String,
            /// Resolvers that a runner has to ask.
            min_resolvers: u32,
        },
        /// Keeps results whose runner saw a chain of CNAME records end at a target.
        DnsCnameMatch {
            /// The name that is looked up.
            fqdn: String,
            /// The name at which the chain must end.
            expected_target: String,
            /// Resolvers that a runner has to ask.
            min_resolvers: u32,
        },
    }
}
