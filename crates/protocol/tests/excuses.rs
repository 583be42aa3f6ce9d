//! Excuses: a runner that cannot do a job says so in one signed word, and nobody earns by it.
//! Every block of every test is replayed, replayed after a restart, and all money counted.

use crate::common;

use common::{ANSWER, STAKE, World, calm, offer, single_job, vote_job};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Failure, Progress, Status};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::key::MruKey;
use remuda_protocol::primitives::{Amount, JobId};
use remuda_protocol::state::read;
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::excuse::{Delivery, Excuse};

const EXCUSED: Status = Status::Failed { reason: Failure::Excused };
const PRICE: Amount = Amount::cby(100);

impl World {
    /// Members of a committee commit to one delivery each and open it; what happened.
    fn deliver(&mut self, job: JobId, deliveries: Vec<Delivery>) -> Vec<Event> {
        let members = self.awaited(job);
        assert_eq!(members.len(), deliveries.len());
        for (key, delivery) in members.iter().zip(&deliveries) {
            self.chain.send_commit(key, job, delivery.clone());
        }
        self.chain.step();
        for (key, delivery) in members.iter().zip(&deliveries) {
            self.chain.send_reveal(key, job, delivery.clone());
        }
        self.step()
    }

    fn reputations(&self) -> Vec<u64> {
        self.runners.iter().map(|key| self.standing(key).reputation.nano()).collect()
    }
}

fn excuse() -> Delivery {
    Excuse::Unreachable.into()
}

fn paid(events: &[Event]) -> Vec<Amount> {
    let paid = |event: &Event| match event {
        Event::Paid { amount, .. } => Some(*amount),
        _ => None,
    };
    events.iter().filter_map(paid).collect()
}

fn refunded(events: &[Event]) -> Option<Amount> {
    events.iter().find_map(|event| match event {
        Event::Refunded { amount, .. } => Some(*amount),
        _ => None,
    })
}

fn scored(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::ReputationChanged { .. }))
}

// spec §7.1, §8.2
#[test]
fn a_lazy_single_runner_earns_a_tenth_by_its_excuse_and_no_favour() {
    for excuse in Excuse::ALL {
        let mut world = World::new(calm(), 1);
        let job = world.assigned(single_job(VerificationMode::None, PRICE));
        world.chain.send_result(&world.runner(0), job, Delivery::from(excuse));
        let events = world.step();
        assert_eq!(world.status(job), EXCUSED);
        let gross = if excuse.took_the_work() { PRICE.get() } else { PRICE.get() / 10 };
        assert_eq!(paid(&events), [Amount(gross * 89 / 100)], "{excuse:?}");
        let back = (PRICE.get() > gross).then(|| Amount(PRICE.get() - gross));
        assert_eq!(refunded(&events), back, "{excuse:?}");
        assert!(!scored(&events), "an excuse brings no score");
        let submitter = world.customer().address();
        let kind = world.job(job).kind as u8;
        assert!(read(&world.chain.state, &MruKey { submitter, kind }).is_none());
    }
}

// spec §7.1
#[test]
fn a_committee_that_only_excuses_itself_earns_nothing_and_loses_nothing() {
    let mut world = World::new(calm(), 3);
    let job = world.assigned(vote_job(3, PRICE));
    let events = world.deliver(job, vec![excuse(); 3]);
    assert_eq!(world.status(job), EXCUSED);
    assert_eq!((paid(&events), refunded(&events)), (vec![], Some(PRICE)));
    assert!(!scored(&events));
}

// spec §7.1
#[test]
fn identical_excuses_win_no_vote_and_no_determinism() {
    for mode in [VerificationMode::MajorityVote, VerificationMode::StructuredMatch] {
        let mut world = World::new(calm(), 3);
        let mut spec = vote_job(3, PRICE);
        spec.verification.mode = mode;
        let job = world.assigned(spec);
        world.deliver(job, vec![excuse(), excuse(), ANSWER.into()]);
        assert_eq!(world.status(job), EXCUSED, "{mode:?}");
        assert!(world.chain.result(job).is_none());
    }
}

#[test]
fn a_minority_of_excuses_does_not_keep_the_others_from_agreeing() {
    let mut world = World::new(calm(), 3);
    let job = world.assigned(vote_job(3, PRICE));
    let before = world.reputations();
    let silent = world.awaited(job)[0].clone();
    let events = world.deliver(job, vec![excuse(), ANSWER.into(), ANSWER.into()]);
    assert_eq!(world.status(job), Status::Settled);
    assert_eq!(paid(&events).len(), 2);
    let now = world.standing(&silent).reputation.nano();
    assert!(before.contains(&now), "the excuse is scored by nobody");
}

// spec §8.2
/// A lone answer beside excuses must not be worth more than a winning one.
#[test]
fn an_answer_among_excuses_is_paid_no_more_than_half_of_its_seat() {
    let mut world = World::new(calm(), 3);
    let job = world.assigned(vote_job(3, PRICE));
    let events = world.deliver(job, vec![excuse(), excuse(), ANSWER.into()]);
    assert_eq!(world.status(job), EXCUSED);
    let half_a_seat = Amount(PRICE.get() / 6 * 89 / 100);
    let [got] = paid(&events)[..] else { panic!("one is paid") };
    assert!(got <= half_a_seat && got.get() + 1 >= half_a_seat.get(), "{got:?} {half_a_seat:?}");
}

// spec §7.2
#[test]
fn an_excuse_cannot_be_copied_or_swapped_for_a_result() {
    let mut world = World::new(calm(), 3);
    let job = world.assigned(vote_job(3, PRICE));
    let [author, copier, swapper] = <[SecretKey; 3]>::try_from(world.seated(job)).unwrap();
    let (commitment, original) = world.chain.sealed(&author, job, excuse()).unwrap();
    world.chain.send_commit(&author, job, excuse());
    world.chain.send(&copier, Instruction::CommitResult { job, commitment });
    world.chain.send_commit(&swapper, job, ANSWER);
    world.step();
    let copied = Reveal { runner: copier.address(), ..original };
    world.chain.send(&copier, Instruction::RevealResult { job, reveal: copied });
    world.chain.send_reveal(&swapper, job, excuse());
    world.step();
    assert_eq!(world.progress(job, &copier), Progress::Slashed);
    assert_eq!(world.progress(job, &swapper), Progress::Slashed);
}

#[test]
fn the_signature_of_an_excuse_covers_its_code() {
    let mut world = World::new(calm(), 1);
    let runner = world.runner(0);
    let job = world.assigned(single_job(VerificationMode::None, PRICE));
    let (_, reveal) = world.chain.sealed(&runner, job, Excuse::Unreachable).unwrap();
    for other in [Excuse::TimedOut.into(), Delivery::from(vec![Excuse::Unreachable as u8])] {
        let result_sig = reveal.result_sig;
        let receipt =
            world.run(&runner, Instruction::SubmitResult { job, result: other, result_sig });
        assert_eq!(receipt.code, Refusal::BadResultSignature.code());
    }
}

// spec §8.2
/// Nine answers to a vote on whole texts cost half of the price, and never nothing.
#[test]
fn answers_that_cannot_agree_are_paid_for() {
    let mut world = World::with_runners(calm(), vec![(STAKE, offer()); 9]);
    // The committee of an epoch follows the runners of the one before.
    world.chain.steps(world.chain.params.epoch_blocks);
    let job = world.assigned(vote_job(9, PRICE));
    let size = world.job(job).committee as usize;
    let before = world.reputations();
    let answers = (0..size).map(|i| format!(r#"{{"answer":{i}}}"#).into_bytes().into());
    let events = world.deliver(job, answers.collect());
    assert_eq!(world.status(job), Status::Failed { reason: Failure::NoAgreement });
    let share = PRICE.get() / 2 * 89 / 100 / size as u128;
    assert_eq!(paid(&events), vec![Amount(share); size]);
    assert_eq!(refunded(&events), Some(Amount(PRICE.get() / 2)));
    assert!(!scored(&events));
    assert_eq!(world.reputations().len(), before.len());
}

#[test]
fn a_result_that_breaks_its_schema_is_paid_nothing_without_agreement() {
    let mut world = World::new(calm(), 3);
    let job = world.assigned(vote_job(3, PRICE));
    let answers = vec![b"no json".into(), br#"{"answer":1}"#.into(), br#"{"answer":2}"#.into()];
    let events = world.deliver(job, answers);
    assert_eq!(paid(&events).len(), 2);
}
