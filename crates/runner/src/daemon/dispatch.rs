//! Which executor does which work, and what this runner cannot do.

use super::settings::Settings;
use super::unable::Unable;
use crate::executor::dns::{DNS_VERIFIER_EXECUTOR_HASH, Dns, ResolverError};
use crate::executor::eth::Eth;
use crate::executor::http::Http;
use crate::executor::llm::Llm;
use crate::executor::mcp::{Mcp, McpError};
use crate::executor::wasm::{Wasm, WasmError};
use crate::executor::{
    CaError, EndpointError, ExecuteError, ExecutorSettings, PLAIN, Work, resolvers_asked,
};
use crate::fleet::Means;
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use std::time::Instant;
use thiserror::Error;
use tokio::time::timeout;

/// An executor cannot be set up.
#[derive(Debug, Error)]
pub enum ExecutorError {
    /// Certificates.
    #[error("[http] {0}")]
    Http(#[from] CaError),
    /// Resolvers.
    #[error("[dns] {0}")]
    Dns(#[from] ResolverError),
    /// A model's or a chain's server.
    #[error("{0}")]
    Endpoint(#[from] EndpointError),
    /// Tools.
    #[error("[mcp] {0}")]
    Mcp(#[from] McpError),
    /// Programs.
    #[error("[wasm] {0}")]
    Wasm(#[from] WasmError),
}

/// What a runner can do: cheap to ask, before anything is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    means: Means,
    /// Somebody else's machines do it.
    fleet: bool,
}

impl Abilities {
    /// What the settings say.
    pub fn of(settings: &Settings) -> Self {
        Self { means: settings.means(), fleet: settings.fleet.is_some() }
    }

    /// Whether a job can be done here, or why not. `pinned`: whether governance vouches for its
    /// program, if the chain has been asked; until then, a program whose module is here may be.
    pub fn check(&self, spec: &JobSpec, pinned: Option<bool>) -> Result<(), Unable> {
        let means = &self.means;
        match &spec.job_type {
            JobType::Http { .. } if !means.http => return Err(Unable::Http),
            JobType::Llm { model, .. } if !means.models.contains(model) => {
                return Err(Unable::Model(model.clone()));
            }
            JobType::EthSend { chain_id, .. } if !means.eth_chains.contains(chain_id) => {
                return Err(Unable::EthChain(*chain_id));
            }
            JobType::Custom { executor_hash, .. } => {
                let vouched = pinned.unwrap_or(true) && means.modules.contains(executor_hash);
                if !vouched && !means.programs.contains(executor_hash) {
                    return Err(Unable::Program(*executor_hash));
                }
            }
            // Which tools a runner has the chain does not know: who names another one is told so in
            // an answer.
            JobType::Mcp { .. } if means.servers.is_empty() => return Err(Unable::Tools),
            _ => {}
        }
        let (needed, here) = (resolvers_asked(spec), means.resolvers.len());
        if needed > here {
            return Err(Unable::Resolvers { needed, here });
        }
        if spec.tee_required {
            return Err(Unable::Tee);
        }
        Ok(())
    }

    /// Whether there is work that no server of the operator is needed for.
    pub(crate) fn alone(&self) -> bool {
        let Means { http, resolvers, programs, modules, .. } = &self.means;
        let any = *http || !resolvers.is_empty() || !programs.is_empty() || !modules.is_empty();
        any && !self.fleet
    }
}

fn what(work: &JobType) -> &'static str {
    match work {
        JobType::Http { .. } => "web request",
        JobType::Llm { .. } => "language model",
        JobType::EthSend { .. } => "Ethereum chain",
        JobType::Custom { .. } => "program",
        JobType::Mcp { .. } => "MCP server",
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

    /// Does a job, and adds what its DNS checks ask for. `pinned`: governance vouches for its program.
    pub async fn execute(&self, work: &Work<'_>, pinned: bool) -> Result<Vec<u8>, ExecuteError> {
        let started = Instant::now();
        if !work.spec.secrets.is_empty() {
            let reason = "secrets are not released to runners yet";
            return Err(ExecuteError::BadJob(reason.into()));
        }
        let nobody = || ExecuteError::NotAllowed(format!("no {}", what(&work.spec.job_type)));
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
                let within = work.within.saturating_sub(started.elapsed());
                let amended = dns.amend(&Work { within, ..*work }, result).await;
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

#[cfg(test)]
mod tests {
    use super::super::testing::{http_spec, settings};
    use super::*;
    use remuda_protocol::verifier::check::VerifierCheck;

    #[test]
    fn only_what_is_configured_is_taken() {
        let mut spec = http_spec("GET", "http://example.com/");
        assert_eq!(Abilities::of(&settings("[http]")).check(&spec, None), Ok(()));
        assert!(Abilities::of(&settings("[dns]")).check(&spec, None).is_err());
        let model = |model: &str| JobType::Llm {
            model: model.to_owned(),
            messages: vec![],
            temperature_milli: 0,
            seed: 0,
        };
        let llm = Abilities::of(&settings("[llm.models.tiny]\nbase_url = 'http://127.0.0.1:2'"));
        spec.job_type = model("tiny");
        assert_eq!(llm.check(&spec, None), Ok(()));
        spec.job_type = model("huge");
        assert!(llm.check(&spec, None).is_err());
    }

    #[test]
    fn checks_by_dns_need_resolvers() {
        let mut spec = http_spec("GET", "http://example.com/");
        spec.verification.checks = vec![VerifierCheck::DnsTxtRecordMatch {
            fqdn: "example.com".to_owned(),
            expected_value: "x".to_owned(),
            min_resolvers: 3,
        }];
        assert!(Abilities::of(&settings("[http]")).check(&spec, None).is_err());
        let two = "[http]\n[dns]\nresolvers = ['1.1.1.1', '9.9.9.9']";
        assert!(Abilities::of(&settings(two)).check(&spec, None).is_err());
        assert_eq!(Abilities::of(&settings("[http]\n[dns]")).check(&spec, None), Ok(()));
    }

    #[test]
    fn what_needs_hardware_is_not_taken() {
        let able = Abilities::of(&settings("[http]"));
        let mut spec = http_spec("GET", "http://example.com/");
        spec.tee_required = true;
        assert_eq!(able.check(&spec, None), Err(Unable::Tee));
    }

    #[test]
    fn what_the_chain_cannot_know_is_taken_and_answered() {
        let server = "[mcp.servers.files]\ncommand = 'files'\ntools = ['read']";
        let able = Abilities::of(&settings(server));
        let mut spec = http_spec("GET", "http://example.com/");
        let (server, tool) = ("other".to_owned(), "write".to_owned());
        spec.job_type = JobType::Mcp { server, tool, arguments: "{}".to_owned() };
        assert_eq!(able.check(&spec, None), Ok(()));
        assert_eq!(Abilities::of(&settings("[http]")).check(&spec, None), Err(Unable::Tools));
    }

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
