//! Checks in JSON: `{"NumericRange":{"field":"…","min":"…","max":"…"}}`.

use crate::types::scalar::HexAddress;
use core::fmt;
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::json::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An exact decimal such as `-0.25`, in text. It is read only when the job is: an error then names
/// the field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct DecimalText(pub String);

impl fmt::Display for DecimalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl From<Decimal> for DecimalText {
    fn from(decimal: Decimal) -> Self {
        Self(decimal.to_string())
    }
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub enum CheckView {
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
    /// Asks an actor.
    Custom {
        /// The actor that is called.
        actor: HexAddress,
        /// Its method.
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

impl From<&VerifierCheck> for CheckView {
    fn from(check: &VerifierCheck) -> Self {
        match check.clone() {
            VerifierCheck::MajorityVote { field } => Self::MajorityVote { field },
            VerifierCheck::JsonSchemaValid { schema } => Self::JsonSchemaValid { schema },
            VerifierCheck::StructuredMatch { fields } => Self::StructuredMatch { fields },
            VerifierCheck::NumericTolerance { field, tolerance } => {
                Self::NumericTolerance { field, tolerance: tolerance.into() }
            }
            VerifierCheck::NumericRange { field, min, max } => {
                Self::NumericRange { field, min: min.into(), max: max.into() }
            }
            VerifierCheck::Custom { actor, method } => {
                Self::Custom { actor: HexAddress(actor), method }
            }
            VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers } => {
                Self::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers }
            }
            VerifierCheck::DnsCnameMatch { fqdn, expected_target, min_resolvers } => {
                Self::DnsCnameMatch { fqdn, expected_target, min_resolvers }
            }
        }
    }
}
