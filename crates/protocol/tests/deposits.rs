//! What stays in the state is held against a deposit, which comes back when it goes. Every block is
//! checked: supply = balances + stakes + escrows + bonds + deposits.
//!
//! Code and what it stores are tested where there is a machine: `crates/vm/tests/chain/deposits.rs`.

use crate::common;

use common::{STAKE, World, calm, full_constraints, full_offer, offer, vote_job};
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::deposit::{price, state_bytes};
use remuda_protocol::entitlements::constraints::Constraints;
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{Event, Receipt};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Amount, B256, Height};
use remuda_protocol::supply::Holdings;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::Instruction;

fn held(world: &World) -> Amount {
    Holdings::count(&world.chain.state).deposits
}

/// Sends one transaction that pays this deposit at most.
fn run_within(world: &mut World, key: &SecretKey, it: Instruction, most: Amount) -> Receipt {
    let mut body = world.chain.transaction(key.address(), it);
    body.max_deposit = most;
    let hash = world.chain.queue(body.sign(key).to_bytes());
    world.chain.step();
    let left_out = world.chain.left_out(hash);
    world.chain.receipt(hash).unwrap_or_else(|| panic!("left out: {left_out:?}")).clone()
}

fn timer(due: Height, bytes: usize) -> ScheduleTimer {
    ScheduleTimer { height: due, payload: vec![7; bytes].into(), ..ScheduleTimer::default() }
}

fn scheduled(receipt: &Receipt) -> B256 {
    assert_eq!(receipt.code, 0);
    let id = receipt.events.iter().find_map(|event| match event {
        Event::TimerScheduled { timer, .. } => Some(*timer),
        _ => None,
    });
    id.expect("it is scheduled")
}

/// Both basefees at their floor.
fn cheap() -> ChainParams {
    let mut params = calm();
    params.initial_basefee = params.min_basefee;
    params
}

// spec §3.12
/// Without deposits a gigabyte of everybody's disk for thirty days, renewed for nothing but another
/// call, cost what its cells did.
#[test]
fn filling_the_state_at_the_floor_price_takes_a_deposit_that_comes_back_when_it_is_freed() {
    let mut world = World::new(cheap(), 0);
    let (key, due) = (world.customer(), Height(100_000));
    let start = world.balance(&key);
    let (mut timers, mut fees, mut bytes) = (Vec::new(), 0, 0);
    for _ in 0..16 {
        let schedule = Instruction::ScheduleTimer { timer: timer(due, 65_536) };
        let receipt = world.ok(&key, schedule);
        (fees, bytes) = (fees + receipt.fee.get(), bytes + 65_536);
        timers.push(scheduled(&receipt));
    }
    let deposit = held(&world);
    assert!(deposit >= price(&world.chain.params, bytes));
    assert_eq!(world.balance(&key).get(), start.get() - fees - deposit.get());
    let gibibyte = |amount: u128| Amount(amount * (1 << 30) / u128::from(bytes) / 1_000_000_000);
    let (by_fees, by_deposit) = (gibibyte(fees), gibibyte(deposit.get()));
    println!("1 GiB: {by_fees} CBY of fees, and {by_deposit} CBY for as long as it is held");
    assert!(by_deposit.get() > 20 * by_fees.get());

    for timer in timers {
        fees += world.ok(&key, Instruction::CancelTimer { timer }).fee.get();
    }
    assert_eq!(held(&world), Amount::ZERO);
    assert_eq!(world.balance(&key).get(), start.get() - fees, "all of the deposit came back");
}

// spec §3.12
#[test]
fn a_transaction_pays_no_more_than_its_max_deposit_and_leaves_nothing_then() {
    let mut world = World::new(cheap(), 0);
    let (key, due) = (world.customer(), Height(1_000));
    let schedule = || Instruction::ScheduleTimer { timer: timer(due, 1_000) };
    let needed = price(&world.chain.params, 1_256);
    for most in [Amount::ZERO, Amount(needed.get() - 1)] {
        let before = world.balance(&key);
        let receipt = run_within(&mut world, &key, schedule(), most);
        assert_eq!(receipt.code, Refusal::DepositAboveLimit.code());
        assert_eq!(world.balance(&key).get(), before.get() - receipt.fee.get());
        assert_eq!(held(&world), Amount::ZERO);
    }
    let receipt = run_within(&mut world, &key, schedule(), needed);
    let (payer, owner) = (key.address(), key.address());
    assert!(receipt.events.contains(&Event::DepositTaken { payer, owner, amount: needed }));
    assert_eq!(held(&world), needed);
}

#[test]
fn a_deposit_that_the_balance_does_not_cover_is_refused() {
    let mut world = World::new(cheap(), 0);
    let poor = SecretKey::from_label("poor");
    let rich = world.customer();
    world.ok(&rich, Instruction::Transfer { to: poor.address(), amount: Amount::cby(1) });
    let schedule = Instruction::ScheduleTimer { timer: timer(Height(1_000), 20_000) };
    let mut body = world.chain.transaction(poor.address(), schedule);
    body.cycle_bid.max_fee = 1_000;
    body.cell_bid.max_fee = 1_000;
    (body.cycle_bid.max_priority, body.cell_bid.max_priority) = (0, 0);
    let hash = world.chain.queue(body.sign(&poor).to_bytes());
    world.chain.step();
    let receipt = world.chain.receipt(hash).expect("it can pay its fee").clone();
    assert_eq!(receipt.code, Refusal::DepositNotCovered.code());
    assert_eq!(held(&world), Amount::ZERO);
}

#[test]
fn a_timer_gives_its_deposit_back_however_it_ends() {
    let mut world = World::new(cheap(), 0);
    let (key, now) = (world.customer(), world.chain.height());
    let other = world.stranger();
    let fired = world.schedule(&key, timer(now.plus(10), 100));
    let dear = ScheduleTimer { expires_at: Some(now.plus(20)), ..timer(now.plus(12), 100) };
    let waiting = ScheduleTimer {
        max_fee_per_cycle: Some(1_000_000),
        gas_limit: Some(250_000),
        ..dear.clone()
    };
    let expired = world.schedule(&key, waiting);
    let cancelled = world.schedule(&key, timer(now.plus(500), 100));
    let each = price(&world.chain.params, 356);
    assert_eq!(held(&world).get(), 3 * each.get());
    world.ok(&key, Instruction::CancelTimer { timer: cancelled });
    assert_eq!(held(&world).get(), 2 * each.get());
    // Above this fee nothing fires.
    world.step_to(now.plus(10));
    world.rewrite(&remuda_protocol::key::TimerLaneKey {}, |lane| lane.basefee = 1_000_000_000);
    let events = world.step_to(now.plus(30));
    let ends = |timer: B256| {
        events.iter().find_map(|event| match event {
            Event::TimerExpired { timer: id, .. } if *id == timer => Some("expired"),
            _ => None,
        })
    };
    assert_eq!((ends(expired), ends(fired)), (Some("expired"), None));
    assert_eq!(held(&world), Amount::ZERO);
    assert_eq!(world.balance(&other), Amount::cby(1_000_000));
}

#[test]
fn a_timer_whose_payer_is_broke_gives_its_deposit_back() {
    let mut world = World::new(cheap(), 0);
    let (poor, rich) = (SecretKey::from_label("poor"), world.customer());
    world.ok(&rich, Instruction::Transfer { to: poor.address(), amount: Amount::cby(1) });
    let due = world.chain.height().plus(5);
    let costly = ScheduleTimer {
        gas_limit: Some(250_000),
        max_fee_per_cycle: Some(1_000_000_000),
        max_priority_fee_per_cycle: Some(500_000_000),
        ..timer(due, 100)
    };
    world.schedule(&poor, costly);
    let before = world.chain.balance(poor.address());
    let events = world.step_to(due);
    let broke = |event: &Event| matches!(event, Event::TimerCancelledInsufficientFunds { .. });
    assert!(events.iter().any(broke));
    let each = price(&world.chain.params, 356);
    assert_eq!(world.chain.balance(poor.address()).get(), before.get() + each.get());
}

// spec §3.12
#[test]
fn revoking_or_giving_up_a_right_returns_its_deposit_to_the_granter() {
    let mut world = World::new(cheap(), 1);
    let (owner, runner) = (world.customer(), world.runner(0));
    let base = held(&world);
    let scope = Scope::Namespace { name: Bytes(b"rooms".to_vec()) };
    world.ok(&owner, Instruction::EntitlementCreateScope { scope: scope.clone() });
    let with_scope = held(&world);
    assert!(with_scope > base, "a name is held, too");
    let grant = Instruction::EntitlementGrant {
        grantee: runner.address(),
        scope,
        action: Action::Custom { name: Bytes(b"enter".to_vec()) },
        constraints: Constraints { revocable: true, ..Constraints::default() },
    };
    for by in [&owner, &runner] {
        let before = world.balance(&owner);
        let receipt = world.ok(&owner, grant.clone());
        let amount = Amount(held(&world).get() - with_scope.get());
        assert!(!amount.is_zero());
        assert_eq!(world.balance(&owner).get(), before.get() - amount.get() - receipt.fee.get());
        let entitlement = receipt.events.iter().find_map(|event| match event {
            Event::EntitlementGranted { entitlement, .. } => Some(*entitlement),
            _ => None,
        });
        let entitlement = entitlement.expect("it is granted");
        let receipt = world.ok(by, Instruction::EntitlementRevoke { entitlement });
        let returned = Event::DepositReturned { owner: owner.address(), amount };
        assert!(receipt.events.contains(&returned), "{:?}", receipt.events);
        assert_eq!(held(&world), with_scope);
    }
}

#[test]
fn a_smaller_offer_gives_the_difference_back() {
    let mut world = World::new(cheap(), 1);
    let runner = world.runner(0);
    let small = held(&world);
    world.ok(&runner, Instruction::UpdateRunner { offer: full_offer() });
    let large = held(&world);
    assert!(large > small);
    let before = world.balance(&runner);
    let receipt = world.ok(&runner, Instruction::UpdateRunner { offer: offer() });
    assert_eq!(held(&world), small);
    let back = large.get() - small.get();
    assert_eq!(world.balance(&runner).get(), before.get() - receipt.fee.get() + back);
}

/// The default `max_deposit` of clients suffices, and is zero for instructions that leave nothing behind.
#[test]
fn the_usual_deposit_covers_what_instructions_leave_in_the_state() {
    let mut world = World::new(cheap(), 1);
    let (owner, runner, newcomer) = (world.customer(), world.runner(0), world.stranger());
    let long = Bytes(vec![b'x'; 128]);
    let scope = Scope::Namespace { name: long.clone() };
    let action = Action::Custom { name: Bytes(vec![b'y'; 64]) };
    let (grantee, constraints) = (runner.address(), full_constraints());
    let constraints = Constraints { valid_from: None, valid_until: None, ..constraints };
    let role = remuda_protocol::entitlements::record::role_id(owner.address(), &long);
    let plain = Constraints::default();
    let instructions = [
        (&newcomer, Instruction::RegisterRunner { stake: STAKE, offer: full_offer() }),
        (&runner, Instruction::UpdateRunner { offer: full_offer() }),
        (&owner, Instruction::ScheduleTimer { timer: timer(Height(1_000), 65_536) }),
        (&owner, Instruction::ScheduleTimer { timer: timer(Height(1_000), 0) }),
        (&owner, Instruction::EntitlementCreateScope { scope: scope.clone() }),
        (
            &owner,
            Instruction::EntitlementGrant {
                grantee,
                scope: scope.clone(),
                action: action.clone(),
                constraints,
            },
        ),
        (
            &owner,
            Instruction::EntitlementCreateRole {
                name: long,
                scopes: vec![scope],
                actions: vec![action],
                constraints: plain,
            },
        ),
        (&owner, Instruction::EntitlementAssignRole { role, assignee: grantee }),
        (&owner, Instruction::SubmitJob { spec: vote_job(3, Amount::cby(1)) }),
        (&owner, Instruction::Transfer { to: grantee, amount: Amount(1) }),
    ];
    for (key, instruction) in instructions {
        let most = price(&world.chain.params, state_bytes(&instruction));
        let receipt = run_within(&mut world, key, instruction.clone(), most);
        assert_eq!(receipt.code, 0, "{instruction:?}");
        let granted = receipt.events.iter().find_map(|event| match event {
            Event::EntitlementGranted { entitlement, .. } => Some(*entitlement),
            _ => None,
        });
        let Some(entitlement) = granted else { continue };
        let delegatee = newcomer.address();
        let narrower = Constraints { delegation_depth_max: 0, delegatable: false, ..constraints };
        let pass_on =
            Instruction::EntitlementDelegate { entitlement, delegatee, constraints: narrower };
        let most = price(&world.chain.params, state_bytes(&pass_on));
        let receipt = run_within(&mut world, &runner, pass_on, most);
        assert_eq!(receipt.code, 0, "what is passed on");
    }
}

#[test]
fn a_chain_without_deposits_holds_none() {
    let mut params = cheap();
    params.state_deposit_per_kib = 0;
    let mut world = World::new(params, 1);
    let key = world.customer();
    let schedule = Instruction::ScheduleTimer { timer: timer(Height(1_000), 1_000) };
    let receipt = run_within(&mut world, &key, schedule, Amount::ZERO);
    assert_eq!(receipt.code, 0);
    assert_eq!(held(&world), Amount::ZERO);
}
