//! What an operator decides about executors: a section for each kind of work. A runner has them in
//! `runner.toml`, a worker of its fleet under `[executors]` in `worker.toml`.

use super::dns::DnsConfig;
use super::eth::EthConfig;
use super::http::HttpConfig;
use super::llm::LlmConfig;
use super::mcp::McpConfig;
use super::wasm::WasmConfig;
use serde::Deserialize;
use std::path::Path;

/// The kinds of work that are set up. Paths are relative to the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExecutorSettings {
    /// Web requests, if any are made.
    pub http: Option<HttpConfig>,
    /// DNS checks, if any are made.
    pub dns: Option<DnsConfig>,
    /// Language models, if there are any.
    pub llm: Option<LlmConfig>,
    /// Ethereum chains, if anything is sent to any.
    pub eth: Option<EthConfig>,
    /// MCP servers, if there are any.
    pub mcp: Option<McpConfig>,
    /// Programs in WebAssembly, if any are run.
    pub wasm: Option<WasmConfig>,
}

impl ExecutorSettings {
    /// Resolves relative paths against this directory.
    pub fn below(&mut self, base: &Path) {
        let mut paths = Vec::new();
        paths.extend(self.http.as_mut().and_then(|http| http.ca_file.as_mut()));
        if let Some(llm) = &mut self.llm {
            paths.extend(llm.ca_file.as_mut());
            paths.extend(llm.models.values_mut().filter_map(|model| model.api_key_file.as_mut()));
        }
        if let Some(eth) = &mut self.eth {
            paths.extend(eth.ca_file.as_mut());
            paths.extend(eth.chains.iter_mut().filter_map(|chain| chain.api_key_file.as_mut()));
        }
        if let Some(mcp) = &mut self.mcp {
            paths.extend(mcp.ca_file.as_mut());
            paths.extend(mcp.servers.values_mut().filter_map(|it| it.api_key_file.as_mut()));
        }
        paths.extend(self.wasm.as_mut().map(|wasm| &mut wasm.folder));
        for path in paths {
            *path = base.join(&*path);
        }
    }
}
