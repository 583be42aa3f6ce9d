//! The kinds of work: one file each, with its limits and errors.
//!
//! The chain has accepted the specification that an executor gets. The executor first checks what the
//! operator allows. A result has the form and at most the size of the job's `result_schema`.
//!
//! - [`http`]: web requests, to the addresses that [`address`] allows
//! - [`dns`]: what resolvers confirm, as a report in any result or as work of its own
//! - [`llm`]: language models behind an operator's servers
//! - [`eth`]: signed transactions, to an operator's nodes
//! - [`mcp`]: tools of servers that the operator named
//! - [`wasm`]: programs that somebody vouches for
//!
//! [`Executors`] has those that the settings name; [`Capabilities`] says what work they can do.
//!
//! If the job itself is why there is no result, [`excuse`] maps the error to a code for the chain.

pub mod address;
mod capabilities;
pub mod dns;
mod document;
mod endpoint;
mod envelope;
pub mod eth;
pub mod excuse;
mod executors;
pub mod http;
pub mod llm;
pub mod mcp;
mod near;
mod redirect;
pub mod resolve;
mod retry;
mod settings;
mod sse;
mod transport;
pub mod wasm;

pub use capabilities::Capabilities;
pub use endpoint::EndpointError;
pub(crate) use endpoint::PLAIN;
pub(crate) use executors::TIMEOUT_SPARE;
pub use executors::{ExecutorError, Executors};
pub use settings::ExecutorSettings;
pub use transport::CaError;

use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::primitives::JobId;
use remuda_protocol::verifier::check::VerifierCheck;
use std::time::Duration;
use thiserror::Error;

/// Receives progress reports.
pub trait Progress: Send + Sync {
    /// Percent, and a text for people.
    fn report(&self, percent: u8, detail: &str);
}

pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _: u8, _: &str) {}
}

#[derive(Clone, Copy)]
pub struct Work<'a> {
    pub job_id: JobId,
    pub spec: &'a JobSpec,
    /// The job's own bound, or less if its deadline is near.
    pub time_limit: Duration,
    pub progress: &'a dyn Progress,
}

impl Work<'_> {
    /// Of the result.
    pub fn max_bytes(&self) -> usize {
        self.spec.result_schema.max_return_bytes as usize
    }
}

/// Resolvers that the DNS checks of a job need.
pub(crate) fn resolvers_asked(spec: &JobSpec) -> usize {
    let needed = spec.verification.checks.iter().map(|check| match check {
        VerifierCheck::DnsTxtRecordMatch { min_resolvers, .. }
        | VerifierCheck::DnsCnameMatch { min_resolvers, .. } => *min_resolvers as usize,
        _ => 0,
    });
    needed.max().unwrap_or(0)
}

pub type ExecuteResult = Result<Vec<u8>, ExecuteError>;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExecuteError {
    #[error("not allowed by the operator: {0}")]
    NotAllowed(String),
    #[error("invalid job: {0}")]
    BadJob(String),
    /// No answer, or an incomplete one.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// A server of the operator contradicts its settings, or refuses access. Only the operator can fix that.
    #[error("backend misconfigured: {0}")]
    Backend(String),
    /// The job's server refused the request; or the operator's did, although it answers a plain one.
    #[error("request refused: {0}")]
    Refused(String),
    #[error("invalid response: {0}")]
    BadAnswer(String),
    #[error("result too large: more than {limit} bytes")]
    TooLarge { limit: usize },
    /// The job, or the runner, cannot pay for the result.
    #[error("result too large: more than {limit} bytes, {why}")]
    TooCostly {
        limit: usize,
        /// For the operator.
        why: &'static str,
    },
    #[error("timed out after {0:?}")]
    TimedOut(Duration),
    /// A program trapped, or exceeded its limits.
    #[error("program failed: {0}")]
    Program(String),
}

impl ExecuteError {
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Refused(_))
    }
}

/// Whether repeating the work is harmless. A GET reads only, and a signed Ethereum transaction takes effect
/// once however often it is sent. A POST may buy something twice, and the effects of a tool are unknown.
pub fn repeatable(work: &JobType) -> bool {
    match work {
        JobType::Http { method, .. } => matches!(method.as_str(), "GET" | "HEAD"),
        JobType::Mcp { .. } => false,
        JobType::Llm { .. } | JobType::EthSend { .. } | JobType::Custom { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::http_spec;

    #[test]
    fn only_harmless_work_is_repeatable() {
        let method = |method: &str| repeatable(&http_spec(method, "http://example.com/").job_type);
        assert!(method("GET") && method("HEAD"));
        assert!(!method("POST") && !method("PUT") && !method("DELETE") && !method("PATCH"));
        let send = JobType::EthSend { chain_id: 1, raw_transaction: b"x".as_slice().into() };
        assert!(repeatable(&send));
        let tool = JobType::Mcp {
            server: "s".to_owned(),
            tool: "t".to_owned(),
            arguments: "{}".to_owned(),
        };
        assert!(!repeatable(&tool));
    }
}
