//! The file that a new runner starts with.

use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'a> {
    /// Name of the key file.
    pub key: &'a str,
    /// Name of the data directory.
    pub data: &'a str,
    pub nodes: &'a [String],
    /// Where the status page is.
    pub status: &'a str,
    /// The stake, such as `15000cby`.
    pub stake: &'a str,
}

/// A working `runner.toml` with all other settings as comments.
pub fn template(fill: &Template<'_>) -> String {
    let mut text = String::new();
    let nodes: Vec<String> = fill.nodes.iter().map(|node| quoted(node)).collect();
    let written = write!(
        text,
        r#"# A runner of Remuda. Paths are relative to this file.

# Its key: one line of hex digits, for its owner only (mode 0600).
key = {key}
# What must survive a restart: results that are not opened yet.
data = {data}
# APIs of nodes, best first. Two are better than one: what a validator sends is checked with another's.
nodes = [{nodes}]
# Jobs at a time.
slots = 4
# Where connections to validators (QUIC) come from. Port 0: any.
bind = "0.0.0.0:0"
# Jobs are pushed over these connections. Without them (false) the runner polls: slower, and where
# the chain asks for presence it is not drawn.
push = true
# The status page. Only this machine may reach it.
status = {status}
# Draining pauses the runner on chain; with true it takes jobs again when it starts.
resume = true

# What `remuda runner register` tells the chain, besides what follows from the sections below.
# Amounts are like "1.5cby", or else in base units, of which a CBY has 1000000000.
[offer]
# At least 10000 CBY on most chains, and 1.5 times declared_max_job_value.
stake = {stake}
# Per job, per second of allowed time, per 1000 tokens in and out. The price of a job should cover the
# fees of a commit and of a result.
base = "0.5cby"
per_second = "0"
per_1k_in = "0"
per_1k_out = "0"
# The largest job value that the stake covers 1.5 times.
declared_max_job_value = "1000cby"
# Whether to take jobs without a price.
accepts_unpaid = false
# Whether to take work that the stake answers for: 6.5 times its price is locked until nobody can
# challenge the result any more.
accept_bonded = false
# Part of what delegators earn, in parts of 10000.
commission_bps = 0

# The kinds of work. A section that is not there is work that this runner does not do.

# Web requests. Only addresses of the public internet are reached, unless allowed here, and no address of
# this machine. Deny the public address of a router that leads to it.
[http]
body_bytes_max = 1048576
#ca_file = "ca.pem"
#[http.addresses]
#allow = ["127.0.0.0/8"]
#deny = ["203.0.113.0/24"]

# DNS checks: recursive resolvers, each counts once.
[dns]
resolvers = ["1.1.1.1", "8.8.8.8", "9.9.9.9", "208.67.222.222"]

# Language models behind any server that speaks OpenAI's API.
#[llm.models.llama-3-8b]
#base_url = "http://127.0.0.1:8081/v1"
#api_key_file = "llm.key"

# MCP servers, each a program or an address, with the tools that jobs may use.
#[mcp.servers.time]
#command = "/usr/local/bin/mcp-server-time"
#tools = ["get_current_time"]

# Programs in WebAssembly, by the BLAKE3 hash of their module, which is modules/<hash>.wasm.
#[wasm]
#folder = "modules"
#allow = []
# Whether jobs may also use programs that governance vouches for, if their modules are there.
#allow_pinned = true

# Ethereum chains, for transactions that somebody has signed already.
#[[eth.chains]]
#chain_id = 1
#rpc_url = "https://rpc.example.com"

# Instead of doing the work itself the runner can hand it to workers on other machines (`remuda orchestrator`,
# `remuda worker init --executors`). Then the sections above move to their worker.toml, and here is what they
# have, since the chain must be told.
#[fleet]
#orchestrator = "https://fleet.example.com:4400"
# The certificate of the authority that the orchestrator's comes from, if it is a private one.
#ca_file = "ca.pem"
#token_file = "submitter.token"
#http = true
#models = ["llama-3-8b"]
#mcp_servers = ["time"]
#resolvers = ["1.1.1.1", "8.8.8.8", "9.9.9.9", "208.67.222.222"]
#programs = []
#eth_chains = [1]
"#,
        key = quoted(fill.key),
        data = quoted(fill.data),
        nodes = nodes.join(", "),
        status = quoted(fill.status),
        stake = quoted(fill.stake),
    );
    written.expect("a string takes everything");
    text
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::settings::Settings;
    use super::*;
    use remuda_protocol::dispatcher::spec::JobKind;
    use remuda_protocol::primitives::Amount;

    fn fill(nodes: &[String]) -> Template<'_> {
        let (key, data, status) = ("runner.key", "it's \"here\"", "127.0.0.1:8090");
        Template { key, data, nodes, status, stake: "15000cby" }
    }

    #[test]
    fn the_template_can_be_used_as_it_is() {
        let nodes = ["http://127.0.0.1:8080".to_owned(), "http://127.0.0.1:8081".to_owned()];
        let text = template(&fill(&nodes));
        let settings: Settings = toml::from_str(&text).unwrap();
        settings.check().unwrap();
        assert_eq!(settings.nodes, nodes);
        assert_eq!(settings.data.to_str(), Some("it's \"here\""), "whatever the name is");
        assert_eq!(settings.stake(), Amount::cby(15_000));
        assert_eq!(settings.offer().unwrap().kinds, [JobKind::Http, JobKind::Custom]);
    }

    #[test]
    fn so_can_everything_that_is_commented_out() {
        let nodes = ["http://127.0.0.1:8080".to_owned()];
        let text = template(&fill(&nodes)).replace("\n#[", "\n[");
        let comment = |line: &str| line.starts_with('#') && line.contains(" = ");
        let all: Vec<&str> =
            text.lines().map(|line| if comment(line) { &line[1..] } else { line }).collect();
        let settings: Settings = toml::from_str(&all.join("\n")).unwrap();
        let kinds = settings.offer().unwrap().kinds;
        let all = [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::EthSend, JobKind::Custom];
        assert_eq!(kinds, all);
    }
}
