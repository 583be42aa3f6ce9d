//! Topic `commitment`.

use super::Failure;
use super::input::{Node, hex_text};
use remuda_protocol::codec::Bytes;
use remuda_protocol::verifier::excuse::{Delivery, Excuse};
use serde_json::{Value, json};

pub(super) fn commitment(input: &Node<'_>) -> Result<Value, Failure> {
    let chain_id = input.get("chain_id")?.uint()?;
    let job_id = input.get("job_id")?.hash()?;
    let attempt = input.get("attempt")?.uint()?;
    let runner = input.get("runner")?.address()?;
    let result = delivery(input)?;
    let salt = input.get("salt")?.hash()?;
    let result_sig = input.get("result_sig")?.array()?;

    let digest = result.digest(chain_id, job_id, attempt, runner);
    let commitment = result.commitment(chain_id, job_id, attempt, runner, &salt, &result_sig);
    Ok(json!({ "result_digest": hex_text(digest), "commitment": hex_text(commitment) }))
}

/// `result` in hex, or the name of an `excuse`.
fn delivery(input: &Node<'_>) -> Result<Delivery, Failure> {
    match input.member("excuse")? {
        None => Ok(Bytes(input.get("result")?.bytes()?).into()),
        Some(name) => {
            let named = Excuse::ALL.map(|excuse| (excuse.name(), excuse));
            Ok(name.one_of("excuse", &named)?.into())
        }
    }
}
