//! Everything at once, and an account of every timer.

use crate::timers::common::{Choices, World, with_seeds};
use crate::timers::scripts::{Scripted, at, end_of, world};
use remuda_protocol::actors::host::Host;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::key::{DueBeaconKey, SystemDeployersKey, TimerKey};
use remuda_protocol::primitives::{Amount, B256, Height};
use remuda_protocol::state::{Indexed, MemoryState, read};
use remuda_protocol::timers::agents::{AgentFault, BidAnswer, GbaContext, TimerCall, TxFeeParams};
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::index::TimerIndex;
use remuda_protocol::timers::record::FEE_MAX;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;

// spec §10.3
#[test]
fn every_timer_ends_exactly_once_or_still_waits() {
    with_seeds(4, |seed| Chaos::new(seed).run(120));
}

/// Handlers use little or all of their limit, fail, schedule another timer, or cancel or extend one of their
/// actor's timers; some fail after that.
fn handler(host: &mut Host<'_, '_>, call: &TimerCall) -> Result<(), Refusal> {
    let (what, rest) = call.payload.split_first().unwrap_or((&b' ', &[]));
    let other = || B256::from_slice(rest);
    // What is refused is refused: the timer may have ended.
    match what {
        b'f' => Err(Refusal::ZeroAmount),
        b'a' => host.charge(call.gas_limit.saturating_sub(4_000), call.max_cells),
        b'r' => {
            let height = host.height().plus(2);
            let (payload, expires_at) = (rest.into(), Some(height.plus(30)));
            host.schedule_timer_ex(&ScheduleTimer { payload, expires_at, ..at(height) }).map(drop)
        }
        b'c' => host.cancel_timer(other()).or(Ok(())),
        b'k' => host.cancel_timer(other()).and(Err(Refusal::ZeroAmount)),
        b'e' => host.extend_timer(other(), host.height().plus(40)).or(Ok(())),
        _ => host.charge(call.gas_limit / 3, call.max_cells / 2),
    }
}

/// Some agents bid, some stand back, some fail, take too long or lie.
fn agent(context: &GbaContext) -> BidAnswer {
    let answer = |cycles, max_fee_per_cycle, max_priority_fee_per_cycle| BidAnswer {
        cycles,
        bid: Ok(TxFeeParams { max_fee_per_cycle, max_priority_fee_per_cycle }),
    };
    let lane = context.basefee_lane_timer;
    let whom = context.trigger_block_height * 31 + context.current_block_height * 17;
    match (whom + (context.owner_actor_balance % 97) as u64) % 7 {
        0 => answer(500, 0, 0),
        1 => answer(9_000, lane + 700, 700),
        2 => BidAnswer { cycles: 3_000, bid: Err(AgentFault::Failed) },
        3 => answer(20_000, 5, 5),
        4 => answer(100, FEE_MAX, FEE_MAX),
        5 => answer(1, lane, 0),
        _ => answer(1, lane + 2_000, u128::MAX),
    }
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
        let mut w = world(Scripted { handler, agent });
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
                let owner = self.owner(timer).unwrap_or(key);
                self.w.chain.send(&owner, Instruction::CancelTimer { timer });
                return;
            }
            (2, Some(timer)) => {
                let expires_at = now.plus(choices.below(120));
                let owner = self.owner(timer).unwrap_or(key);
                self.w.chain.send(&owner, Instruction::ExtendTimer { timer, expires_at });
                return;
            }
            (3, _) => {
                let to = choices.pick(&self.keys).address();
                Instruction::Transfer { to, amount: Amount::cby(u128::from(choices.below(4))) }
            }
            _ => {
                let due = now.plus(choices.below(25));
                let lane = self.w.lane().basefee;
                let max_fee = lane + u128::from(choices.below(3_000));
                let kind = *choices.pick(&[&b"f"[..], b"a", b"rrx", b"x", b"", b"c", b"k", b"e"]);
                let payload = match (kind, any) {
                    (b"c" | b"k" | b"e", Some(timer)) => [kind, timer.as_slice()].concat(),
                    (b"c" | b"k" | b"e", None) => vec![],
                    _ => kind.to_vec(),
                };
                Instruction::ScheduleTimer {
                    timer: ScheduleTimer {
                        payload: payload.into(),
                        gas_limit: Some(1_000 + choices.below(249_001)),
                        max_cells: Some(*choices.pick(&[0, 50, 1_000, 16_384, 65_536])),
                        agent: choices.chance(30).then(|| key.address()),
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

    fn owner(&self, timer: B256) -> Option<SecretKey> {
        let timer = read(&self.w.chain.state, &TimerKey { timer })?;
        self.keys.iter().find(|key| key.address() == timer.actor).cloned()
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
        assert_eq!(timers.picture(), TimerIndex::load(state.entries()).picture());
    }
}
