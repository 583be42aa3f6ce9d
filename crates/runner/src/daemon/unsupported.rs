//! Why this runner cannot execute a job, and what the operator can change. The error text is sent to validators,
//! the advice is shown to the operator only.

use remuda_protocol::primitives::B256;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnsupportedJob {
    #[error("web requests not supported")]
    Http,
    #[error("model {0:?} not available")]
    Model(String),
    #[error("Ethereum chain {0} not available")]
    EthChain(u64),
    /// Neither allowed nor pinned, or its module is missing.
    #[error("program {0} not available")]
    Program(B256),
    #[error("no MCP server available")]
    Tools,
    #[error("{needed} DNS resolvers needed, {here} available")]
    Resolvers { needed: usize, here: usize },
    #[error("trusted hardware not available")]
    Tee,
    #[error("{0} unavailable")]
    Unavailable(String),
    /// A part of the runner. The reason is for its operator only.
    #[error("a part of the runner is faulty")]
    Faulty(String),
}

/// Bounds texts with names from jobs, which may be long.
const BRIEF: usize = 400;

pub(crate) fn brief(text: String) -> String {
    match text.char_indices().nth(BRIEF) {
        // A copy, because truncating keeps the capacity.
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl UnsupportedJob {
    pub fn words(&self) -> String {
        brief(self.to_string())
    }

    /// For the operator.
    pub fn advice(&self) -> String {
        let change = match self {
            Self::Http => "add a section [http] to runner.toml".to_owned(),
            Self::Model(model) => format!("add a section [llm.models.{model:?}] to runner.toml"),
            Self::EthChain(id) => {
                format!("add a section [[eth.chains]] with chain_id = {id} to runner.toml")
            }
            Self::Program(hash) => {
                format!("put its module into the folder of [wasm] and {hash} on the list `allow`")
            }
            Self::Tools => "add a section [mcp.servers.NAME] to runner.toml".to_owned(),
            Self::Resolvers { needed, .. } => {
                format!("name {needed} `resolvers` at least under [dns]")
            }
            Self::Tee => {
                return "not supported by this version of the runner".to_owned();
            }
            Self::Faulty(why) => return brief(why.clone()),
            Self::Unavailable(_) => {
                return "start it, or correct its address in runner.toml".to_owned();
            }
        };
        let change = brief(change);
        format!("{change}, or remove it from the offer: remuda runner update")
    }
}
