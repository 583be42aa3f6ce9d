//! Benchmarks of timers, for callers with a clock: `remuda-lab bench timers` and the example.
//!
//! Local: a change here needs no agreement among validators. No node runs it.
//!
//! The state is written directly, without the blocks in which the timers would have been scheduled.
//! Everything after that is the real thing. [`run`] measures; [`plain`] is what one would take
//! instead.

pub mod plain;
pub mod run;

use crate::base::account::Account;
use crate::base::codec::{Bytes, Encode};
use crate::base::entries::Entries;
use crate::base::primitives::{Address, Amount, B256, Height, keccak256};
use crate::base::state::StateKey;
use crate::chain::genesis::GenesisError;
use crate::chain::local::LocalChain;
use crate::chain::memory::MemoryState;
use crate::rules::key::{
    AccountKey, ChunkKey, DueBeaconKey, TimerCounterKey, TimerKey, TimerPayloadKey,
};
use crate::rules::params::ChainParams;
use crate::rules::timers::calendar::CHUNK;
use crate::rules::timers::config::TimerConfig;
use crate::rules::timers::record::{Payload, Timer};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Timers that are not due for a long time.
    pub pending: u64,
    /// Timers that are due and wait.
    pub due: u64,
    /// Timers that become due in each of the next blocks.
    pub arriving: u64,
    /// In so many of them.
    pub blocks: u64,
    /// To whom they belong, in turn.
    pub actors: u64,
    pub payload_bytes: u32,
    /// Cycles that each may use; without code a fire uses 1,000.
    pub gas_limit: u64,
}

impl Plan {
    pub const fn timers(&self) -> u64 {
        self.pending + self.due + self.arriving * self.blocks
    }

    /// When a timer is due.
    fn due_at(&self, n: u64) -> Height {
        match n.checked_sub(self.due) {
            None => Height(0),
            Some(n) if n < self.arriving * self.blocks => Height(1 + n / self.arriving),
            Some(n) => Height(FAR + n % SPREAD),
        }
    }
}

/// Pending timers are due from here on, far from the blocks that are measured.
pub const FAR: u64 = 100_000;
const SPREAD: u64 = 1_000_000;

/// The address of an actor.
pub fn actor(n: u64) -> Address {
    Address::from_slice(&keccak256([&b"actor"[..], &n.to_be_bytes()].concat())[..20])
}

/// The id of a timer.
pub fn id(n: u64) -> B256 {
    keccak256([&b"timer"[..], &n.to_be_bytes()].concat())
}

/// The id of the first pending timer, and of those after it.
pub fn pending_ids(plan: &Plan) -> impl Iterator<Item = (Address, B256)> {
    let actors = plan.actors.max(1);
    (plan.timers() - plan.pending..plan.timers()).map(move |n| (actor(n % actors), id(n)))
}

/// A chain of height 0 on which the plan's timers are, and their actors have money.
pub fn chain(plan: &Plan, params: ChainParams) -> Result<LocalChain, GenesisError> {
    let actors = plan.actors.max(1);
    let balances = (0..actors).map(|n| (actor(n), Amount::cby(1_000_000)));
    let mut chain = LocalChain::start(params, balances, Vec::new())?;
    let params = chain.params.clone();
    let entries = with_timers(chain.state.entries().clone(), plan, actors);
    chain.state = MemoryState::of(entries, &params);
    Ok(chain)
}

/// Adds the plan's timers. In the order of the keys: that is faster by far.
fn with_timers(mut entries: Entries, plan: &Plan, actors: u64) -> Entries {
    let mut order: Vec<(B256, u64)> = (0..plan.timers()).map(|n| (id(n), n)).collect();
    let mut filed: BTreeMap<Height, u32> = BTreeMap::new();
    let mut chunks: BTreeMap<(Height, u32), Vec<B256>> = BTreeMap::new();
    for (id, n) in order.iter().filter(|(_, n)| *n >= plan.due) {
        let due = plan.due_at(*n);
        let filed = filed.entry(due).or_default();
        chunks.entry((due, *filed / CHUNK)).or_default().push(*id);
        *filed += 1;
    }
    order.sort_unstable();
    entries.put_sorted(
        order
            .iter()
            .map(|(id, n)| (TimerKey { timer: *id }.bytes(), timer(*n, actors, plan).to_bytes())),
    );
    let apart = |n: u64| timer(n, actors, plan).payload.is_apart();
    entries.put_sorted(order.iter().filter(|(_, n)| apart(*n)).map(|(id, n)| {
        (TimerPayloadKey { timer: *id }.bytes(), Bytes(payload(*n, plan)).to_bytes())
    }));
    let total = plan.timers();
    let counters: BTreeMap<Address, u64> =
        (0..actors).map(|n| (actor(n), total / actors + u64::from(n < total % actors))).collect();
    entries.put_sorted(
        counters.iter().map(|(actor, n)| (TimerCounterKey { actor: *actor }.bytes(), n.to_bytes())),
    );
    if plan.due > 0 {
        entries.insert(DueBeaconKey { height: Height(0) }.bytes(), B256::ZERO.to_bytes());
    }
    entries.put_sorted(chunks.iter().map(|((height, chunk), ids)| {
        (ChunkKey { height: *height, chunk: *chunk }.bytes(), ids.to_bytes())
    }));
    entries
}

fn payload(n: u64, plan: &Plan) -> Vec<u8> {
    vec![n as u8; plan.payload_bytes as usize]
}

/// Fees that tie often, as those of default agents do, and differ otherwise.
fn timer(n: u64, actors: u64, plan: &Plan) -> Timer {
    let due = plan.due_at(n);
    let dice = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    // Dear enough for a basefee that rises by an eighth in each of 100 blocks.
    let max_fee = 1_000_000_000 + u128::from(dice % 64) * 100_000_000;
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
        deposit: Amount::ZERO,
        payload: Payload::new(&payload(n, plan)),
    }
}

/// Money of an account, to see who paid.
pub fn account(chain: &LocalChain, n: u64) -> Account {
    crate::base::state::read(&chain.state, &AccountKey { address: actor(n) }).unwrap_or_default()
}
