//! `[fleet]` in `runner.toml`: the orchestrator whose workers execute the runner's jobs.

use crate::executor::Capabilities;
use crate::executor::dns::DNS_VERIFIER_EXECUTOR_HASH;
use remuda_fleet::http::{Endpoint, EndpointError, Trust};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// See the module. Where models, tools and nodes are is in the settings of the workers; here is what they
/// have, because the chain must be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FleetSettings {
    /// The orchestrator, such as `https://fleet.example.com:4400`.
    pub orchestrator: String,
    /// Certificates of private authorities, in PEM, that its own may come from.
    pub ca_file: Option<PathBuf>,
    /// Allows plain HTTP to another machine: everybody on the way can read and use what is sent.
    pub insecure: bool,
    /// A file with a token that may submit; none if the orchestrator requires no token.
    pub token_file: Option<PathBuf>,
    /// Whether workers make web requests.
    pub http: bool,
    /// The language models that workers have.
    pub models: Vec<String>,
    /// The Ethereum chains that workers send to.
    pub eth_chains: Vec<u64>,
    /// The recursive resolvers that workers ask; all of them the same ones.
    pub resolvers: Vec<String>,
    /// The MCP servers that workers have.
    pub mcp_servers: Vec<String>,
    /// The programs that workers run, by their hashes.
    pub programs: Vec<String>,
}

impl FleetSettings {
    /// The capabilities that workers should have.
    pub fn capabilities(&self) -> Capabilities {
        let dns = (!self.resolvers.is_empty()).then_some(DNS_VERIFIER_EXECUTOR_HASH);
        let programs = self.programs.iter().filter_map(|hash| hash.parse().ok());
        Capabilities {
            http: self.http,
            models: self.models.iter().cloned().collect(),
            eth_chains: self.eth_chains.iter().copied().collect(),
            resolvers: self.resolvers.iter().cloned().collect(),
            servers: self.mcp_servers.iter().cloned().collect(),
            programs: dns.into_iter().chain(programs).collect(),
            modules: BTreeSet::new(),
        }
    }

    /// The way to the orchestrator.
    pub(super) fn endpoint(&self) -> Result<Endpoint, EndpointError> {
        let trust = Trust { ca_file: self.ca_file.clone(), insecure: self.insecure };
        Endpoint::new(&self.orchestrator, &trust)
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let trust = Trust { ca_file: None, insecure: self.insecure };
        match Endpoint::new(&self.orchestrator, &trust) {
            Ok(_) => {}
            Err(EndpointError::Plain(_)) => {
                return Some(
                    "`orchestrator` under [fleet] uses plain HTTP to another machine, so anyone on the network path \
                     can read the token and the jobs: use https://, or allow it with `insecure = true`",
                );
            }
            Err(_) => {
                return Some(
                    "`orchestrator` under [fleet] must be an address like https://fleet.example.com:4400",
                );
            }
        }
        let hash = |text: &String| text.parse::<remuda_protocol::primitives::B256>().is_ok();
        if !self.programs.iter().all(hash) {
            return Some("`programs` under [fleet] are BLAKE3 hashes: 64 hexadecimal digits each");
        }
        None
    }
}
