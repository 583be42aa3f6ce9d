//! What work can be done, by the executors of a process or by a fleet. The offer to the chain, refusals, and
//! the tags of workers all follow from it.

use super::ExecutorSettings;
use super::dns::DNS_VERIFIER_EXECUTOR_HASH;
use super::wasm::WasmConfig;
use remuda_protocol::dispatcher::spec::JobKind;
use remuda_protocol::primitives::B256;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    pub http: bool,
    pub models: BTreeSet<String>,
    pub eth_chains: BTreeSet<u64>,
    /// Recursive resolvers. None of them: no DNS checks.
    pub resolvers: BTreeSet<String>,
    pub servers: BTreeSet<String>,
    /// Programs that jobs may use.
    pub programs: BTreeSet<B256>,
    /// Programs that jobs may use if governance vouches for them.
    pub modules: BTreeSet<B256>,
}

impl Capabilities {
    /// What the executors of these settings can do.
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
