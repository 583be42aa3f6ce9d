//! Attempts to get more than one was given.

use super::*;
use crate::entitlements::common::calm;
use remuda_protocol::entitlements::record::{HELD_MAX, Role, role_id};
use remuda_protocol::error::Inadmissible;
use remuda_protocol::key::{RoleKey, SystemDeployersKey};

fn world() -> World {
    let mut world = World::new(calm(), 3);
    let owner = world.customer();
    world.create(&owner, space());
    world
}

// spec §11.6
#[test]
fn a_revoked_parent_ends_all_below_it_at_once_and_a_new_one_does_not_bring_them_back() {
    let mut world = world();
    let (owner, keys) = (world.customer(), world.runners.clone());
    let read = custom("read");
    let root = world.give(&owner, grant(keys[0].address(), space(), read.clone(), deep(5)));
    // Down to the last level that there can be.
    let (mut parent, mut by) = (root, 0);
    for depth in (0..5).rev() {
        let to = (by + 1) % 3;
        parent = world.delegate(&keys[by], parent, keys[to].address(), deep(depth));
        by = to;
    }
    assert!(keys.iter().all(|key| world.may(key.address(), &space(), &read)));
    let deeper = Instruction::EntitlementDelegate {
        entitlement: parent,
        delegatee: owner.address(),
        constraints: OPEN,
    };
    assert_eq!(refusal(&world.run(&keys[by], deeper)), Some(Refusal::NotDelegatable));

    let revoke = Instruction::EntitlementRevoke { entitlement: root };
    let receipt = world.ok(&owner, revoke);
    // The one right, and its deposit.
    assert_eq!(receipt.events.len(), 2, "nothing is walked over: {:?}", receipt.events);
    assert!(!keys.iter().any(|key| world.may(key.address(), &space(), &read)));

    world.give(&owner, grant(keys[0].address(), space(), read.clone(), deep(5)));
    assert!(world.may(keys[0].address(), &space(), &read));
    assert!(!world.may(keys[1].address(), &space(), &read), "it hangs on the old one");
    // What hangs in the air can be cleared away by anybody.
    let stranger = world.stranger();
    world.ok(&stranger, Instruction::EntitlementRevoke { entitlement: parent });
    let addresses: Vec<Address> = keys.iter().map(SecretKey::address).collect();
    world.check_lists(&addresses, &[]);
}

#[test]
fn a_transaction_that_is_sent_again_grants_nothing() {
    let mut world = world();
    let (owner, friend) = (world.customer(), world.stranger().address());
    let order = grant(friend, space(), custom("read"), OPEN);
    let bytes = {
        use remuda_protocol::codec::Encode;
        world.chain.transaction(owner.address(), order.clone()).sign(&owner).to_bytes()
    };
    world.chain.queue(bytes.clone());
    world.step();
    assert_eq!(world.holder(friend).held, 1);
    let again = world.chain.queue(bytes);
    world.step();
    assert_eq!(world.chain.left_out(again), Some(Inadmissible::NonceTooLow));
    assert_eq!(world.holder(friend).held, 1);
}

// spec §11.2
#[test]
fn a_right_in_one_scope_is_none_in_another() {
    let mut world = world();
    let (owner, governor) = (world.customer(), world.stranger());
    world.set_record(&SystemDeployersKey {}, &vec![governor.address()]);
    world.create(&governor, Scope::Namespace { name: name("other") });
    let everything = grant(governor.address(), Scope::Global, Action::All, OPEN);
    world.give(&governor, everything);
    let everything =
        grant(owner.address(), Scope::Namespace { name: name("other") }, Action::All, OPEN);
    world.give(&governor, everything);
    assert!(world.may(governor.address(), &Scope::Global, &custom("read")));
    assert!(!world.may(governor.address(), &space(), &custom("read")));
    assert!(!world.may(owner.address(), &space(), &custom("read")));
    // Governance decides on the chain and in pools, not in what others made.
    let order = grant(governor.address(), space(), custom("read"), OPEN);
    assert_eq!(refusal(&world.run(&governor, order)), Some(Refusal::NotAuthority));
    world.create(&owner, pool("pool"));
    let runner = world.runner(0).address();
    let membership = world.give(&governor, join("pool", runner, OPEN));
    world.ok(&owner, Instruction::EntitlementRevoke { entitlement: membership });
}

#[test]
fn a_full_table_makes_room_for_what_has_lapsed_and_for_nothing_else() {
    let mut world = world();
    let (owner, friend) = (world.customer(), world.stranger());
    let end = world.chain.height().plus(60);
    let order =
        |i: u32, constraints| grant(friend.address(), space(), custom(&i.to_string()), constraints);
    for i in 0..HELD_MAX {
        world.chain.send(&owner, order(i, if i == 0 { until(end) } else { OPEN }));
        if i % 16 == 15 {
            world.step();
        }
    }
    world.step();
    assert_eq!(world.holder(friend.address()).held, HELD_MAX);
    let more = |world: &mut World| world.run(&owner, order(999, until(end.plus(100))));
    assert_eq!(refusal(&more(&mut world)), Some(Refusal::TooManyHeld));
    world.step_to(end.plus(1));
    // The one that has lapsed is not among those that a grant looks at; somebody revokes it.
    assert_eq!(refusal(&more(&mut world)), Some(Refusal::TooManyHeld));
    let lapsed = HeldKey { holder: friend.address(), place: 0 };
    let entitlement = read(&world.chain.state, &lapsed).unwrap();
    let passer_by = world.runner(2);
    world.ok(&passer_by, Instruction::EntitlementRevoke { entitlement });
    assert_eq!(refusal(&more(&mut world)), None);
    assert_eq!(world.holder(friend.address()).held, HELD_MAX);
    // The newest one is looked at, and goes when it has ended.
    world.step_to(end.plus(101));
    let receipt = more_at(&mut world, &owner, &friend);
    assert!(matches!(receipt.events[0], Event::EntitlementCleared { .. }), "{receipt:?}");
    world.check_lists(&[friend.address()], &[]);
}

fn more_at(world: &mut World, owner: &SecretKey, friend: &SecretKey) -> Receipt {
    world.ok(owner, grant(friend.address(), space(), custom("later"), OPEN))
}

#[test]
fn who_has_a_right_can_give_it_up_even_if_it_was_given_for_good() {
    let mut world = world();
    let (owner, friend) = (world.customer(), world.stranger());
    let for_good = Constraints { revocable: false, ..OPEN };
    let order = grant(friend.address(), space(), custom("read"), for_good);
    let entitlement = world.give(&owner, order);
    let revoke = Instruction::EntitlementRevoke { entitlement };
    assert_eq!(refusal(&world.run(&owner, revoke.clone())), Some(Refusal::NotRevocable));
    world.ok(&friend, revoke);
    assert!(!world.may(friend.address(), &space(), &custom("read")));
}

// spec §11.7
#[test]
fn a_role_counts_for_everybody_who_has_it_and_only_while_they_do() {
    let mut world = world();
    let (owner, clerk) = (world.customer(), world.stranger());
    let (scopes, actions) = (vec![space()], vec![custom("read"), custom("write")]);
    let (title, constraints) = (name("clerk"), until(world.chain.height().plus(9)));
    let id = role_id(owner.address(), b"clerk");
    let role = Instruction::EntitlementCreateRole { name: title, scopes, actions, constraints };
    world.ok(&owner, role);
    let kept: Role = read(&world.chain.state, &RoleKey { role: id }).unwrap();
    assert_eq!(kept.owner, owner.address());
    let people = [clerk.address(), world.runner(0).address()];
    for assignee in people {
        world.ok(&owner, Instruction::EntitlementAssignRole { role: id, assignee });
    }
    let may = |world: &World, who: Address| world.may(who, &space(), &custom("write"));
    assert!(people.iter().all(|who| may(&world, *who)));
    assert!(!world.may(people[0], &space(), &custom("delete")));
    let assignee = people[1];
    let revoke = Instruction::EntitlementRevokeRole { role: id, assignee };
    // It is given up by the one who has it, and taken by its owner.
    world.ok(&world.runner(0), revoke);
    assert!(may(&world, people[0]) && !may(&world, people[1]));
    world.step_to(constraints.valid_until.unwrap());
    assert!(!may(&world, people[0]), "it has ended");
    assert_eq!(world.holder(people[0]).roles, 1);
}
