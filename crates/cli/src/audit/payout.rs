//! Topic `payout`.

use super::Failure;
use super::input::{Node, dec, hex_text};
use remuda_protocol::verifier::payout::{PayoutBps, split};
use serde_json::{Map, Value, json};

pub(super) fn payout(input: &Node<'_>) -> Result<Value, Failure> {
    let gross = input.get("gross")?.uint()?;
    let winners = input.get("winners")?.each(Node::address)?;
    let aggregator = input.get("aggregator")?.non_null().map(|node| node.address()).transpose()?;
    let split =
        split(gross, &winners, aggregator, &PayoutBps::default()).map_err(Failure::invalid)?;
    let payouts: Map<String, Value> =
        split.payouts.iter().map(|(address, amount)| (hex_text(address), dec(amount))).collect();
    Ok(json!({ "payouts": payouts, "burn": dec(split.burn), "treasury": dec(split.treasury) }))
}
