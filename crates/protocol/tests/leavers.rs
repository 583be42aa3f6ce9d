//! Who pays a slash, and what a share is worth. Every block of every test is replayed, replayed
//! after a restart, and all money counted.

use crate::common;

use common::{ANSWER, STAKE, World, calm, offer, single_job, vote_job};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Amount, JobId};
use remuda_protocol::registry::pool::VIRTUAL_SHARES;
use remuda_protocol::transaction::Instruction;

const MINE: Amount = Amount::cby(10_000);

impl World {
    fn delegate_stake(&mut self, by: &SecretKey, to: &SecretKey, amount: Amount) -> u128 {
        let delegate = Instruction::Delegate { runner: to.address(), amount, min_shares: 0 };
        let receipt = self.ok(by, delegate);
        let shares = receipt.events.iter().find_map(|event| match event {
            Event::Delegated { shares, .. } => Some(*shares),
            _ => None,
        });
        shares.expect("it has shares")
    }

    fn leave(&mut self, by: &SecretKey, from: &SecretKey, shares: u128) {
        self.ok(by, Instruction::Undelegate { runner: from.address(), shares });
    }

    /// The runner commits with the others, and never opens its result.
    fn breaks_its_commit(&mut self, job: JobId, liar: &SecretKey) -> Amount {
        let deadline = self.job(job).reveal_by;
        for key in self.awaited(job) {
            if key.address() != liar.address() {
                self.chain.send_reveal(&key, job, ANSWER);
            }
        }
        let events = self.step_to(deadline);
        let slashed = events.iter().find_map(|event| match event {
            Event::NonRevealSlash { amount, .. } => Some(*amount),
            _ => None,
        });
        slashed.expect("it is slashed")
    }

    /// What somebody is paid in the blocks until the end of the unbonding time.
    fn paid_out(&mut self, to: &SecretKey) -> Amount {
        let before = self.balance(to);
        let wait = self.chain.params.unbonding_blocks + self.chain.params.dispute_blocks;
        self.chain.steps(wait + 1);
        Amount(self.balance(to).get() - before.get())
    }
}

/// A world of three runners, and a delegator of the first one.
fn world() -> (World, SecretKey, SecretKey, u128) {
    let mut world = World::with_runners(calm(), vec![(MINE, offer()); 3]);
    let (runner, delegator) = (world.runner(0), world.stranger());
    let shares = world.delegate_stake(&delegator, &runner, Amount::cby(90_000));
    (world, runner, delegator, shares)
}

// spec §8.6
#[test]
fn a_delegator_that_left_before_the_draw_pays_nothing_of_the_slash() {
    let (mut world, runner, delegator, shares) = world();
    world.leave(&delegator, &runner, shares);
    let job = world.assigned(vote_job(3, Amount::cby(1)));
    world.commit_all(job, ANSWER);
    let slashed = world.breaks_its_commit(job, &runner);
    assert_eq!(slashed, Amount::cby(2_500), "a quarter of what was at stake");
    assert_eq!(world.paid_out(&delegator), Amount::cby(90_000));
}

#[test]
fn a_delegator_that_leaves_after_the_draw_pays_its_part() {
    let (mut world, runner, delegator, shares) = world();
    let job = world.assigned(vote_job(3, Amount::cby(1)));
    world.leave(&delegator, &runner, shares);
    world.commit_all(job, ANSWER);
    let slashed = world.breaks_its_commit(job, &runner);
    assert_eq!(slashed, Amount::cby(25_000));
    assert_eq!(world.paid_out(&delegator), Amount::cby(90_000 - 22_500));
    assert_eq!(world.standing(&runner).stake, Amount::cby(10_000 - 2_500));
}

#[test]
fn each_slash_reaches_those_who_left_after_its_own_draw() {
    let (mut world, runner, early, shares) = world();
    let late = world.customers[2].clone();
    let more = world.delegate_stake(&late, &runner, Amount::cby(90_000));
    let mut first = vote_job(3, Amount::cby(1));
    first.timeout_blocks = 40;
    let first = world.assigned(first);
    world.leave(&early, &runner, shares);
    let mut second = vote_job(3, Amount::cby(1));
    second.timeout_blocks = 20;
    let second = world.assigned(second);
    world.leave(&late, &runner, more);
    world.commit_all(second, ANSWER);
    world.commit_all(first, ANSWER);
    let before = world.standing(&runner).unbonding.clone();
    assert_eq!(before.batches.len(), 2);
    let slashed = world.breaks_its_commit(second, &runner);
    // 100,000 were at stake at the second draw; the early one had left.
    assert_eq!(slashed, Amount::cby(25_000));
    let after = world.standing(&runner).unbonding.clone();
    assert_eq!(after.batches[0], before.batches[0]);
    assert_eq!(after.batches[1].pool.amount, Amount::cby(90_000 - 22_500));
}

// spec §8.6
/// Unbonding ends while a seat is still open that the stake answers for.
#[test]
fn nothing_is_paid_out_while_a_seat_is_open_that_it_answers_for() {
    let mut params = calm();
    (params.unbonding_blocks, params.aggregator_blocks, params.reveal_blocks) = (3, 30, 60);
    let mut world = World::with_runners(params, vec![(Amount::cby(50_000), offer()); 3]);
    let runner = world.runner(0);
    let job = world.assigned(vote_job(3, Amount::cby(1)));
    world.ok(&runner, Instruction::Unstake { amount: Amount::cby(40_000) });
    world.commit_all(job, ANSWER);
    world.chain.steps(20);
    assert_eq!(world.standing(&runner).unbonding.amount(), Amount::cby(40_000));
    let slashed = world.breaks_its_commit(job, &runner);
    assert_eq!(slashed, Amount::cby(12_500));
    assert_eq!(world.standing(&runner).stake, Amount::cby(7_500));
    let paid = world.paid_out(&runner);
    assert!(paid >= Amount::cby(29_999) && paid <= Amount::cby(30_000), "{paid}");
}

// spec §8.5
/// A first share that is driven up by money given to the pool rounds the next delegation away.
#[test]
fn a_first_share_cannot_be_inflated() {
    let mut world = World::with_runners(calm(), vec![(MINE, offer())]);
    let (attacker, victim) = (world.runner(0), world.customers[2].clone());
    let puppet = world.stranger();
    // The puppet is nearly all of the stake at the draw, so nearly all of the pay is the pool's.
    let shares = world.delegate_stake(&puppet, &attacker, Amount::cby(90_000));
    let job = world.assigned(single_job(VerificationMode::None, Amount::cby(10_000)));
    world.leave(&puppet, &attacker, shares - 1);
    world.chain.send_result(&attacker, job, ANSWER);
    world.step();
    let pool = world.standing(&attacker).delegated;
    assert!(pool.amount > Amount::cby(7_000) && pool.shares == 1, "{pool:?}");
    let amount = Amount::cby(5_000);
    let got = world.delegate_stake(&victim, &attacker, amount);
    let worth = world.standing(&attacker).delegated.worth(got);
    assert!(worth.get() > amount.get() / 1_000 * 998, "{worth} of {amount}");
    let left = world.standing(&attacker).delegated.worth(1);
    assert!(left < Amount::cby(100), "the puppet's share has {left} of its gift");
}

#[test]
fn a_delegation_names_the_fewest_shares_that_it_accepts() {
    let world = World::with_runners(calm(), vec![(MINE, offer())]);
    let (runner, amount) = (world.runner(0).address(), Amount::cby(10));
    let fair = amount.get() * VIRTUAL_SHARES;
    for (min_shares, code) in [(fair, 0), (fair + 1, 316)] {
        let delegate = Instruction::Delegate { runner, amount, min_shares };
        assert_eq!(world.clone().run(&world.stranger(), delegate).code, code);
    }
}

/// Many who leave in many blocks make no record of the runner grow while nothing is open.
#[test]
fn leaving_stake_is_kept_in_a_handful_of_batches() {
    let mut world = World::with_runners(calm(), vec![(STAKE, offer())]);
    let (runner, delegator) = (world.runner(0), world.stranger());
    let shares = world.delegate_stake(&delegator, &runner, Amount::cby(1_000));
    for _ in 0..18 {
        world.leave(&delegator, &runner, shares / 18);
        assert!(world.standing(&runner).unbonding.batches.len() <= 2);
    }
    let paid = world.paid_out(&delegator);
    assert!(paid > Amount::cby(999), "{paid}");
}
