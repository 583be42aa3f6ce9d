//! Never lost: every timer ever scheduled ends in exactly one way, or still waits.

use crate::common::{Choices, World, with_seeds};
use crate::scripts::{Scripted, at, end_of, fired, world};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::event::Event;
use remuda_protocol::key::{DueBeaconKey, SystemDeployersKey, TimerKey};
use remuda_protocol::primitives::{Amount, B256, Height};
use remuda_protocol::state::{MemoryState, View, read};
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::counts::AtHeight;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::index::TimerIndex;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;

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
    assert_eq!(w.balance(&poor), before);
}

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
    w.clean_with(500 * 100);
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

/// Everything at once, and an account of every timer.
#[test]
fn every_timer_ends_exactly_once_or_still_waits() {
    with_seeds(4, |seed| Chaos::new(seed).run(120));
}

struct Chaos {
    w: World,
    choices: Choices,
    keys: Vec<SecretKey>,
    /// Every timer ever scheduled, and how it ended.
    book: BTreeMap<B256, Option<&'static str>>,
}

impl Chaos {
    fn new(seed: u64) -> Self {
        // Some handlers use little, some all, some fail, some schedule anew.
        let mut w = world(Scripted {
            handler: |host, call| match call.payload.first() {
                Some(b'f') => Err(remuda_protocol::error::Refusal::ZeroAmount),
                Some(b'a') => host.charge(call.gas_limit - 1_000, 0),
                Some(b'r') => {
                    let height = host.height().plus(2);
                    host.schedule_timer_ex(&ScheduleTimer {
                        payload: call.payload[1..].into(),
                        expires_at: Some(height.plus(30)),
                        ..at(height)
                    })
                    .map(|_| ())
                }
                _ => host.charge(call.gas_limit / 3, call.max_cells / 2),
            },
            ..Scripted::default()
        });
        w.set_record(&SystemDeployersKey {}, &vec![w.stranger().address()]);
        let mut keys: Vec<SecretKey> =
            (0..12).map(|n| SecretKey::from_label(&format!("actor {n}"))).collect();
        for (n, key) in keys.iter().enumerate() {
            // Some can pay for few fires.
            let amount = Amount::cby(if n % 2 == 0 { 1 } else { 5_000 });
            w.chain.send(&w.customer(), Instruction::Transfer { to: key.address(), amount });
        }
        w.step();
        keys.push(w.customers[2].clone());
        Self { w, choices: Choices::new(seed), keys, book: BTreeMap::new() }
    }

    fn run(mut self, blocks: u64) {
        for block in 0..blocks {
            self.block(block);
        }
        self.w.clean_with(5_000_000);
        // Whatever is left expires at the latest.
        for _ in 0..160 {
            let events = self.w.step();
            self.account(&events);
        }
        self.compare();
        let waits = self.book.values().filter(|end| end.is_none()).count();
        assert_eq!(waits, 0, "nothing here lives that long");
        for how in
            ["TimerFired", "TimerExpired", "TimerCancelledInsufficientFunds", "TimerCancelled"]
        {
            let ended = self.book.values().filter(|end| **end == Some(how)).count();
            assert!(ended > 0, "{how} of {}", self.book.len());
        }
    }

    fn block(&mut self, block: u64) {
        for _ in 0..self.choices.below(12) {
            self.send();
        }
        match self.choices.below(40) {
            0 => {
                let basefee = 1_000 + u128::from(self.choices.below(200_000));
                self.w.price_lane(basefee);
            }
            1 => {
                let cycles = 500 * self.choices.below(4);
                self.w.clean_with(cycles);
            }
            2 => self.configure(),
            // A crash: everything in memory is gone.
            3 => {
                let entries = self.w.chain.state.entries().clone();
                self.w.chain.state = MemoryState::new(entries, &self.w.chain.params);
            }
            _ => {}
        }
        let events = self.w.step();
        self.account(&events);
        if block.is_multiple_of(8) {
            self.compare();
        }
    }

    fn configure(&mut self) {
        let gas_limit_max = *self.choices.pick(&[20_000, 120_000, 250_000]);
        let config = TimerConfig { gas_limit_max, ..TimerConfig::GENESIS };
        self.w.chain.send(&self.w.stranger(), Instruction::UpdateTimerConfig { config });
    }

    fn send(&mut self) {
        let choices = &mut self.choices;
        let key = choices.pick(&self.keys).clone();
        let now = self.w.next();
        let any = self.book.keys().nth(choices.below(self.book.len() as u64) as usize).copied();
        let instruction = match (choices.below(20), any) {
            (0 | 1, Some(timer)) => {
                let owner = read(&self.w.chain.state, &TimerKey { timer });
                let mut keys = self.keys.iter();
                let owner = owner.and_then(|timer| keys.find(|key| key.address() == timer.actor));
                self.w.chain.send(owner.unwrap_or(&key), Instruction::CancelTimer { timer });
                return;
            }
            (2, Some(timer)) => {
                let expires_at = now.plus(choices.below(120));
                Instruction::ExtendTimer { timer, expires_at }
            }
            (3, _) => {
                let to = choices.pick(&self.keys).address();
                Instruction::Transfer { to, amount: Amount::cby(u128::from(choices.below(4))) }
            }
            _ => {
                let due = now.plus(choices.below(25));
                let lane = self.w.lane().basefee;
                let max_fee = lane + u128::from(choices.below(3_000));
                let payload = *choices.pick(&[&b"f"[..], b"a", b"rrx", b"x", b""]);
                Instruction::ScheduleTimer {
                    timer: ScheduleTimer {
                        payload: payload.into(),
                        gas_limit: Some(1_000 + choices.below(249_001)),
                        max_cells: Some(choices.below(100)),
                        expires_at: Some(due.plus(choices.below(60))),
                        max_fee_per_cycle: Some(max_fee),
                        max_priority_fee_per_cycle: Some(u128::from(choices.below(2_000))),
                        ..at(due)
                    },
                }
            }
        };
        self.w.chain.send(&key, instruction);
    }

    fn account(&mut self, events: &[Event]) {
        for event in events {
            if let Event::TimerScheduled { timer, .. } = event {
                assert_eq!(self.book.insert(*timer, None), None, "ids are unique");
            }
            if let Some((timer, how)) = end_of(event) {
                let end = self.book.get_mut(&timer).expect("it was scheduled");
                assert_eq!(*end, None, "{timer} ends by {how} after it had ended");
                *end = Some(how);
            }
        }
    }

    /// The state has exactly the timers that have not ended, and all its counts follow from them.
    fn compare(&self) {
        let state = &self.w.chain.state;
        let mut live: BTreeMap<_, u32> = BTreeMap::new();
        let mut buckets: BTreeMap<Height, (u32, u32)> = BTreeMap::new();
        for (id, end) in &self.book {
            let timer = read(state, &TimerKey { timer: *id });
            assert_eq!(timer.is_some(), end.is_none(), "{id}: {end:?}");
            let Some(timer) = timer else { continue };
            *live.entry(timer.actor).or_default() += 1;
            buckets.entry(timer.due).or_default().0 += 1;
            buckets.entry(timer.expires_at).or_default().1 += 1;
        }
        let timers = state.timers();
        for key in &self.keys {
            let actor = key.address();
            assert_eq!(timers.live_of(actor), live.get(&actor).copied().unwrap_or(0));
        }
        let now = self.w.chain.height();
        for (height, (due, expiring)) in buckets {
            let at = timers.at(height);
            assert_eq!((at.live, at.expiring), (due, expiring), "{height}");
            let beacon = read(state, &DueBeaconKey { height });
            assert_eq!(beacon.is_some(), height <= now && due > 0, "{height}");
        }
        assert_eq!(timers.picture(), TimerIndex::load(state).picture());
    }
}
