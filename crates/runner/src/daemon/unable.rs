//! Why a job cannot be done here: a word for whoever sent it, and what the operator can change.

use remuda_protocol::primitives::B256;
use thiserror::Error;

/// See the module. What is displayed is told to strangers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unable {
    #[error("no web requests here")]
    Http,
    #[error("no language model {0:?} here")]
    Model(String),
    #[error("no Ethereum chain {0} here")]
    EthChain(u64),
    /// Nobody vouches for the program, or it is not there.
    #[error("no program {0} here")]
    Program(B256),
    #[error("no MCP server here")]
    Tools,
    #[error("{needed} resolvers are asked for, {here} are here")]
    Resolvers { needed: usize, here: usize },
    #[error("no trusted hardware here")]
    Tee,
    /// What the work needs does not answer.
    #[error("{0} does not answer")]
    Down(String),
    /// A part of the runner's own is out of order; why is for its operator.
    #[error("a part of the runner that the job needs is not working")]
    Broken(String),
}

/// Characters of what is said about a job: whoever makes one up names what it likes.
const BRIEF: usize = 400;

/// The beginning of a text with names that others chose.
pub(crate) fn brief(text: String) -> String {
    match text.char_indices().nth(BRIEF) {
        // Not cut in place: the rest would stay in memory.
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Unable {
    pub fn words(&self) -> String {
        brief(self.to_string())
    }

    /// What the operator can do about it.
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
                return "no setting changes that; runners of this version cannot".to_owned();
            }
            Self::Broken(why) => return brief(why.clone()),
            Self::Down(_) => return "start it, or mend its address in runner.toml".to_owned(),
        };
        let change = brief(change);
        format!("{change}, or take it out of what the chain knows: remuda runner update")
    }
}
