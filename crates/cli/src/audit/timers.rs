//! Topics `lane`, `fairness` and `timer-order`.

use super::Failure;
use super::input::{Node, address_name, dec, hex_text};
use remuda_protocol::primitives::{Address, B256};
use remuda_protocol::timers::fairness::{self, Fires, WEIGHT_MAX_NANO, WEIGHT_MIN_NANO};
use remuda_protocol::timers::lane::next_basefee;
use remuda_protocol::timers::order::{self, GAS_LIMIT_MAX, GAS_LIMIT_MIN, TimerBid};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn lane(input: &Node<'_>) -> Result<Value, Failure> {
    let mut basefee: u128 = input.get("basefee")?.uint()?;
    let quotient = input.get("quotient")?.uint_in(1, u64::MAX)?;
    let used: Vec<u64> = input.get("used")?.each(Node::uint)?;
    let mut after = Vec::with_capacity(used.len());
    for used in used {
        basefee = next_basefee(basefee, used, quotient).map_err(Failure::overflow)?;
        after.push(dec(basefee));
    }
    Ok(json!({ "basefees": after }))
}

pub(super) fn fairness(input: &Node<'_>) -> Result<Value, Failure> {
    let height = input.get("height")?.uint()?;
    let fires = input.get("fires")?.each(|node| {
        let (height, count) = (node.get("height")?.uint()?, node.get("count")?.uint()?);
        Ok(Fires { height, actor: node.get("actor")?.address()?, count })
    })?;
    let recent = fairness::recent(height, fires);
    let median = fairness::lower_median(&recent);
    let weight = |(actor, count): (&Address, &u64)| {
        (hex_text(actor), fairness::weight(*count, median).into())
    };
    let weights: Map<String, Value> = recent.iter().map(weight).collect();
    Ok(json!({ "median": median, "weights": weights }))
}

pub(super) fn order(input: &Node<'_>) -> Result<Value, Failure> {
    let height = input.get("height")?.uint()?;
    let basefee = input.get("basefee_lane")?.uint()?;
    let beacon = input.get("parent_beacon")?.hash()?;
    let weights = weights(&input.get("weights")?)?;
    let list = input.get("timers")?;
    let timers: Vec<(TimerBid, u64)> = list.each(timer)?;
    list.distinct(timers.iter().map(|(bid, _)| bid.timer_id), "timer_id")?;

    let cycles: BTreeMap<B256, u64> =
        timers.iter().map(|(bid, cycles)| (bid.timer_id, *cycles)).collect();
    let bids = timers.iter().map(|(bid, _)| bid);
    let weight_of = |actor: &Address| weights.get(actor).copied().unwrap_or(WEIGHT_MAX_NANO);
    let queue = order::queue(height, basefee, &beacon, bids.clone(), weight_of);
    let run = |bid: &TimerBid| cycles.get(&bid.timer_id).copied().unwrap_or(bid.gas_limit);
    let fired: Vec<B256> = order::fill(queue, run).iter().map(|bid| bid.timer_id).collect();

    let due = bids.filter(|bid| bid.is_due(height)).map(|bid| bid.timer_id);
    let ran: BTreeSet<B256> = fired.iter().copied().collect();
    let deferred: BTreeSet<B256> = due.filter(|id| !ran.contains(id)).collect();
    let fired: Vec<String> = fired.iter().map(hex_text).collect();
    let deferred: Vec<String> = deferred.iter().map(hex_text).collect();
    Ok(json!({ "fired": fired, "deferred": deferred }))
}

fn weights(node: &Node<'_>) -> Result<BTreeMap<Address, u64>, Failure> {
    let weight = |(name, weight): (&str, Node<'_>)| {
        Ok((address_name(&weight, name)?, weight.uint_in(WEIGHT_MIN_NANO, WEIGHT_MAX_NANO)?))
    };
    node.members()?.into_iter().map(weight).collect()
}

fn timer(node: &Node<'_>) -> Result<(TimerBid, u64), Failure> {
    let gas_limit = node.get("gas_limit")?.uint_in(GAS_LIMIT_MIN, GAS_LIMIT_MAX)?;
    let cycles_used = node.get("cycles_used")?.uint_in(0, gas_limit)?;
    let bid = TimerBid {
        timer_id: node.get("timer_id")?.hash()?,
        actor: node.get("actor")?.address()?,
        gas_limit,
        max_fee: node.get("max_fee")?.uint()?,
        max_priority: node.get("max_priority")?.uint()?,
        schedule_block: node.get("schedule_block")?.uint()?,
    };
    Ok((bid, cycles_used))
}
