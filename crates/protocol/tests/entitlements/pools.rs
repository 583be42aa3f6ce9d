//! Runner pools: who is in them is drawn, and nobody else.

use super::*;
use crate::entitlements::common::{calm, single_job, vote_job};
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Failure, Status};
use remuda_protocol::dispatcher::spec::JobSpec;

/// A job for members.
fn job_for(id: &str, mut spec: JobSpec) -> JobSpec {
    spec.required_runner_pool = Some(name(id));
    spec.timeout_blocks = 1_000;
    spec
}

#[test]
fn committees_of_a_pools_jobs_are_its_members() {
    let mut world = World::new(calm(), 8);
    let owner = world.customer();
    for id in ["ours", "theirs"] {
        world.create(&owner, pool(id));
    }
    let addresses: Vec<Address> = world.runners.iter().map(SecretKey::address).collect();
    for runner in &addresses[..4] {
        world.give(&owner, join("ours", *runner, OPEN));
    }
    for runner in &addresses[3..] {
        world.give(&owner, join("theirs", *runner, OPEN));
    }
    let spec = vote_job(3, Amount::cby(1));
    let mut drawn = BTreeSet::new();
    for _ in 0..12 {
        let job = world.assigned(job_for("ours", spec.clone()));
        drawn.extend(world.seated(job).iter().map(SecretKey::address));
    }
    assert_eq!(drawn, addresses[..4].iter().copied().collect(), "all of them, in time");
    let job = world.assigned(job_for("theirs", spec.clone()));
    assert!(world.seated(job).iter().all(|key| addresses[3..].contains(&key.address())));
    // A pool that nobody made has no members.
    let job = world.submit(job_for("nobody's", spec));
    assert_eq!(world.status(job), Status::Failed { reason: Failure::InsufficientRunners });
    world.check_lists(&addresses, &["ours", "theirs"]);
}

// spec §6.9, §11.9
#[test]
fn a_job_that_waits_for_its_draw_keeps_the_members_of_its_submission() {
    let mut world = World::new(calm(), 6);
    let owner = world.customer();
    world.create(&owner, pool("ours"));
    let addresses: Vec<Address> = world.runners.iter().map(SecretKey::address).collect();
    let members: Vec<B256> = addresses[..3]
        .iter()
        .map(|runner| world.give(&owner, join("ours", *runner, OPEN)))
        .collect();
    let before = world.submit(job_for("ours", vote_job(3, Amount::cby(1))));
    assert!(matches!(world.status(before), Status::Pending { .. }));
    world.ok(&owner, Instruction::EntitlementRevoke { entitlement: members[0] });
    world.give(&owner, join("ours", addresses[5], OPEN));
    let after = world.submit(job_for("ours", vote_job(3, Amount::cby(1))));
    let seats = |world: &World, job| -> BTreeSet<Address> {
        world.seated(job).iter().map(SecretKey::address).collect()
    };
    world.await_draw(before);
    assert_eq!(seats(&world, before), addresses[..3].iter().copied().collect());
    world.await_draw(after);
    assert_eq!(seats(&world, after), BTreeSet::from([addresses[1], addresses[2], addresses[5]]));
}

#[test]
fn two_memberships_of_one_runner_are_two_and_the_last_one_counts() {
    let mut world = World::new(calm(), 1);
    let (owner, runner) = (world.customer(), world.runner(0));
    world.create(&owner, pool("ours"));
    let short = until(world.chain.height().plus(9));
    let first = world.give(&owner, join("ours", runner.address(), short));
    let second = world.give(&owner, join("ours", runner.address(), short));
    assert_ne!(first, second);
    assert_eq!(world.pool("ours").members, 2);
    let spec = job_for("ours", single_job(VerificationMode::None, Amount::cby(1)));
    world.ok(&owner, Instruction::EntitlementRevoke { entitlement: first });
    world.assigned(spec.clone());
    // A runner may leave by itself.
    world.ok(&runner, Instruction::EntitlementRevoke { entitlement: second });
    let job = world.submit(spec.clone());
    assert!(world.job(job).seats.is_empty());
    assert_eq!(world.pool("ours").members, 0);

    // One that has ended is cleared away by the next.
    world.give(&owner, join("ours", runner.address(), until(world.chain.height().plus(2))));
    world.step();
    let renewed = world.ok(&owner, join("ours", runner.address(), OPEN));
    assert!(matches!(renewed.events[0], Event::EntitlementCleared { .. }), "{renewed:?}");
    world.accept(given(&renewed).expect("it is given"));
    assert_eq!((world.pool("ours").members, world.holder(runner.address()).held), (1, 1));
    world.assigned(spec);
}

#[test]
fn a_member_that_comes_back_is_still_one() {
    let mut world = World::new(calm(), 2);
    let (owner, runner) = (world.customer(), world.runner(1));
    world.create(&owner, pool("ours"));
    let membership = world.give(&owner, join("ours", runner.address(), OPEN));
    world.ok(&runner, Instruction::DeregisterRunner);
    let spec = job_for("ours", single_job(VerificationMode::None, Amount::cby(1)));
    let job = world.submit(spec.clone());
    assert!(world.job(job).seats.is_empty());
    let (stake, offer) = (common::STAKE, common::offer());
    world.ok(&runner, Instruction::RegisterRunner { stake, offer });
    let job = world.assigned(spec.clone());
    assert_eq!(world.seated(job)[0].address(), runner.address());
    // Put out while it is away.
    world.step_to(world.chain.height().plus(1));
    world.ok(&owner, Instruction::EntitlementRevoke { entitlement: membership });
    let job = world.submit(spec);
    assert!(world.job(job).seats.is_empty());
}
