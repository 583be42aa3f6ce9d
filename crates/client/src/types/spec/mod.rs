//! A job in JSON (SPEC §16), both ways.
//!
//! Every protocol job has exactly one JSON form, and it reads back to the same job. What a person
//! writes may leave out whatever has a default; a field that does not exist is refused, because a
//! misspelt `treshold` must not silently become the default.

mod check;
mod read;

pub use check::{CheckView, DecimalText};
pub use read::SpecError;

use super::scalar::{BigUint, HexAddress, HexBytes, HexHash, Uint};
use super::view::{ToView, names, view};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    Callback, DataFormat, JobKind, JobSpec, JobType, Message, ResourceBounds, ResultSchema,
    Verification,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

view! {
    /// What a job asks for.
    #[serde(deny_unknown_fields)]
    pub struct JobSpecView of JobSpec {
        job_type: JobTypeView,
        /// How results are checked.
        verification: VerificationView,
        /// Limits of one execution; a zero stands for the default.
        #[serde(default)]
        bounds: BoundsView,
        /// What a result must look like.
        result_schema: ResultSchemaView,
        /// Price that the runners share; 0 asks for unpaid work. Base units, or as people write it: `1.5cby`.
        #[serde(deserialize_with = "read::price")]
        max_price: BigUint,
        /// Added to the price.
        #[serde(default, deserialize_with = "read::price")]
        tip: BigUint,
        /// Blocks from assignment to the end of the work; 0 stands for the default.
        #[serde(default)]
        timeout_blocks: Uint,
        /// Whom to call with the result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        callback: Option<CallbackView>,
        /// Only runners with a live TEE measurement.
        #[serde(default)]
        tee_required: bool,
        /// Names of secrets that the runner needs.
        #[serde(default)]
        secrets: Vec<String>,
        /// Only runners of this pool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        required_runner_pool: Option<HexBytes>,
    }
}

view! {
    /// The work itself.
    #[serde(deny_unknown_fields)]
    pub enum JobTypeView of JobType {
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
            /// GET, POST and so on.
            method: String,
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
            chain_id: Uint,
            /// The signed bytes.
            raw_transaction: HexBytes,
        },
        /// Run a program.
        Custom {
            /// BLAKE3 hash of the executor.
            executor_hash: HexHash,
            #[serde(default)]
            params: HexBytes,
        },
    }
}

view! {
    /// One turn of a conversation.
    #[serde(deny_unknown_fields)]
    pub struct MessageView of Message {
        /// system, user or assistant.
        role: String,
        /// What was said.
        content: String,
    }
}

/// A header of a web request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderView {
    pub name: String,
    pub value: String,
}

view! {
    /// How results are checked.
    #[serde(deny_unknown_fields)]
    pub struct VerificationView of Verification {
        mode: ModeName,
        /// Runners asked for. Modes with a single runner need not say it.
        #[serde(default)]
        runners: u32,
        /// Of which so many must agree.
        #[serde(default)]
        threshold: u32,
        /// Checks of the mode, in order.
        #[serde(default)]
        checks: Vec<CheckView>,
    }
}

view! {
    /// Limits of one execution. A zero stands for the default.
    #[derive(Copy, Default)]
    #[serde(default, deny_unknown_fields)]
    pub struct BoundsView of ResourceBounds {
        /// Tokens of the prompt.
        max_input_tokens: u32,
        /// Tokens of the answer.
        max_output_tokens: u32,
        /// Seconds on the wall clock.
        max_wall_time_seconds: u32,
        /// Mebibytes of memory.
        max_memory_mb: u32,
        /// Retries inside the runner.
        max_retries: u32,
    }
}

view! {
    /// What a result must look like.
    #[derive(Copy)]
    #[serde(deny_unknown_fields)]
    pub struct ResultSchemaView of ResultSchema {
        /// Largest result in bytes.
        max_return_bytes: u32,
        /// How long the work should take.
        expected_execution_ms: Uint,
        data_format: FormatName,
    }
}

view! {
    /// Whom to call with the verified result.
    #[serde(deny_unknown_fields)]
    pub struct CallbackView of Callback {
        actor: HexAddress,
        handler: String,
        /// Cycles that the submitter pays for in advance.
        cycles_limit: Uint,
    }
}

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

impl ToView for (String, String) {
    type View = HeaderView;
    fn to_view(&self) -> HeaderView {
        HeaderView { name: self.0.clone(), value: self.1.clone() }
    }
}

#[cfg(test)]
mod tests;
