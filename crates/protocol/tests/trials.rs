//! Bonded results and their trials: nobody gets at an honest runner's stake by splitting roles.
//! Every block of every test is replayed, replayed after a restart, and all money counted, but in
//! the search, which only counts the money.

use crate::common;

use common::{ANSWER, Choices, STAKE, World, calm, offer, single_job, with_seeds};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Progress, Status};
use remuda_protocol::dispatcher::judging::bonded_stake;
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::entitlements::constraints::Constraints;
use remuda_protocol::entitlements::scope::Scope;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, Amount, JobId};
use remuda_protocol::registry::runner::{Offer, RateCard};
use remuda_protocol::supply::recorded;
use remuda_protocol::transaction::Instruction;
use remuda_protocol::verifier::challenge::{JUDGES, JUDGES_NEEDED, TRIALS_MAX};
use remuda_protocol::verifier::excuse::{Delivery, Excuse};

const LIE: &[u8] = br#"{"answer":"a lie"}"#;
const PRICE: Amount = Amount::cby(100);

fn bonded(price: Amount) -> JobSpec {
    single_job(VerificationMode::EconomicBond, price)
}

fn happened(events: &[Event], name: &str) -> bool {
    events.iter().any(|event| event.name() == name)
}

impl World {
    /// The trial that a challenge opens.
    fn challenge(&mut self, by: &SecretKey, job: JobId) -> JobId {
        let receipt = self.ok(by, Instruction::ChallengeResult { job });
        let opened = receipt.events.iter().find_map(|event| match event {
            Event::ResultChallenged { by_job, .. } => Some(*by_job),
            _ => None,
        });
        opened.expect("a challenge opens a job")
    }

    /// A bonded result, and its runner.
    fn bonded_result(&mut self, price: Amount, result: &[u8]) -> (JobId, SecretKey) {
        let job = self.assigned(bonded(price));
        let runner = self.seated(job).remove(0);
        self.chain.send_result(&runner, job, result);
        self.step();
        (job, runner)
    }

    /// A trial to its end; what happened in its last block.
    fn try_it(&mut self, trial: JobId, says: impl Fn(&SecretKey) -> Delivery) -> Vec<Event> {
        self.await_draw(trial);
        for key in self.awaited(trial) {
            self.chain.send_commit(&key, trial, says(&key));
        }
        self.step();
        for key in self.awaited(trial) {
            self.chain.send_reveal(&key, trial, says(&key));
        }
        self.step()
    }

    /// All that somebody owns.
    fn wealth(&self, key: &SecretKey) -> i128 {
        let runner = self.chain.runner(key.address());
        let stake = runner
            .map_or(0, |runner| runner.effective_stake().get() + runner.unbonding.amount().get());
        (self.balance(key).get() + stake) as i128
    }
}

// spec §8.11
#[test]
fn a_bonded_job_locks_its_stake_from_the_draw_on() {
    let mut world = World::new(calm(), 7);
    let job = world.assigned(bonded(PRICE));
    let runner = world.seated(job).remove(0);
    let locked = bonded_stake(&bonded(PRICE));
    assert_eq!(locked, Amount::cby(650));
    assert_eq!(world.standing(&runner).locked, locked);
    world.chain.send_result(&runner, job, ANSWER);
    world.step();
    let bond = world.bond(job).unwrap();
    assert_eq!((bond.locked, world.standing(&runner).locked), (locked, locked));
    world.step_to(bond.until);
    assert_eq!(world.standing(&runner).locked, locked);
    world.step();
    assert_eq!((world.standing(&runner).locked, world.bond(job)), (Amount::ZERO, None));
}

#[test]
fn a_runner_that_does_not_take_bonded_work_is_never_drawn_for_it() {
    let mut offers = vec![(STAKE, offer()); 9];
    for (_, offer) in &mut offers[1..] {
        offer.accept_bonded = false;
    }
    let mut world = World::with_runners(calm(), offers);
    for _ in 0..6 {
        let (_, runner) = world.bonded_result(Amount::cby(1), ANSWER);
        assert_eq!(runner.address(), world.runner(0).address());
    }
}

#[test]
fn only_pinned_programs_are_bonded() {
    let mut world = World::new(calm(), 7);
    let mut web = single_job(VerificationMode::None, PRICE);
    web.verification.mode = VerificationMode::EconomicBond;
    let receipt = world.run(&world.customer(), Instruction::SubmitJob { spec: web });
    assert_eq!(receipt.code, Refusal::NotBondable.code());
}

/// Draws of one moment overlap; no result may be bonded with stake that answers for another.
#[test]
fn stake_is_never_locked_twice() {
    let stake = Amount::cby(10_000);
    let mut offers = vec![(stake, offer()); 8];
    for (_, offer) in &mut offers[2..] {
        offer.accept_bonded = false;
    }
    let mut world = World::with_runners(calm(), offers);
    // Each locks more than half of a stake; two runners may take one each.
    let jobs: Vec<JobId> = (0..5).map(|_| world.send_job(bonded(Amount::cby(800)))).collect();
    world.step();
    for _ in 0..60 {
        for job in &jobs {
            for key in world.awaited(*job) {
                world.chain.send_result(&key, *job, ANSWER);
            }
        }
        world.step();
        for key in &world.runners.clone()[..2] {
            let standing = world.standing(key);
            assert!(standing.locked <= standing.effective_stake());
        }
    }
}

// spec §8.12
#[test]
fn a_result_that_falls_pays_its_trial_and_burns_the_rest() {
    let mut world = World::new(calm(), 8);
    let challenger = world.stranger();
    let (job, liar) = world.bonded_result(PRICE, LIE);
    let (before, burned) = (world.wealth(&challenger), recorded(&world.chain.state).burned);
    let trial = world.challenge(&challenger, job);
    let fees = before - world.wealth(&challenger) - Amount::cby(500 + 65).get() as i128;
    assert!(matches!(world.status(trial), Status::Pending { .. }), "it waits for its seed");
    let events = world.try_it(trial, |_| ANSWER.into());
    assert!(happened(&events, "ChallengeUpheld"), "{events:?}");
    assert!(world.job(trial).seats.iter().all(|seat| seat.runner != liar.address()));
    let standing = world.standing(&liar);
    assert_eq!(standing.stake, Amount(STAKE.get() - Amount::cby(650).get()));
    assert_eq!((standing.locked, world.bond(job)), (Amount::ZERO, None));
    assert_eq!(before - world.wealth(&challenger), fees, "bond and price came back, no more");
    let burnt = recorded(&world.chain.state).burned.get() - burned.get();
    assert!(
        burnt >= Amount::cby(150 + 50).get(),
        "the rest of the stake, and a tenth of the trial"
    );
}

// spec §8.12
#[test]
fn a_result_that_stands_costs_the_challenger_its_bond_and_the_trial() {
    let mut world = World::new(calm(), 8);
    let challenger = world.stranger();
    let (job, runner) = world.bonded_result(PRICE, ANSWER);
    let before = world.wealth(&challenger);
    let runner_before = world.wealth(&runner);
    let trial = world.challenge(&challenger, job);
    let events = world.try_it(trial, |_| br#"{ "answer": 42.0 }"#.into());
    assert!(happened(&events, "ChallengeRejected"), "{events:?}");
    assert!(before - world.wealth(&challenger) >= Amount::cby(565).get() as i128);
    assert_eq!(world.wealth(&runner), runner_before, "the bond is not the runner's");
    let until = world.bond(job).unwrap().until;
    world.step_to(until.plus(1));
    assert_eq!(world.standing(&runner).locked, Amount::ZERO);
}

// spec §8.12
#[test]
fn judges_that_excuse_themselves_or_differ_decide_nothing_and_everything_goes_back() {
    for differ in [false, true] {
        let mut world = World::new(calm(), 8);
        let challenger = world.stranger();
        let (job, runner) = world.bonded_result(PRICE, ANSWER);
        let before = world.wealth(&challenger);
        let trial = world.challenge(&challenger, job);
        let fees = before - world.wealth(&challenger) - Amount::cby(565).get() as i128;
        let says = |key: &SecretKey| -> Delivery {
            match differ {
                true => format!("{{\"answer\":{}}}", key.address()[0]).into_bytes().into(),
                false => Excuse::ProgramFailed.into(),
            }
        };
        let events = world.try_it(trial, says);
        assert!(happened(&events, "ChallengeUndecided"), "{events:?}");
        assert_eq!(before - world.wealth(&challenger), fees);
        assert_eq!(world.standing(&runner).stake, STAKE);
    }
}

#[test]
fn a_result_can_be_tried_a_few_times_and_one_trial_at_a_time() {
    let mut world = World::new(calm(), 8);
    let challenger = world.stranger();
    let (job, runner) = world.bonded_result(PRICE, ANSWER);
    for round in 1..=TRIALS_MAX {
        let trial = world.challenge(&challenger, job);
        let second = world.run(&world.customer(), Instruction::ChallengeResult { job });
        assert_eq!(second.code, Refusal::AlreadyChallenged.code());
        world.try_it(trial, |_| Excuse::TimedOut.into());
        assert_eq!(world.bond(job).map(|bond| bond.trials), Some(round));
        assert_eq!(world.standing(&runner).locked, Amount::cby(650), "a trial does not end it");
    }
    let more = world.run(&challenger, Instruction::ChallengeResult { job });
    assert!(
        [Refusal::AlreadyChallenged, Refusal::NotChallengeable]
            .map(Refusal::code)
            .contains(&more.code)
    );
    let until = world.bond(job).map_or(world.chain.height(), |bond| bond.until);
    world.step_to(until.plus(2));
    assert_eq!(world.standing(&runner).locked, Amount::ZERO);
}

// spec §8.6, §8.11
/// Who leaves while a result can still fall answers for it, however long its trial takes.
#[test]
fn stake_that_leaves_during_a_trial_waits_for_its_end() {
    let mut params = calm();
    params.unbonding_blocks = 4;
    let mut world = World::new(params, 8);
    let job = world.assigned(bonded(PRICE));
    let liar = world.seated(job).remove(0);
    let (address, amount) = (liar.address(), Amount::cby(10_000));
    world.ok(&liar, Instruction::Unstake { amount });
    world.chain.send_result(&liar, job, LIE);
    world.step();
    let trial = world.challenge(&world.stranger(), job);
    world.chain.steps(8);
    assert_eq!(world.standing(&liar).unbonding.amount(), amount, "it is due, and kept");
    world.try_it(trial, |_| ANSWER.into());
    let standing = world.standing(&liar);
    let left = standing.stake.get() + standing.unbonding.amount().get();
    assert_eq!(STAKE.get() - left, Amount::cby(650).get());
    assert!(standing.unbonding.amount() < amount, "it bears its part");
    let wait = world.chain.params.dispute_blocks + 1;
    world.chain.steps(wait);
    assert_eq!(world.chain.runner(address).unwrap().unbonding.amount(), Amount::ZERO);
}

/// The theft as it was: the job's pool held the victim and the thief's friends, so they were the
/// only ones that a challenge could have do the work again.
#[test]
fn a_pool_of_friends_does_not_judge_its_member() {
    let mut world = World::new(calm(), 16);
    let thief = world.customer();
    let pool = Bytes(b"trap".to_vec());
    let scope = Scope::RunnerPool { id: pool.clone() };
    world.ok(&thief, Instruction::EntitlementCreateScope { scope });
    for i in 0..4 {
        let runner = world.runner(i);
        world.join(&thief, &runner, &pool, Constraints::default());
    }
    let mut spec = bonded(PRICE);
    spec.required_runner_pool = Some(pool);
    let job = world.assigned(spec);
    let victim = world.seated(job).remove(0);
    world.chain.send_result(&victim, job, ANSWER);
    world.step();
    let friends: Vec<Address> = world.runners[..4]
        .iter()
        .map(|key| key.address())
        .filter(|a| *a != victim.address())
        .collect();
    for _ in 0..TRIALS_MAX {
        let trial = world.challenge(&thief, job);
        world.try_it(trial, |key| match friends.contains(&key.address()) {
            true => LIE.into(),
            false => ANSWER.into(),
        });
        let judges = world.job(trial).seats;
        let stacked = judges.iter().filter(|seat| friends.contains(&seat.runner)).count();
        assert!(stacked < JUDGES_NEEDED as usize, "others were drawn as well");
    }
    assert_eq!(world.standing(&victim).stake, STAKE);
}

/// The same by price: at what the job pays, only friends would judge it.
#[test]
fn a_price_that_only_friends_take_is_not_bonded() {
    let mut offers = vec![(STAKE, offer()); 16];
    let rates = RateCard { base: Amount::cby(50), ..RateCard::default() };
    for (_, offer) in &mut offers[6..] {
        *offer = Offer { rates, ..offer.clone() };
    }
    let mut world = World::with_runners(calm(), offers);
    let submit = |price| Instruction::SubmitJob { spec: bonded(price) };
    let cheap = world.run(&world.customer(), submit(Amount::cby(20)));
    assert_eq!(cheap.code, Refusal::NoFairTrial.code());
    world.ok(&world.customer(), submit(Amount::cby(100)));
}

/// What became of one attempt.
#[derive(Debug, Default)]
struct Attempt {
    /// What the coalition has more than before.
    profit: i128,
    /// What honest runners have less than before.
    harm: i128,
    /// The most seats of one trial that the coalition had.
    seats: usize,
}

/// A coalition of the submitter, the challenger and `friends` of `all` runners tries its luck with
/// one bonded job and as many trials as there may be.
fn attempt(seed: u64, all: usize, friends: usize) -> Attempt {
    let mut choices = Choices::new(seed);
    let mut world = World::new(calm(), all);
    world.chain.paranoid = false;
    // Seeds of this chain follow from views, so an attempt begins at a view of its own.
    world.chain.skip_views = 1 + choices.below(500);
    world.step();
    world.chain.skip_views = 0;
    let price = Amount::cby(*choices.pick(&[1, 10, 100, 900]));
    let (submitter, challenger) = (world.customer(), world.stranger());
    let mut coalition: Vec<SecretKey> = world.runners[..friends].to_vec();
    let ours: Vec<Address> = coalition.iter().map(|key| key.address()).collect();
    let honest: Vec<SecretKey> = world.runners[friends..].to_vec();
    coalition.extend([submitter.clone(), challenger.clone()]);
    let total =
        |world: &World, keys: &[SecretKey]| keys.iter().map(|key| world.wealth(key)).sum::<i128>();
    let before = (total(&world, &coalition), total(&world, &honest));

    let mut spec = bonded(price);
    spec.tip = Amount::cby(u128::from(choices.below(3)));
    if choices.chance(40) {
        let pool = Bytes(b"trap".to_vec());
        let scope = Scope::RunnerPool { id: pool.clone() };
        world.ok(&submitter, Instruction::EntitlementCreateScope { scope });
        let members = world.runners[..=friends].to_vec();
        for key in &members {
            world.join(&submitter, key, &pool, Constraints::default());
        }
        spec.required_runner_pool = Some(pool);
    }
    // What friends say as judges, and as the runner itself.
    let judging: Delivery = match choices.below(4) {
        0 => Excuse::ProgramFailed.into(),
        1 => ANSWER.into(),
        _ => LIE.into(),
    };
    let lies = choices.chance(50);
    let job = world.assigned(spec);
    let runner = world.seated(job).remove(0);
    let mine = ours.contains(&runner.address());
    world.chain.send_result(&runner, job, if mine && lies { LIE } else { ANSWER });
    world.step();
    let mut outcome = Attempt::default();
    while choices.chance(80) {
        let receipt = world.run(&challenger, Instruction::ChallengeResult { job });
        let Some(Event::ResultChallenged { by_job: trial, .. }) =
            receipt.events.iter().find(|event| event.name() == "ResultChallenged").cloned()
        else {
            break;
        };
        world.try_it(trial, |key| match ours.contains(&key.address()) {
            true => judging.clone(),
            false => ANSWER.into(),
        });
        let seats = world.job(trial).seats;
        let seats = seats.iter().filter(|seat| ours.contains(&seat.runner)).count();
        outcome.seats = outcome.seats.max(seats);
    }
    let end = world.bond(job).map_or(world.chain.height(), |bond| bond.until.plus(1));
    world.step_to(end.plus(1));
    world.chain.check_money();
    outcome.profit = total(&world, &coalition) - before.0;
    outcome.harm = before.1 - total(&world, &honest);
    outcome
}

/// Fees of the honest runners' own commits and reveals; nothing else may make them poorer.
const FEES: i128 = Amount::CBY.get() as i128;

#[test]
fn no_split_of_roles_comes_out_ahead_at_the_cost_of_an_honest_runner() {
    with_seeds(12, |seed| {
        let tried = attempt(seed, 16, 3);
        println!("seed {seed}: {tried:?}");
        assert!(tried.seats < JUDGES_NEEDED as usize, "three friends are never four judges");
        assert!(tried.profit <= 0, "the coalition gains {tried:?}");
        assert!(tried.harm <= FEES, "honest runners lose {tried:?}");
    });
}

/// With just under a third of the network a trial can be won by luck; it never pays on average.
#[test]
fn luck_with_the_judges_does_not_pay_for_the_trials_that_it_takes() {
    let attempts: Vec<Attempt> = (0..24).map(|seed| attempt(0x1_0000 + seed, 16, 5)).collect();
    let profit: i128 = attempts.iter().map(|tried| tried.profit).sum();
    println!("{attempts:#?}");
    assert!(profit < 0, "24 attempts gain {profit}");
}

// spec §8.12
#[test]
fn a_trial_draws_five_judges_whatever_the_network_is_like() {
    let mut world = World::new(calm(), 12);
    let (job, _) = world.bonded_result(PRICE, ANSWER);
    let trial = world.challenge(&world.stranger(), job);
    world.await_draw(trial);
    let record = world.job(trial);
    assert_eq!((record.committee, record.n_threshold), (JUDGES, JUDGES_NEEDED));
    assert_eq!(record.seats.len(), JUDGES as usize);
    assert!(record.seats.iter().all(|seat| seat.progress == Progress::Waiting));
    let before = world.status(trial);
    assert_eq!(before, Status::Assigned);
}
