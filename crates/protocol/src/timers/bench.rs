//! Chains with many timers, for benchmarks: the state is written directly, without the blocks in
//! which the timers would have been scheduled. Everything after that is the real thing.

use super::calendar::CHUNK;
use super::config::TimerConfig;
use super::record::{Bucket, Timer, TimerActor};
use crate::account::Account;
use crate::codec::Encode;
use crate::genesis::GenesisError;
use crate::key::{AccountKey, BucketKey, ChunkKey, TimerActorKey, TimerKey, TimerPayloadKey};
use crate::local::LocalChain;
use crate::params::ChainParams;
use crate::primitives::{Address, Amount, B256, Height, keccak256};
use crate::state::{Key, MemoryState, StateKey, Value};
use std::collections::BTreeMap;

/// What to set up.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Timers that are not due for a long time.
    pub pending: u64,
    /// Timers that are due and wait.
    pub due: u64,
    /// Timers that become due in the next block.
    pub next: u64,
    /// To whom they belong, in turn.
    pub actors: u64,
    /// What each carries.
    pub payload_bytes: u32,
    /// Cycles that each may use; without code a fire uses 1,000.
    pub gas_limit: u64,
}

/// Pending timers are due from here on, far from the blocks that are measured.
pub const FAR: u64 = 100_000;
/// Over so many heights.
const SPREAD: u64 = 1_000_000;

/// The address of an actor.
pub fn actor(n: u64) -> Address {
    Address::from_slice(&keccak256([&b"actor"[..], &n.to_be_bytes()].concat())[..20])
}

/// The id of a timer.
pub fn id(n: u64) -> B256 {
    keccak256([&b"timer"[..], &n.to_be_bytes()].concat())
}

/// A chain of height 0 on which the plan's timers are, and their actors have money.
pub fn chain(plan: &Plan, params: ChainParams) -> Result<LocalChain, GenesisError> {
    let actors = plan.actors.max(1);
    let balances = (0..actors).map(|n| (actor(n), Amount::cby(1_000_000)));
    let mut chain = LocalChain::start(params, balances, Vec::new())?;
    let mut entries: Vec<(Key, Value)> =
        chain.state.entries().clone().into_iter().collect();
    let mut buckets: BTreeMap<Height, Bucket> = BTreeMap::new();
    let mut chunks: BTreeMap<(Height, u32), Vec<B256>> = BTreeMap::new();
    let total = plan.pending + plan.due + plan.next;
    for n in 0..total {
        let due = match n {
            n if n < plan.due => Height(0),
            n if n < plan.due + plan.next => Height(1),
            n => Height(FAR + n % SPREAD),
        };
        let (id, timer) = (id(n), timer(n, due, actors, plan));
        entries.push((TimerKey { timer: id }.bytes(), timer.to_bytes()));
        if timer.payload_bytes > 0 {
            let payload = crate::codec::Bytes(vec![n as u8; timer.payload_bytes as usize]);
            entries.push((TimerPayloadKey { timer: id }.bytes(), payload.to_bytes()));
        }
        let bucket = buckets.entry(due).or_default();
        bucket.live += 1;
        if due > Height(0) {
            chunks.entry((due, bucket.filed / CHUNK)).or_default().push(id);
            bucket.filed += 1;
        } else {
            bucket.beacon = Some(B256::ZERO);
        }
        buckets.entry(timer.expires_at).or_default().expiring += 1;
    }
    for n in 0..actors {
        let live = (total / actors + u64::from(n < total % actors)) as u32;
        let numbers = TimerActor { counter: u64::from(live), live };
        entries.push((TimerActorKey { actor: actor(n) }.bytes(), numbers.to_bytes()));
    }
    let buckets =
        buckets.into_iter().map(|(height, b)| (BucketKey { height }.bytes(), b.to_bytes()));
    entries.extend(buckets);
    let chunks = chunks
        .into_iter()
        .map(|((height, chunk), ids)| (ChunkKey { height, chunk }.bytes(), ids.to_bytes()));
    entries.extend(chunks);
    let params = chain.params.clone();
    chain.state = MemoryState::new(entries, &params);
    Ok(chain)
}

/// Fees that tie often, as those of default agents do, and differ otherwise.
fn timer(n: u64, due: Height, actors: u64, plan: &Plan) -> Timer {
    let dice = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let max_fee = 1_000_000 + u128::from(dice % 64) * 100_000;
    Timer {
        actor: actor(n % actors),
        due,
        // Not all at once.
        expires_at: Height(due.get() + 10_000 + dice % 50_000)
            .min(Height(TimerConfig::GENESIS.ttl_blocks_max)),
        fee_payer: actor(n % actors),
        gas_limit: plan.gas_limit,
        max_cells: 0,
        max_fee,
        max_priority_fee: u128::from(dice / 64 % 64) * 10_000,
        agent: None,
        payload_bytes: plan.payload_bytes,
    }
}

/// Money of an account, to see who paid.
pub fn account(chain: &LocalChain, n: u64) -> Account {
    crate::state::read(&chain.state, &AccountKey { address: actor(n) }).unwrap_or_default()
}
