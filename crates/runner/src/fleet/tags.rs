//! Tags: what a worker says that it can do, and what a job asks for. A job goes to workers that have all of
//! its tags.
//!
//! ```text
//! remuda:http               web requests
//! remuda:llm  model:NAME    a language model
//! remuda:mcp  mcp:NAME      tools of a server; a server that nobody named is asked for without the name,
//!                           so that some worker can say that there is no such thing
//! remuda:eth  eth:ID        an Ethereum chain
//! remuda:wasm program:HASH  a program
//! remuda:dns  resolvers:N   DNS checks by at least so many resolvers
//! ```

use crate::executor::dns::DNS_VERIFIER_EXECUTOR_HASH;
use crate::executor::{Capabilities, resolvers_asked};
use remuda_fleet::message::Tag;
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use std::collections::BTreeSet;

/// Bounds the resolvers counted in tags. No worker gets a job that needs more.
const RESOLVERS_MAX: usize = 32;

const HTTP: &str = "remuda:http";
const LLM: &str = "remuda:llm";
const MCP: &str = "remuda:mcp";
const ETH: &str = "remuda:eth";
const WASM: &str = "remuda:wasm";
const DNS: &str = "remuda:dns";

fn plain(text: &str) -> Tag {
    Tag::new(text).expect("these are tags")
}

/// A tag with a free name. A name that is no valid tag is replaced by its hash.
pub(crate) fn named(kind: &str, name: &str) -> Tag {
    Tag::new(&format!("{kind}:{name}")).unwrap_or_else(|_| {
        let hash = blake3::hash(name.as_bytes()).to_hex();
        plain(&format!("{kind}:#{}", &hash[..32]))
    })
}

/// The tags of a worker with these capabilities.
pub fn offered(capabilities: &Capabilities) -> BTreeSet<Tag> {
    let mut tags = BTreeSet::new();
    if capabilities.http {
        tags.insert(plain(HTTP));
    }
    let mut kind = |kind: &str, names: Vec<Tag>| {
        if !names.is_empty() {
            tags.insert(plain(kind));
            tags.extend(names);
        }
    };
    kind(LLM, capabilities.models.iter().map(|name| named("model", name)).collect());
    kind(MCP, capabilities.servers.iter().map(|name| named("mcp", name)).collect());
    kind(ETH, capabilities.eth_chains.iter().map(|id| named("eth", &id.to_string())).collect());
    let programs = capabilities.programs.iter().filter(|hash| **hash != DNS_VERIFIER_EXECUTOR_HASH);
    let programs = programs.chain(&capabilities.modules);
    kind(WASM, programs.map(|hash| named("program", &hash.to_string())).collect());
    let resolvers = 1..=capabilities.resolvers.len().min(RESOLVERS_MAX);
    kind(DNS, resolvers.map(|count| named("resolvers", &count.to_string())).collect());
    tags
}

/// The tags that a job requires, of workers whose MCP servers have these names.
pub fn required(spec: &JobSpec, servers: &BTreeSet<String>) -> BTreeSet<Tag> {
    let mut tags = match &spec.job_type {
        JobType::Http { .. } => vec![plain(HTTP)],
        JobType::Llm { model, .. } => vec![plain(LLM), named("model", model)],
        JobType::Mcp { server, .. } if servers.contains(server) => {
            vec![plain(MCP), named("mcp", server)]
        }
        JobType::Mcp { .. } => vec![plain(MCP)],
        JobType::EthSend { chain_id, .. } => vec![plain(ETH), named("eth", &chain_id.to_string())],
        JobType::Custom { executor_hash, .. } if *executor_hash == DNS_VERIFIER_EXECUTOR_HASH => {
            vec![plain(DNS)]
        }
        JobType::Custom { executor_hash, .. } => {
            vec![plain(WASM), named("program", &executor_hash.to_string())]
        }
    };
    match resolvers_asked(spec) {
        0 => {}
        count => tags.extend([plain(DNS), named("resolvers", &count.to_string())]),
    }
    tags.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{http_spec, settings};
    use remuda_protocol::verifier::check::VerifierCheck;

    fn capabilities(sections: &str) -> Capabilities {
        Capabilities::of(&settings(sections).executors())
    }

    #[test]
    fn a_job_goes_to_who_can_do_it_and_to_nobody_else() {
        let web = offered(&capabilities("[http]"));
        let names = offered(&capabilities("[dns]"));
        let both = offered(&capabilities("[http]\n[dns]"));
        let odd = "[llm.models.'a, \"b\"']\nbase_url = 'http://127.0.0.1:2'";
        let model = offered(&capabilities(odd));
        let none = BTreeSet::new();
        let mut spec = http_spec("GET", "http://example.com/");
        let fits = |spec: &JobSpec, tags: &BTreeSet<Tag>| required(spec, &none).is_subset(tags);
        assert!(fits(&spec, &web) && fits(&spec, &both) && !fits(&spec, &names));
        spec.verification.checks = vec![VerifierCheck::DnsTxtRecordMatch {
            fqdn: "example.com".to_owned(),
            expected_value: "x".to_owned(),
            min_resolvers: 4,
        }];
        assert!(!fits(&spec, &web) && fits(&spec, &both), "four resolvers");
        let llm = |model: &str| JobSpec {
            job_type: JobType::Llm {
                model: model.to_owned(),
                messages: vec![],
                temperature_milli: 0,
                seed: 0,
            },
            ..http_spec("GET", "http://example.com/")
        };
        assert!(fits(&llm("a, \"b\""), &model), "whatever its name is");
        assert!(!fits(&llm("a"), &model) && !fits(&llm("a, \"b\""), &both));
    }

    #[test]
    fn a_tool_of_nobodys_is_asked_of_anybody_who_has_tools() {
        let tags =
            offered(&capabilities("[mcp.servers.files]\ncommand = 'files'\ntools = ['read']"));
        let mut spec = http_spec("GET", "http://example.com/");
        let known = BTreeSet::from(["files".to_owned(), "far".to_owned()]);
        for (server, fits) in [("files", true), ("far", false), ("unheard of", true)] {
            let (tool, arguments) = ("read".to_owned(), "{}".to_owned());
            spec.job_type = JobType::Mcp { server: server.to_owned(), tool, arguments };
            assert_eq!(required(&spec, &known).is_subset(&tags), fits, "{server}");
        }
    }
}
