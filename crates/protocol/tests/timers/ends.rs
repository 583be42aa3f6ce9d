//! Never lost: every timer ever scheduled ends in exactly one way, or still waits.

use crate::timers::scripts::{Scripted, at, end_of, fired, world};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::deposit::{RECORD_BYTES, price};
use remuda_protocol::key::DueBeaconKey;
use remuda_protocol::primitives::Amount;
use remuda_protocol::state::{Indexed, read};
use remuda_protocol::timers::counts::AtHeight;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::Instruction;

// spec §10.9
#[test]
fn a_timer_that_does_not_fire_in_time_expires_and_is_told() {
    let mut w = world(Scripted::default());
    let due = w.next().plus(3);
    let expires_at = Some(due.plus(2));
    let timer = w.schedule(&w.customer(), ScheduleTimer { expires_at, ..at(due) });
    w.price_lane(1_000_000);
    assert!(w.step_to(due.plus(2)).iter().all(|event| end_of(event).is_none()));
    assert_eq!(w.step().iter().find_map(end_of), Some((timer, "TimerExpired")));
    assert_eq!(w.timer(timer), None);
    assert_eq!(read(&w.chain.state, &DueBeaconKey { height: due }), None);
    let timers = w.chain.state.timers();
    assert_eq!(timers.at(due), AtHeight::default());
    assert_eq!(timers.at(due.plus(2)), AtHeight::default());
}

// spec §10.3
#[test]
fn a_timer_waits_for_the_basefee_to_fall_and_fires() {
    let mut w = world(Scripted::default());
    let due = w.next().plus(3);
    let timer = w.schedule(&w.customer(), at(due));
    w.price_lane(4_000);
    let events = w.step_to(due.plus(20));
    assert_eq!(fired(&events), [timer]);
}

#[test]
fn a_payer_who_cannot_pay_loses_the_timer_and_nothing_else() {
    let mut w = world(Scripted::default());
    let poor = SecretKey::from_label("poor");
    let to = poor.address();
    w.ok(&w.customer(), Instruction::Transfer { to, amount: Amount(500_000_000) });
    let due = w.next().plus(2);
    let timer = w.schedule(&poor, ScheduleTimer { gas_limit: Some(250_000), ..at(due) });
    let before = w.balance(&poor);
    let end = w.step_to(due).iter().find_map(end_of);
    assert_eq!(end, Some((timer, "TimerCancelledInsufficientFunds")));
    let deposit = price(&w.chain.params, RECORD_BYTES);
    assert_eq!(w.balance(&poor).get(), before.get() + deposit.get());
}

// spec §10.8
/// Whose payer is broke stands in nobody's way, even when nobody may clean up.
#[test]
fn broke_payers_on_top_of_the_order_starve_nobody() {
    let mut w = world(Scripted::default());
    w.chain.paranoid = false;
    let poor = SecretKey::from_label("poor");
    let to = poor.address();
    w.ok(&w.customer(), Instruction::Transfer { to, amount: Amount::cby(900) });
    let due = w.next().plus(4);
    let rich_bid = ScheduleTimer {
        gas_limit: Some(1_000),
        max_fee_per_cycle: Some(1_000_000_000_000),
        max_priority_fee_per_cycle: Some(999_000_000_000),
        ..at(due)
    };
    w.schedule_all((0..300).map(|_| (poor.clone(), rich_bid.clone())));
    let modest = w.schedule(&w.customer(), at(due));
    w.clean_with(500 * 20);
    let events = w.step_to(due);
    assert_eq!(fired(&events), [modest]);
    let removed = events.iter().filter_map(end_of).filter(|(_, how)| *how != "TimerFired").count();
    assert_eq!(removed, 20, "as many as the cleaning lane has cycles for");
    assert_eq!(w.chain.state.timers().waiting(), 280);
}

/// CIP-1 §9: cleaning has cycles of its own, so a storm of expiries delays no live timer.
#[test]
fn a_storm_of_expiries_does_not_touch_the_lane() {
    let mut w = world(Scripted::default());
    w.chain.paranoid = false;
    let due = w.next().plus(6);
    let storm = ScheduleTimer { expires_at: Some(due.plus(3)), ..at(due) };
    for key in w.customers.clone() {
        w.schedule_all((0..250).map(|_| (key.clone(), storm.clone())));
    }
    let live = ScheduleTimer { max_fee_per_cycle: Some(10_000_000), ..at(due.plus(4)) };
    let live = w.schedule_all(w.customers.clone().into_iter().map(|key| (key, live.clone())));
    w.price_lane(1_000_000);
    w.clean_with(500 * 200);
    w.step_to(due.plus(3));
    assert_eq!(w.chain.state.timers().waiting(), 750);
    let mut expired = 0;
    for block in 0..8 {
        let events = w.step();
        if block == 0 {
            assert_eq!(fired(&events).len(), live.len(), "in time");
        }
        expired += events.iter().filter(|event| event.name() == "TimerExpired").count();
        assert_eq!(expired, (100 * (block + 1)).min(750));
        assert_eq!(w.chain.state.timers().uncollected(), 750 - expired);
    }
}

/// Expired timers have half of the cleaning lane: those who cannot pay are cleaned away meanwhile, and do
/// not stand on top of the order until the storm is over.
#[test]
fn a_storm_of_expiries_does_not_keep_broke_payers_in_the_lane() {
    let mut w = world(Scripted::default());
    w.chain.paranoid = false;
    let due = w.next().plus(40);
    let storm = ScheduleTimer {
        expires_at: Some(due.minus(1)),
        max_fee_per_cycle: Some(1_000),
        ..at(due.minus(2))
    };
    for key in w.customers.clone() {
        w.schedule_all((0..250).map(|_| (key.clone(), storm.clone())));
    }
    let poor: Vec<SecretKey> =
        (0..2).map(|n| SecretKey::from_label(&format!("poor {n}"))).collect();
    let rich_bid = ScheduleTimer {
        gas_limit: Some(1_000),
        max_fee_per_cycle: Some(1_000_000_000_000),
        max_priority_fee_per_cycle: Some(999_000_000_000),
        ..at(due)
    };
    for key in &poor {
        let to = key.address();
        w.ok(&w.customer(), Instruction::Transfer { to, amount: Amount::cby(900) });
        for _ in 0..3 {
            w.schedule_all((0..180).map(|_| (key.clone(), rich_bid.clone())));
        }
    }
    let live = ScheduleTimer { max_fee_per_cycle: Some(10_000_000), ..at(due) };
    let live = w.schedule(&w.customer(), live);
    w.step_to(due.minus(3));
    w.price_lane(1_000_000);
    w.clean_with(500 * 200);
    w.step_to(due.minus(1));
    let events = w.step();
    assert!(w.chain.state.timers().uncollected() > 0, "the storm goes on");
    assert!(fired(&events).contains(&live), "in time");
}
