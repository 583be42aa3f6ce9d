//! Sends signed Ethereum transactions.
//!
//! A transaction is named by its hash, so sending it twice is sending it once: the node is asked
//! for it first, and after every failure, and finding it there is success.

mod rpc;

use super::document::{finish, object, string, within};
use super::endpoint::{Endpoint, EndpointError, blame, transport};
use super::retry::Retries;
use super::{ExecuteError, Work};
use data_encoding::HEXLOWER;
use remuda_protocol::dispatcher::spec::{DataFormat, JobType};
use remuda_protocol::primitives::{B256, keccak256};
use rpc::{Failure, Found, Rpc};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tokio::time::timeout;

/// First byte of a transaction with blobs. Its hash leaves them out, and we would have to take it
/// apart to know it.
const BLOBS: u8 = 3;
/// The least first byte of a list in RLP, which transactions without a type are.
const LIST: u8 = 0xc0;
/// The most that a type's byte can be.
const TYPE_MAX: u8 = 0x7f;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EthConfig {
    /// The chains, each once. There are no others.
    pub chains: Vec<ChainConfig>,
    /// Certificates (PEM) that are trusted besides the public ones.
    pub ca_file: Option<PathBuf>,
}

/// Where a chain's node is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainConfig {
    pub chain_id: u64,
    pub rpc_url: String,
    /// File with the key, if the endpoint wants one in a header.
    #[serde(default)]
    pub api_key_file: Option<PathBuf>,
}

pub struct Eth {
    chains: BTreeMap<u64, Rpc>,
}

impl Eth {
    /// With an operator's nodes. Reads their keys.
    pub fn new(config: &EthConfig) -> Result<Self, EndpointError> {
        let transport = transport(config.ca_file.as_deref())?;
        let mut chains = BTreeMap::new();
        for chain in &config.chains {
            let what = || format!("the node of chain {}", chain.chain_id);
            let key_file = chain.api_key_file.as_deref();
            let endpoint = Endpoint::new(what(), transport.clone(), &chain.rpc_url, key_file)?;
            if chains.insert(chain.chain_id, Rpc::new(endpoint)).is_some() {
                return Err(EndpointError::Twice { what: what() });
            }
        }
        Ok(Self { chains })
    }

    /// Whether a chain's node answers a plain question. None: there is no such chain.
    pub(crate) async fn probe(&self, chain_id: u64) -> Option<Result<(), ExecuteError>> {
        Some(plain(self.chains.get(&chain_id)?, chain_id).await)
    }

    pub async fn execute(&self, work: &Work<'_>) -> Result<Vec<u8>, ExecuteError> {
        let JobType::EthSend { chain_id, raw_transaction } = &work.spec.job_type else {
            return Err(ExecuteError::BadJob("no Ethereum transaction".into()));
        };
        let rpc = self.chains.get(chain_id).ok_or_else(|| {
            ExecuteError::NotAllowed(format!("there is no node of chain {chain_id} here"))
        })?;
        let hash = hash(raw_transaction)?;
        let sent = async {
            match persist(work, rpc, *chain_id, raw_transaction, hash).await {
                // The node rejects the transaction itself.
                Err(error @ (ExecuteError::Unreachable(_) | ExecuteError::Backend(_))) => {
                    Err(blame(error, plain(rpc, *chain_id)).await)
                }
                end => end,
            }
        };
        timeout(work.time_limit, sent)
            .await
            .map_err(|_| ExecuteError::TimedOut(work.time_limit))??;
        match work.spec.result_schema.data_format {
            DataFormat::Json => finish(work, &object([("hash", string(hex(&hash[..])))])),
            DataFormat::Text => within(work, hex(&hash[..]).into_bytes()),
            DataFormat::Bytes => within(work, hash.to_vec()),
        }
    }
}

/// The name of a transaction.
fn hash(raw: &[u8]) -> Result<B256, ExecuteError> {
    match raw.first() {
        Some(&BLOBS) => {
            Err(ExecuteError::BadJob("transactions with blobs are not sent here".into()))
        }
        Some(&(..=TYPE_MAX | LIST..)) => Ok(keccak256(raw)),
        _ => Err(ExecuteError::BadJob("no signed transaction".into())),
    }
}

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", HEXLOWER.encode(bytes))
}

async fn persist(
    work: &Work<'_>,
    rpc: &Rpc,
    chain_id: u64,
    raw: &[u8],
    hash: B256,
) -> Result<(), ExecuteError> {
    let mut retries = Retries::of(work);
    loop {
        match send(rpc, chain_id, raw, hash).await {
            Err(error) if retries.again(&error).await => {}
            end => return end,
        }
    }
}

/// Sees to it that the right chain's node has the transaction.
async fn send(rpc: &Rpc, chain_id: u64, raw: &[u8], hash: B256) -> Result<(), ExecuteError> {
    check_chain(rpc, chain_id).await?;
    if has(rpc, hash).await? {
        return Ok(());
    }
    match rpc.call::<String>("eth_sendRawTransaction", &[&hex(raw)]).await {
        Ok(Some(name)) if name.eq_ignore_ascii_case(&hex(&hash[..])) => Ok(()),
        Ok(_) => Err(rpc.useless("it took the transaction under another hash")),
        Err(failure) if failure.says_known() => Ok(()),
        // After an error the node may have the transaction all the same, from an earlier attempt or from others.
        Err(failure) => match has(rpc, hash).await {
            Ok(true) => Ok(()),
            _ => Err(rpc.explain(failure)),
        },
    }
}

async fn check_chain(rpc: &Rpc, chain_id: u64) -> Result<(), ExecuteError> {
    let there: Option<String> =
        rpc.call("eth_chainId", &[]).await.map_err(|failure| rpc.unfit(failure))?;
    match there.as_deref().and_then(quantity) == Some(chain_id) {
        true => Ok(()),
        false => Err(rpc.misplaced("it is a node of another chain")),
    }
}

/// What any node answers that lets the operator in. The chain's number some tell everybody.
async fn plain(rpc: &Rpc, chain_id: u64) -> Result<(), ExecuteError> {
    check_chain(rpc, chain_id).await?;
    has(rpc, keccak256(b"remuda: a transaction that nobody has sent")).await.map(drop)
}

async fn has(rpc: &Rpc, hash: B256) -> Result<bool, ExecuteError> {
    let name = hex(&hash[..]);
    let found: Option<Found> = rpc
        .call("eth_getTransactionByHash", &[&name])
        .await
        .map_err(|failure: Failure| rpc.unfit(failure))?;
    match found {
        None => Ok(false),
        Some(found) if found.hash.eq_ignore_ascii_case(&name) => Ok(true),
        Some(_) => Err(rpc.useless("it names another transaction than it was asked for")),
    }
}

/// A number as JSON-RPC writes it.
fn quantity(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_hexadecimal() {
        assert_eq!(quantity("0x1"), Some(1));
        assert_eq!(quantity("0xaa36a7"), Some(11_155_111));
        for text in ["", "1", "0x", "0xg", "0x10000000000000000"] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_can_be_a_transaction_has_a_hash() {
        for first in [0x01, 0x02, 0x04, 0xc0, 0xf8, 0xff] {
            assert_eq!(hash(&[first, 1]), Ok(keccak256([first, 1])));
        }
        for raw in [&[][..], &[BLOBS, 1], &[0x80], &[0xbf]] {
            assert!(matches!(hash(raw), Err(ExecuteError::BadJob(_))), "{raw:?}");
        }
    }
}
