//! Topics `lane`, `fairness` and `timer-order`.

use super::Failure;
use super::input::{Node, address_name, dec, hex_text};
use remuda_protocol::primitives::{Address, B256};
use remuda_protocol::timers::fairness::{self, Fires, WEIGHT_MAX_NANO, WEIGHT_MIN_NANO};
use remuda_protocol::timers::index::TimerIndex;
use remuda_protocol::timers::lane::next_basefee;
use remuda_protocol::timers::order::{
    self, GAS_LIMIT_MIN, Lane, MAX_CYCLES_PER_FIRE_AUCTION_PHASE, TimerBid,
};
use remuda_protocol::timers::recent::Recent;
use remuda_protocol::timers::search::Room;
use remuda_protocol::timers::tree::Entry;
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
    // Counted as the chain counts, by its own structure.
    let mut recent = Recent::default();
    let counts = fairness::recent(height, fires);
    counts.iter().for_each(|(actor, count)| recent.set(*actor, *count));
    let weight = |actor: &Address| (hex_text(actor), recent.weight(actor).into());
    let weights: Map<String, Value> = counts.keys().map(weight).collect();
    Ok(json!({ "median": recent.median(), "weights": weights }))
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
    let run = |timer: B256, gas_limit| cycles.get(&timer).copied().unwrap_or(gas_limit);
    let due = bids.clone().filter(|bid| bid.is_due(height));
    let entries: Option<Vec<Entry>> = due.map(|bid| entry(bid, &beacon)).collect();
    let fired = match (entries, u64::try_from(basefee)) {
        (Some(entries), Ok(basefee)) => searched(&entries, basefee, weight_of, run),
        // Fees that no timer on a chain can have: by the plain rule.
        _ => {
            let queue = order::queue(height, basefee, &beacon, bids.clone(), weight_of);
            let fired = order::fill(queue, |bid| run(bid.timer_id, bid.gas_limit));
            fired.iter().map(|bid| bid.timer_id).collect()
        }
    };

    let due = bids.filter(|bid| bid.is_due(height)).map(|bid| bid.timer_id);
    let ran: BTreeSet<B256> = fired.iter().copied().collect();
    let deferred: BTreeSet<B256> = due.filter(|id| !ran.contains(id)).collect();
    let fired: Vec<String> = fired.iter().map(hex_text).collect();
    let deferred: Vec<String> = deferred.iter().map(hex_text).collect();
    Ok(json!({ "fired": fired, "deferred": deferred }))
}

/// A timer as the chain's index has it, if its fees can be those of one.
fn entry(bid: &TimerBid, beacon: &B256) -> Option<Entry> {
    Some(Entry {
        id: bid.timer_id,
        lot: order::lot(beacon, &bid.timer_id),
        actor: bid.actor,
        due: bid.schedule_block,
        tip: u64::try_from(bid.max_priority).ok()?,
        max_fee: u64::try_from(bid.max_fee).ok()?,
        gas_limit: bid.gas_limit,
        max_cells: 0,
        fee_payer: bid.actor,
        payload_bytes: 0,
        deposit: 0,
        has_agent: false,
        expires_at: u64::MAX,
    })
}

/// What fires, by the search that blocks are filled with.
fn searched(
    due: &[Entry],
    basefee: u64,
    weight_of: impl Fn(&Address) -> u64,
    run: impl Fn(B256, u64) -> u64,
) -> Vec<B256> {
    let mut index = TimerIndex::default();
    index.set_gas_cap(MAX_CYCLES_PER_FIRE_AUCTION_PHASE);
    let mut search = index.search(basefee);
    search.add_new(due, |entry| weight_of(&entry.actor));
    let (mut lane, mut fired) = (Lane::default(), Vec::new());
    while let Some(found) = search.next(Room { cycles: lane.room(), cells: u64::MAX }) {
        let Entry { id, gas_limit, .. } = *found.entry;
        lane.consume(run(id, gas_limit).min(gas_limit));
        fired.push(id);
    }
    fired
}

fn weights(node: &Node<'_>) -> Result<BTreeMap<Address, u64>, Failure> {
    let weight = |(name, weight): (&str, Node<'_>)| {
        Ok((address_name(&weight, name)?, weight.uint_in(WEIGHT_MIN_NANO, WEIGHT_MAX_NANO)?))
    };
    node.members()?.into_iter().map(weight).collect()
}

fn timer(node: &Node<'_>) -> Result<(TimerBid, u64), Failure> {
    let gas_limit =
        node.get("gas_limit")?.uint_in(GAS_LIMIT_MIN, MAX_CYCLES_PER_FIRE_AUCTION_PHASE)?;
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
