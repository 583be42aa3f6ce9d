//! The kinds of work. Each has its file, its limits and its ways to fail.
//!
//! An executor gets a specification that the chain has accepted, which says nothing of what this
//! runner's operator allows: that is asked first. A result is bytes in the form that the job's
//! `result_schema` names, at most as many as it allows.
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
//! Where the job itself is why there is no result, [`excuse`] has the word that the chain is told.

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

/// Told how far the work is.
pub trait Progress: Send + Sync {
    /// In percent, with a word for people.
    fn report(&self, percent: u8, detail: &str);
}

pub struct Unheard;

impl Progress for Unheard {
    fn report(&self, _: u8, _: &str) {}
}

#[derive(Clone, Copy)]
pub struct Work<'a> {
    pub job_id: JobId,
    pub spec: &'a JobSpec,
    /// Time for it: the job's own bound, or less if its deadline is near.
    pub time_limit: Duration,
    /// Who wants to know how far it is.
    pub progress: &'a dyn Progress,
}

impl Work<'_> {
    /// Bytes that the result may have.
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

/// What executing a job leads to.
pub type ExecuteResult = Result<Vec<u8>, ExecuteError>;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExecuteError {
    /// This runner's operator does not allow it.
    #[error("not allowed here: {0}")]
    NotAllowed(String),
    /// What is asked for makes no sense.
    #[error("the job cannot be done: {0}")]
    BadJob(String),
    /// Nobody answers, or the answer broke off.
    #[error("cannot reach it: {0}")]
    Unreachable(String),
    /// A server of the operator's own is not what its settings say, or does not let it in. Nobody but the
    /// operator can mend that.
    #[error("its operator's server is of no use: {0}")]
    Backend(String),
    /// The job's server turns the request down; or the operator's does, though it answers a plain
    /// question: because of what the job asks.
    #[error("the request was refused: {0}")]
    Refused(String),
    /// An answer, but not one that can be used.
    #[error("a useless answer: {0}")]
    BadAnswer(String),
    /// More than the job allows.
    #[error("more than {limit} bytes")]
    TooLarge { limit: usize },
    /// More than the job pays for, or than this runner can pay for.
    #[error("more than {limit} bytes: {why}")]
    TooCostly {
        limit: usize,
        /// Why no more, for the operator.
        why: &'static str,
    },
    /// Longer than the job allows.
    #[error("not done within {0:?}")]
    TimedOut(Duration),
    /// A program did what it must not, or more than it may.
    #[error("the program failed: {0}")]
    Program(String),
}

impl ExecuteError {
    /// Whether it is worth trying again.
    pub fn passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Refused(_))
    }
}

/// Whether work that may have been done can be done again without harm. A second GET finds what the
/// first one found, and a signed Ethereum transaction is the same one however often it is sent; a
/// POST may buy something twice, and what a tool does nobody knows.
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
    fn only_harmless_work_is_done_again() {
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
