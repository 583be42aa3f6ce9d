//! What work can be done, wherever it is done: here, by what the settings set up, or by a fleet, by what
//! they say that its workers have. The offer to the chain, what is refused, and tags all follow from it.

use super::FleetSettings;
use crate::executor::ExecutorSettings;
use crate::executor::dns::DNS_VERIFIER_EXECUTOR_HASH;
use crate::executor::wasm::WasmConfig;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::primitives::B256;
use std::collections::BTreeSet;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Means {
    /// Web requests.
    pub http: bool,
    /// Language models, by name.
    pub models: BTreeSet<String>,
    /// Ethereum chains.
    pub eth_chains: BTreeSet<u64>,
    /// Recursive resolvers. None of them: no DNS checks.
    pub resolvers: BTreeSet<String>,
    /// MCP servers, by name.
    pub servers: BTreeSet<String>,
    /// Programs that jobs may use.
    pub programs: BTreeSet<B256>,
    /// Programs that jobs may use if governance vouches for them.
    pub modules: BTreeSet<B256>,
}

impl Means {
    /// What is set up.
    pub fn of(settings: &ExecutorSettings) -> Self {
        let listed = settings.wasm.iter().flat_map(|wasm| &wasm.allow);
        // What is no hash is refused when the executor is set up.
        let programs = listed.filter_map(|hash| hash.parse().ok());
        let dns = settings.dns.iter().map(|_| DNS_VERIFIER_EXECUTOR_HASH);
        let chains = settings.eth.iter().flat_map(|eth| &eth.chains);
        Self {
            http: settings.http.is_some(),
            models: settings.llm.iter().flat_map(|llm| llm.models.keys().cloned()).collect(),
            eth_chains: chains.map(|chain| chain.chain_id).collect(),
            resolvers: settings.dns.iter().flat_map(|dns| dns.resolvers.iter().cloned()).collect(),
            servers: settings.mcp.iter().flat_map(|mcp| mcp.servers.keys().cloned()).collect(),
            programs: dns.chain(programs).collect(),
            modules: settings.wasm.iter().flat_map(WasmConfig::pinnable).collect(),
        }
    }

    /// What workers are said to have.
    pub fn of_fleet(settings: &FleetSettings) -> Self {
        let dns = (!settings.resolvers.is_empty()).then_some(DNS_VERIFIER_EXECUTOR_HASH);
        let programs = settings.programs.iter().filter_map(|hash| hash.parse().ok());
        Self {
            http: settings.http,
            models: settings.models.iter().cloned().collect(),
            eth_chains: settings.eth_chains.iter().copied().collect(),
            resolvers: settings.resolvers.iter().cloned().collect(),
            servers: settings.mcp_servers.iter().cloned().collect(),
            programs: dns.into_iter().chain(programs).collect(),
            modules: BTreeSet::new(),
        }
    }

    /// The kinds of work, as the chain calls them.
    pub fn kinds(&self) -> Vec<JobKind> {
        let all = [
            (!self.models.is_empty(), JobKind::Llm),
            (self.http, JobKind::Http),
            (!self.servers.is_empty(), JobKind::Mcp),
            (!self.eth_chains.is_empty(), JobKind::EthSend),
            (!self.programs.is_empty(), JobKind::Custom),
        ];
        all.into_iter().filter(|(there, _)| *there).map(|(_, kind)| kind).collect()
    }
}
