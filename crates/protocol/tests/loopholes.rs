//! Loopholes that reviews found. Each test names what holds since they were closed.

use crate::common;
use common::*;
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::*;
use remuda_protocol::dispatcher::spec::*;
use remuda_protocol::dispatcher::validate::TIMEOUT_BLOCKS_MIN;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::*;
use remuda_protocol::primitives::*;
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::state::{Indexed, MemoryState};
use remuda_protocol::transaction::*;

fn unverified(price: Amount) -> JobSpec {
    single_job(VerificationMode::None, price)
}

fn bonded(price: Amount) -> JobSpec {
    single_job(VerificationMode::EconomicBond, price)
}

impl World {
    fn bad_result(&self, runner: &SecretKey, job: JobId) -> Instruction {
        let (_, reveal) = self.chain.sealed(runner, job, b"no json").unwrap();
        Instruction::SubmitResult { job, result: reveal.result, result_sig: reveal.result_sig }
    }
}

fn paid(events: &[Event]) -> Option<(Amount, Amount)> {
    events.iter().find_map(|event| match event {
        Event::Paid { amount, to_delegators, .. } => Some((*amount, *to_delegators)),
        _ => None,
    })
}

#[test]
fn unstaking_after_a_commit_does_not_put_the_slash_on_the_delegators() {
    let own_loss = [false, true].map(|dodges| {
        let rich = Amount::cby(200_000);
        let mut world = World::with_runners(calm(), vec![(rich, offer()); 3]);
        let runner = world.runner(0);
        let delegate =
            Instruction::Delegate { runner: runner.address(), amount: rich, min_shares: 0 };
        world.ok(&world.stranger(), delegate);
        let job = world.assigned(vote_job(3, Amount::cby(1)));
        world.commit_all(job, ANSWER);
        if dodges {
            world.ok(&runner, Instruction::Unstake { amount: Amount::cby(190_000) });
        }
        world.all_but_one_reveal(job, &runner);
        let standing = world.standing(&runner);
        let left = standing.stake.get() + standing.unbonding.amount().get();
        (rich.get() - left) / Amount::CBY.get()
    });
    assert_eq!(own_loss, [50_000, 50_000]);
}

#[test]
fn a_commission_raised_after_the_draw_takes_nothing_from_delegators_of_a_bonded_result() {
    let mut world = World::new(calm(), 7);
    for runner in world.runners.clone() {
        let (runner, amount) = (runner.address(), STAKE);
        let delegate = Instruction::Delegate { runner, amount, min_shares: 0 };
        world.chain.send(&world.stranger(), delegate);
    }
    world.step();
    let job = world.assigned(bonded(Amount::cby(90)));
    let runner = world.seated(job).remove(0);
    let greedy = Offer { commission_bps: 10_000, ..offer() };
    world.ok(&runner, Instruction::UpdateRunner { offer: greedy });
    world.chain.send_result(&runner, job, ANSWER);
    let (amount, to_delegators) = paid(&world.step()).unwrap();
    assert_eq!(to_delegators, amount.scale(5_000, 10_000).unwrap());
}

#[test]
fn a_bad_result_pays_for_the_lists_of_the_next_draw() {
    let mut world = World::new(calm(), 100);
    let job = world.assigned(JobSpec { timeout_blocks: 1_000, ..unverified(Amount::cby(1)) });
    let runner = world.seated(job).remove(0);
    let bad = world.bad_result(&runner, job);
    let warm = world.clone().ok(&runner, bad.clone()).used.cycles.get();
    world.chain.steps(40);
    let cold = world.ok(&runner, bad).used.cycles.get();
    // The runner's own sign of life is one change that a warm list catches up with.
    assert_eq!(cold - warm, (100 - 1) * 20, "what the same lists cost who asks for them first");
}

#[test]
fn a_refused_transaction_leaves_no_lists_in_memory() {
    let mut world = World::new(calm(), 100);
    let job = world.assigned(JobSpec { timeout_blocks: 1_000, ..unverified(Amount::cby(1)) });
    let runner = world.seated(job).remove(0);
    world.chain.steps(40);
    let bad = world.bad_result(&runner, job);
    let used = world.clone().ok(&runner, bad.clone()).used.cycles.get();
    let mut body = world.chain.transaction(runner.address(), bad);
    body.cycles_limit = used - 1;
    let hash = world.chain.queue(body.sign(&runner).to_bytes());
    world.step();
    assert_eq!(world.chain.receipt(hash).unwrap().code, Refusal::OutOfCycles.code());
    let entries = world.chain.state.entries().clone();
    let restarted = MemoryState::new(entries, &world.chain.params);
    assert_eq!(world.chain.state.roster().held().count(), restarted.roster().held().count());
}

#[test]
fn unstaking_between_submission_and_draw_does_not_shrink_the_slash() {
    let slash = [false, true].map(|dodges| {
        let rich = Amount::cby(200_000);
        let mut world = World::with_runners(calm(), vec![(rich, offer()); 3]);
        let runner = world.runner(0);
        let job = world.submit(vote_job(3, Amount::cby(1)));
        if dodges {
            world.ok(&runner, Instruction::Unstake { amount: Amount::cby(190_000) });
        }
        world.await_draw(job);
        world.commit_all(job, ANSWER);
        let events = world.all_but_one_reveal(job, &runner);
        let slash = events.iter().find_map(|event| match event {
            Event::NonRevealSlash { amount, .. } => Some(amount.get() / Amount::CBY.get()),
            _ => None,
        });
        slash.unwrap()
    });
    assert_eq!(slash, [50_000, 50_000]);
}

// spec §6.18
#[test]
fn a_deterministic_job_that_can_no_longer_fill_its_committee_fails_at_once() {
    let pinned = Offer { executors: vec![B256::ZERO], ..offer() };
    let mut world = World::with_runners(calm(), vec![(STAKE, pinned); 4]);
    let mut spec = vote_job(3, Amount::cby(9));
    spec.job_type = JobType::Custom { executor_hash: B256::ZERO, params: Bytes::default() };
    spec.verification.mode = VerificationMode::Deterministic;
    spec.verification.checks.clear();
    spec.result_schema.data_format = DataFormat::Bytes;
    let job = world.assigned(spec);
    world.chain.send_commit(&world.seated(job)[0], job, b"abc");
    world.step_to(world.job(job).commit_by);
    assert_eq!(world.status(job), Status::Failed { reason: Failure::InsufficientRunners });
}

#[test]
fn stake_can_leave_again_after_everything_was_slashed() {
    let mut world = World::with_runners(calm(), vec![(Amount::cby(15_000), offer()); 3]);
    let runner = world.runner(0);
    let jobs: Vec<JobId> = (0..6).map(|_| world.send_job(vote_job(3, Amount(1)))).collect();
    world.step();
    world.await_draw(jobs[0]);
    world.ok(&runner, Instruction::Unstake { amount: Amount::cby(5_000) });
    for job in &jobs {
        world.commit_all(*job, ANSWER);
    }
    for key in world.runners.clone()[1..].iter() {
        for job in &jobs {
            world.chain.send_reveal(key, *job, ANSWER);
        }
    }
    world.step_to(world.job(jobs[5]).reveal_by);
    let standing = world.standing(&runner);
    assert_eq!(standing.stake, Amount::ZERO);
    assert!(standing.unbonding.amount() <= Amount(1));
    world.ok(&runner, Instruction::Stake { amount: Amount::cby(50_000) });
    world.ok(&runner, Instruction::Unstake { amount: Amount::cby(1_000) });
}

// spec §8.3
#[test]
fn a_delegation_after_the_draw_takes_nothing_of_the_runners_pay() {
    let mut world = World::new(calm(), 1);
    let runner = world.runner(0);
    let job = world.assigned(unverified(Amount::cby(1_000)));
    let amount = Amount::cby(960_000);
    world.ok(
        &world.stranger(),
        Instruction::Delegate { runner: runner.address(), amount, min_shares: 0 },
    );
    world.chain.send_result(&runner, job, ANSWER);
    let (amount, to_delegators) = paid(&world.step()).unwrap();
    assert_eq!(to_delegators, Amount::ZERO, "of {amount}");
}

// spec §8.8
#[test]
fn work_for_oneself_at_a_price_of_one_unit_does_not_wash_failures_away() {
    let kinds = vec![JobKind::Llm, JobKind::Http];
    let own = Offer { kinds, models: vec!["mine".into()], ..offer() };
    let mut world = World::with_runners(calm(), vec![(STAKE, own)]);
    let runner = world.runner(0);
    'pairs: for _ in 0..20 {
        for _ in 0..2 {
            let spec =
                JobSpec { timeout_blocks: TIMEOUT_BLOCKS_MIN, ..unverified(Amount::cby(100)) };
            let job = world.assigned(spec);
            world.step_to(world.job(job).commit_by);
            if world.standing(&runner).jail_terms > 0 {
                break 'pairs;
            }
        }
        for _ in 0..8 {
            let mut spec = unverified(Amount(1));
            let messages = vec![Message { role: "user".into(), content: String::new() }];
            let model = "mine".into();
            spec.job_type = JobType::Llm { model, messages, temperature_milli: 0, seed: 0 };
            let receipt = world.ok(&runner, Instruction::SubmitJob { spec });
            let Some(Event::JobSubmitted { job, .. }) = receipt.events.first() else { panic!() };
            world.chain.send_result(&runner, *job, ANSWER);
            world.step();
        }
    }
    let standing = world.standing(&runner);
    println!("reputation {} after 40 failed jobs of 100 CBY", standing.reputation.nano());
    assert!(standing.jail_terms > 0, "40 failures, never jailed");
}

// spec §7.3
#[test]
fn commits_close_early_only_when_there_are_enough() {
    let mut world = World::new(calm(), 6);
    let job = world.assigned(vote_job(3, Amount::cby(9)));
    let [a, b, c] = <[SecretKey; 3]>::try_from(world.seated(job)).unwrap();
    for key in [&a, &b] {
        world.chain.send_commit(key, job, ANSWER);
    }
    world.step();
    for key in [&a, &b] {
        world.ok(key, Instruction::CrashAttestation { job, signal: CrashSignal::Oom });
    }
    world.chain.send_commit(&c, job, ANSWER);
    world.step();
    assert_ne!(world.status(job), Status::Committed, "one commit of three goes on");
}

// spec §6.20
/// Asking a warm query again costs what has changed since, so nobody makes nodes catch up for free.
#[test]
fn a_warm_query_pays_for_the_changes_it_catches_up_with() {
    let mut world = World::new(calm(), 100);
    let cycles = |world: &mut World| {
        let spec = unverified(Amount::cby(1));
        let customer = world.customers[2].clone();
        world.ok(&customer, Instruction::SubmitJob { spec }).used.cycles.get()
    };
    let cold = cycles(&mut world);
    let warm = cycles(&mut world);
    for i in 0..50 {
        let runner = world.runner(i);
        world.chain.send(&runner, Instruction::Heartbeat);
    }
    world.step();
    let changed = cycles(&mut world);
    assert!(warm < changed && changed < cold, "{cold} {warm} {changed}");
    assert!(changed - warm >= 50 * 20);
}

/// Jobs that ask alike share their lists after a restart, too.
#[test]
fn a_restart_shares_the_lists_of_alike_jobs() {
    let mut world = World::new(calm(), 20);
    for _ in 0..30 {
        world.send_job(vote_job(3, Amount::cby(1)));
    }
    world.step();
    let state = &world.chain.state;
    let restarted = MemoryState::new(state.entries().clone(), &world.chain.params);
    let roots = |state: &MemoryState| -> Vec<_> {
        state.roster().held().map(|(job, lists)| (*job, lists[0].root())).collect()
    };
    assert_eq!(roots(state).len(), 30);
    assert_eq!(roots(state), roots(&restarted));
}
