//! A job in JSON (SPEC §16), both ways.
//!
//! Every protocol job has exactly one JSON form, and it reads back to the same job. What a person
//! writes may leave out whatever has a default; a field that does not exist is refused, because a
//! misspelt `treshold` must not silently become the default.

mod check;
mod read;

pub use check::{CheckView, DecimalText};
pub use read::{SpecError, SpecProblem};

use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, ToView, Uint};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    Callback, DataFormat, JobKind, JobSpec, JobType, Message, ResourceBounds, ResultSchema,
    Verification,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a job asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSpecView {
    /// The work.
    pub job_type: JobTypeView,
    /// How results are checked.
    pub verification: VerificationView,
    /// Limits of one execution; a zero stands for the default.
    #[serde(default)]
    pub bounds: BoundsView,
    /// What a result must look like.
    pub result_schema: ResultSchemaView,
    /// Price that the runners share; 0 asks for unpaid work. Base units, or as people write it: `1.5cby`.
    #[serde(deserialize_with = "read::price")]
    pub max_price: BigUint,
    /// Added to the price.
    #[serde(default, deserialize_with = "read::price")]
    pub tip: BigUint,
    /// Blocks from assignment to the end of the work; 0 stands for the default.
    #[serde(default)]
    pub timeout_blocks: Uint,
    /// Whom to call with the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<CallbackView>,
    /// Only runners with a live TEE measurement.
    #[serde(default)]
    pub tee_required: bool,
    /// Names of secrets that the runner needs.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Only runners of this pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_runner_pool: Option<HexBytes>,
}

/// The work itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub enum JobTypeView {
    /// Ask a language model.
    Llm {
        /// Model name, as runners advertise it.
        model: String,
        /// The conversation so far.
        messages: Vec<MessageView>,
        /// Sampling temperature in thousandths.
        #[serde(default)]
        temperature_milli: u32,
        /// Sampling seed.
        #[serde(default)]
        seed: Uint,
    },
    /// Make a web request.
    Http {
        /// GET, POST, …
        method: String,
        /// Where to.
        url: String,
        /// Headers, in order.
        #[serde(default)]
        headers: Vec<HeaderView>,
        /// Request body.
        #[serde(default)]
        body: HexBytes,
        /// Path into a JSON response; the empty path is all of it.
        #[serde(default)]
        extract: String,
    },
    /// Call a tool.
    Mcp {
        /// Server name, as operators configure it.
        server: String,
        /// Tool name.
        tool: String,
        /// Arguments as a JSON object, in text.
        arguments: String,
    },
    /// Send a transaction that somebody signed already.
    EthSend {
        /// Which chain.
        chain_id: Uint,
        /// The signed bytes.
        raw_transaction: HexBytes,
    },
    /// Run a program.
    Custom {
        /// BLAKE3 hash of the executor.
        executor_hash: HexHash,
        /// Its input.
        #[serde(default)]
        params: HexBytes,
    },
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageView {
    /// system, user or assistant.
    pub role: String,
    /// What was said.
    pub content: String,
}

/// A header of a web request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderView {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// How results are checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationView {
    /// The mode.
    pub mode: ModeName,
    /// Runners asked for. Modes with a single runner need not say it.
    #[serde(default)]
    pub runners: u32,
    /// Of which so many must agree.
    #[serde(default)]
    pub threshold: u32,
    /// Checks of the mode, in order.
    #[serde(default)]
    pub checks: Vec<CheckView>,
}

/// Limits of one execution. A zero stands for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoundsView {
    /// Tokens of the prompt.
    pub max_input_tokens: u32,
    /// Tokens of the answer.
    pub max_output_tokens: u32,
    /// Seconds on the wall clock.
    pub max_wall_time_seconds: u32,
    /// Mebibytes of memory.
    pub max_memory_mb: u32,
    /// Retries inside the runner.
    pub max_retries: u32,
}

/// What a result must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultSchemaView {
    /// Its size at most.
    pub max_return_bytes: u32,
    /// How long the work should take.
    pub expected_execution_ms: Uint,
    /// Its form.
    pub data_format: FormatName,
}

/// Whom to call with the verified result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CallbackView {
    /// The actor.
    pub actor: HexAddress,
    /// Its handler.
    pub handler: String,
    /// Cycles that the submitter pays for in advance.
    pub cycles_limit: Uint,
}

/// A JSON enum that names the variants of a protocol enum.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident for $of:ty, $case:literal { $($variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = $case)]
        pub enum $name { $( #[doc = stringify!($variant)] $variant, )* }

        impl From<$of> for $name {
            fn from(value: $of) -> Self {
                match value { $( <$of>::$variant => Self::$variant, )* }
            }
        }
        impl From<$name> for $of {
            fn from(value: $name) -> Self {
                match value { $( $name::$variant => Self::$variant, )* }
            }
        }
        impl ToView for $of {
            type View = $name;
            fn to_view(&self) -> $name {
                (*self).into()
            }
        }
    };
}
pub(crate) use names;

names! {
    /// A verification mode.
    ModeName for VerificationMode, "snake_case" {
        None, EconomicBond, MajorityVote, StructuredMatch, Deterministic, SemanticSimilarity,
    }
}
names! {
    /// Form of a result.
    FormatName for DataFormat, "snake_case" { Json, Text, Bytes }
}
names! {
    /// A kind of work.
    KindName for JobKind, "PascalCase" { Llm, Http, Mcp, EthSend, Custom }
}

impl From<&JobSpec> for JobSpecView {
    fn from(spec: &JobSpec) -> Self {
        Self {
            job_type: (&spec.job_type).into(),
            verification: (&spec.verification).into(),
            bounds: spec.bounds.into(),
            result_schema: spec.result_schema.into(),
            max_price: spec.max_price.to_view(),
            tip: spec.tip.to_view(),
            timeout_blocks: spec.timeout_blocks.to_view(),
            callback: spec.callback.as_ref().map(Into::into),
            tee_required: spec.tee_required,
            secrets: spec.secrets.clone(),
            required_runner_pool: spec.required_runner_pool.to_view(),
        }
    }
}
impl ToView for JobSpec {
    type View = JobSpecView;
    fn to_view(&self) -> JobSpecView {
        self.into()
    }
}

impl From<&JobType> for JobTypeView {
    fn from(work: &JobType) -> Self {
        match work {
            JobType::Llm { model, messages, temperature_milli, seed } => Self::Llm {
                model: model.clone(),
                messages: messages.iter().map(Into::into).collect(),
                temperature_milli: *temperature_milli,
                seed: Uint(*seed),
            },
            JobType::Http { method, url, headers, body, extract } => Self::Http {
                method: method.clone(),
                url: url.clone(),
                headers: headers.iter().map(header).collect(),
                body: body.to_view(),
                extract: extract.clone(),
            },
            JobType::Mcp { server, tool, arguments } => Self::Mcp {
                server: server.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
            },
            JobType::EthSend { chain_id, raw_transaction } => Self::EthSend {
                chain_id: Uint(*chain_id),
                raw_transaction: raw_transaction.to_view(),
            },
            JobType::Custom { executor_hash, params } => {
                Self::Custom { executor_hash: executor_hash.to_view(), params: params.to_view() }
            }
        }
    }
}

fn header((name, value): &(String, String)) -> HeaderView {
    HeaderView { name: name.clone(), value: value.clone() }
}

impl From<&Message> for MessageView {
    fn from(message: &Message) -> Self {
        Self { role: message.role.clone(), content: message.content.clone() }
    }
}

impl From<&Verification> for VerificationView {
    fn from(verification: &Verification) -> Self {
        Self {
            mode: verification.mode.into(),
            runners: verification.runners,
            threshold: verification.threshold,
            checks: verification.checks.iter().map(Into::into).collect(),
        }
    }
}

impl From<ResourceBounds> for BoundsView {
    fn from(bounds: ResourceBounds) -> Self {
        let ResourceBounds {
            max_input_tokens,
            max_output_tokens,
            max_wall_time_seconds,
            max_memory_mb,
            max_retries,
        } = bounds;
        Self {
            max_input_tokens,
            max_output_tokens,
            max_wall_time_seconds,
            max_memory_mb,
            max_retries,
        }
    }
}

impl From<ResultSchema> for ResultSchemaView {
    fn from(schema: ResultSchema) -> Self {
        Self {
            max_return_bytes: schema.max_return_bytes,
            expected_execution_ms: Uint(schema.expected_execution_ms),
            data_format: schema.data_format.into(),
        }
    }
}

impl From<&Callback> for CallbackView {
    fn from(callback: &Callback) -> Self {
        Self {
            actor: callback.actor.to_view(),
            handler: callback.handler.clone(),
            cycles_limit: Uint(callback.cycles_limit),
        }
    }
}

#[cfg(test)]
mod tests;
