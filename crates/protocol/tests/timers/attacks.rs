//! What one can gain against others in the lane, and what not.

use crate::timers::common::World;
use crate::timers::scripts::{Scripted, at, fired, world};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::event::Event;
use remuda_protocol::key::DueBeaconKey;
use remuda_protocol::primitives::{Address, Amount, B256, Height};
use remuda_protocol::state::read;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::order::lot;
use remuda_protocol::timers::record::timer_id;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;

/// Everybody's timers use all of 100,000 cycles: 20 fires a block.
fn crowded() -> World {
    let mut w = world(Scripted {
        handler: |host, call| host.charge(call.gas_limit - 1_000, 0),
        ..Scripted::default()
    });
    w.chain.paranoid = false;
    w
}

fn people(w: &mut World, name: &str, n: usize) -> Vec<SecretKey> {
    let keys: Vec<SecretKey> =
        (0..n).map(|i| SecretKey::from_label(&format!("{name} {i}"))).collect();
    for key in &keys {
        let instruction = Instruction::Transfer { to: key.address(), amount: Amount::cby(5_000) };
        w.chain.send(&w.customer(), instruction);
    }
    w.step();
    keys
}

/// A timer that waits however dear the lane gets.
fn patient(height: Height) -> ScheduleTimer {
    ScheduleTimer {
        max_fee_per_cycle: Some(1_000_000),
        max_priority_fee_per_cycle: Some(100),
        gas_limit: Some(100_000),
        max_cells: Some(0),
        ..at(height)
    }
}

fn fires_by(events: &[Event]) -> BTreeMap<Address, u32> {
    let mut counts = BTreeMap::new();
    for event in events {
        if let Event::TimerFired { actor, .. } = event {
            *counts.entry(*actor).or_default() += 1;
        }
    }
    counts
}

/// One actor floods the lane at the others' price: actors that fired fewer timers go first.
#[test]
fn spam_by_one_actor_delays_nobody_else() {
    let mut w = crowded();
    let others = people(&mut w, "other", 10);
    let spammer = people(&mut w, "spammer", 1).remove(0);
    let start = w.next().plus(12);
    for _ in 0..3 {
        w.schedule_all((0..200).map(|_| (spammer.clone(), patient(start))));
    }
    w.step_to(start.plus(3));
    let timer = patient(w.next().plus(1));
    w.schedule_all(others.iter().map(|key| (key.clone(), timer.clone())));
    let counts = fires_by(&w.step());
    for key in &others {
        assert_eq!(counts.get(&key.address()), Some(&1), "each of the others is served at once");
    }
    assert_eq!(counts[&spammer.address()], 10, "the spammer gets what is left");
}

/// CIP-1 §8, limitation 1: how much more does a developer get who splits into many actors? Twenty
/// honest actors and the attacker each want twice the lane, at one price. Returns the attacker's
/// fires and all fires.
fn share(fragments: usize, blocks: u64) -> (u32, u32) {
    let mut w = crowded();
    let honest = people(&mut w, "honest", 20);
    let attacker = people(&mut w, "fragment", fragments);
    let wanted = 20 * blocks as usize;
    let start = w.next().plus(4 * blocks);
    let mut timers = Vec::new();
    for n in 0..wanted {
        timers.push((honest[n % honest.len()].clone(), patient(start)));
        timers.push((attacker[n % attacker.len()].clone(), patient(start)));
    }
    for part in timers.chunks(250) {
        w.schedule_all(part.iter().cloned());
    }
    assert!(w.next() < start, "scheduled before they are due");
    let counts = fires_by(&w.step_to(start.plus(blocks - 1)));
    let sum = |keys: &[SecretKey]| -> u32 {
        keys.iter().filter_map(|key| counts.get(&key.address())).sum()
    };
    (sum(&attacker), sum(&attacker) + sum(&honest))
}

/// The figures are in `docs/timers.md`.
#[test]
fn fragments_of_one_actor_gain_what_their_number_gives() {
    let rows: Vec<(usize, u32)> = [1, 5, 20, 100]
        .into_iter()
        .map(|fragments| {
            let (got, all) = share(fragments, 40);
            println!("{fragments} fragments: {got} of {all} fires");
            (fragments, got * 1_000 / all)
        })
        .collect();
    // Without fairness it would be half of all fires each time.
    assert!(rows[0].1 <= 100, "one actor against twenty is held down: {rows:?}");
    assert!((150..=300).contains(&rows[1].1), "five against twenty have a fifth: {rows:?}");
    assert!((450..=550).contains(&rows[2].1), "twenty against twenty share: {rows:?}");
    assert!(rows[3].1 >= 580, "fragmentation pays, as limitation 1 says: {rows:?}");
}

/// Tips that somebody pays to himself through the median: what others pay by default is bounded by
/// twice the basefee, whatever the median is.
#[test]
fn a_median_tip_that_was_bid_up_costs_default_timers_no_more_than_the_basefee_again() {
    let mut w = crowded();
    let briber = people(&mut w, "briber", 1).remove(0);
    let due = w.next().plus(3);
    let absurd = ScheduleTimer {
        max_fee_per_cycle: Some(10_000_000),
        max_priority_fee_per_cycle: Some(9_000_000),
        gas_limit: Some(1_000),
        ..patient(due)
    };
    w.schedule_all((0..5).map(|_| (briber.clone(), absurd.clone())));
    w.step_to(due);
    assert_eq!(w.lane().median_tip, 9_000_000);
    let basefee = w.lane().basefee;
    let id = w.schedule(&w.stranger(), at(w.next().plus(9)));
    let timer = w.timer(id).unwrap();
    assert_eq!((timer.max_fee, timer.max_priority_fee), (2 * basefee, basefee));
    assert_eq!(w.lane().median_tip, 0, "and one block later it is gone");
}

// spec §10.6
/// Ids can be ground by their payload; lots cannot, because the beacon comes later.
#[test]
fn ground_ids_are_not_served_first() {
    let mut w = crowded();
    let honest = people(&mut w, "honest", 20);
    let grinders = people(&mut w, "grinder", 20);
    let due = w.next().plus(4);
    // The least of 200 ids for each grinder, which would win every tie by id.
    let ground = |key: &SecretKey| {
        let payload = |n: u64| n.to_be_bytes().to_vec();
        let best = (0..200).min_by_key(|n| timer_id(key.address(), due, &payload(*n), 0)).unwrap();
        ScheduleTimer { payload: payload(best).into(), ..patient(due) }
    };
    let mut wanted: Vec<(SecretKey, ScheduleTimer)> =
        grinders.iter().map(|key| (key.clone(), ground(key))).collect();
    wanted.extend(honest.iter().map(|key| (key.clone(), patient(due))));
    let ids = w.schedule_all(wanted);
    let (ground, plain) = ids.split_at(20);
    let median = |ids: &[B256]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids[10]
    };
    assert!(median(ground) < median(plain), "grinding works on ids");
    let served = fired(&w.step_to(due));
    assert_eq!(served.len(), 20);
    let winners = served.iter().filter(|id| ground.contains(id)).count();
    assert!((3..=17).contains(&winners), "{winners} of 20 by luck");
    let beacon = read(&w.chain.state, &DueBeaconKey { height: due }).unwrap();
    let mut by_lot = ids.clone();
    by_lot.sort_by_key(|id| lot(&beacon, id));
    assert_eq!(served, by_lot[..20], "the order is that of the lots");
}

// spec §10.4
/// Few cycles and many cells keep others out as well: the lane's price follows what is scarcer.
#[test]
fn filling_the_lane_with_cells_raises_its_price_in_each_block() {
    let mut w = world(Scripted {
        handler: |host, call| match call.payload.first() {
            Some(b'c') => host.charge(10_000, call.max_cells),
            _ => host.charge(1_000, 0),
        },
        ..Scripted::default()
    });
    w.chain.paranoid = false;
    let flooder = people(&mut w, "flooder", 1).remove(0);
    let start = w.next().plus(40);
    for block in 0..30 {
        let timer = ScheduleTimer {
            payload: b"c".to_vec().into(),
            gas_limit: Some(15_000),
            max_cells: Some(61_000),
            max_fee_per_cycle: Some(10_000),
            max_priority_fee_per_cycle: Some(2_100),
            ..at(start.plus(block))
        };
        w.schedule_all((0..8).map(|_| (flooder.clone(), timer.clone())));
    }
    assert!(w.next() < start, "scheduled before they are due");
    let waits = w.schedule(&w.customer(), at(start));
    w.step_to(start.plus(4));
    assert!(w.lane().basefee > 1_500, "an eighth more in each block: {:?}", w.lane());
    let events = w.step_to(start.plus(60));
    assert!(fired(&events).contains(&waits), "the flood prices itself out");
}
