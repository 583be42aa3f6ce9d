//! Work that a block does by itself is bounded by what it takes: nobody gets nodes to do more of it
//! than the agenda counts.

use crate::common;
use common::*;
use remuda_protocol::agenda::WORK_PER_BLOCK;
use remuda_protocol::chain::ChainState;
use remuda_protocol::codec::Encode;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Failure, PendingSelection, Progress, Retry, Status};
use remuda_protocol::dispatcher::roster::{CLASS_NODES, MOVED_NODES, WARM_BLOCKS, WARM_NODES_MAX};
use remuda_protocol::dispatcher::spec::{JobSpec, JobType};
use remuda_protocol::key::{ChainKey, PendingKey, RetryKey};
use remuda_protocol::primitives::{Amount, JobId};
use remuda_protocol::registry::runner::{Offer, RateCard};
use remuda_protocol::state::{MemoryState, StateKey, read};
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;

const JOBS: usize = 20;

/// Submits jobs that nobody works on, all due at one height, at which the queue of retries has room for
/// so many units of work. Returns how many of them the block of that height draws again.
fn retried_in_one_block(world: &mut World, room: u64, spec: impl Fn(u128) -> JobSpec) -> usize {
    // The first job pays for the lists of the class, and is done by itself.
    world.submit(spec(1_000));
    let jobs: Vec<JobId> = (0..JOBS).map(|i| world.send_job(spec(i as u128))).collect();
    world.step();
    let due = world.job(jobs[0]).commit_by;
    for job in &jobs {
        assert_eq!((world.status(*job), world.job(*job).commit_by), (Status::Assigned, due));
    }
    world.step_to(due.minus(1));
    idle_retries(world, WORK_PER_BLOCK - room);
    world.step();
    let retried = |world: &World| jobs.iter().filter(|job| world.job(**job).attempt == 1).count();
    let first = retried(world);
    world.step();
    assert_eq!(retried(world), JOBS, "the next block has room for the others");
    first
}

/// Puts so many retries that do nothing into the queue.
fn idle_retries(world: &mut World, count: u64) {
    let chain = world.chain.chain();
    let mut entries = entries(world);
    let retry = Retry { job: JobId::ZERO, attempt: 0, since: chain.height };
    for index in chain.retries_tail..chain.retries_tail + count {
        entries.insert(RetryKey { index }.bytes(), retry.to_bytes());
    }
    let chain = ChainState { retries_tail: chain.retries_tail + count, ..chain };
    entries.insert(ChainKey {}.bytes(), chain.to_bytes());
    world.chain.state = MemoryState::new(entries, &world.chain.params);
}

fn entries(world: &World) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let entries = world.chain.state.entries().iter();
    entries.map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}

fn unverified(price: Amount) -> JobSpec {
    single_job(VerificationMode::None, price)
}

#[test]
fn retries_count_the_rate_cards_that_they_compare() {
    // One runner is dearer than what the jobs pay, so each job's own price is compared with all cards.
    let offers = (0..500).map(|i| {
        let base = if i == 0 { Amount::cby(1_000) } else { Amount(i) };
        (STAKE, Offer { rates: RateCard { base, ..RateCard::default() }, ..offer() })
    });
    let mut world = World::with_runners(calm(), offers.collect());
    let own_price =
        |i| JobSpec { timeout_blocks: 40, ..unverified(Amount(Amount::cby(10).get() + i)) };
    let retried = retried_in_one_block(&mut world, 60, own_price);
    // 500 cards at four a cycle, and a few runners to move: 5 units for each.
    assert!(
        (1..=60 / 5).contains(&retried),
        "{retried} jobs compared all cards in 60 units of work"
    );
}

#[test]
fn retries_count_the_bytes_of_the_specification_that_they_read() {
    let mut world = World::new(calm(), 30);
    let large = |_| {
        let mut spec = JobSpec { timeout_blocks: 40, ..unverified(Amount::cby(10)) };
        let JobType::Http { body, .. } = &mut spec.job_type else { panic!() };
        *body = vec![7; 40_000].into();
        spec
    };
    let retried = retried_in_one_block(&mut world, 60, large);
    assert!(
        (1..=60 / 5).contains(&retried),
        "{retried} specifications of 40 kB in 60 units of work"
    );
}

#[test]
fn a_cancel_under_backlog_costs_the_burned_part_once_the_seed_is_known() {
    let mut world = World::new(calm(), 3);
    let job = world.submit(vote_job(3, Amount::cby(100)));
    let Status::Pending { view } = world.status(job) else { panic!() };
    // So many draws wait before this one that a block cannot do them all.
    let chain = world.chain.chain();
    let own = PendingKey { index: chain.pending_head };
    let own = read(&world.chain.state, &own).expect("its draw waits");
    let others = PendingSelection { job: JobId::ZERO, ..own };
    let mut entries = entries(&world);
    let tail = chain.pending_head + 60_000;
    for index in chain.pending_head..tail {
        entries.insert(PendingKey { index }.bytes(), others.to_bytes());
    }
    entries.insert(PendingKey { index: tail }.bytes(), own.to_bytes());
    let chain = ChainState { pending_tail: tail + 1, ..chain };
    entries.insert(ChainKey {}.bytes(), chain.to_bytes());
    world.chain.state = MemoryState::new(entries, &world.chain.params);
    while world.chain.chain().newest_seed < view {
        world.step();
    }
    assert_eq!(world.status(job), Status::Pending { view }, "its committee can be computed");
    let customer = world.customer();
    let before = world.balance(&customer);
    let receipt = world.ok(&customer, Instruction::CancelJob { job });
    let after = world.balance(&customer).get() + receipt.fee.get();
    assert_eq!(after, before.get() + Amount::cby(90).get(), "a tenth of the price is burned");
}

/// Retries are paid for by nobody, so no number of them may keep others' deadlines waiting.
#[test]
fn a_long_queue_of_retries_puts_off_no_deadline() {
    let mut world = World::new(calm(), 10);
    let job = world.submit(unverified(Amount::cby(1)));
    let due = world.job(job).commit_by;
    world.step_to(due.minus(1));
    idle_retries(&mut world, 3 * WORK_PER_BLOCK);
    world.step();
    assert_eq!(world.job(job).seats[0].progress, Progress::TimedOut, "its runner is out in time");
    for _ in 0..2 {
        assert_eq!(world.job(job).attempt, 0, "its retry waits for its turn");
        world.step();
    }
    world.step();
    assert_eq!(world.job(job).attempt, 1);
}

// spec §6.20
/// Nothing that a job was not charged for stays in every validator's memory.
#[test]
fn lists_beyond_the_limit_are_paid_for_each_time_and_dropped() {
    let offers = (0..40).map(|i| {
        let base = if i % 2 == 0 { Amount::cby(5) } else { Amount::ZERO };
        (STAKE, Offer { rates: RateCard { base, ..RateCard::default() }, ..offer() })
    });
    let mut world = World::with_runners(calm(), offers.collect());
    let cycles = |world: &mut World| {
        let spec = JobSpec { timeout_blocks: 1_000, ..unverified(Amount::cby(1)) };
        world.ok(&world.customer(), Instruction::SubmitJob { spec }).used.cycles.get()
    };
    world.rewrite(&ChainKey {}, |chain| chain.warm_nodes = WARM_NODES_MAX);
    let first = cycles(&mut world);
    let again = cycles(&mut world);
    assert!(again + 100 > first, "{first} {again}: no list was kept");
    assert_eq!(world.chain.chain().warm_nodes, WARM_NODES_MAX);
    world.rewrite(&ChainKey {}, |chain| chain.warm_nodes = 0);
    cycles(&mut world);
    assert!(cycles(&mut world) + 1_000 < first, "below the limit the lists are kept");
    let kept = world.chain.chain().warm_nodes;
    assert_eq!(kept, 40 * CLASS_NODES + 20 * MOVED_NODES);
    world.chain.steps(2 * WARM_BLOCKS);
    assert_eq!(world.chain.chain().warm_nodes, 0, "they lapse together with the queries");
}

// spec §6.18
/// Otherwise the queue of retries, and the money behind it, could wait without an end.
#[test]
fn a_retry_that_has_waited_too_long_ends_its_job_with_a_refund() {
    let mut world = World::new(calm(), 10);
    world.chain.steps(70);
    let job = world.submit(unverified(Amount::cby(1)));
    let due = world.job(job).commit_by;
    world.step_to(due.minus(1));
    idle_retries(&mut world, WORK_PER_BLOCK);
    world.step();
    let index = world.chain.chain().retries_head;
    world.rewrite(&RetryKey { index }, |retry| {
        assert_eq!(retry.job, job);
        retry.since = retry.since.minus(64);
    });
    let customer = world.customer();
    let before = world.balance(&customer);
    world.step();
    assert_eq!(world.status(job), Status::Failed { reason: Failure::NoRunners });
    assert_eq!(world.balance(&customer).get() - before.get(), Amount::cby(1).get());
}
