//! From JSON to a job, with errors that name the field.

use super::super::scalar::{BigUint, number_text};
use super::check::{CheckView, DecimalText};
use super::{
    BoundsView, CallbackView, JobSpecView, JobTypeView, ResultSchemaView, VerificationView,
};
use crate::amount::{AmountError, parse_amount};
use remuda_protocol::codec::Bytes;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    Callback, JobSpec, JobType, Message, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::primitives::Amount;
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::json::{Decimal, DecimalError};
use serde::Deserializer;
use serde::de::Error as _;
use thiserror::Error;

/// A JSON document may be this long: no transaction can carry a longer job.
const SPEC_BYTES_MAX: usize = 512 * 1024;

/// What is wrong with a job in JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
pub struct SpecError {
    /// Path of the field, such as `verification.checks[0].NumericRange.min`.
    pub field: String,
    /// What is wrong with it.
    pub problem: SpecProblem,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecProblem {
    /// Missing, unknown, or of another type.
    #[error("{0}")]
    Shape(String),
    /// Not a decimal of the protocol.
    #[error(transparent)]
    Decimal(#[from] DecimalError),
    /// The whole document is too long.
    #[error("a job in JSON has at most {SPEC_BYTES_MAX} bytes, not {0}")]
    TooLong(usize),
}

/// An amount of base units as programs write it, or of CBY as people do.
pub(super) fn price<'de, D: Deserializer<'de>>(from: D) -> Result<BigUint, D::Error> {
    match parse_amount(&number_text(from)?) {
        Ok(amount) => Ok(BigUint(amount.get())),
        Err(AmountError::Zero) => Ok(BigUint(0)),
        Err(error) => Err(D::Error::custom(error)),
    }
}

impl JobSpecView {
    pub fn from_json(bytes: &[u8]) -> Result<Self, SpecError> {
        if bytes.len() > SPEC_BYTES_MAX {
            let problem = SpecProblem::TooLong(bytes.len());
            return Err(SpecError { field: ".".to_owned(), problem });
        }
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let spec = serde_path_to_error::deserialize(&mut reader).map_err(|error| SpecError {
            field: error.path().to_string(),
            problem: SpecProblem::Shape(error.inner().to_string()),
        })?;
        let trailing = |error: serde_json::Error| SpecError {
            field: ".".to_owned(),
            problem: SpecProblem::Shape(error.to_string()),
        };
        reader.end().map_err(trailing)?;
        Ok(spec)
    }
}

impl TryFrom<&JobSpecView> for JobSpec {
    type Error = SpecError;

    fn try_from(view: &JobSpecView) -> Result<Self, SpecError> {
        Ok(Self {
            job_type: (&view.job_type).into(),
            bounds: view.bounds.into(),
            verification: verification(&view.verification)?,
            result_schema: view.result_schema.into(),
            max_price: Amount(view.max_price.0),
            tip: Amount(view.tip.0),
            timeout_blocks: view.timeout_blocks.0,
            callback: view.callback.as_ref().map(Into::into),
            tee_required: view.tee_required,
            secrets: view.secrets.clone(),
            required_runner_pool: view
                .required_runner_pool
                .as_ref()
                .map(|pool| Bytes(pool.0.clone())),
        })
    }
}

fn verification(view: &VerificationView) -> Result<Verification, SpecError> {
    let checks = view.checks.iter().enumerate();
    let checks = checks.map(|(index, view)| check(index, view)).collect::<Result<_, _>>()?;
    let mode = VerificationMode::from(view.mode);
    // A committee is counted by whoever orders it; one runner needs no counting.
    let counted = |field: &str, count: u32| match count {
        0 if mode.is_single() => Ok(1),
        0 => Err(SpecError {
            field: format!("verification.{field}"),
            problem: SpecProblem::Shape("this mode needs it, and at least 1".to_owned()),
        }),
        count => Ok(count),
    };
    let runners = counted("runners", view.runners)?;
    let threshold = counted("threshold", view.threshold)?;
    Ok(Verification { mode, runners, threshold, checks })
}

fn check(index: usize, view: &CheckView) -> Result<VerifierCheck, SpecError> {
    let number = |field: &str, text: &DecimalText| {
        Decimal::parse_plain(&text.0).map_err(|error| SpecError {
            field: format!("verification.checks[{index}].{field}"),
            problem: error.into(),
        })
    };
    Ok(match view.clone() {
        CheckView::MajorityVote { field } => VerifierCheck::MajorityVote { field },
        CheckView::JsonSchemaValid { schema } => VerifierCheck::JsonSchemaValid { schema },
        CheckView::StructuredMatch { fields } => VerifierCheck::StructuredMatch { fields },
        CheckView::NumericTolerance { field, tolerance } => {
            let tolerance = number("NumericTolerance.tolerance", &tolerance)?;
            VerifierCheck::NumericTolerance { field, tolerance }
        }
        CheckView::NumericRange { field, min, max } => {
            let (min, max) = (number("NumericRange.min", &min)?, number("NumericRange.max", &max)?);
            VerifierCheck::NumericRange { field, min, max }
        }
        CheckView::Custom { actor, method } => VerifierCheck::Custom { actor: actor.0, method },
        CheckView::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers } => {
            VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers }
        }
        CheckView::DnsCnameMatch { fqdn, expected_target, min_resolvers } => {
            VerifierCheck::DnsCnameMatch { fqdn, expected_target, min_resolvers }
        }
    })
}

impl From<&JobTypeView> for JobType {
    fn from(view: &JobTypeView) -> Self {
        match view.clone() {
            JobTypeView::Llm { model, messages, temperature_milli, seed } => {
                let turn =
                    |view: super::MessageView| Message { role: view.role, content: view.content };
                let messages = messages.into_iter().map(turn).collect();
                Self::Llm { model, messages, temperature_milli, seed: seed.0 }
            }
            JobTypeView::Http { method, url, headers, body, extract } => {
                let headers = headers.into_iter().map(|h| (h.name, h.value)).collect();
                Self::Http { method, url, headers, body: Bytes(body.0), extract }
            }
            JobTypeView::Mcp { server, tool, arguments } => Self::Mcp { server, tool, arguments },
            JobTypeView::EthSend { chain_id, raw_transaction } => {
                Self::EthSend { chain_id: chain_id.0, raw_transaction: Bytes(raw_transaction.0) }
            }
            JobTypeView::Custom { executor_hash, params } => {
                Self::Custom { executor_hash: executor_hash.0, params: Bytes(params.0) }
            }
        }
    }
}

impl From<BoundsView> for ResourceBounds {
    fn from(view: BoundsView) -> Self {
        let BoundsView {
            max_input_tokens,
            max_output_tokens,
            max_wall_time_seconds,
            max_memory_mb,
            max_retries,
        } = view;
        Self {
            max_input_tokens,
            max_output_tokens,
            max_wall_time_seconds,
            max_memory_mb,
            max_retries,
        }
    }
}

impl From<ResultSchemaView> for ResultSchema {
    fn from(view: ResultSchemaView) -> Self {
        Self {
            max_return_bytes: view.max_return_bytes,
            expected_execution_ms: view.expected_execution_ms.0,
            data_format: view.data_format.into(),
        }
    }
}

impl From<&CallbackView> for Callback {
    fn from(view: &CallbackView) -> Self {
        Self {
            actor: view.actor.0,
            handler: view.handler.clone(),
            cycles_limit: view.cycles_limit.0,
        }
    }
}
