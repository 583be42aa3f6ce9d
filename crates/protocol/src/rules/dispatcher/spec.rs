//! What a job asks for (CIP-2 §1, §2).

use crate::base::codec::{Bytes, Decode, DecodeError, Encode, Reader, codec_enum, codec_struct};
use crate::base::primitives::{Address, Amount, B256};
use crate::rules::dispatcher::committee::VerificationMode;
pub use crate::rules::registry::kind::JobKind;
use crate::rules::verifier::check::VerifierCheck;
use crate::rules::verifier::json::Decimal;

/// A job as its submitter describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    pub job_type: JobType,
    /// Resource limits for execution. A zero stands for the default.
    pub bounds: ResourceBounds,
    pub verification: Verification,
    /// What a result must look like.
    pub result_schema: ResultSchema,
    /// Price that the runners share; 0 asks for unpaid work.
    pub max_price: Amount,
    pub tip: Amount,
    /// Blocks from assignment to the end of the work. A zero stands for the default.
    pub timeout_blocks: u64,
    /// Whom to call with the result.
    pub callback: Option<Callback>,
    /// Only runners with a live TEE measurement.
    pub tee_required: bool,
    /// Names of secrets that the runner needs.
    pub secrets: Vec<String>,
    /// Only runners of this pool.
    pub required_runner_pool: Option<Bytes>,
}
codec_struct!(JobSpec {
    job_type,
    bounds,
    verification,
    result_schema,
    max_price,
    tip,
    timeout_blocks,
    callback,
    tee_required,
    secrets,
    required_runner_pool,
});

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobType {
    Llm {
        /// Model name, as runners advertise it.
        model: String,
        messages: Vec<Message>,
        /// Sampling temperature in thousandths.
        temperature_milli: u32,
        seed: u64,
    },
    Http {
        method: String,
        url: String,
        headers: Vec<(String, String)>,
        body: Bytes,
        /// Path into a JSON response; the empty path is all of it.
        extract: String,
    },
    Mcp {
        /// Server name, as operators configure it.
        server: String,
        tool: String,
        /// Arguments as a JSON object.
        arguments: String,
    },
    /// Send a transaction that is signed already.
    EthSend { chain_id: u64, raw_transaction: Bytes },
    Custom {
        /// BLAKE3 hash of the executor.
        executor_hash: B256,
        params: Bytes,
    },
}
codec_enum!(JobType {
    1 => Llm { model, messages, temperature_milli, seed },
    2 => Http { method, url, headers, body, extract },
    3 => Mcp { server, tool, arguments },
    4 => EthSend { chain_id, raw_transaction },
    5 => Custom { executor_hash, params },
});

impl JobType {
    pub fn kind(&self) -> JobKind {
        match self {
            Self::Llm { .. } => JobKind::Llm,
            Self::Http { .. } => JobKind::Http,
            Self::Mcp { .. } => JobKind::Mcp,
            Self::EthSend { .. } => JobKind::EthSend,
            Self::Custom { .. } => JobKind::Custom,
        }
    }
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub role: String,
    pub content: String,
}
codec_struct!(Message { role, content });

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceBounds {
    pub max_input_tokens: u32,
    pub max_output_tokens: u32,
    /// Seconds on the wall clock.
    pub max_wall_time_seconds: u32,
    /// Mebibytes of memory.
    pub max_memory_mb: u32,
    /// Retries inside the runner; nothing to do with re-selection.
    pub max_retries: u32,
}
codec_struct!(ResourceBounds {
    max_input_tokens,
    max_output_tokens,
    max_wall_time_seconds,
    max_memory_mb,
    max_retries,
});

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    pub mode: VerificationMode,
    pub runners: u32,
    /// Of which so many must agree.
    pub threshold: u32,
    /// Checks of the mode, in order.
    pub checks: Vec<VerifierCheck>,
}
codec_struct!(Verification { mode, runners, threshold, checks });

impl Encode for VerificationMode {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
}

impl Decode for VerificationMode {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match u8::decode(input)? {
            0 => Self::None,
            1 => Self::EconomicBond,
            2 => Self::MajorityVote,
            3 => Self::StructuredMatch,
            4 => Self::Deterministic,
            5 => Self::SemanticSimilarity,
            tag => return Err(DecodeError::UnknownTag(tag, "VerificationMode")),
        })
    }
}
codec_enum!(VerifierCheck {
    1 => MajorityVote { field },
    2 => JsonSchemaValid { schema },
    3 => StructuredMatch { fields },
    4 => NumericTolerance { field, tolerance },
    5 => NumericRange { field, min, max },
    6 => Custom { actor, method },
    7 => DnsTxtRecordMatch { fqdn, expected_value, min_resolvers },
    8 => DnsCnameMatch { fqdn, expected_target, min_resolvers },
});

impl Encode for Decimal {
    fn encode(&self, out: &mut Vec<u8>) {
        self.nanos().encode(out);
    }
}

impl Decode for Decimal {
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::from_nanos(i128::decode(input)?).ok_or(DecodeError::OutOfRange("a decimal"))
    }
}

/// What a result must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultSchema {
    pub max_return_bytes: u32,
    /// How long the work should take; for runners to judge whether they can.
    pub expected_execution_ms: u64,
    pub data_format: DataFormat,
}
codec_struct!(ResultSchema { max_return_bytes, expected_execution_ms, data_format });

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    Json,
    /// UTF-8 text.
    Text,
    Bytes,
}
codec_enum!(DataFormat { 1 => Json {}, 2 => Text {}, 3 => Bytes {} });

/// Whom to call with the verified result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub actor: Address,
    pub handler: String,
    /// Cycles that the submitter pays for in advance.
    pub cycles_limit: u64,
}
codec_struct!(Callback { actor, handler, cycles_limit });
