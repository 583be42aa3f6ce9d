//! Topic `reputation`.

use super::Failure;
use super::input::{Node, dec};
use remuda_protocol::registry::reputation::{REPUTATION_CEILING, Reputation, ReputationError};
use serde_json::{Value, json};

pub(super) fn reputation(input: &Node<'_>) -> Result<Value, Failure> {
    let mut record = Reputation {
        score_sum: input.get("score_sum")?.uint()?,
        weight_sum: input.get("weight_sum")?.uint()?,
        last_update: input.get("last_update")?.uint()?,
    };
    let list = input.get("events")?;
    let events: Vec<(u64, Option<u32>)> = list.each(event)?;
    let heights = [record.last_update].into_iter().chain(events.iter().map(|(height, _)| *height));
    if !heights.is_sorted() {
        return Err(list.invalid("heights must not fall, from last_update on"));
    }

    let mut after = Vec::with_capacity(events.len());
    for (height, score) in events {
        match score {
            Some(score) => record.record(height, score),
            None => record.refresh(height),
        }
        .map_err(failure)?;
        after.push(record.nano());
    }
    Ok(json!({
        "reputation_nano": after,
        "score_sum": dec(record.score_sum),
        "weight_sum": dec(record.weight_sum),
    }))
}

fn event(node: &Node<'_>) -> Result<(u64, Option<u32>), Failure> {
    let score = node
        .get("score")?
        .non_null()
        .map(|score| score.uint_in(0, REPUTATION_CEILING))
        .transpose()?;
    Ok((node.get("height")?.uint()?, score))
}

fn failure(error: ReputationError) -> Failure {
    match error {
        ReputationError::Overflow => Failure::overflow(error),
        ReputationError::HeightFell { .. } | ReputationError::ScoreTooHigh(_) => {
            Failure::invalid(error)
        }
    }
}
