//! `[fleet]` in `runner.toml`: who does the work, if the runner does not.

use serde::Deserialize;
use std::path::PathBuf;

/// See the module. Where models, tools and nodes are is in the settings of the workers; here is what they
/// have, because the chain must be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FleetSettings {
    /// The orchestrator, such as `http://10.0.0.5:4400`.
    pub orchestrator: String,
    /// A file with a token that may submit. None: nobody asks for one.
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
    /// What is wrong with it, if anything is.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if !self.orchestrator.starts_with("http://") {
            return Some(
                "`orchestrator` under [fleet] must be an address like http://10.0.0.5:4400; where \
                 others share the network, put a proxy with TLS on both ends",
            );
        }
        let hash = |text: &String| text.parse::<remuda_protocol::primitives::B256>().is_ok();
        if !self.programs.iter().all(hash) {
            return Some("`programs` under [fleet] are BLAKE3 hashes: 64 hexadecimal digits each");
        }
        None
    }
}
