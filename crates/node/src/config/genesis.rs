//! The genesis as a file: JSON that people can read and compare, and the hash of what it means.
//!
//! Consensus: a change here forks the chain.

use super::{FileError, read_text, write_text};
use alloy_primitives::hex;
use remuda_protocol::chain::Validator;
use remuda_protocol::codec::Bytes;
use remuda_protocol::genesis::Genesis;
use remuda_protocol::params::{ChainParams, ParamError};
use remuda_protocol::primitives::{Address, Amount, B256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What is in the file. Numbers that can be large are decimal strings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GenesisFile {
    /// Hash of all other fields. A change of any of them defines another chain.
    pub hash: String,
    /// Milliseconds since 1970.
    pub timestamp_ms: u64,
    pub parameters: BTreeMap<String, String>,
    /// Address to balance, in base units.
    pub balances: BTreeMap<String, String>,
    /// Executors that governance vouches for.
    pub pinned_executors: Vec<String>,
    /// Who may cancel and extend any timer and tune the limits on timers.
    pub system_deployers: Vec<String>,
    /// Who makes blocks, ascending by key.
    pub validators: Vec<ValidatorEntry>,
    /// The validators' public threshold key.
    pub threshold_key: String,
}

/// A validator in the file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ValidatorEntry {
    pub key: String,
    /// The account that gets its tips.
    pub fee_recipient: String,
}

impl From<&Genesis> for GenesisFile {
    fn from(genesis: &Genesis) -> Self {
        let row = |row: remuda_protocol::params::Parameter| (row.key.into(), row.value.to_string());
        Self {
            hash: genesis.hash().to_string(),
            timestamp_ms: genesis.timestamp_ms,
            parameters: genesis.params.table().into_iter().map(row).collect(),
            balances: genesis
                .balances
                .iter()
                .map(|(address, balance)| (address.to_string(), balance.get().to_string()))
                .collect(),
            pinned_executors: genesis.pinned_executors.iter().map(B256::to_string).collect(),
            system_deployers: genesis.system_deployers.iter().map(Address::to_string).collect(),
            validators: genesis
                .validators
                .iter()
                .map(|validator| ValidatorEntry {
                    key: hex::encode_prefixed(validator.key),
                    fee_recipient: validator.fee_recipient.to_string(),
                })
                .collect(),
            threshold_key: hex::encode_prefixed(&genesis.threshold_key.0),
        }
    }
}

impl GenesisFile {
    /// What it means, or which line does not mean anything.
    pub fn to_genesis(&self) -> Result<Genesis, String> {
        let mut balances = Vec::new();
        for (address, balance) in &self.balances {
            let balance = balance.parse::<u128>().map_err(|_| wrong("balance", balance))?;
            balances.push((parse::<Address>("address", address)?, Amount(balance)));
        }
        balances.sort_unstable();
        let validator = |entry: &ValidatorEntry| {
            Ok::<_, String>(Validator {
                key: parse::<B256>("validator key", &entry.key)?.0,
                fee_recipient: parse("fee recipient", &entry.fee_recipient)?,
            })
        };
        let mut system_deployers = self
            .system_deployers
            .iter()
            .map(|address| parse("system deployer", address))
            .collect::<Result<Vec<Address>, _>>()?;
        system_deployers.sort_unstable();
        let genesis = Genesis {
            params: parameters(&self.parameters)?,
            timestamp_ms: self.timestamp_ms,
            balances,
            pinned_executors: self
                .pinned_executors
                .iter()
                .map(|hash| parse("executor hash", hash))
                .collect::<Result<_, _>>()?,
            system_deployers,
            validators: self.validators.iter().map(validator).collect::<Result<_, _>>()?,
            threshold_key: Bytes(
                hex::decode(&self.threshold_key)
                    .map_err(|_| wrong("threshold key", &self.threshold_key))?,
            ),
        };
        let hash = genesis.hash().to_string();
        if hash != self.hash {
            return Err(format!(
                "its hash is {hash}, not {} as it says; take the file as the network published it",
                self.hash
            ));
        }
        Ok(genesis)
    }

    pub fn read(path: &Path) -> Result<Genesis, FileError> {
        let malformed = |reason| FileError::Malformed { path: path.to_owned(), reason };
        let text = read_text(path)?;
        let file: Self = serde_json::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        file.to_genesis().map_err(malformed)
    }

    /// Writes a genesis into a new file.
    pub fn write(path: &Path, genesis: &Genesis) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(&Self::from(genesis)).expect("it has only strings");
        write_text(path, &(text + "\n"))
    }
}

fn wrong(what: &str, text: &str) -> String {
    format!("{text:?} is not a {what}")
}

fn parse<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| wrong(what, text))
}

/// All of them, and no others. One may be acceptable only after another was set.
fn parameters(rows: &BTreeMap<String, String>) -> Result<ChainParams, String> {
    let mut params = ChainParams::one_second();
    for row in params.table() {
        if !rows.contains_key(row.key) {
            return Err(format!("the parameter {} is missing", row.key));
        }
    }
    let mut waiting = Vec::new();
    for (key, value) in rows {
        waiting.push((key, value.parse::<u128>().map_err(|_| wrong("number", value))?));
    }
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut refused = None;
        waiting.retain(|(key, value)| match params.set(key, *value) {
            Ok(()) => false,
            Err(error) => {
                let hopeless = !matches!(error, ParamError::Contradiction(_));
                if hopeless || refused.is_none() {
                    refused = Some(error);
                }
                true
            }
        });
        if let Some(error) = refused.filter(|_| waiting.len() == before) {
            return Err(error.to_string());
        }
    }
    Ok(params)
}
