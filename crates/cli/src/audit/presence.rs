//! Topics `subset` and `presence`.

use super::Failure;
use super::input::{Node, hex_text};
use remuda_protocol::presence::{self, Bitmap, Certificate, PresenceRunner, ValidatorKey, Vote};
use serde_json::{Value, json};

pub(super) fn subset(input: &Node<'_>) -> Result<Value, Failure> {
    let seed = input.get("subset_seed")?.hash()?;
    let pubkey = input.get("runner_pubkey")?.array()?;
    let validators = validators(input)?;
    let subset = presence::subset(&seed, &pubkey, &validators);
    let keys: Vec<String> = subset.iter().map(hex_text).collect();
    Ok(json!({ "k": keys.len(), "validators": keys }))
}

pub(super) fn presence(input: &Node<'_>) -> Result<Value, Failure> {
    let height = input.get("height")?.uint()?;
    let mut seeds = vec![input.get("subset_seed")?.hash()?];
    if let Some(previous) = input.member("previous_subset_seed")?.and_then(Node::non_null) {
        seeds.push(previous.hash()?);
    }
    let validators = validators(input)?;
    let list = input.get("runners")?;
    let runners = list.each(runner)?;
    list.distinct(runners.iter().map(|runner| runner.slot), "slot")?;
    let certificates = input.get("certificates")?.each(certificate)?;
    let present = presence::present_slots(height, &seeds, &validators, &runners, &certificates);
    Ok(json!({ "present": present.map_err(Failure::invalid)? }))
}

fn validators(input: &Node<'_>) -> Result<Vec<ValidatorKey>, Failure> {
    let list = input.get("validators")?;
    let keys = list.each(Node::array)?;
    if keys.is_empty() {
        return Err(list.invalid("needs at least one validator"));
    }
    list.distinct(&keys, "validator")?;
    Ok(keys)
}

fn runner(node: &Node<'_>) -> Result<PresenceRunner, Failure> {
    Ok(PresenceRunner { slot: node.get("slot")?.uint()?, pubkey: node.get("pubkey")?.array()? })
}

fn certificate(node: &Node<'_>) -> Result<Certificate, Failure> {
    Ok(Certificate { height: node.get("height")?.uint()?, votes: node.get("votes")?.each(vote)? })
}

fn vote(node: &Node<'_>) -> Result<Vote, Failure> {
    let bitmap = node.get("bitmap")?;
    let bitmap = Bitmap {
        bit_length: bitmap.get("bit_length")?.uint()?,
        bytes: bitmap.get("bytes")?.bytes()?,
    };
    Ok(Vote { validator: node.get("validator")?.array()?, bitmap })
}
