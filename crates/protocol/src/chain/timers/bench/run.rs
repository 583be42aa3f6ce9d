//! The measurements of timers, as data. Clock, memory gauge and store come from the caller.

use super::plain::{Heap, Plain, Scheduler, Wheel};
use super::{FAR, Plan, chain, pending_ids};
use crate::base::primitives::Height;
use crate::base::small::Small;
use crate::base::state::Diff;
use crate::chain::actors::NoActors;
use crate::chain::execute::{Outcome, propose_block, timers_unsigned};
use crate::chain::genesis::GenesisError;
use crate::chain::local::LocalChain;
use crate::chain::memory::MemoryState;
use crate::rules::event::Event;
use crate::rules::params::ChainParams;
use crate::rules::timers::host::ScheduleTimer;
use serde::Serialize;

/// Timers that are scheduled, and cancelled, to see what that costs.
const OPERATIONS: u64 = 1_000;
/// Fires of 1,000 cycles that fit into the lane.
const FIRES: usize = 2_000;

/// What a benchmark needs and rules must not have. A store may compute a state root.
pub trait Surroundings {
    fn nanos(&mut self) -> u64;

    /// Nanoseconds of work that this thread has done, where they are counted: on a machine that
    /// does other things too, means of these say more than wall time.
    fn busy_nanos(&mut self) -> u64 {
        self.nanos()
    }

    /// Bytes that the process holds; 0 if unknown.
    fn resident_bytes(&mut self) -> u64 {
        0
    }

    /// The name of the store, for the report.
    fn store_name(&self) -> &'static str {
        "none"
    }

    /// Starts a store with a state; not measured.
    fn open_store(&mut self, _state: &MemoryState) {}

    /// Stores what a block changed, and computes the root; measured apart.
    fn store_block(&mut self, _diff: &Diff) {}
}

#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Pending timers, one measurement for each.
    pub pending: Vec<u64>,
    /// Timers that are due, in every block.
    pub due: u64,
    pub blocks: u64,
    /// Actors that the timers belong to.
    pub actors: u64,
    pub payload_bytes: u32,
    /// Timers that become due in one block, to see what that costs; 0 for none.
    pub storm: u64,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self {
            pending: vec![10_000, 1_000_000, 10_000_000],
            due: 100_000,
            blocks: 100,
            actors: 10_000,
            payload_bytes: 32,
            storm: 60_000,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Spread {
    pub p50_us: u64,
    /// One in a hundred takes longer.
    pub p99_us: u64,
    pub max_us: u64,
}

impl Spread {
    pub fn of(mut nanos: Vec<u64>) -> Self {
        nanos.sort_unstable();
        let at = |percent: usize| {
            let rank = (nanos.len() * percent).div_ceil(100).saturating_sub(1);
            nanos.get(rank).copied().unwrap_or(0) / 1_000
        };
        Self { p50_us: at(50), p99_us: at(99), max_us: at(100) }
    }
}

/// The scheduler with some number of pending timers.
#[derive(Clone, Debug, Serialize)]
pub struct Sized {
    /// Timers that are not due.
    pub pending: u64,
    /// Timers that are due, in every block.
    pub due: u64,
    /// Resident bytes per timer, all its records and its part of the index included.
    pub bytes_per_timer: u64,
    pub schedule_ns: u64,
    /// One call of `cancel_timer`, of a pending timer.
    pub cancel_ns: u64,
    /// Timers that fired in a block, on average.
    pub fired_per_block: u64,
    /// A block whose only work are timers: due ones taken in, 2,000 fired, receipts made.
    pub block: Spread,
    /// The same as time on a processor, on average.
    pub block_busy_us: u64,
    /// Taking the block's changes over into the state in memory.
    pub commit: Spread,
    /// What the store took for the same, with its root.
    pub store: Spread,
    /// Keys that a block wrote or removed, on average.
    pub keys_written: u64,
    /// Bytes of those keys and their new values.
    pub bytes_written: u64,
}

/// What one would take instead, in memory, without a state.
#[derive(Clone, Debug, Serialize)]
pub struct Instead {
    pub name: &'static str,
    /// Timers that are not due.
    pub pending: u64,
    pub schedule_ns: u64,
    pub cancel_ns: u64,
    /// Timers that fired in a block, on average.
    pub fired_per_block: u64,
    /// A block: due ones taken in, 2,000 fired.
    pub block: Spread,
}

/// Many timers that become due at once.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Storm {
    pub due: u64,
    /// The block in which they do, 2,000 fires included.
    pub block_us: u64,
    pub next_us: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which store kept the state beside the one in memory.
    pub store: &'static str,
    pub scheduler: Vec<Sized>,
    pub instead: Vec<Instead>,
    /// With `BenchOptions::storm`.
    pub storm: Option<Storm>,
}

pub fn run(options: &BenchOptions, around: &mut impl Surroundings) -> Result<Report, GenesisError> {
    let mut report = Report {
        store: around.store_name(),
        scheduler: Vec::new(),
        instead: Vec::new(),
        storm: None,
    };
    for pending in &options.pending {
        report.scheduler.push(sized(options, *pending, around)?);
        report.instead.push(instead(
            "heap, rebuilt per block",
            Heap::default(),
            options,
            *pending,
            around,
        ));
        report.instead.push(instead(
            "wheel, no market",
            Wheel::default(),
            options,
            *pending,
            around,
        ));
    }
    if options.storm > 0 {
        report.storm = Some(storm(options, around)?);
    }
    Ok(report)
}

fn params() -> ChainParams {
    let mut params = ChainParams::one_second();
    // EIP-1559 proper: the basefee moves, and not out of everybody's reach.
    params.lane_adjustment_quotient = 8;
    params
}

/// Executes an empty block; the nanoseconds it took.
fn block(chain: &LocalChain, around: &mut impl Surroundings) -> (Outcome, u64) {
    let mut draft = chain.draft();
    draft.presence = None;
    let start = around.nanos();
    let (_, outcome, _) =
        propose_block(&chain.state, &chain.params, draft, &[], &NoActors).expect("a sound draft");
    (outcome, around.nanos() - start)
}

fn fired(outcome: &Outcome) -> u64 {
    outcome.events().filter(|event| matches!(event, Event::TimerFired { .. })).count() as u64
}

fn sized(
    options: &BenchOptions,
    pending: u64,
    around: &mut impl Surroundings,
) -> Result<Sized, GenesisError> {
    let plan = Plan {
        pending,
        due: options.due,
        arriving: FIRES as u64,
        blocks: options.blocks,
        // No actor may have more than 1,024.
        actors: options.actors.max(pending / 500),
        payload_bytes: options.payload_bytes,
        gas_limit: 1_000,
    };
    let before = around.resident_bytes();
    let mut chain = chain(&plan, params())?;
    let bytes = around.resident_bytes().saturating_sub(before);
    let (schedule_ns, cancel_ns) = operations(&chain, &plan, around);
    around.open_store(&chain.state);
    let (mut blocks, mut commits, mut stores) = (Vec::new(), Vec::new(), Vec::new());
    let (mut fires, mut keys, mut written, mut busy) = (0, 0, 0, 0);
    for _ in 0..options.blocks {
        let start = around.busy_nanos();
        let (outcome, nanos) = block(&chain, around);
        busy += around.busy_nanos() - start;
        blocks.push(nanos);
        fires += fired(&outcome);
        keys += outcome.diff.len() as u64;
        let size = |value: &Option<Small<38>>| value.as_ref().map_or(0, |value| value.len());
        let sizes = outcome.diff.iter().map(|(key, value)| key.len() + size(value));
        written += sizes.sum::<usize>() as u64;
        let start = around.nanos();
        chain.state.commit(&outcome);
        commits.push(around.nanos() - start);
        let start = around.nanos();
        around.store_block(&outcome.diff);
        stores.push(around.nanos() - start);
    }
    let per_block = |sum: u64| sum / options.blocks.max(1);
    Ok(Sized {
        pending,
        due: options.due,
        bytes_per_timer: bytes / plan.timers().max(1),
        schedule_ns,
        cancel_ns,
        fired_per_block: per_block(fires),
        block: Spread::of(blocks),
        block_busy_us: per_block(busy) / 1_000,
        commit: Spread::of(commits),
        store: Spread::of(stores),
        keys_written: per_block(keys),
        bytes_written: per_block(written),
    })
}

/// Nanoseconds for one timer scheduled, and one cancelled; nothing of it stays.
fn operations(chain: &LocalChain, plan: &Plan, around: &mut impl Surroundings) -> (u64, u64) {
    let mut draft = chain.draft();
    draft.presence = None;
    let step = (plan.pending / OPERATIONS).max(1) as usize;
    let known: Vec<_> = pending_ids(plan).step_by(step).take(OPERATIONS as usize).collect();
    let calls: Vec<ScheduleTimer> = (0..OPERATIONS)
        .map(|n| ScheduleTimer {
            height: Height(FAR + n * 97),
            payload: vec![7; plan.payload_bytes as usize].into(),
            max_fee_per_cycle: Some(1_000_000_000),
            ..ScheduleTimer::default()
        })
        .collect();
    let (mut schedule, mut cancel, mut done) = (0, 0, 0);
    let outcome = timers_unsigned(&chain.state, &chain.params, &draft, |host_of| {
        let start = around.nanos();
        for ((actor, _), call) in known.iter().zip(&calls) {
            host_of(*actor, &mut |host| done += u64::from(host.schedule_timer_ex(call).is_ok()));
        }
        let middle = around.nanos();
        for (actor, id) in &known {
            host_of(*actor, &mut |host| done += u64::from(host.cancel_timer(*id).is_ok()));
        }
        (schedule, cancel) = (middle - start, around.nanos() - middle);
    });
    assert!(outcome.is_ok(), "a sound draft");
    let count = known.len() as u64;
    assert_eq!(done, 2 * count, "no call is refused");
    (schedule / count.max(1), cancel / count.max(1))
}

fn instead(
    name: &'static str,
    mut scheduler: impl Scheduler,
    options: &BenchOptions,
    pending: u64,
    around: &mut impl Surroundings,
) -> Instead {
    let plain = |n: u64, due: u64| {
        let dice = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let max_fee = 1_000_000_000 + dice % 64 * 100_000_000;
        let actor = (n % options.actors.max(1)) as u32;
        Plain { due, id: n, actor, max_fee, tip: dice / 64 % 64 * 10_000 }
    };
    for n in 0..pending {
        scheduler.schedule(plain(n, FAR + n % 1_000_000));
    }
    let arriving = options.due + FIRES as u64 * options.blocks;
    for n in 0..arriving {
        let due = 1 + n.saturating_sub(options.due) / FIRES as u64;
        scheduler.schedule(plain(pending + n, due));
    }
    let start = around.nanos();
    for n in 0..OPERATIONS {
        scheduler.schedule(plain(pending + arriving + n, FAR + n * 97));
    }
    let middle = around.nanos();
    (0..OPERATIONS.min(pending)).for_each(|n| scheduler.cancel(n * (pending / OPERATIONS).max(1)));
    let end = around.nanos();
    let (mut blocks, mut fires) = (Vec::new(), 0);
    for height in 1..=options.blocks {
        let start = around.nanos();
        fires += scheduler.block(height, 1_000_000 + height * 1_000, FIRES) as u64;
        blocks.push(around.nanos() - start);
    }
    Instead {
        name,
        pending,
        schedule_ns: (middle - start) / OPERATIONS,
        cancel_ns: (end - middle) / OPERATIONS,
        fired_per_block: fires / options.blocks.max(1),
        block: Spread::of(blocks),
    }
}

fn storm(options: &BenchOptions, around: &mut impl Surroundings) -> Result<Storm, GenesisError> {
    let plan = Plan {
        pending: 0,
        due: 0,
        arriving: options.storm,
        blocks: 1,
        actors: options.actors,
        payload_bytes: options.payload_bytes,
        gas_limit: 1_000,
    };
    let mut chain = chain(&plan, params())?;
    let (outcome, first) = block(&chain, around);
    chain.state.commit(&outcome);
    let (_, next) = block(&chain, around);
    Ok(Storm { due: options.storm, block_us: first / 1_000, next_us: next / 1_000 })
}
