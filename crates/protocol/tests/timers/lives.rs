//! The life of one timer.

use crate::timers::common::{World, calm};
use crate::timers::scripts::{Scripted, at, fired, world};
use remuda_protocol::actors::price;
use remuda_protocol::deposit;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::key::{
    BasefeesKey, ChunkKey, DueBeaconKey, FiresKey, SystemDeployersKey, TimerCounterKey,
    TimerPayloadKey,
};
use remuda_protocol::local::PROPOSER;
use remuda_protocol::primitives::{Amount, B256, Height};
use remuda_protocol::state::{Indexed, read};
use remuda_protocol::supply::recorded;
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::Instruction;

#[test]
fn a_timer_fires_at_its_height_and_leaves_nothing_behind() {
    let mut w = world(Scripted::default());
    let (key, due) = (w.customer(), w.next().plus(5));
    let timer = w.schedule(&key, ScheduleTimer { payload: b"hello".to_vec().into(), ..at(due) });
    assert!(fired(&w.step_to(due.minus(1))).is_empty());
    assert_eq!(fired(&w.step()), [timer]);
    assert_eq!(w.chain.height(), due);
    assert_eq!(w.timer(timer), None);
    let state = &w.chain.state;
    assert_eq!(read(state, &TimerPayloadKey { timer }), None);
    assert_eq!(read(state, &DueBeaconKey { height: due }), None);
    assert_eq!(read(state, &ChunkKey { height: due, chunk: 0 }), None);
    assert_eq!(read(state, &TimerCounterKey { actor: key.address() }), Some(1));
    assert_eq!(state.timers().live_of(key.address()), 0);
    assert_eq!(read(state, &FiresKey { height: due }).unwrap(), [(key.address(), 1)]);
    w.step_to(due.plus(1_000));
    assert_eq!(read(&w.chain.state, &FiresKey { height: due }), None, "the window has moved on");
}

// spec §10.8
#[test]
fn a_fire_pays_for_what_it_used_and_gets_the_rest_back() {
    let mut w =
        world(Scripted { handler: |host, _| host.charge(20_000, 7), ..Scripted::default() });
    let (key, due) = (w.customer(), w.next().plus(3));
    let timer = ScheduleTimer {
        gas_limit: Some(100_000),
        max_cells: Some(50),
        max_fee_per_cycle: Some(5_000),
        max_priority_fee_per_cycle: Some(300),
        ..at(due)
    };
    w.schedule(&key, timer);
    w.step_to(due.minus(1));
    let (lane, base) = (w.lane(), read(&w.chain.state, &BasefeesKey {}).unwrap());
    let before = (w.balance(&key), w.chain.balance(PROPOSER), recorded(&w.chain.state).burned);
    w.step();
    // The fire itself, the machine that is made for the call, and what the handler took.
    let used = 1_000 + u128::from(price::CALL_CYCLES) + 20_000;
    let tip = used * 300;
    let burned = used * (base.cycle + lane.basefee) + 7 * base.cell;
    let deposit = deposit::price(&w.chain.params, deposit::RECORD_BYTES).get();
    assert_eq!(w.balance(&key), Amount(before.0.get() + deposit - tip - burned));
    assert_eq!(w.chain.balance(PROPOSER), Amount(before.1.get() + tip));
    assert_eq!(recorded(&w.chain.state).burned, Amount(before.2.get() + burned));
    assert_eq!(w.lane().median_tip, 300);
}

#[test]
fn without_code_a_fire_costs_the_least_and_says_so() {
    let mut w = World::new(calm(), 0);
    let due = w.next().plus(1);
    w.schedule(&w.customer(), at(due));
    let event = w.step().into_iter().find(|event| event.name() == "TimerFired").unwrap();
    let Event::TimerFired { code, cycles, cells, .. } = event else { unreachable!() };
    assert_eq!((code, cycles, cells), (Refusal::NoCode.code(), 1_000, 0));
}

#[test]
fn a_handler_that_fails_pays_and_changes_nothing() {
    let mut w = world(Scripted {
        handler: |host, _| {
            host.schedule_timer(host.height().plus(1), b"again")?;
            host.charge(u64::MAX, 0)
        },
        ..Scripted::default()
    });
    let due = w.next().plus(1);
    w.schedule(&w.customer(), at(due));
    let events = w.step();
    assert!(events.iter().all(|event| event.name() != "TimerScheduled"), "it was taken back");
    let used = events.iter().find_map(|event| match event {
        Event::TimerFired { code, cycles, .. } => Some((*code, *cycles)),
        _ => None,
    });
    assert_eq!(used, Some((Refusal::OutOfCycles.code(), 100_000)));
    assert!(fired(&w.step_to(due.plus(5))).is_empty());
}

// spec §10.1
/// CIP-1 §4, by transaction and from a handler.
#[test]
fn no_timer_runs_in_the_block_that_schedules_it() {
    let mut w = world(Scripted {
        handler: |host, _| {
            assert_eq!(
                host.schedule_timer(host.height(), b"now"),
                Err(Refusal::TimerInPast),
                "not in this block"
            );
            host.schedule_timer(host.height().plus(1), b"next").map(|_| ())
        },
        ..Scripted::default()
    });
    let timer = at(w.next());
    let receipt = w.run(&w.customer(), Instruction::ScheduleTimer { timer });
    assert_eq!(receipt.code, Refusal::TimerInPast.code());
    w.schedule(&w.customer(), at(w.next().plus(1)));
    for _ in 0..5 {
        assert_eq!(fired(&w.step()).len(), 1, "one a block, never two");
    }
}

#[test]
fn handlers_schedule_cancel_and_extend() {
    let mut w = world(Scripted {
        handler: |host, call| {
            let other = B256::from_slice(&call.payload[1..33]);
            match call.payload[0] {
                b'c' => host.cancel_timer(other),
                _ => host.extend_timer(other, host.height().plus(1_000)),
            }
        },
        ..Scripted::default()
    });
    let key = w.customer();
    let due = w.next().plus(10);
    let expires_at = Some(due.plus(5));
    let victims = w.schedule_all([
        (key.clone(), ScheduleTimer { payload: vec![1; 33].into(), expires_at, ..at(due) }),
        (key.clone(), ScheduleTimer { payload: vec![2; 33].into(), expires_at, ..at(due) }),
    ]);
    let order = |what: u8, id: B256| ScheduleTimer {
        payload: [&[what], id.as_slice()].concat().into(),
        ..at(due.minus(3))
    };
    w.schedule_all([
        (key.clone(), order(b'c', victims[0])),
        (key.clone(), order(b'e', victims[1])),
    ]);
    w.step_to(due.minus(3));
    assert_eq!(w.timer(victims[0]), None);
    assert_eq!(w.timer(victims[1]).unwrap().expires_at, due.plus(997));
    // Somebody else's handler may not touch it.
    let theirs = order(b'c', victims[1]);
    w.schedule(&w.stranger(), ScheduleTimer { height: w.next().plus(1), ..theirs });
    w.step();
    assert!(w.timer(victims[1]).is_some());
}

// spec §10.7
/// A handler cancels a timer of the same block that comes after it.
#[test]
fn a_timer_that_is_cancelled_while_the_lane_fills_does_not_fire() {
    let mut w = world(Scripted {
        handler: |host, call| match call.payload.len() {
            32 => host.cancel_timer(B256::from_slice(&call.payload)),
            _ => Ok(()),
        },
        ..Scripted::default()
    });
    let due = w.next().plus(4);
    let fee = Some(9_000);
    let timer = ScheduleTimer { max_fee_per_cycle: fee, ..at(due) };
    let victim = w.schedule(&w.customer(), timer.clone());
    let killer = ScheduleTimer {
        payload: victim.to_vec().into(),
        max_priority_fee_per_cycle: Some(1_000),
        ..timer
    };
    let killer = w.schedule(&w.customer(), killer);
    let events = w.step_to(due);
    assert_eq!(fired(&events), [killer]);
    assert!(events.iter().any(|event| event.name() == "TimerCancelled"));
}

// spec §10.1
#[test]
fn a_tip_above_what_the_fee_leaves_is_clamped_and_told() {
    let mut w = world(Scripted::default());
    let timer = ScheduleTimer {
        max_fee_per_cycle: Some(1_500),
        max_priority_fee_per_cycle: Some(800),
        ..at(w.next().plus(4))
    };
    let receipt = w.ok(&w.customer(), Instruction::ScheduleTimer { timer });
    let Event::TimerPriorityClampedAtSchedule { timer, stated, clamped } = receipt.events[1] else {
        panic!("{:?}", receipt.events)
    };
    assert_eq!((stated, clamped), (800, 500));
    assert_eq!(w.timer(timer).unwrap().max_priority_fee, 500);
}

#[test]
fn a_timer_by_default_takes_the_default_agents_word() {
    let mut w = world(Scripted::default());
    w.rewrite(&remuda_protocol::key::TimerLaneKey {}, |lane| {
        (lane.basefee, lane.median_tip) = (40_000, 700);
    });
    let timer = w.schedule(&w.customer(), at(w.next().plus(40)));
    let timer = w.timer(timer).unwrap();
    assert_eq!((timer.max_fee, timer.max_priority_fee), (80_000, 700));
}

/// Neither an epoch of the calendar nor the ring's end disturbs anything.
#[test]
fn timers_fire_on_time_across_every_tier() {
    let mut w = world(Scripted::default());
    w.chain.paranoid = false;
    let start = w.next();
    let heights: Vec<Height> = [1, 2, 3_599, 3_600, 3_601, 4_095, 4_096, 4_097, 7_200, 7_201]
        .map(|n| start.plus(n))
        .to_vec();
    let timers: Vec<B256> = w.schedule_all(heights.iter().map(|h| (w_key(), at(*h))));
    for (height, timer) in heights.iter().zip(timers) {
        let events = w.step_to(*height);
        assert_eq!(fired(&events), [timer], "{height}");
    }
}

fn w_key() -> remuda_protocol::crypto::SecretKey {
    remuda_protocol::crypto::SecretKey::from_label("customer 0")
}

// spec §10.11
#[test]
fn system_deployers_cancel_extend_and_configure() {
    let mut w = world(Scripted::default());
    w.set_record(&SystemDeployersKey {}, &vec![w.stranger().address()]);
    let due = w.next().plus(20);
    let expires_at = Some(due);
    let ids = w.schedule_all([
        (w.customer(), ScheduleTimer { expires_at, ..at(due) }),
        (w.customer(), ScheduleTimer { expires_at, ..at(due) }),
    ]);
    let key = w.stranger();
    w.ok(&key, Instruction::SystemCancelTimer { timer: ids[0] });
    assert_eq!(w.timer(ids[0]), None);
    w.ok(&key, Instruction::SystemExtendTimer { timer: ids[1], expires_at: due.plus(7) });
    assert_eq!(w.timer(ids[1]).unwrap().expires_at, due.plus(7));
    let config = TimerConfig { payload_bytes_max: 4, ..TimerConfig::GENESIS };
    w.ok(&key, Instruction::UpdateTimerConfig { config });
    let timer = ScheduleTimer { payload: vec![0; 5].into(), ..at(w.next().plus(5)) };
    let receipt = w.run(&w.customer(), Instruction::ScheduleTimer { timer });
    assert_eq!(receipt.code, Refusal::PayloadTooLarge.code());
}

/// CIP-1 §10: what is above a new cap is deferred without an attempt, and nothing worse.
#[test]
fn timers_above_a_new_cap_wait_and_can_end() {
    let mut w = world(Scripted::default());
    w.set_record(&SystemDeployersKey {}, &vec![w.stranger().address()]);
    let due = w.next().plus(3);
    let big = |expires| ScheduleTimer {
        gas_limit: Some(200_000),
        expires_at: Some(expires),
        max_fee_per_cycle: Some(1_000_000),
        ..at(due)
    };
    let far = due.plus(50);
    let ids = w.schedule_all([
        (w.customer(), big(due.plus(6))),
        (w.customer(), big(far)),
        (w.customer(), big(far)),
        (w.customer(), ScheduleTimer { gas_limit: Some(100_000), ..at(due) }),
    ]);
    let cap = |gas_limit_max| Instruction::UpdateTimerConfig {
        config: TimerConfig { gas_limit_max, ..TimerConfig::GENESIS },
    };
    let key = w.stranger();
    w.ok(&key, cap(150_000));
    assert_eq!(fired(&w.step_to(due.plus(2))), [ids[3]]);
    w.ok(&w.customer(), Instruction::CancelTimer { timer: ids[1] });
    let events = w.step_to(due.plus(7));
    assert!(events.contains(&Event::TimerExpired { timer: ids[0], actor: w.customer().address() }));
    w.chain.send(&key, cap(250_000));
    assert_eq!(fired(&w.step()), [ids[2]], "the cap is raised again");
}
