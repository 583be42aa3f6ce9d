//! All executors of a process, and which of them does which work.

use super::dns::{DNS_VERIFIER_EXECUTOR_HASH, Dns, ResolverError};
use super::eth::Eth;
use super::http::Http;
use super::llm::Llm;
use super::mcp::{Mcp, McpError};
use super::wasm::{Wasm, WasmError};
use super::{
    CaError, EndpointError, ExecuteError, ExecuteResult, ExecutorSettings, PLAIN, Work,
    resolvers_asked,
};
use remuda_protocol::dispatcher::spec::JobType;
use std::time::{Duration, Instant};
use thiserror::Error;
use tokio::time::timeout;

/// An executor that exceeds the time limit of its job is dropped after this time.
pub(crate) const TIMEOUT_SPARE: Duration = Duration::from_secs(1);

/// An executor cannot be set up.
#[derive(Debug, Error)]
pub enum ExecutorError {
    #[error("[http] {0}")]
    Http(#[from] CaError),
    #[error("[dns] {0}")]
    Dns(#[from] ResolverError),
    /// A model's or a chain's server.
    #[error("{0}")]
    Endpoint(#[from] EndpointError),
    #[error("[mcp] {0}")]
    Mcp(#[from] McpError),
    #[error("[wasm] {0}")]
    Wasm(#[from] WasmError),
}

fn kind_name(work: &JobType) -> &'static str {
    match work {
        JobType::Http { .. } => "web request",
        JobType::Llm { .. } => "language model",
        JobType::EthSend { .. } => "Ethereum chain",
        JobType::Custom { .. } => "program",
        JobType::Mcp { .. } => "MCP server",
    }
}

/// The executors that are set up.
pub struct Executors {
    http: Option<Http>,
    dns: Option<Dns>,
    llm: Option<Llm>,
    eth: Option<Eth>,
    wasm: Option<Wasm>,
    mcp: Option<Mcp>,
}

impl Executors {
    /// Those that the settings name. Reads keys and certificates.
    pub fn new(settings: &ExecutorSettings) -> Result<Self, ExecutorError> {
        Ok(Self {
            http: settings.http.as_ref().map(Http::new).transpose()?,
            dns: settings.dns.as_ref().map(Dns::new).transpose()?,
            llm: settings.llm.as_ref().map(Llm::new).transpose()?,
            eth: settings.eth.as_ref().map(Eth::new).transpose()?,
            wasm: settings.wasm.as_ref().map(Wasm::new).transpose()?,
            mcp: settings.mcp.as_ref().map(Mcp::new).transpose()?,
        })
    }

    /// Tries a part out of turn, by a plain question. None: it cannot be tried without a job.
    pub async fn probe(&self, part: &str) -> Option<Result<(), ExecuteError>> {
        let (kind, name) = part.split_once(':')?;
        let trial = async {
            match kind {
                "model" => self.llm.as_ref()?.probe(name).await,
                "eth" => self.eth.as_ref()?.probe(name.parse().ok()?).await,
                "mcp" => self.mcp.as_ref()?.probe(name).await,
                _ => None,
            }
        };
        match timeout(PLAIN, trial).await {
            Ok(trial) => trial,
            Err(_) => {
                let why = format!("{part}: no answer within {} s", PLAIN.as_secs());
                Some(Err(ExecuteError::Unreachable(why)))
            }
        }
    }

    /// The same as [`Executors::execute`], ended shortly after the work's time limit.
    pub async fn execute_in_time(&self, work: &Work<'_>, pinned: bool) -> ExecuteResult {
        match timeout(work.time_limit + TIMEOUT_SPARE, self.execute(work, pinned)).await {
            Ok(result) => result,
            Err(_) => Err(ExecuteError::TimedOut(work.time_limit)),
        }
    }

    /// Does a job, and adds what its DNS checks ask for. `pinned`: governance vouches for its program.
    pub async fn execute(&self, work: &Work<'_>, pinned: bool) -> ExecuteResult {
        let started = Instant::now();
        if !work.spec.secrets.is_empty() {
            let reason = "secrets are not released to runners yet";
            return Err(ExecuteError::BadJob(reason.into()));
        }
        let nobody = || ExecuteError::NotAllowed(format!("no {}", kind_name(&work.spec.job_type)));
        let result = match &work.spec.job_type {
            JobType::Http { .. } => self.http.as_ref().ok_or_else(nobody)?.execute(work).await?,
            JobType::Llm { .. } => self.llm.as_ref().ok_or_else(nobody)?.execute(work).await?,
            JobType::EthSend { .. } => self.eth.as_ref().ok_or_else(nobody)?.execute(work).await?,
            JobType::Custom { executor_hash, .. }
                if *executor_hash == DNS_VERIFIER_EXECUTOR_HASH =>
            {
                // Its whole work is the report.
                return self.dns.as_ref().ok_or_else(nobody)?.execute(work).await;
            }
            JobType::Custom { .. } => {
                self.wasm.as_ref().ok_or_else(nobody)?.execute(work, pinned).await?
            }
            JobType::Mcp { .. } => self.mcp.as_ref().ok_or_else(nobody)?.execute(work).await?,
        };
        match &self.dns {
            Some(dns) => {
                let time_limit = work.time_limit.saturating_sub(started.elapsed());
                let amended = dns.amend(&Work { time_limit, ..*work }, result).await;
                // The job names what is looked up: that no resolver finds it is not the fault of what
                // did the rest of the work.
                amended.map_err(|error| match error {
                    ExecuteError::Unreachable(why) => ExecuteError::Refused(why),
                    error => error,
                })
            }
            None if resolvers_asked(work.spec) > 0 => Err(nobody()),
            None => Ok(result),
        }
    }
}
