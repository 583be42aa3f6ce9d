//! Actors whose code is a Rust function, and small helpers.

use crate::timers::common::{World, calm};
use remuda_protocol::actors::host::Host;
use remuda_protocol::actors::{Actors, Argument, Call, Ended};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::key::{TimerConfigKey, TimerKey, TimerLaneKey};
use remuda_protocol::primitives::{Address, B256, Height};
use remuda_protocol::state::{View, read};
use remuda_protocol::timers::agents::{AgentFault, BidAnswer, GbaContext, TimerCall};
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::record::{Timer, TimerLane};

/// Code that a test gives: what handlers do, what agents answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scripted {
    pub(crate) handler: fn(&mut Host<'_, '_>, &TimerCall) -> Result<(), Refusal>,
    pub(crate) agent: fn(&GbaContext) -> BidAnswer,
}

impl Default for Scripted {
    fn default() -> Self {
        Self {
            handler: |host, call| host.charge(call.gas_limit / 2, 0),
            agent: |_| BidAnswer { cycles: 0, bid: Err(AgentFault::NoCode) },
        }
    }
}

impl Actors for Scripted {
    fn has_code(&self, _: &dyn View, _: Address) -> bool {
        true
    }

    fn call(&self, host: &mut Host<'_, '_>, call: &Call<'_>) -> Result<Ended, Refusal> {
        let Argument::Timer(timer) = call.argument else { return Err(Refusal::UnknownMethod) };
        (self.handler)(host, timer).map(|()| Ended::Returned(Vec::new()))
    }

    fn gas_bid(&self, _: &dyn View, _: Address, context: &GbaContext) -> BidAnswer {
        (self.agent)(context)
    }
}

/// A chain without runners on which code runs.
pub(crate) fn world(actors: Scripted) -> World {
    let mut world = World::new(calm(), 0);
    world.chain.actors = Box::leak(Box::new(actors));
    world
}

impl World {
    pub(crate) fn lane(&self) -> TimerLane {
        read(&self.chain.state, &TimerLaneKey {}).unwrap()
    }

    pub(crate) fn timer(&self, timer: B256) -> Option<Timer> {
        read(&self.chain.state, &TimerKey { timer })
    }

    /// The height of the next block.
    pub(crate) fn next(&self) -> Height {
        self.chain.height().plus(1)
    }

    /// A lane of this basefee, by hand.
    pub(crate) fn price_lane(&mut self, basefee: u128) {
        self.rewrite(&TimerLaneKey {}, |lane| lane.basefee = basefee);
    }

    /// A cleaning lane of so many cycles, by hand.
    pub(crate) fn clean_with(&mut self, cycles: u64) {
        self.rewrite(&TimerConfigKey {}, |config| config.gc_cycles_per_block = cycles);
    }

    /// Schedules several timers in one block.
    pub(crate) fn schedule_all(
        &mut self,
        timers: impl IntoIterator<Item = (SecretKey, ScheduleTimer)>,
    ) -> Vec<B256> {
        let sent: Vec<_> = timers
            .into_iter()
            .map(|(key, timer)| self.chain.send(&key, Instruction::ScheduleTimer { timer }))
            .collect();
        self.chain.step();
        let scheduled = |hash| {
            let receipt = self.chain.receipt(hash).expect("there was room");
            assert_eq!(receipt.code, 0);
            receipt.events.iter().find_map(|event| match event {
                Event::TimerScheduled { timer, .. } => Some(*timer),
                _ => None,
            })
        };
        sent.into_iter().map(|hash| scheduled(hash).unwrap()).collect()
    }
}

use remuda_protocol::transaction::Instruction;

/// A timer due at a height, everything else by default.
pub(crate) fn at(height: Height) -> ScheduleTimer {
    ScheduleTimer { height, ..ScheduleTimer::default() }
}

/// Timers that fired, in order.
pub(crate) fn fired(events: &[Event]) -> Vec<B256> {
    let fired = events.iter().filter_map(|event| match event {
        Event::TimerFired { timer, .. } => Some(*timer),
        _ => None,
    });
    fired.collect()
}

/// The name of the event with which a timer ended.
pub(crate) fn end_of(event: &Event) -> Option<(B256, &'static str)> {
    match event {
        Event::TimerFired { timer, .. }
        | Event::TimerExpired { timer, .. }
        | Event::TimerCancelledInsufficientFunds { timer, .. }
        | Event::TimerCancelled { timer, .. } => Some((*timer, event.name())),
        _ => None,
    }
}
