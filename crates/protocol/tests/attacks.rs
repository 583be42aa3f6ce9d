//! What people might try, and what the rules make of it; and how jobs, runners and selection behave
//! when nobody tries anything. Every block of every test is replayed, replayed after a restart, and
//! all money counted.

use crate::common;

use common::{ANSWER, STAKE, World, brisk, calm, offer, single_job, vote_job};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Failure, SeatState, Status};
use remuda_protocol::dispatcher::spec::{Callback, JobSpec};
use remuda_protocol::dispatcher::validate::TIMEOUT_BLOCKS_MIN;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{CrashSignal, Event};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256, Height, JobId};
use remuda_protocol::registry::pool::VIRTUAL_SHARES;
use remuda_protocol::registry::runner::Offer;
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::check::VerifierCheck;
use std::collections::BTreeSet;

const LIE: &[u8] = br#"{"answer":"a lie"}"#;

/// Slashes for missing and wrong reveals.
fn slashes(events: &[Event]) -> Vec<(Address, Amount)> {
    let slash = |event: &Event| match event {
        Event::NonRevealSlash { runner, amount, .. }
        | Event::InvalidRevealSlash { runner, amount, .. } => Some((*runner, *amount)),
        _ => None,
    };
    events.iter().filter_map(slash).collect()
}

/// Runners that did not deliver in time, and whether that is held against them.
fn timeouts(events: &[Event]) -> Vec<(Address, bool)> {
    let timeout = |event: &Event| match event {
        Event::RunnerTimedOut { runner, excused, .. } => Some((*runner, *excused)),
        _ => None,
    };
    events.iter().filter_map(timeout).collect()
}

fn happened(events: &[Event], name: &str) -> bool {
    events.iter().any(|event| event.name() == name)
}

fn part(amount: Amount, bps: u128) -> Amount {
    amount.scale(bps, 10_000).unwrap()
}

fn refused(refusal: Refusal) -> u16 {
    refusal.code()
}

fn unverified(price: Amount) -> JobSpec {
    single_job(VerificationMode::None, price)
}

fn bonded(price: Amount) -> JobSpec {
    single_job(VerificationMode::EconomicBond, price)
}

impl World {
    fn addresses(&self, job: JobId) -> Vec<Address> {
        self.job(job).seats.iter().map(|seat| seat.runner).collect()
    }

    /// Everybody who has committed but one runner reveals the answer; the deadline passes.
    pub(crate) fn all_but_one_reveal(&mut self, job: JobId, silent: &SecretKey) -> Vec<Event> {
        let deadline = self.job(job).reveal_by;
        for key in self.awaited(job) {
            if key.address() != silent.address() {
                self.chain.send_reveal(&key, job, ANSWER);
            }
        }
        self.step_to(deadline)
    }
}

/// Stake cannot be out of reach when it has to answer.
mod stake {
    use super::*;

    // spec §8.6, §8.7
    #[test]
    fn unstaking_after_a_commit_does_not_shrink_the_slash() {
        let lost = [false, true].map(|dodges| {
            let rich = Amount::cby(200_000);
            let mut world = World::with_runners(calm(), vec![(rich, offer()); 3]);
            let job = world.assigned(vote_job(3, Amount::cby(1)));
            world.commit_all(job, ANSWER);
            let runner = world.runner(0);
            if dodges {
                world.ok(&runner, Instruction::Unstake { amount: Amount::cby(190_000) });
            }
            let events = world.all_but_one_reveal(job, &runner);
            let standing = world.standing(&runner);
            let left = standing.effective_stake().get() + standing.unbonding.amount().get();
            assert_eq!(slashes(&events), [(runner.address(), part(rich, 2_500))]);
            rich.get() - left
        });
        assert_eq!(lost, [Amount::cby(50_000).get(); 2]);
    }

    // spec §8.6, §8.7
    #[test]
    fn delegators_can_leave_and_are_slashed_while_they_unbond() {
        let mut world = World::with_runners(calm(), vec![(Amount::cby(10_000), offer()); 3]);
        let (runner, delegator) = (world.runner(0), world.stranger());
        let amount = Amount::cby(100_000);
        world.ok(
            &delegator,
            Instruction::Delegate { runner: runner.address(), amount, min_shares: 0 },
        );
        let job = world.assigned(vote_job(3, Amount::cby(1)));
        world.commit_all(job, ANSWER);
        let (address, shares) = (runner.address(), amount.get() * VIRTUAL_SHARES);
        world.ok(&delegator, Instruction::Undelegate { runner: address, shares });
        let gone = world.balance(&delegator);
        let events = world.all_but_one_reveal(job, &runner);
        let slash = part(Amount::cby(110_000), 2_500);
        assert_eq!(slashes(&events), [(address, slash)]);
        // It bears at least what the 10,000 that stayed do not cover.
        world.chain.steps(world.chain.params.unbonding_blocks);
        let paid_out = world.balance(&delegator).get() - gone.get();
        assert!(Amount(paid_out) <= Amount::cby(110_000 - 27_500));
    }

    // spec §8.6
    #[test]
    fn leaving_stake_is_paid_out_after_the_unbonding_time_and_not_before() {
        let mut world = World::new(calm(), 1);
        let runner = world.runner(0);
        world.ok(&runner, Instruction::Unstake { amount: Amount::cby(5_000) });
        let before = world.balance(&runner);
        world.chain.steps(world.chain.params.unbonding_blocks - 1);
        assert_eq!(world.balance(&runner), before);
        world.step();
        assert_eq!(world.balance(&runner).get() - before.get(), Amount::cby(5_000).get());
    }

    // spec §3.9
    #[test]
    fn the_own_stake_stays_above_its_floor_however_much_is_delegated() {
        let mut world = World::with_runners(calm(), vec![(Amount::cby(10_000), offer())]);
        let (runner, amount) = (world.runner(0), Amount::cby(500_000));
        let delegate = Instruction::Delegate { runner: runner.address(), amount, min_shares: 0 };
        world.ok(&world.stranger(), delegate);
        let receipt = world.run(&runner, Instruction::Unstake { amount: Amount(1) });
        assert_eq!(receipt.code, refused(Refusal::StakeBelowFloor));
    }

    #[test]
    fn a_runner_cannot_hold_its_delegators_with_a_large_declared_value() {
        let mut world = World::with_runners(calm(), vec![(Amount::cby(10_000), offer())]);
        let (runner, delegator) = (world.runner(0), world.stranger());
        let (address, amount) = (runner.address(), Amount::cby(500_000));
        world.ok(&delegator, Instruction::Delegate { runner: address, amount, min_shares: 0 });
        let mut declared = offer();
        declared.declared_max_job_value = Amount::cby(340_000);
        let receipt = world.run(&runner, Instruction::UpdateRunner { offer: declared });
        assert_eq!(receipt.code, refused(Refusal::StakeBelowFloor));
        let shares = amount.get() * VIRTUAL_SHARES;
        world.ok(&delegator, Instruction::Undelegate { runner: address, shares });
    }

    // spec §8.3
    #[test]
    fn a_commission_that_is_raised_after_the_draw_takes_nothing_from_delegators() {
        let mut world = World::new(calm(), 3);
        let (runner, amount) = (world.runner(0), STAKE);
        let delegate = Instruction::Delegate { runner: runner.address(), amount, min_shares: 0 };
        world.ok(&world.stranger(), delegate);
        let job = world.assigned(vote_job(3, Amount::cby(90)));
        let mut greedy = offer();
        greedy.commission_bps = 10_000;
        world.ok(&runner, Instruction::UpdateRunner { offer: greedy });
        world.commit_all(job, ANSWER);
        let events = world.reveal_all(job, ANSWER);
        let paid = events.iter().find_map(|event| match event {
            Event::Paid { runner, amount, to_delegators, .. }
                if *runner == world.runners[0].address() =>
            {
                Some((*amount, *to_delegators))
            }
            _ => None,
        });
        let (paid, to_delegators) = paid.expect("it is among the winners");
        assert_eq!(to_delegators, part(paid, 5_000));
    }
}

/// A commitment binds who made it, for the job and the attempt in which it was made.
mod commits {
    use super::*;
    use remuda_protocol::verifier::commitment::{commitment, result_digest};

    // spec §7.2, §7.4
    #[test]
    fn a_copied_commitment_cannot_be_revealed_by_the_copier() {
        let mut world = World::new(calm(), 3);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        let [author, copier, third] = <[SecretKey; 3]>::try_from(world.seated(job)).unwrap();
        let (copied, original) = world.chain.sealed(&author, job, ANSWER).unwrap();
        for key in [&author, &third] {
            world.chain.send_commit(key, job, ANSWER);
        }
        world.ok(&copier, Instruction::CommitResult { job, commitment: copied });
        for key in [&author, &third] {
            world.chain.send_reveal(key, job, ANSWER);
        }
        let reveal = Reveal { runner: copier.address(), ..original };
        world.chain.send(&copier, Instruction::RevealResult { job, reveal });
        let events = world.step();
        assert_eq!(slashes(&events), [(copier.address(), part(STAKE, 2_500))]);
        assert_eq!(world.progress(job, &copier), SeatState::Slashed);
        assert_eq!(world.status(job), Status::Settled);
    }

    // spec §7.2, §7.4
    #[test]
    fn a_reveal_of_another_attempt_or_job_or_chain_does_not_open_a_commitment() {
        let id = calm().chain_id;
        for place in ["chain", "job", "attempt"] {
            let mut world = World::new(calm(), 3);
            let job = world.assigned(vote_job(3, Amount::cby(9)));
            let [liar, a, b] = <[SecretKey; 3]>::try_from(world.seated(job)).unwrap();
            let (chain_id, other, attempt) = match place {
                "chain" => (id + 1, job, 0),
                "job" => (id, B256::repeat_byte(1), 0),
                _ => (id, job, 1),
            };
            let (runner, salt) = (liar.address(), B256::repeat_byte(2));
            let result_sig = liar.sign(&result_digest(chain_id, other, attempt, runner, ANSWER));
            let bytes = result_sig.bytes;
            let bound = commitment(chain_id, other, attempt, runner, ANSWER, &salt, &bytes);
            world.chain.send(&liar, Instruction::CommitResult { job, commitment: bound });
            for key in [&a, &b] {
                world.chain.send_commit(key, job, ANSWER);
            }
            world.chain.step();
            let reveal = Reveal { runner, result: ANSWER.into(), salt, result_sig };
            let receipt = world.ok(&liar, Instruction::RevealResult { job, reveal });
            assert_eq!(slashes(&receipt.events), [(runner, part(STAKE, 2_500))]);
        }
    }

    // spec §7.5
    #[test]
    fn an_aggregator_cannot_slash_others_with_wrong_reveals() {
        let mut world = World::new(calm(), 3);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        world.commit_all(job, ANSWER);
        let aggregator = world.key_of(world.job(job).aggregator.unwrap());
        for key in world.seated(job) {
            let lie = world.chain.sealed(&key, job, LIE).unwrap().1;
            let receipt =
                world.run(&aggregator, Instruction::RevealAggregate { job, reveals: vec![lie] });
            assert_eq!(receipt.code, refused(Refusal::InvalidReveal));
        }
        let events = world.reveal_all(job, ANSWER);
        assert_eq!(slashes(&events), []);
        assert_eq!(world.status(job), Status::Settled);
    }

    // spec §7.4
    #[test]
    fn a_silent_aggregator_keeps_nobody_from_revealing() {
        let mut world = World::new(calm(), 3);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        world.commit_all(job, ANSWER);
        let aggregator = world.key_of(world.job(job).aggregator.unwrap());
        let events = world.all_but_one_reveal(job, &aggregator);
        assert_eq!(slashes(&events), [(aggregator.address(), part(STAKE, 2_500))]);
        assert_eq!(world.status(job), Status::Settled);
    }

    // spec §7.7
    #[test]
    fn an_attested_crash_exempts_from_the_slash_once_per_epoch() {
        let mut params = calm();
        params.epoch_blocks = 1_000;
        let mut world = World::new(params, 3);
        let jobs = [0; 2].map(|_| world.send_job(vote_job(3, Amount::cby(9))));
        world.step();
        world.await_draw(jobs[0]);
        let runner = world.runner(0);
        for job in jobs {
            world.commit_all(job, ANSWER);
        }
        let attest = |job| Instruction::CrashAttestation { job, signal: CrashSignal::Oom };
        world.ok(&runner, attest(jobs[0]));
        world.ok(&runner, attest(jobs[1]));
        assert_eq!(world.progress(jobs[0], &runner), SeatState::Crashed);
        let still_bound = world.progress(jobs[1], &runner);
        assert!(matches!(still_bound, SeatState::Committed { .. }));
        for key in &world.runners.clone()[1..] {
            for job in jobs {
                world.chain.send_reveal(key, job, ANSWER);
            }
        }
        let events = world.step_to(world.job(jobs[1]).reveal_by);
        assert_eq!(slashes(&events), [(runner.address(), part(STAKE, 2_500))]);
        assert_eq!(jobs.map(|job| world.status(job)), [Status::Settled, Status::Settled]);
    }

    // spec §8.7, §8.10
    #[test]
    fn a_second_loss_of_reputation_in_jail_extends_the_term() {
        let mut params = calm();
        (params.jail_blocks, params.jail_blocks_max) = (30, 1_000);
        let mut world = World::new(params, 3);
        let jobs = [10, 30].map(|timeout_blocks| {
            world.send_job(JobSpec { timeout_blocks, ..vote_job(3, Amount::cby(9)) })
        });
        world.step();
        world.await_draw(jobs[0]);
        for job in jobs {
            world.commit_all(job, ANSWER);
        }
        let runner = world.runner(0);
        let ends = jobs.map(|job| {
            world.all_but_one_reveal(job, &runner);
            world.chain.height()
        });
        assert!(ends[1] < ends[0].plus(30), "the second slash comes in jail");
        let until = world.standing(&runner).jailed_until.unwrap();
        assert_eq!(until, ends[1].plus(60));
        world.step_to(until.minus(1));
        assert!(world.standing(&runner).jailed_until.is_some());
        world.step();
        assert_eq!(world.standing(&runner).jailed_until, None);
    }
}

/// Between submission and draw, and with a job in hand.
mod submission {
    use super::*;

    // spec §6.19
    #[test]
    fn cancelling_to_draw_again_costs_the_burned_part() {
        let price = Amount::cby(100);
        let burned = |events: &[Event]| {
            events.iter().find_map(|event| match event {
                Event::JobCancelled { burned, .. } => Some(*burned),
                _ => None,
            })
        };
        let mut world = World::new(calm(), 3);
        let customer = world.customer();
        for (drawn, cost) in [(false, Amount::ZERO), (true, part(price, 1_000))] {
            let before = world.balance(&customer);
            let receipt = world.ok(&customer, Instruction::SubmitJob { spec: vote_job(3, price) });
            let Some(Event::JobSubmitted { job, .. }) = receipt.events.first() else { panic!() };
            if drawn {
                world.await_draw(*job);
            }
            let cancel = world.ok(&customer, Instruction::CancelJob { job: *job });
            assert_eq!(burned(&cancel.events), Some(cost));
            assert_eq!(world.status(*job), Status::Cancelled);
            let fees = receipt.fee.get() + cancel.fee.get();
            assert_eq!(before.get() - world.balance(&customer).get(), fees + cost.get());
        }
    }

    // spec §6.19
    #[test]
    fn a_single_result_cannot_be_taken_by_a_cancel() {
        for spec in [unverified(Amount::cby(10)), bonded(Amount::cby(10))] {
            let mut world = World::new(calm(), 7);
            let job = world.assigned(spec);
            let runner = world.seated(job).remove(0);
            let cancel = world.chain.send(&world.customer(), Instruction::CancelJob { job });
            world.chain.send_result(&runner, job, ANSWER);
            let events = world.step();
            let code = world.chain.receipt(cancel).unwrap().code;
            assert_eq!(code, refused(Refusal::TooLateToCancel));
            assert!(happened(&events, "Paid"));
        }
    }

    #[test]
    fn pausing_or_leaving_after_submission_excuses_nothing() {
        for step_aside in [Instruction::PauseRunner, Instruction::DeregisterRunner] {
            let mut world = World::new(calm(), 3);
            let job = world.submit(vote_job(3, Amount::cby(9)));
            for key in world.runners.clone() {
                world.chain.send(&key, step_aside.clone());
            }
            world.await_draw(job);
            let before = world.standing(&world.runner(0)).reputation.nano();
            let events = world.step_to(world.job(job).commit_by);
            assert_eq!(timeouts(&events).len(), 3);
            assert!(timeouts(&events).iter().all(|(_, excused)| !excused));
            assert!(world.standing(&world.runner(0)).reputation.nano() < before);
        }
    }

    // spec §6.15
    #[test]
    fn only_a_capacity_that_held_at_submission_excuses_from_a_second_job() {
        let one_at_a_time = Offer { max_concurrent_jobs: 1, ..offer() };
        for (early, excuses) in [(true, true), (false, false)] {
            let first = if early { one_at_a_time.clone() } else { offer() };
            let mut world = World::with_runners(calm(), vec![(STAKE, first); 3]);
            let jobs = [0; 2].map(|_| world.send_job(vote_job(3, Amount::cby(9))));
            world.step();
            if !early {
                for key in world.runners.clone() {
                    let offer = one_at_a_time.clone();
                    world.chain.send(&key, Instruction::UpdateRunner { offer });
                }
            }
            world.await_draw(jobs[0]);
            let [busy, second] = jobs.map(|job| world.job(job).seats);
            assert!(busy.iter().all(|seat| !seat.overbooked));
            assert!(second.iter().all(|seat| seat.overbooked == excuses));
            let events = world.step_to(world.job(jobs[1]).commit_by);
            let excused = timeouts(&events).iter().filter(|(_, excused)| *excused).count();
            assert_eq!(excused, if excuses { 3 } else { 0 });
        }
    }

    // spec §5.9, §6.9
    #[test]
    fn what_runners_do_after_the_submission_does_not_change_the_draw() {
        let mut world = World::new(calm(), 6);
        let job = world.submit(vote_job(3, Amount::cby(9)));
        let mut undisturbed = world.clone();
        undisturbed.await_draw(job);
        let newcomer = world.stranger();
        let (stake, offer) = (Amount::cby(900_000), offer());
        world.chain.send(&newcomer, Instruction::RegisterRunner { stake, offer });
        for key in world.runners.clone() {
            if !undisturbed.addresses(job).contains(&key.address()) {
                let amount = Amount::cby(900_000);
                world.chain.send(&key, Instruction::Stake { amount });
            }
        }
        world.await_draw(job);
        assert_eq!(world.addresses(job), undisturbed.addresses(job));
    }

    // spec §8.8
    #[test]
    fn unpaid_work_changes_no_reputation() {
        let mut world = World::new(calm(), 1);
        let runner = world.runner(0);
        let before = world.standing(&runner).reputation.nano();
        world.settled(unverified(Amount::ZERO));
        assert_eq!(world.standing(&runner).reputation.nano(), before);
        for _ in 0..4 {
            let job = world.assigned(unverified(Amount::ZERO));
            let events = world.step_to(world.job(job).commit_by);
            assert_eq!(timeouts(&events), [(runner.address(), false)]);
        }
        let standing = world.standing(&runner);
        assert_eq!((standing.reputation.nano(), standing.jailed_until), (before, None));
    }
}

/// Work that is more than a block's.
mod load {
    use super::*;
    use remuda_protocol::dispatcher::roster::WARM_BLOCKS;
    use remuda_protocol::registry::runner::RateCard;

    // spec §6.17
    #[test]
    fn a_runner_cannot_be_slashed_because_the_agenda_was_late() {
        let mut world = World::new(calm(), 3);
        let job = world.submit(vote_job(3, Amount::cby(9)));
        let mut future = world.clone();
        future.await_draw(job);
        let (deadline, reveal_by) = (future.job(job).commit_by, future.job(job).reveal_by);
        let late = world.chain.params.reveal_blocks as u32 + 2;
        world.crowd(deadline, late);
        world.await_draw(job);
        let [first, second, _] = <[SecretKey; 3]>::try_from(world.seated(job)).unwrap();
        for key in [&first, &second] {
            world.chain.send_commit(key, job, ANSWER);
        }
        world.step_to(deadline.plus(u64::from(late)).minus(1));
        assert_eq!(world.status(job), Status::Assigned, "the deadline is still on the agenda");
        world.step();
        assert_eq!(world.status(job), Status::Committed);
        assert!(world.chain.height() > reveal_by, "the first deadline is long over");
        world.chain.steps(world.chain.params.reveal_blocks - 1);
        let events = world.reveal_all(job, ANSWER);
        assert_eq!(slashes(&events), []);
        assert_eq!(world.status(job), Status::Settled);
    }

    // spec §5.12
    #[test]
    fn a_full_agenda_is_worked_off_over_blocks() {
        let mut world = World::new(calm(), 2);
        let spec = unverified(Amount::cby(1));
        let due = world.chain.height().plus(1 + spec.timeout_blocks);
        world.crowd(due, 3);
        let job = world.submit(spec);
        assert_eq!(world.job(job).commit_by, due);
        for late in 0..3 {
            world.step_to(due.plus(late));
            assert_eq!(world.status(job), Status::Assigned);
            assert_eq!(world.chain.chain().agenda.height, due);
        }
        let events = world.step();
        assert_eq!(timeouts(&events).len(), 1);
        assert_eq!(world.chain.chain().agenda.height, world.chain.height().plus(1));
    }

    #[test]
    fn results_that_take_long_to_judge_put_other_deadlines_off_by_a_block() {
        let mut world = World::new(calm(), 3);
        let mut spec = vote_job(3, Amount::cby(9));
        spec.result_schema.max_return_bytes = 65_536;
        spec.verification.mode = VerificationMode::StructuredMatch;
        let fields = (0..19).map(|i| format!("f{i}")).collect();
        spec.verification.checks = vec![VerifierCheck::StructuredMatch { fields }];
        let job = world.assigned(spec);
        let members: String = (0..19).map(|i| format!("\"f{i}\":{i},")).collect();
        let padding = "x".repeat(65_536 - members.len() - 10);
        let result = format!("{{{members}\"pad\":\"{padding}\"}}").into_bytes();
        world.commit_all(job, &result);
        let due = world.job(job).reveal_by;
        let [a, b, _] = <[SecretKey; 3]>::try_from(world.seated(job)).unwrap();
        for key in [&a, &b] {
            world.chain.send_reveal(key, job, &result);
        }
        let mut small = unverified(Amount::cby(1));
        small.timeout_blocks = due.get() - world.chain.height().get() - 1;
        let small = world.submit(small);
        assert_eq!(world.job(small).commit_by, due);
        world.step_to(due);
        assert_eq!(world.status(job), Status::Settled);
        assert_eq!(world.status(small), Status::Assigned, "its deadline waits");
        world.step();
        assert_ne!(world.status(small), Status::Assigned);
    }

    // spec §6.20
    #[test]
    fn jobs_with_prices_of_their_own_pay_for_the_lists_they_need() {
        let dear = RateCard { base: Amount::cby(5), ..RateCard::default() };
        let offers = (0..40).map(|i| {
            let rates = if i % 2 == 0 { dear } else { RateCard::default() };
            (STAKE, Offer { rates, ..offer() })
        });
        let mut world = World::with_runners(calm(), offers.collect());
        let cycles = |world: &mut World, price: Amount| {
            let spec = JobSpec { timeout_blocks: 1_000, ..unverified(price) };
            let receipt = world.ok(&world.customer(), Instruction::SubmitJob { spec });
            receipt.used.cycles.get()
        };
        let (fair, own, other) = (Amount::cby(10), Amount::cby(1), Amount::cby(2));
        let cold_class = cycles(&mut world, fair);
        let warm_class = cycles(&mut world, fair);
        // The runner that the last job seated has changed, and is put in place again.
        assert_eq!(cold_class - warm_class, (40 - 1) * 20, "every runner of the class is put in");
        let cold = cycles(&mut world, own);
        let warm = cycles(&mut world, own);
        assert_eq!(cold - warm, (20 - 1) * 40, "twenty runners are taken out");
        assert!(warm >= warm_class);
        assert_eq!(cycles(&mut world, other), cold, "another price is another list");
        world.chain.steps(WARM_BLOCKS - 1);
        assert_eq!(cycles(&mut world, other), warm, "asked {WARM_BLOCKS} blocks ago");
        world.chain.steps(WARM_BLOCKS);
        assert_eq!(cycles(&mut world, other), cold + (cold_class - warm_class));
    }
}

/// Which results win, through the whole chain.
mod modes {
    use super::*;
    use remuda_protocol::dispatcher::spec::{DataFormat, JobType};
    use remuda_protocol::verifier::json::Decimal;

    /// Three runners give these answers, in draw order. Which of them win, and what they agree on.
    fn judged(spec: JobSpec, answers: [&str; 3]) -> (Vec<usize>, Option<String>) {
        let resolving = Offer {
            resolvers: vec!["a".into(), "b".into(), "c".into()],
            executors: vec![B256::ZERO],
            ..offer()
        };
        let mut world = World::with_runners(calm(), vec![(STAKE, resolving); 3]);
        let (customer, before) = (world.customer(), world.balance(&world.customer()));
        let gross = spec.max_price.get();
        let job = world.assigned(spec);
        let seated = world.seated(job);
        for (key, answer) in seated.iter().zip(answers) {
            world.chain.send_commit(key, job, answer.as_bytes());
        }
        world.step();
        for (key, answer) in seated.iter().zip(answers) {
            world.chain.send_reveal(key, job, answer.as_bytes());
        }
        let events = world.step();
        assert_eq!(slashes(&events), []);
        let winners = events.iter().find_map(|event| match event {
            Event::JobSettled { winners, .. } => Some(winners.clone()),
            _ => None,
        });
        let Some(winners) = winners else {
            assert_eq!(world.status(job), Status::Failed { reason: Failure::NoAgreement });
            let spent = before.get() - world.balance(&customer).get();
            assert!(spent < gross / 2 + Amount::CBY.get(), "half of it comes back at least");
            assert!(!happened(&events, "ReputationChanged"), "nobody is scored");
            return (Vec::new(), None);
        };
        assert_eq!(world.status(job), Status::Settled);
        for (i, key) in seated.iter().enumerate() {
            let standing = world.standing(key);
            let won = winners.contains(&key.address());
            assert_eq!(standing.reputation.nano() > 60_000_000_000, won, "runner {i}");
            let paid = events.iter().any(
                |event| matches!(event, Event::Paid { runner, .. } if *runner == key.address()),
            );
            assert_eq!(paid, won, "runner {i}");
        }
        let result = world.chain.result(job).unwrap();
        assert_eq!(result.runner, winners[0]);
        let agreed = result.agreed.map(|bytes| String::from_utf8(bytes.0).unwrap());
        let index = |w: &Address| seated.iter().position(|key| key.address() == *w).unwrap();
        (winners.iter().map(index).collect(), agreed)
    }

    fn matching(checks: Vec<VerifierCheck>) -> JobSpec {
        let mut spec = vote_job(3, Amount::cby(9));
        spec.verification.mode = VerificationMode::StructuredMatch;
        spec.verification.checks = checks;
        spec
    }

    fn vote_on(field: &str) -> VerifierCheck {
        VerifierCheck::MajorityVote { field: field.into() }
    }

    fn decimal(text: &str) -> Decimal {
        Decimal::parse_plain(text).unwrap()
    }

    // spec §7.14, §8.1
    #[test]
    fn a_vote_pays_the_largest_group_alone() {
        let answers = [r#"{"answer":1}"#, r#"{"answer":2}"#, r#"{"answer":1.0,"note":"x"}"#];
        let judged = judged(vote_job(3, Amount::cby(9)), answers);
        assert_eq!(judged, (vec![0, 2], Some("1".into())));
    }

    // spec §7.14
    #[test]
    fn a_vote_without_a_majority_is_refunded_and_harms_nobody() {
        let answers = [r#"{"answer":1}"#, r#"{"answer":2}"#, r#"{"answer":3}"#];
        assert_eq!(judged(vote_job(3, Amount::cby(9)), answers), (vec![], None));
    }

    // spec §7.12
    #[test]
    fn a_range_drops_results_outside_it() {
        let (min, max) = (decimal("0"), decimal("10"));
        let range = VerifierCheck::NumericRange { field: "v".into(), min, max };
        let spec = matching(vec![range, vote_on("a")]);
        let answers = [r#"{"v":0,"a":1}"#, r#"{"v":10,"a":1}"#, r#"{"v":10.000000001,"a":1}"#];
        assert_eq!(judged(spec, answers), (vec![0, 1], Some(r#"{"a":1}"#.into())));
    }

    // spec §7.12
    #[test]
    fn a_tolerance_keeps_results_near_the_median() {
        let (field, tolerance) = ("v".into(), decimal("0.5"));
        let near = VerifierCheck::NumericTolerance { field, tolerance };
        let spec = matching(vec![near, vote_on("a")]);
        let answers = [r#"{"v":20,"a":1}"#, r#"{"v":10,"a":1}"#, r#"{"v":10.5,"a":1}"#];
        assert_eq!(judged(spec, answers), (vec![1, 2], Some(r#"{"a":1}"#.into())));
    }

    // spec §7.11
    #[test]
    fn a_schema_drops_results_that_break_it() {
        let schema = r#"{"type":"object","required":["v"],"properties":{"v":{"type":"string"}}}"#;
        let valid = VerifierCheck::JsonSchemaValid { schema: schema.into() };
        let spec = matching(vec![valid, vote_on("a")]);
        let answers = [r#"{"v":"x","a":1}"#, r#"{"v":1,"a":1}"#, r#"{"v":"y","a":1}"#];
        assert_eq!(judged(spec, answers), (vec![0, 2], Some(r#"{"a":1}"#.into())));
    }

    // spec §7.14
    #[test]
    fn a_match_asks_for_all_of_its_fields() {
        let fields = vec!["a".into(), "b.c[0]".into()];
        let spec = matching(vec![VerifierCheck::StructuredMatch { fields }]);
        let answers = [
            r#"{"a":1,"b":{"c":[2]}}"#,
            r#"{"a":1,"b":{"c":[3]}}"#,
            r#"{"a":1,"b":{"c":[2,9]},"d":0}"#,
        ];
        assert_eq!(judged(spec, answers), (vec![0, 2], Some(r#"{"a":1,"b.c[0]":2}"#.into())));
    }

    // spec §7.14
    #[test]
    fn a_vote_inside_a_match_votes_among_what_is_left() {
        let (min, max) = (decimal("1"), decimal("1"));
        let range = VerifierCheck::NumericRange { field: "v".into(), min, max };
        let mut spec = matching(vec![vote_on("a"), range]);
        let answers = [r#"{"v":1,"a":7}"#, r#"{"v":1,"a":7}"#, r#"{"v":2,"a":7}"#];
        assert_eq!(judged(spec.clone(), answers).0, [0, 1]);
        // Two of three are left of the vote, one of the range: too few.
        spec.verification.checks.swap(0, 1);
        let answers = [r#"{"v":1,"a":7}"#, r#"{"v":1,"a":8}"#, r#"{"v":2,"a":7}"#];
        assert_eq!(judged(spec, answers).0, [0; 0]);
    }

    // spec §7.15
    #[test]
    fn dns_reports_are_judged_by_the_strict_majority_of_each_runners_resolvers() {
        let txt = VerifierCheck::DnsTxtRecordMatch {
            fqdn: "example.org".into(),
            expected_value: "v=1".into(),
            min_resolvers: 3,
        };
        let cname = VerifierCheck::DnsCnameMatch {
            fqdn: "www.example.org".into(),
            expected_target: "example.org".into(),
            min_resolvers: 2,
        };
        let report = |txt: [bool; 3], cname: [bool; 2]| {
            let answer = |(resolver, confirmed): (&str, bool)| {
                format!(r#"{{"resolver":"{resolver}","confirmed":{confirmed}}}"#)
            };
            let list = |confirmed: &[bool]| {
                let answers = ["a", "b", "c"].into_iter().zip(confirmed.iter().copied());
                answers.map(answer).collect::<Vec<_>>().join(",")
            };
            format!(r#"{{"answer":1,"dns":[[{}],[{}]]}}"#, list(&txt), list(&cname))
        };
        let good = report([true, false, true], [true, true]);
        let tied = report([true, true, true], [true, false]);
        let denied = report([true, false, false], [true, true]);
        for spec in [vote_job(3, Amount::cby(9)), matching(vec![vote_on("answer")])] {
            let mut spec = spec;
            spec.verification.checks.extend([txt.clone(), cname.clone()]);
            assert_eq!(judged(spec.clone(), [&good, &good, &tied]).0, [0, 1]);
            assert_eq!(judged(spec.clone(), [&denied, &good, &good]).0, [1, 2]);
            assert_eq!(judged(spec, [&denied, &good, &tied]).0, [0; 0]);
        }
    }

    fn deterministic() -> JobSpec {
        let mut spec = vote_job(3, Amount::cby(9));
        spec.job_type = JobType::Custom { executor_hash: B256::ZERO, params: Bytes::default() };
        spec.verification.mode = VerificationMode::Deterministic;
        spec.verification.checks.clear();
        spec.result_schema.data_format = DataFormat::Bytes;
        spec
    }

    // spec §7.14
    #[test]
    fn a_deterministic_job_needs_every_byte_of_every_result() {
        assert_eq!(judged(deterministic(), ["abc"; 3]).0, [0, 1, 2]);
        assert_eq!(judged(deterministic(), ["abc", "abc", "abd"]).0, [0; 0]);
    }

    // spec §6.8
    #[test]
    fn a_deterministic_job_waits_for_a_full_committee() {
        let pinned = Offer { executors: vec![B256::ZERO], ..offer() };
        let mut world = World::with_runners(calm(), vec![(STAKE, pinned); 4]);
        let job = world.assigned(deterministic());
        for key in &world.seated(job)[..2] {
            world.chain.send_commit(key, job, b"abc");
        }
        world.step_to(world.job(job).commit_by);
        assert!(matches!(world.status(job), Status::Pending { .. }), "two of three do not do");
        world.await_draw(job);
        assert_eq!(world.awaited(job).len(), 3);
        let new = world.seated(job).pop().unwrap();
        world.chain.send_commit(&new, job, b"abc");
        world.step();
        world.reveal_all(job, b"abc");
        assert_eq!(world.status(job), Status::Settled);
    }

    // spec §7.4
    #[test]
    fn a_result_over_the_agreed_size_wins_nothing_and_is_not_slashed() {
        let long = format!(r#"{{"answer":1,"pad":"{}"}}"#, "x".repeat(1_024));
        let answers = [r#"{"answer":1}"#, &long, r#"{"answer":1}"#];
        assert_eq!(judged(vote_job(3, Amount::cby(9)), answers).0, [0, 2]);
    }

    // spec §6.18, §7.6
    #[test]
    fn a_single_result_that_breaks_the_schema_gives_the_seat_to_another() {
        let mut world = World::new(calm(), 2);
        let job = world.assigned(unverified(Amount::cby(9)));
        let first = world.seated(job).remove(0);
        world.chain.send_result(&first, job, b"no json");
        let events = world.step();
        assert!(happened(&events, "ResultRejected") && !happened(&events, "Paid"));
        world.await_draw(job);
        let second = world.awaited(job).remove(0);
        assert_ne!(first.address(), second.address());
        world.chain.send_result(&second, job, ANSWER);
        world.step();
        assert_eq!(world.status(job), Status::Settled);
    }
}

/// How a job goes from phase to phase.
mod phases {
    use super::*;

    // spec §6.13
    #[test]
    fn only_an_unverified_job_is_drawn_in_its_own_block() {
        for skip_views in [0, 2] {
            let mut world = World::new(calm(), 7);
            let job = world.submit(unverified(Amount::cby(1)));
            assert_eq!(world.status(job), Status::Assigned);
            world.chain.skip_views = skip_views;
            for spec in [bonded(Amount::cby(1)), vote_job(3, Amount::cby(1))] {
                let job = world.submit(spec);
                let bound = world.chain.chain().round.view + 4;
                assert_eq!(world.status(job), Status::Pending { view: bound });
                while world.chain.chain().newest_seed < bound {
                    assert_eq!(world.status(job), Status::Pending { view: bound });
                    world.step();
                }
                assert_eq!(world.status(job), Status::Assigned);
            }
        }
    }

    // spec §6.17
    #[test]
    fn a_phase_ends_as_soon_as_everybody_has_done_it() {
        let mut world = World::new(calm(), 3);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        let assigned_at = world.chain.height();
        assert_eq!(world.job(job).commit_by, assigned_at.plus(6));
        world.commit_all(job, ANSWER);
        assert_eq!(world.status(job), Status::Committed);
        world.reveal_all(job, ANSWER);
        assert_eq!(world.status(job), Status::Settled);
        assert_eq!(world.chain.height(), assigned_at.plus(2));
    }

    // spec §7.3
    #[test]
    fn enough_commits_at_the_deadline_go_on_without_the_others() {
        let mut world = World::new(calm(), 4);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        let seated = world.seated(job);
        for key in &seated[..2] {
            world.chain.send_commit(key, job, ANSWER);
        }
        let events = world.step_to(world.job(job).commit_by);
        assert_eq!(timeouts(&events), [(seated[2].address(), false)]);
        assert_eq!(world.status(job), Status::Committed);
        world.reveal_all(job, ANSWER);
        assert_eq!(world.status(job), Status::Settled);
    }

    // spec §7.5, §8.1
    #[test]
    fn an_aggregator_can_reveal_for_all_and_earns_the_bonus() {
        let mut world = World::new(calm(), 3);
        let job = world.assigned(vote_job(3, Amount::cby(300)));
        world.commit_all(job, ANSWER);
        let aggregator = world.key_of(world.job(job).aggregator.unwrap());
        let sealed = |key: &SecretKey| world.chain.sealed(key, job, ANSWER).unwrap().1;
        let reveals: Vec<Reveal> = world.seated(job).iter().map(sealed).collect();
        let receipt = world.ok(&aggregator, Instruction::RevealAggregate { job, reveals });
        assert_eq!(world.status(job), Status::Settled);
        let bonus = part(Amount::cby(300), 150);
        let share = Amount((part(Amount::cby(300), 8_900).get() - bonus.get()) / 3);
        for event in &receipt.events {
            if let Event::Paid { runner, amount, .. } = event {
                let extra = if *runner == aggregator.address() { bonus.get() } else { 0 };
                assert_eq!(amount.get(), share.get() + extra);
            }
        }
        let reputation = |key: &SecretKey| world.standing(key).reputation.nano();
        let best = world.runners.iter().max_by_key(|key| reputation(key)).unwrap();
        assert_eq!(best.address(), aggregator.address());
    }

    // spec §6.18
    #[test]
    fn a_reselection_fills_only_the_empty_seats_and_with_new_runners() {
        let mut world = World::new(calm(), 6);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        let first = world.addresses(job);
        world.chain.send_commit(&world.key_of(first[0]), job, ANSWER);
        let events = world.step_to(world.job(job).commit_by);
        let timed_out: Vec<Address> = timeouts(&events).iter().map(|(runner, _)| *runner).collect();
        assert_eq!(timed_out, first[1..]);
        world.await_draw(job);
        let seats = world.job(job).seats;
        let live: Vec<(Address, u32)> = seats
            .iter()
            .filter(|s| s.progress.takes_part())
            .map(|s| (s.runner, s.attempt))
            .collect();
        assert_eq!(live.len(), 3);
        assert_eq!(live[0], (first[0], 0), "who has committed keeps its seat");
        let fresh: BTreeSet<Address> = live[1..].iter().map(|(runner, _)| *runner).collect();
        assert!(live[1..].iter().all(|(_, attempt)| *attempt == 1));
        assert!(fresh.is_disjoint(&first.into_iter().collect()));
        for runner in fresh {
            world.chain.send_commit(&world.key_of(runner), job, ANSWER);
        }
        world.step();
        // The first runner opens what it committed to in the first attempt.
        let events = world.reveal_all(job, ANSWER);
        assert_eq!(slashes(&events), []);
        assert_eq!(world.status(job), Status::Settled);
    }

    // spec §6.1, §6.18
    #[test]
    fn three_failed_reselections_end_a_job_with_a_full_refund() {
        let mut world = World::new(calm(), 5);
        let customer = world.customer();
        let before = world.balance(&customer);
        let spec = unverified(Amount::cby(500));
        let receipt = world.ok(&customer, Instruction::SubmitJob { spec });
        let Some(Event::JobSubmitted { job, .. }) = receipt.events.first() else { panic!() };
        for attempt in 0..4 {
            world.await_draw(*job);
            assert_eq!(world.job(*job).attempt, attempt);
            world.step_to(world.job(*job).commit_by);
        }
        assert_eq!(world.status(*job), Status::Failed { reason: Failure::NoRunners });
        let asked: BTreeSet<Address> = world.addresses(*job).into_iter().collect();
        assert_eq!(asked.len(), 4, "nobody was asked twice");
        assert_eq!(before.get() - world.balance(&customer).get(), receipt.fee.get());
    }

    // spec §12.5
    #[test]
    fn a_failed_callback_costs_the_submitter_nothing_but_a_mark() {
        let mut world = World::new(calm(), 1);
        let customer = world.customer();
        let callback = Callback { actor: customer.address(), ..common::callback(50_000) };
        let spec = JobSpec { callback: Some(callback), ..unverified(Amount::cby(1)) };
        let job = world.assigned(spec);
        world.chain.send_result(&world.runner(0), job, ANSWER);
        assert!(happened(&world.step(), "CallbackQueued"));
        let before = world.balance(&customer);
        let events = world.step();
        assert!(happened(&events, "CallbackFailed"));
        assert!(world.balance(&customer) > before, "the prepaid cycles come back");
        assert_eq!(world.chain.account(customer.address()).failed_callbacks, 1);
    }
}

mod selection {
    use super::*;
    use remuda_protocol::entitlements::constraints::Constraints;
    use remuda_protocol::entitlements::scope::Scope;
    use remuda_protocol::key::EpochCommitteeKey;
    use remuda_protocol::state::read;

    const NOBODY: Status = Status::Failed { reason: Failure::InsufficientRunners };

    /// The runners that are drawn for a job of one.
    fn drawn(world: &mut World, spec: &JobSpec) -> Option<SecretKey> {
        let job = world.submit(spec.clone());
        if world.status(job) == NOBODY {
            return None;
        }
        Some(world.seated(job).remove(0))
    }

    /// How many of 60 unverified jobs of one block a runner gets.
    fn share_of(world: &mut World, customer: &SecretKey, runner: &SecretKey) -> usize {
        let hashes: Vec<_> = (0..60)
            .map(|_| {
                let spec = unverified(Amount::cby(1));
                world.chain.send(customer, Instruction::SubmitJob { spec })
            })
            .collect();
        world.step();
        let job = |hash| {
            remuda_protocol::dispatcher::submit::job_id(world.chain.params.chain_id, hash, 0)
        };
        let seats = hashes.into_iter().map(|hash| world.addresses(job(hash))[0]);
        seats.filter(|address| *address == runner.address()).count()
    }

    // spec §6.14, §6.21
    #[test]
    fn the_last_winner_is_favoured_by_the_same_customer() {
        let mut world = World::new(calm(), 6);
        let job = world.settled(unverified(Amount::cby(1)));
        let winner = world.seated(job).remove(0);
        let (customer, stranger) = (world.customer(), world.stranger());
        // 4 parts of 9 against 1 of 6.
        assert!(share_of(&mut world.clone(), &customer, &winner) > 18);
        assert!(share_of(&mut world, &stranger, &winner) < 18);
    }

    // spec §6.18, §6.21
    #[test]
    fn the_last_winner_is_favoured_until_its_time_is_over_and_not_on_a_retry() {
        let mut params = calm();
        params.mru_ttl_blocks = 20;
        let mut world = World::new(params, 7);
        let job = world.settled(unverified(Amount::cby(1)));
        let (winner, settled_at) = (world.addresses(job)[0], world.chain.height());
        world.step_to(settled_at.plus(19));
        let last = world.submit(vote_job(3, Amount::cby(9)));
        assert_eq!(world.job(last).snapshot.mru, Some(winner));
        let late = world.submit(vote_job(3, Amount::cby(9)));
        assert_eq!(world.job(late).snapshot.mru, None);
        world.await_draw(last);
        world.step_to(world.job(last).commit_by);
        assert!(matches!(world.status(last), Status::Pending { .. }));
        assert_eq!(world.job(last).snapshot.mru, None);
    }

    fn present(params: u8, runners: usize, present: usize) -> (World, BTreeSet<Address>) {
        let mut world = World::new(ChainParams { presence_policy: params, ..calm() }, runners);
        let there: BTreeSet<Address> =
            world.runners[..present].iter().map(|key| key.address()).collect();
        for runner in &there {
            world.chain.attest(*runner, true);
        }
        world.step();
        (world, there)
    }

    #[test]
    fn policy_shadow_ignores_presence() {
        let (mut world, _) = present(0, 3, 0);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        assert_eq!(world.addresses(job).len(), 3);
    }

    // spec §6.14, §9.6
    #[test]
    fn policy_prefer_draws_absent_runners_only_to_fill_up() {
        let (mut world, there) = present(1, 9, 3);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        assert_eq!(world.addresses(job).into_iter().collect::<BTreeSet<_>>(), there);
        let (mut world, there) = present(1, 9, 2);
        let job = world.assigned(vote_job(3, Amount::cby(9)));
        let seats = world.addresses(job);
        assert_eq!(seats[..2].iter().copied().collect::<BTreeSet<_>>(), there);
        assert!(!there.contains(&seats[2]));
    }

    // spec §9.6
    #[test]
    fn policies_require_and_sunset_draw_present_runners_or_nobody() {
        for policy in [2, 3] {
            let (mut world, there) = present(policy, 6, 3);
            let job = world.assigned(vote_job(3, Amount::cby(9)));
            assert_eq!(world.addresses(job).into_iter().collect::<BTreeSet<_>>(), there);
            let (mut world, _) = present(policy, 6, 2);
            let job = world.submit(vote_job(3, Amount::cby(9)));
            assert_eq!(world.status(job), NOBODY);
        }
    }

    #[test]
    fn a_runner_that_is_no_longer_present_is_no_longer_drawn() {
        let (mut world, _) = present(2, 1, 1);
        assert!(drawn(&mut world, &unverified(Amount::cby(1))).is_some());
        world.chain.attest(world.runner(0).address(), false);
        assert!(drawn(&mut world, &unverified(Amount::cby(1))).is_none());
    }

    // spec §6.9
    #[test]
    fn a_silent_runner_is_not_drawn_until_its_next_heartbeat() {
        let params = ChainParams { presence_policy: 0, ..brisk() };
        let mut world = World::new(params, 1);
        let (registered, spec) = (world.chain.height(), unverified(Amount::cby(1)));
        let mut alive = world.clone();
        let timeout = world.chain.params.heartbeat_timeout_blocks;
        alive.step_to(registered.plus(timeout).minus(1));
        assert!(drawn(&mut alive, &spec).is_some());
        world.step_to(registered.plus(timeout));
        assert!(drawn(&mut world, &spec).is_none());
        world.ok(&world.runner(0), Instruction::Heartbeat);
        assert!(drawn(&mut world, &spec).is_some());
    }

    #[test]
    fn unpaid_jobs_go_only_to_runners_that_accept_them() {
        let paid_only = Offer { accepts_unpaid: false, ..offer() };
        let runners = vec![(STAKE, paid_only.clone()), (STAKE, paid_only), (STAKE, offer())];
        let mut world = World::with_runners(calm(), runners);
        for _ in 0..5 {
            let runner = drawn(&mut world, &unverified(Amount::ZERO)).unwrap();
            assert_eq!(runner.address(), world.runner(2).address());
        }
        world.ok(&world.runner(2), Instruction::PauseRunner);
        assert!(drawn(&mut world, &unverified(Amount::ZERO)).is_none());
        assert!(drawn(&mut world, &unverified(Amount::cby(1))).is_some());
    }

    // spec §6.9
    #[test]
    fn a_runner_is_drawn_only_for_a_share_that_pays_its_price() {
        let mut priced = offer();
        priced.rates.base = Amount::cby(7);
        let mut world = World::with_runners(calm(), vec![(STAKE, priced); 3]);
        let least = |seats: u128| Amount(Amount::cby(7).get() * seats * 10_000 / 8_750);
        for (spec, price) in
            [(unverified(Amount::ZERO), least(1)), (vote_job(3, Amount::ZERO), least(3))]
        {
            let enough = JobSpec { max_price: price, ..spec.clone() };
            let too_little = JobSpec { max_price: Amount(price.get() - 1), ..spec };
            let job = world.submit(too_little);
            assert_eq!(world.status(job), NOBODY);
            let job = world.submit(enough);
            assert_ne!(world.status(job), NOBODY);
        }
    }

    // spec §6.9
    #[test]
    fn a_runner_is_drawn_only_for_what_its_stake_covers_beside_its_open_jobs() {
        let mut world = World::with_runners(calm(), vec![(Amount::cby(30_000), offer())]);
        let job = world.submit(unverified(Amount(Amount::cby(20_000).get() + 1)));
        assert_eq!(world.status(job), NOBODY);
        assert!(drawn(&mut world, &unverified(Amount::cby(15_000))).is_some());
        let job = world.submit(unverified(Amount(Amount::cby(5_000).get() + 1)));
        assert_eq!(world.status(job), NOBODY);
        assert!(drawn(&mut world, &unverified(Amount::cby(5_000))).is_some());
    }

    #[test]
    fn a_runner_takes_no_more_jobs_than_it_offers() {
        let two = Offer { max_concurrent_jobs: 2, ..offer() };
        let mut world = World::with_runners(calm(), vec![(STAKE, two)]);
        let spec = JobSpec { timeout_blocks: 100, ..unverified(Amount::cby(1)) };
        let first = world.submit(spec.clone());
        assert!(drawn(&mut world, &spec).is_some());
        assert!(drawn(&mut world, &spec).is_none());
        world.chain.send_result(&world.runner(0), first, ANSWER);
        world.step();
        assert!(drawn(&mut world, &spec).is_some());
    }

    // spec §6.9
    #[test]
    fn jobs_of_a_pool_go_only_to_its_members_and_only_while_they_are() {
        let mut world = World::new(calm(), 3);
        let pool = Bytes(b"friends".to_vec());
        let mut spec = unverified(Amount::cby(1));
        spec.required_runner_pool = Some(pool.clone());
        assert!(drawn(&mut world, &spec).is_none());
        let (from, until) = (world.chain.height().plus(4), world.chain.height().plus(6));
        let (member, scope) = (world.runner(1), Scope::RunnerPool { id: pool.clone() });
        let owner = world.stranger();
        world.ok(&owner, Instruction::EntitlementCreateScope { scope: scope.clone() });
        let constraints = Constraints {
            valid_from: Some(from),
            valid_until: Some(until),
            ..Constraints::default()
        };
        world.join(&owner, &member, &pool, constraints);
        let mut drawn_at = Vec::new();
        for _ in 0..6 {
            if let Some(runner) = drawn(&mut world, &spec) {
                assert_eq!(runner.address(), member.address());
                drawn_at.push(world.chain.height());
            }
        }
        assert_eq!(drawn_at, [from, from.plus(1), until]);
    }

    // spec §6.7
    #[test]
    fn the_committee_size_of_an_epoch_follows_the_formula() {
        let mut world = World::with_runners(calm(), vec![(Amount::cby(20_000), offer()); 2]);
        let epoch = world.chain.params.epoch_blocks;
        let size = |world: &World| read(&world.chain.state, &EpochCommitteeKey {}).unwrap();
        let before = size(&world);
        assert_eq!((before.active, before.hhi_nano, before.m_adaptive), (0, None, 3));
        world.step_to(Height(epoch));
        // Two equal runners: HHI 1/2, and 2 · log2(2) / (1/2) = 4.
        let first = size(&world);
        assert_eq!((first.active, first.hhi_nano, first.m_adaptive), (2, Some(500_000_000), 4));
        world.ok(&world.runner(0), Instruction::Stake { amount: Amount::cby(40_000) });
        assert_eq!(size(&world), first, "an epoch keeps its size");
        world.step_to(Height(2 * epoch));
        // Three quarters and one: 10/16, of which an eighth counts; ceil(2 / 0.515625) = 4.
        let second = size(&world);
        assert_eq!((second.hhi_nano, second.m_adaptive), (Some(515_625_000), 4));
        for _ in 0..20 {
            world.step_to(Height((world.chain.height().get() / epoch + 1) * epoch));
        }
        // Smoothed for long enough it nears 10/16: ceil(2 / 0.62…) = 4 still; one runner: 3.
        world.ok(&world.runner(1), Instruction::PauseRunner);
        world.step_to(Height((world.chain.height().get() / epoch + 1) * epoch));
        let last = size(&world);
        assert_eq!((last.active, last.m_adaptive), (1, 3));
        assert!(last.hhi_nano > Some(625_000_000));
    }
}

mod standing {
    use super::*;

    /// The world's only runner lets a paid job pass.
    fn fail_once(world: &mut World) {
        let spec = JobSpec { timeout_blocks: TIMEOUT_BLOCKS_MIN, ..unverified(Amount::cby(1)) };
        let job = world.assigned(spec);
        world.step_to(world.job(job).commit_by);
    }

    // spec §8.10
    #[test]
    fn three_failures_in_a_row_mean_jail_and_each_further_term_doubles() {
        let mut world = World::new(calm(), 1);
        let runner = world.runner(0);
        for _ in 0..2 {
            fail_once(&mut world);
            assert_eq!(world.standing(&runner).jailed_until, None);
        }
        fail_once(&mut world);
        for term in [8, 16, 32, 40, 40] {
            let until = world.standing(&runner).jailed_until.expect("it is in jail");
            assert_eq!(until, world.chain.height().plus(term));
            let job = world.submit(unverified(Amount::cby(1)));
            let reason = Failure::InsufficientRunners;
            assert_eq!(world.status(job), Status::Failed { reason });
            let events = world.step_to(until);
            assert!(happened(&events, "RunnerReleased"));
            assert_eq!(world.standing(&runner).reputation.nano(), 50_000_000_000);
            // On probation one failure is enough.
            fail_once(&mut world);
        }
    }

    #[test]
    fn who_comes_back_finds_its_reputation_and_gets_a_new_slot() {
        let mut world = World::new(calm(), 1);
        let runner = world.runner(0);
        fail_once(&mut world);
        let (slot, reputation) =
            (world.standing(&runner).slot, world.standing(&runner).reputation.nano());
        assert!(reputation < 60_000_000_000);
        world.ok(&runner, Instruction::DeregisterRunner);
        let job = world.submit(unverified(Amount::cby(1)));
        assert!(world.job(job).seats.is_empty());
        let (stake, offer) = (STAKE, offer());
        world.ok(&runner, Instruction::RegisterRunner { stake, offer });
        let standing = world.standing(&runner);
        assert_ne!(standing.slot, slot);
        assert_eq!(world.chain.profile(runner.address()).unwrap().slot, standing.slot);
        // A handful of blocks of a half-life of 14 days.
        assert!(standing.reputation.nano().abs_diff(reputation) < 1_000_000);
        world.settled(unverified(Amount::cby(1)));
    }

    // spec §8.10
    #[test]
    fn leaving_does_not_end_a_jail_term() {
        let mut world = World::new(calm(), 1);
        let runner = world.runner(0);
        for _ in 0..3 {
            fail_once(&mut world);
        }
        let until = world.standing(&runner).jailed_until.unwrap();
        world.ok(&runner, Instruction::DeregisterRunner);
        let (stake, offer) = (STAKE, offer());
        world.ok(&runner, Instruction::RegisterRunner { stake, offer });
        assert_eq!(world.standing(&runner).jailed_until, Some(until));
        let job = world.submit(unverified(Amount::cby(1)));
        assert!(world.job(job).seats.is_empty());
    }
}
