//! Topic `commitment`.

use super::Failure;
use super::input::{Node, hex_text};
use remuda_protocol::verifier::commitment as rule;
use serde_json::{Value, json};

pub(super) fn commitment(input: &Node<'_>) -> Result<Value, Failure> {
    let chain_id = input.get("chain_id")?.uint()?;
    let job_id = input.get("job_id")?.hash()?;
    let attempt = input.get("attempt")?.uint()?;
    let runner = input.get("runner")?.address()?;
    let result = input.get("result")?.bytes()?;
    let salt = input.get("salt")?.hash()?;
    let result_sig = input.get("result_sig")?.array()?;

    let digest = rule::result_digest(chain_id, job_id, attempt, runner, &result);
    let commitment =
        rule::commitment(chain_id, job_id, attempt, runner, &result, &salt, &result_sig);
    Ok(json!({ "result_digest": hex_text(digest), "commitment": hex_text(commitment) }))
}
