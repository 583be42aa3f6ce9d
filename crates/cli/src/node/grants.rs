//! Who has money and rights on a new network: flags of `node init`.

use super::network::parse_balance;
use remuda_client::types::HexAddress;
use remuda_node::config::InitOptions;
use remuda_protocol::primitives::{Address, Amount};
use std::collections::BTreeMap;
use std::path::PathBuf;
use thiserror::Error;

/// Who has money and rights.
#[derive(clap::Args)]
pub(super) struct GrantArgs {
    /// No faucet: only the accounts that you name have money and rights.
    ///
    /// Needs --fee-recipient, and balances from --balance or --balances.
    #[arg(long)]
    production: bool,
    /// Accounts with money: a JSON file of addresses and amounts, {"0x…": "5cby"}.
    #[arg(long = "balances", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Account that receives validators' tips: give one for all validators, or one for each, in their order
    /// [default: the faucet].
    #[arg(long = "fee-recipient", value_name = "ADDRESS", required_if_eq("production", "true"))]
    fee_recipients: Vec<HexAddress>,
    /// Account that may cancel and extend any timer and tune the timer limits. May be given several times.
    #[arg(long = "system-deployer", value_name = "ADDRESS")]
    system_deployers: Vec<HexAddress>,
}

/// Why the accounts of a new network are not understood.
#[derive(Debug, Error)]
pub(super) enum GrantError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// The file is not what is expected.
    #[error("{}: {reason}; write {{\"0x…\": \"5cby\"}}", path.display())]
    Malformed { path: PathBuf, reason: String },
}

impl GrantArgs {
    /// Writes them into what is to be made.
    pub(super) fn apply(&self, options: &mut InitOptions) -> Result<(), GrantError> {
        let addresses = |list: &[HexAddress]| list.iter().map(|address| address.0).collect();
        options.faucet = !self.production;
        options.fee_recipients = addresses(&self.fee_recipients);
        options.system_deployers = addresses(&self.system_deployers);
        options.balances.extend(self.balances()?);
        Ok(())
    }

    fn balances(&self) -> Result<Vec<(Address, Amount)>, GrantError> {
        let Some(path) = &self.file else { return Ok(Vec::new()) };
        let malformed = |reason| GrantError::Malformed { path: path.clone(), reason };
        let text = std::fs::read_to_string(path)
            .map_err(|error| GrantError::Unreadable { path: path.clone(), error })?;
        let rows: BTreeMap<String, String> =
            serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        let row = |(address, amount)| parse_balance(&format!("{address}={amount}"));
        rows.into_iter().map(row).collect::<Result<_, _>>().map_err(malformed)
    }
}
