//! Errors in JSON: `{"code":"…","message":"…","hint":"…"}`.

use core::fmt;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What every answer without success holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiError {
    /// Stable; programs compare it.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

macro_rules! codes {
    ($( $name:ident $text:literal $status:literal $about:literal; )*) => {
        /// The API's own codes. A transaction that is not taken has the code of its reason instead:
        /// the name of the protocol's `Inadmissible` in snake case, such as `nonce_too_low`.
        pub mod code {
            $( #[doc = $about] pub const $name: &str = $text; )*

            /// Every code with its HTTP status.
            pub const ALL: &[(&str, u16)] = &[$( ($text, $status), )*];
        }
    };
}

codes! {
    MALFORMED_JSON "malformed_json" 400 "The body is no JSON.";
    MALFORMED_PATH "malformed_path" 400 "A part of the path is no address, hash, height or key.";
    MALFORMED_QUERY "malformed_query" 400 "The query is not understood.";
    MALFORMED_HEADER "malformed_header" 400 "A header is not understood.";
    NOT_FOUND "not_found" 404 "There is no such endpoint.";
    UNKNOWN_BLOCK "unknown_block" 404 "This node has no such block.";
    UNKNOWN_TRANSACTION "unknown_transaction" 404 "This node knows no such transaction.";
    UNKNOWN_RUNNER "unknown_runner" 404 "No runner was ever registered at this address.";
    UNKNOWN_JOB "unknown_job" 404 "There is no such job.";
    UNKNOWN_ACTOR "unknown_actor" 404 "This address has no code.";
    UNKNOWN_TIMER "unknown_timer" 404 "There is no such timer, or it has ended.";
    UNKNOWN_POOL "unknown_pool" 404 "Nobody has made such a pool.";
    UNKNOWN_ENTITLEMENT "unknown_entitlement" 404 "There is no such entitlement, or it was revoked.";
    NO_FAUCET "no_faucet" 404 "This chain has no faucet.";
    METHOD_NOT_ALLOWED "method_not_allowed" 405 "The endpoint does not take this method.";
    TIMEOUT "timeout" 408 "The request took too long.";
    SUNSET "sunset" 410 "Polling has ended on this chain.";
    BODY_TOO_LARGE "body_too_large" 413 "The body is too large.";
    UNSUPPORTED_MEDIA_TYPE "unsupported_media_type" 415 "The body must be application/json.";
    INVALID_BODY "invalid_body" 422 "The JSON does not have the fields that it should.";
    BATCH_TOO_LARGE "batch_too_large" 422 "Too many transactions at once.";
    WRONG_SIGNER "wrong_signer" 422 "Somebody else than the runner signed this.";
    WRONG_INSTRUCTION "wrong_instruction" 422 "This endpoint takes other instructions.";
    WRONG_STATUS "wrong_status" 409 "The job is not at a point where it takes this.";
    RATE_LIMITED "rate_limited" 429 "Too many requests.";
    TOO_MANY_STREAMS "too_many_streams" 429 "Too many event streams are open.";
    INTERNAL "internal" 500 "The node failed; its log says why.";
    BUSY "busy" 503 "Too many large answers are being read slowly.";
    NO_PROOF "no_proof" 503 "The node cannot prove this now.";
    NOT_READY "not_ready" 503 "The node has not caught up yet.";
    POOL_FULL "pool_full" 503 "Too many transactions wait already.";
}
