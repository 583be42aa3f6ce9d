//! Jail and reputation cannot be bought for dust, in pools or among a few; nobody is in a pool, and
//! no job in the work of runners, without consent. Every block of every test is replayed, replayed
//! after a restart, and all money counted.

use crate::common;

use common::{ANSWER, STAKE, World, calm, offer, single_job, vote_job};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Failure, Progress, Status};
use remuda_protocol::dispatcher::spec::{JobKind, JobSpec};
use remuda_protocol::entitlements::constraints::Constraints;
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{CrashSignal, Event};
use remuda_protocol::primitives::{Amount, JobId};
use remuda_protocol::registry::runner::{Offer, Runner};
use remuda_protocol::transaction::Instruction;

const LIE: &[u8] = br#"{"answer":"what a hostile server told this runner alone"}"#;

/// Just below what counts.
const DUST: Amount = Amount(Amount::CBY.get() / 10 - 1);
const LEAST: Amount = Amount(Amount::CBY.get() / 10);

fn unverified(price: Amount) -> JobSpec {
    single_job(VerificationMode::None, price)
}

impl World {
    /// The only runner that can be drawn lets a job pass.
    fn passes(&mut self, spec: JobSpec) {
        let job = self.assigned(spec);
        let deadline = self.job(job).commit_by;
        self.step_to(deadline);
    }

    /// The first seat opens something else than the others, which agree.
    fn outvoted(&mut self, job: JobId) -> SecretKey {
        let members = self.awaited(job);
        let says = |i: usize| if i == 0 { LIE } else { ANSWER };
        for (i, key) in members.iter().enumerate() {
            self.chain.send_commit(key, job, says(i));
        }
        self.step();
        for (i, key) in members.iter().enumerate() {
            self.chain.send_reveal(key, job, says(i));
        }
        self.step();
        assert_eq!(self.status(job), Status::Settled);
        members[0].clone()
    }
}

fn untouched(before: &Runner, now: &Runner) -> bool {
    // Sums decay by themselves; nothing was added to them.
    now.jailed_until.is_none()
        && now.failures == before.failures
        && now.reputation.nano().abs_diff(before.reputation.nano()) < 1_000_000
}

// spec §8.8
#[test]
fn jail_cannot_be_bought_for_dust() {
    let mut world = World::new(calm(), 1);
    let runner = world.runner(0);
    let before = world.standing(&runner);
    for _ in 0..4 {
        world.passes(unverified(DUST));
    }
    assert!(untouched(&before, &world.standing(&runner)));
    for _ in 0..3 {
        world.passes(unverified(LEAST));
    }
    assert!(world.standing(&runner).jailed_until.is_some(), "at a tenth of a CBY it counts");
}

#[test]
fn a_lost_vote_over_dust_counts_for_nothing_and_neither_does_a_won_one() {
    for (price, counts) in [(DUST, false), (LEAST, true)] {
        let mut world = World::new(calm(), 3);
        let before: Vec<Runner> = world.runners.iter().map(|key| world.standing(key)).collect();
        let job = world.assigned(vote_job(3, price));
        let loser = world.outvoted(job);
        for (key, before) in world.runners.clone().iter().zip(&before) {
            assert_eq!(untouched(before, &world.standing(key)), !counts);
        }
        assert_eq!(world.standing(&loser).failures, u32::from(counts));
    }
}

#[test]
fn dust_excuses_no_broken_commit() {
    let mut world = World::new(calm(), 3);
    let job = world.assigned(vote_job(3, Amount(1)));
    world.commit_all(job, ANSWER);
    let silent = world.awaited(job).remove(0);
    let deadline = world.job(job).reveal_by;
    world.step_to(deadline);
    assert_eq!(world.progress(job, &silent), Progress::Slashed);
    let standing = world.standing(&silent);
    assert!(standing.stake < STAKE && standing.jailed_until.is_some());
}

// spec §6.11, §8.8
/// Who asks for what only its victim offers draws its victim.
#[test]
fn a_draw_from_a_few_of_many_counts_for_nothing() {
    for (capable, counts) in [(9, false), (10, true)] {
        let mut offers = vec![(STAKE, offer()); 30];
        for (_, rare) in &mut offers[..capable] {
            *rare = Offer {
                kinds: vec![JobKind::Llm, JobKind::Http],
                models: vec!["rare".into()],
                ..rare.clone()
            };
        }
        let mut world = World::with_runners(calm(), offers);
        let mut spec = unverified(Amount::cby(1));
        spec.job_type = remuda_protocol::dispatcher::spec::JobType::Llm {
            model: "rare".into(),
            messages: vec![remuda_protocol::dispatcher::spec::Message {
                role: "user".into(),
                content: String::new(),
            }],
            temperature_milli: 0,
            seed: 0,
        };
        let job = world.assigned(spec);
        let drawn = world.seated(job).remove(0);
        let deadline = world.job(job).commit_by;
        world.step_to(deadline);
        assert_eq!(world.standing(&drawn).failures, u32::from(counts), "{capable} of 30");
    }
}

// spec §11.9
#[test]
fn nobody_is_in_a_pool_without_its_consent() {
    let mut world = World::new(calm(), 4);
    let (owner, victim) = (world.stranger(), world.runner(0));
    let id = Bytes(b"trap".to_vec());
    let scope = Scope::RunnerPool { id: id.clone() };
    world.ok(&owner, Instruction::EntitlementCreateScope { scope: scope.clone() });
    let (grantee, action) = (victim.address(), Action::join(&id));
    let constraints = Constraints::default();
    let grant = Instruction::EntitlementGrant { grantee, scope, action, constraints };
    let receipt = world.ok(&owner, grant);
    let mut spec = unverified(Amount::cby(1));
    spec.required_runner_pool = Some(id);
    let job = world.submit(spec.clone());
    assert_eq!(world.status(job), Status::Failed { reason: Failure::InsufficientRunners });
    let entitlement = receipt.events.iter().find_map(|event| match event {
        Event::EntitlementGranted { entitlement, .. } => Some(*entitlement),
        _ => None,
    });
    let entitlement = entitlement.unwrap();
    world.ok(&victim, Instruction::EntitlementAccept { entitlement });
    let job = world.assigned(spec.clone());
    assert_eq!(world.seated(job)[0].address(), victim.address());
    // It leaves when it likes.
    world.ok(&victim, Instruction::EntitlementRevoke { entitlement });
    let job = world.submit(spec);
    assert_eq!(world.status(job), Status::Failed { reason: Failure::InsufficientRunners });
}

#[test]
fn jobs_of_a_pool_score_nobody() {
    let mut world = World::new(calm(), 1);
    let (owner, runner) = (world.stranger(), world.runner(0));
    let id = Bytes(b"ours".to_vec());
    world.ok(
        &owner,
        Instruction::EntitlementCreateScope { scope: Scope::RunnerPool { id: id.clone() } },
    );
    world.join(&owner, &runner, &id, Constraints::default());
    let before = world.standing(&runner);
    for _ in 0..4 {
        let spec = JobSpec { required_runner_pool: Some(id.clone()), ..unverified(Amount::cby(9)) };
        world.passes(spec);
    }
    assert!(untouched(&before, &world.standing(&runner)));
}

#[test]
fn what_nobody_can_do_today_is_refused_and_not_paid_for() {
    let mut world = World::new(calm(), 3);
    let customer = world.customer();
    let secret = JobSpec { secrets: vec!["key".into()], ..vote_job(3, Amount::cby(1)) };
    let tee = JobSpec { tee_required: true, ..vote_job(3, Amount::cby(1)) };
    for (spec, refusal) in [(secret, Refusal::SecretsUnavailable), (tee, Refusal::TeeUnavailable)] {
        let receipt = world.run(&customer, Instruction::SubmitJob { spec });
        assert_eq!(receipt.code, refusal.code());
    }
}

// spec §6.19
/// Under a backlog a job waits although its seed is on chain; its submitter could look whom it
/// would draw, and call it off for free until friends are drawn.
#[test]
fn a_committee_that_can_be_computed_is_not_called_off_for_free() {
    let price = Amount::cby(100);
    let burned = |events: &[Event]| {
        events.iter().find_map(|event| match event {
            Event::JobCancelled { burned, .. } => Some(*burned),
            _ => None,
        })
    };
    for (early, cost) in [(true, Amount::ZERO), (false, Amount::cby(10))] {
        let mut world = World::new(calm(), 3);
        let customer = world.customer();
        let job = world.submit(vote_job(3, price));
        let Status::Pending { view } = world.status(job) else { panic!("it waits") };
        if !early {
            // A block of a view whose seed draws the job, and which cannot have the seed itself.
            let round = world.chain.chain().round.view;
            world.chain.skip_views = view - round - 1;
        }
        let cancel = world.ok(&customer, Instruction::CancelJob { job });
        assert_eq!(burned(&cancel.events), Some(cost), "early: {early}");
    }
}

// spec §7.7
/// A commit that is early must not outlive its exemption.
#[test]
fn a_crash_after_an_early_commit_is_attested_until_commits_are_long_closed() {
    let mut params = calm();
    (params.aggregator_blocks, params.reveal_blocks) = (30, 60);
    let mut world = World::new(params, 3);
    let job = world.assigned(JobSpec { timeout_blocks: 200, ..vote_job(3, Amount::cby(1)) });
    let [crashed, a, b] = <[SecretKey; 3]>::try_from(world.seated(job)).unwrap();
    world.chain.send_commit(&crashed, job, ANSWER);
    world.chain.steps(60);
    let attest = Instruction::CrashAttestation { job, signal: CrashSignal::Oom };
    let mut late = world.clone();
    world.ok(&crashed, attest.clone());
    assert_eq!(world.progress(job, &crashed), Progress::Crashed);

    for key in [&a, &b] {
        late.chain.send_commit(key, job, ANSWER);
    }
    late.step();
    let closed = late.job(job).closed_at.expect("commits are closed");
    let mut revealed = late.clone();
    revealed.chain.send_reveal(&a, job, ANSWER);
    revealed.step();
    assert_eq!(revealed.run(&crashed, attest.clone()).code, Refusal::TooLateToAttest.code());
    late.step_to(closed.plus(49));
    late.ok(&crashed.clone(), attest.clone());
    assert_eq!(late.progress(job, &crashed), Progress::Crashed);
}
