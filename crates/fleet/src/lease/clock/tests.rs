use super::*;
use proptest::prelude::*;

const PATIENCE: Duration = Duration::from_secs(2);
const PATIENCE_MS: u64 = 2_000;
const TTL_SECONDS: u32 = 3;
const TTL_MS: u64 = 3_000;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// So long after the last observation, something is decided and kept.
    Heard(u64),
    /// The same, and it is a heartbeat of the worker.
    Beat(u64),
    /// Something is decided, more so much later, and then the write fails that has taken so long.
    Failed(u64, u64, u64),
    /// Something is decided and kept, after a write that took so long.
    Slow(u64, u64),
    /// The process, its machine or its database stood still, or the clock leapt: nothing is decided for so long.
    Gap(u64),
    /// Asked for before the last decision, and decided after it.
    Late(u64),
    /// Of a database: the clock was set back.
    SetBack(u64),
    /// The orchestrator was away, by a clock that may be another one now.
    Restart(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let soon = || 0..=PATIENCE_MS;
    prop_oneof![
        8 => soon().prop_map(Step::Heard),
        2 => soon().prop_map(Step::Beat),
        2 => (soon(), soon(), 0..60_000_u64).prop_map(|(after, ahead, took)| Step::Failed(after, ahead, took)),
        2 => (soon(), 500..60_000_u64).prop_map(|(after, took)| Step::Slow(after, took)),
        2 => (PATIENCE_MS + 1..100_000_000).prop_map(Step::Gap),
        1 => soon().prop_map(Step::Late),
        1 => (PATIENCE_MS + 1..100_000_000).prop_map(Step::SetBack),
        1 => (-100_000_000..100_000_000_i64).prop_map(Step::Restart),
    ]
}

/// A store, and what really happened.
struct World {
    clock: LeaseClock,
    written: WrittenClock,
    /// With the last row that changed: what is there after a crash.
    disk: LeaseClock,
    lease: Deadline,
    /// Time in which the store accepted heartbeats, since the worker's last one and since the last start.
    silent_ms: u64,
    started_ms: u64,
    /// Outage time since the last heartbeat, and the number of outages.
    unheard_ms: u64,
    gaps: u64,
}

impl World {
    fn new() -> Self {
        let mut clock = LeaseClock::default();
        clock.start(Millis(1_000_000_000_000));
        let written = WrittenClock::new(clock);
        let lease = Deadline::after(clock.lease, TTL_SECONDS);
        Self {
            clock,
            written,
            disk: clock,
            lease,
            silent_ms: 0,
            started_ms: 0,
            unheard_ms: 0,
            gaps: 0,
        }
    }

    fn after(&self, millis: u64) -> Millis {
        Millis(self.clock.wall.0 + millis)
    }

    fn heard(&mut self, millis: u64) {
        self.clock.observe(self.after(millis), PATIENCE);
        self.written.wrote(self.clock);
        self.silent_ms += millis;
        self.started_ms += millis;
    }

    fn unheard(&mut self, millis: u64) {
        self.unheard_ms += millis;
        self.gaps += 1;
    }

    fn step(&mut self, step: Step) {
        let before = self.clock;
        match step {
            Step::Heard(millis) => self.heard(millis),
            Step::Beat(millis) => {
                self.heard(millis);
                if self.lease.end(&self.clock, TTL_SECONDS) > self.clock.lease {
                    self.lease = Deadline::after(self.clock.lease, TTL_SECONDS);
                    (self.silent_ms, self.unheard_ms, self.gaps) = (0, 0, 0);
                }
                self.disk = self.clock;
            }
            Step::Failed(after, ahead, took) => {
                self.clock.observe(self.after(after), PATIENCE);
                let until = self.after(took);
                self.clock.observe(self.after(ahead), PATIENCE);
                self.clock = self.written.failed(until.max(self.clock.wall));
                assert!(self.written.must_write());
                self.unheard(self.clock.wall.0 - before.wall.0);
            }
            Step::Slow(after, took) => {
                self.heard(after);
                self.clock.lost(self.after(took));
                self.written.wrote(self.clock);
                self.unheard(took);
            }
            Step::Gap(millis) => {
                self.clock.observe(self.after(millis), PATIENCE);
                self.written.wrote(self.clock);
                self.unheard(millis);
            }
            Step::Late(millis) => {
                self.clock.observe(Millis(before.wall.0 - millis), PATIENCE);
                assert_eq!(self.clock, before);
            }
            Step::SetBack(millis) => {
                self.clock.follow(Millis(before.wall.0.saturating_sub(millis)), PATIENCE);
                assert_eq!(self.clock.lease, before.lease, "nothing passes");
                self.written.wrote(self.clock);
            }
            Step::Restart(clock) => {
                self.clock = self.disk;
                self.clock.start(Millis(before.wall.0.saturating_add_signed(clock)));
                self.written = WrittenClock::new(self.clock);
                self.started_ms = 0;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_lease_lasts_one_ttl_of_service_time_and_one_grace_per_restart(
        steps in proptest::collection::vec(step(), 1..80)
    ) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            let end = world.lease.end(&world.clock, TTL_SECONDS);
            let over = end <= world.clock.lease;
            // Of each gap a token counts.
            let tokens = (world.unheard_ms / TOKEN_DIVISOR).min(world.gaps * TOKEN_MS_MAX);
            if over {
                let heard = world.silent_ms + tokens;
                prop_assert!(heard >= TTL_MS, "{step:?}: it ended after {heard} ms");
                break;
            }
            let silent = world.silent_ms.min(world.started_ms);
            prop_assert!(silent < TTL_MS, "{step:?}: it lives after {silent} ms");
        }
    }

    #[test]
    fn every_gap_is_credited_once(steps in proptest::collection::vec(step(), 1..80)) {
        let mut world = World::new();
        for step in steps {
            let before = world.clock;
            world.step(step);
            let (wall, lease) = (world.clock.wall.0.abs_diff(before.wall.0), world.clock.lease);
            let passed = match step {
                Step::Heard(millis) | Step::Beat(millis) => millis,
                Step::Failed(..) | Step::Gap(_) => token(wall),
                Step::Slow(after, took) => after + token(took),
                Step::Late(_) | Step::SetBack(_) => 0,
                // A restart continues from the last written clock: it may lose time, but credits none.
                Step::Restart(_) => {
                    prop_assert!(lease <= LeaseTime(before.lease.0 + 1));
                    continue;
                }
            };
            prop_assert_eq!(lease.0 - before.lease.0, passed, "{:?}", step);
        }
    }
}

/// A disk on which every second write fails, and a process that stands still again and again.
#[test]
fn a_dead_workers_lease_ends_even_under_constant_outages() {
    for step in [Step::Failed(1_000, 0, 0), Step::Gap(3_000), Step::Slow(0, 1_000)] {
        let mut world = World::new();
        let steps = (0..).take_while(|_| {
            world.step(step);
            world.lease.end(&world.clock, TTL_SECONDS) > world.clock.lease
        });
        assert!(steps.count() < 30, "{step:?}");
    }
}

#[test]
fn a_start_gives_one_ttl_to_what_was_set_before_and_none_to_what_comes_after() {
    let mut clock = LeaseClock::default();
    clock.start(Millis(1_000));
    let before = Deadline::after(clock.lease, 1);
    clock.observe(Millis(2_000), PATIENCE);
    assert!(before.end(&clock, TTL_SECONDS) <= clock.lease, "it is over");
    clock.start(Millis(500_000));
    clock.start(Millis(400_000));
    assert_eq!(clock.lease, LeaseTime(1_001), "a start without time between changes nothing");
    assert_eq!(before.end(&clock, TTL_SECONDS), clock.lease.plus_seconds(TTL_SECONDS));
    let after = Deadline::after(clock.lease, 1);
    assert_eq!(after.end(&clock, TTL_SECONDS), clock.lease.plus_seconds(1));
}

#[test]
fn times_are_shown_on_the_stores_clock() {
    let clock = LeaseClock { wall: Millis(10_000), lease: LeaseTime(400), resumed: LeaseTime(1) };
    assert_eq!(clock.wall_at(LeaseTime(900)), Millis(10_500));
    assert_eq!(clock.wall_at(LeaseTime(0)), Millis(9_600));
}
