//! The checks of a job: what a submitter writes, and the form that results are judged by.

use super::json::Decimal;
use super::path::{Path, PathError};
use super::schema::{Schema, SchemaError};
use alloy_primitives::Address;
use std::slice;
use thiserror::Error;

/// A check as a job carries it (CIP-2 §9.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifierCheck {
    /// Keeps the largest group of results that agree at a field.
    MajorityVote { field: String },
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
        field: String,
        /// Largest distance from the lower median, not negative.
        tolerance: Decimal,
    },
    /// Keeps results whose number is in a range.
    NumericRange {
        field: String,
        /// Lower end, included.
        min: Decimal,
        /// Upper end, included.
        max: Decimal,
    },
    Custom {
        /// The actor that is called.
        actor: Address,
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

/// A check with its paths and its schema read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Keeps the largest group by one field.
    MajorityVote { field: Path },
    JsonSchemaValid {
        /// The schema, boxed: it is much larger than the other checks.
        schema: Box<Schema>,
    },
    /// Keeps the largest group by all fields together.
    StructuredMatch { fields: Vec<Path> },
    /// Keeps numbers near the lower median of what is left.
    NumericTolerance { field: Path, tolerance: Decimal },
    /// Keeps numbers in a range.
    NumericRange {
        field: Path,
        /// Lower end, included.
        min: Decimal,
        /// Upper end, included.
        max: Decimal,
    },
    /// Asks an actor, which needs more than the results.
    Custom { actor: Address, method: String },
    /// Keeps results whose own DNS report confirms. What was looked up matters to runners only.
    Dns {
        /// Resolvers that a report has to name.
        min_resolvers: u32,
    },
}

/// Why checks cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError {
    #[error("malformed path: {0}")]
    Path(#[from] PathError),
    /// A malformed or unsupported schema.
    #[error("unusable schema: {0}")]
    Schema(#[from] SchemaError),
    #[error("StructuredMatch needs at least one field")]
    NoFields,
    #[error("a tolerance must not be negative")]
    NegativeTolerance,
    /// Mode majority_vote without exactly one `MajorityVote`, or with a check that is neither that
    /// nor DNS.
    #[error("mode majority_vote takes exactly one MajorityVote check, and DNS checks")]
    NotOneVote,
    /// Mode deterministic with a check.
    #[error("mode deterministic takes no checks")]
    DeterministicTakesNone,
    /// Mode structured_match without a check that makes results agree.
    #[error("mode structured_match needs a MajorityVote or StructuredMatch check")]
    NothingGroups,
}

impl Check {
    /// Reads the paths and the schema of a check.
    pub fn compile(check: &VerifierCheck) -> Result<Self, CheckError> {
        Ok(match check {
            VerifierCheck::MajorityVote { field } => {
                Self::MajorityVote { field: Path::parse(field)? }
            }
            VerifierCheck::JsonSchemaValid { schema } => {
                Self::JsonSchemaValid { schema: Box::new(Schema::parse(schema)?) }
            }
            VerifierCheck::StructuredMatch { fields } => {
                Self::StructuredMatch { fields: distinct(fields)? }
            }
            VerifierCheck::NumericTolerance { tolerance, .. }
                if *tolerance < Decimal::default() =>
            {
                return Err(CheckError::NegativeTolerance);
            }
            VerifierCheck::NumericTolerance { field, tolerance } => {
                Self::NumericTolerance { field: Path::parse(field)?, tolerance: *tolerance }
            }
            VerifierCheck::NumericRange { field, min, max } => {
                Self::NumericRange { field: Path::parse(field)?, min: *min, max: *max }
            }
            VerifierCheck::Custom { actor, method } => {
                Self::Custom { actor: *actor, method: method.clone() }
            }
            VerifierCheck::DnsTxtRecordMatch { min_resolvers, .. }
            | VerifierCheck::DnsCnameMatch { min_resolvers, .. } => {
                Self::Dns { min_resolvers: *min_resolvers }
            }
        })
    }

    /// The fields that the kept results agree on; none for a check that judges results one by one.
    pub fn grouped_fields(&self) -> &[Path] {
        match self {
            Self::MajorityVote { field } => slice::from_ref(field),
            Self::StructuredMatch { fields } => fields,
            _ => &[],
        }
    }

    /// Whether the check makes results agree.
    pub fn groups(&self) -> bool {
        matches!(self, Self::MajorityVote { .. } | Self::StructuredMatch { .. })
    }
}

/// Reads paths. A repeated field changes no group, but would be compared again and again.
fn distinct(fields: &[String]) -> Result<Vec<Path>, CheckError> {
    if fields.is_empty() {
        return Err(CheckError::NoFields);
    }
    let mut paths = fields.iter().map(|field| Path::parse(field)).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    paths.dedup();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse_plain(text).unwrap()
    }

    fn tolerance(text: &str) -> VerifierCheck {
        VerifierCheck::NumericTolerance { field: "v".into(), tolerance: decimal(text) }
    }

    #[test]
    fn malformed_parts_are_refused() {
        let path = VerifierCheck::MajorityVote { field: "a..b".into() };
        assert!(matches!(Check::compile(&path), Err(CheckError::Path(_))));
        let fields = VerifierCheck::StructuredMatch { fields: vec!["a".into(), "[".into()] };
        assert!(matches!(Check::compile(&fields), Err(CheckError::Path(_))));
        let range =
            VerifierCheck::NumericRange { field: ".".into(), min: decimal("0"), max: decimal("1") };
        assert!(matches!(Check::compile(&range), Err(CheckError::Path(_))));
        let schema = VerifierCheck::JsonSchemaValid { schema: "{\"pattern\":1}".into() };
        assert!(matches!(Check::compile(&schema), Err(CheckError::Schema(_))));
        let none = VerifierCheck::StructuredMatch { fields: vec![] };
        assert_eq!(Check::compile(&none), Err(CheckError::NoFields));
    }

    #[test]
    fn a_tolerance_is_not_negative() {
        assert_eq!(Check::compile(&tolerance("-0.000000001")), Err(CheckError::NegativeTolerance));
        assert!(Check::compile(&tolerance("-0")).is_ok());
        assert!(Check::compile(&tolerance("0")).is_ok());
    }

    #[test]
    fn a_range_may_be_turned_round() {
        let range =
            VerifierCheck::NumericRange { field: "v".into(), min: decimal("2"), max: decimal("1") };
        assert!(Check::compile(&range).is_ok());
    }

    #[test]
    fn repeated_fields_count_once() {
        let check = |fields: &[&str]| {
            let fields = fields.iter().map(|field| field.to_string()).collect();
            Check::compile(&VerifierCheck::StructuredMatch { fields }).unwrap()
        };
        assert_eq!(check(&["b", "a", "b"]), check(&["a", "b"]));
    }

    #[test]
    fn only_votes_and_matches_group() {
        let vote = Check::MajorityVote { field: Path::parse("").unwrap() };
        assert!(vote.groups() && vote.grouped_fields().len() == 1);
        for check in [Check::Dns { min_resolvers: 1 }, Check::compile(&tolerance("1")).unwrap()] {
            assert!(!check.groups() && check.grouped_fields().is_empty());
        }
    }
}
