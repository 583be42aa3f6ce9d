//! What is wrong with timers.

use super::common::World;
use super::{Case, Signed, case};
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::error::Refusal::*;
use remuda_protocol::key::{ChunkKey, SystemDeployersKey, TimerConfigKey, TimerKey, TimerLaneKey};
use remuda_protocol::primitives::{Amount, B256, Height, U256};
use remuda_protocol::state::{MemoryState, StateKey, read};
use remuda_protocol::timers::calendar::{BUCKET_TIMERS_MAX, EXPIRING_MAX};
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::record::{FEE_MAX, Timer};
use remuda_protocol::transaction::Instruction;

impl World {
    fn now(&self) -> Height {
        self.chain.height().plus(1)
    }

    /// A timer of the customer that nothing is wrong with, spoiled.
    fn spoiled_timer(&self, spoil: impl FnOnce(&mut ScheduleTimer)) -> Signed {
        let mut timer = ScheduleTimer { height: self.now().plus(5), ..ScheduleTimer::default() };
        spoil(&mut timer);
        self.signed(&self.customer(), Instruction::ScheduleTimer { timer })
    }

    /// A timer of the customer.
    fn some_timer(&mut self) -> B256 {
        let height = self.now().plus(5);
        self.schedule(&self.customer(), ScheduleTimer { height, ..ScheduleTimer::default() })
    }

    /// As many timers as may expire at a height, by hand.
    fn crowd_expiry(&mut self, expires_at: Height) {
        let timer = self.some_timer();
        let timer = read(&self.chain.state, &TimerKey { timer }).expect("it was scheduled");
        let actor = self.stranger().address();
        // Written by hand, without a deposit.
        let deposit = Amount::ZERO;
        let timer = Timer { expires_at, actor, deposit, ..timer }.to_bytes();
        let mut entries = self.chain.state.entries().clone();
        entries.put_sorted(
            (0..EXPIRING_MAX)
                .map(|n| (TimerKey { timer: B256::from(U256::from(n)) }.bytes(), timer.clone())),
        );
        self.chain.state = MemoryState::of(entries, &self.chain.params);
    }

    /// A system deployer: the stranger.
    fn appoint(&mut self) {
        self.set_record(&SystemDeployersKey {}, &vec![self.stranger().address()]);
    }

    fn extend(&self, timer: B256, expires_at: Height) -> Signed {
        self.signed(&self.customer(), Instruction::ExtendTimer { timer, expires_at })
    }

    fn configure(&self, spoil: impl FnOnce(&mut TimerConfig)) -> Signed {
        let mut config = TimerConfig::GENESIS;
        spoil(&mut config);
        self.signed(&self.stranger(), Instruction::UpdateTimerConfig { config })
    }
}

const TTL: u64 = TimerConfig::GENESIS.ttl_blocks_max;

pub(super) fn timer_cases() -> Vec<Case> {
    [schedule_cases(), change_cases(), system_cases()].into_iter().flatten().collect()
}

fn schedule_cases() -> Vec<Case> {
    vec![
        case(TimerArgDeprecated, "the withdrawn bid", |w| {
            w.spoiled_timer(|timer| timer.bid = Some(0))
        }),
        case(TimerInPast, "a timer for the block that schedules it", |w| {
            let now = w.now();
            w.spoiled_timer(|timer| timer.height = now)
        }),
        case(TimerInPast, "a timer for genesis", |w| {
            w.spoiled_timer(|timer| timer.height = Height(0))
        }),
        case(TimerBeyondTtl, "a timer that is due too late", |w| {
            let late = w.now().plus(TTL + 1);
            w.spoiled_timer(|timer| timer.height = late)
        }),
        case(TimerBeyondTtl, "a timer at the end of all heights", |w| {
            w.spoiled_timer(|timer| timer.height = Height(u64::MAX))
        }),
        case(TimerBeyondTtl, "a timer that expires too late", |w| {
            let late = w.now().plus(TTL + 1);
            w.spoiled_timer(|timer| timer.expires_at = Some(late))
        }),
        case(TimerExpiresBeforeDue, "a timer that expires before it is due", |w| {
            w.spoiled_timer(|timer| timer.expires_at = Some(timer.height.minus(1)))
        }),
        case(PayloadTooLarge, "a payload of a byte too many", |w| {
            w.spoiled_timer(|timer| timer.payload = Bytes(vec![0; 65_537]))
        }),
        case(TimerGasOutOfRange, "too little gas", |w| {
            w.spoiled_timer(|timer| timer.gas_limit = Some(999))
        }),
        case(TimerGasOutOfRange, "too much gas", |w| {
            w.spoiled_timer(|timer| timer.gas_limit = Some(250_001))
        }),
        case(TimerGasOutOfRange, "all the gas there is", |w| {
            w.spoiled_timer(|timer| timer.gas_limit = Some(u64::MAX))
        }),
        case(TimerCellsTooMany, "too many cells", |w| {
            w.spoiled_timer(|timer| timer.max_cells = Some(65_537))
        }),
        case(ForeignFeePayer, "somebody else pays", |w| {
            let payer = w.stranger().address();
            w.spoiled_timer(|timer| timer.fee_payer = Some(payer))
        }),
        case(ForeignFeePayer, "the treasury pays", |w| {
            w.spoiled_timer(|timer| timer.fee_payer = Some(remuda_protocol::system::TREASURY))
        }),
        case(ForeignAgent, "somebody else's code names the fees", |w| {
            let agent = w.stranger().address();
            w.spoiled_timer(|timer| timer.agent = Some(agent))
        }),
        case(ForeignAgent, "nobody names the fees", |w| {
            w.spoiled_timer(|timer| {
                timer.agent = Some(remuda_protocol::primitives::Address::repeat_byte(0xa9))
            })
        }),
        case(TimerFeeTooHigh, "a fee above all bounds", |w| {
            w.spoiled_timer(|timer| timer.max_fee_per_cycle = Some(FEE_MAX + 1))
        }),
        case(TimerFeeTooHigh, "a tip above all bounds", |w| {
            w.spoiled_timer(|timer| timer.max_priority_fee_per_cycle = Some(u128::MAX))
        }),
        case(TimerRejectedBelowBasefee, "a fee below the lane's basefee", |w| {
            w.spoiled_timer(|timer| timer.max_fee_per_cycle = Some(999))
        }),
        case(TimerRejectedBelowBasefee, "a basefee that has outgrown all fees", |w| {
            w.rewrite(&TimerLaneKey {}, |lane| lane.basefee = FEE_MAX + 1);
            w.spoiled_timer(|_| {})
        }),
        case(TooManyTimers, "a timer more than an actor may have", |w| {
            w.some_timer();
            w.set_record(
                &TimerConfigKey {},
                &TimerConfig { live_per_actor_max: 1, ..TimerConfig::GENESIS },
            );
            w.spoiled_timer(|_| {})
        }),
        case(HeightCrowded, "a height that is full", |w| {
            let places = vec![B256::ZERO; BUCKET_TIMERS_MAX as usize];
            w.set_record(&ChunkKey { height: w.now().plus(5), chunk: 0 }, &places);
            w.spoiled_timer(|_| {})
        }),
        case(ExpiryCrowded, "a height at which too many expire", |w| {
            w.crowd_expiry(w.now().plus(10));
            w.spoiled_timer(|timer| timer.expires_at = Some(timer.height.plus(4)))
        }),
    ]
}

fn change_cases() -> Vec<Case> {
    vec![
        case(UnknownTimer, "a timer that never was", |w| {
            let timer = B256::repeat_byte(9);
            w.signed(&w.customer(), Instruction::CancelTimer { timer })
        }),
        case(UnknownTimer, "a timer that is cancelled already", |w| {
            let timer = w.some_timer();
            w.ok(&w.customer(), Instruction::CancelTimer { timer });
            w.signed(&w.customer(), Instruction::CancelTimer { timer })
        }),
        case(UnknownTimer, "a timer that has fired", |w| {
            let timer = w.some_timer();
            w.step_to(w.now().plus(5));
            w.extend(timer, w.now().plus(5))
        }),
        case(NotYourTimer, "cancelling a timer of somebody else", |w| {
            let timer = w.some_timer();
            w.signed(&w.stranger(), Instruction::CancelTimer { timer })
        }),
        case(NotYourTimer, "extending a timer of somebody else", |w| {
            let timer = w.some_timer();
            let expires_at = w.now().plus(TTL);
            w.signed(&w.stranger(), Instruction::ExtendTimer { timer, expires_at })
        }),
        case(TimerBeyondTtl, "an extension beyond the longest life", |w| {
            let timer = w.some_timer();
            w.extend(timer, w.now().plus(TTL + 1))
        }),
        case(NotAnExtension, "an extension to an earlier height", |w| {
            let timer = w.some_timer();
            w.extend(timer, w.now())
        }),
        case(TimerHasExpired, "an extension that comes too late", |w| {
            let (height, key) = (w.now().plus(2), w.customer());
            let expires_at = Some(height);
            let timer =
                w.schedule(&key, ScheduleTimer { height, expires_at, ..Default::default() });
            // The lane is too dear for it, and nobody cleans up.
            w.rewrite(&TimerLaneKey {}, |lane| lane.basefee = 1_000_000);
            w.rewrite(&TimerConfigKey {}, |config| config.gc_cycles_per_block = 0);
            w.step_to(height.plus(2));
            w.extend(timer, w.now().plus(9))
        }),
    ]
}

fn system_cases() -> Vec<Case> {
    vec![
        case(NotSystemDeployer, "a system cancel on a chain without deployers", |w| {
            let timer = w.some_timer();
            w.signed(&w.stranger(), Instruction::SystemCancelTimer { timer })
        }),
        case(NotSystemDeployer, "a system extension by somebody else", |w| {
            w.appoint();
            let timer = w.some_timer();
            let expires_at = w.now().plus(9);
            w.signed(&w.customer(), Instruction::SystemExtendTimer { timer, expires_at })
        }),
        case(NotSystemDeployer, "a configuration by somebody else", |w| w.configure(|_| {})),
        case(UnknownTimer, "a system cancel of no timer", |w| {
            w.appoint();
            let timer = B256::ZERO;
            w.signed(&w.stranger(), Instruction::SystemCancelTimer { timer })
        }),
        case(BadTimerConfig, "a cap on gas above the lane's eighth", |w| {
            w.appoint();
            w.configure(|config| config.gas_limit_max = 250_001)
        }),
        case(BadTimerConfig, "no time to live", |w| {
            w.appoint();
            w.configure(|config| config.ttl_blocks_max = 0)
        }),
        case(BadTimerConfig, "no cleaning", |w| {
            w.appoint();
            w.configure(|config| config.gc_cycles_per_block = 0)
        }),
        case(BadTimerConfig, "payloads without bounds", |w| {
            w.appoint();
            w.configure(|config| config.payload_bytes_max = u32::MAX)
        }),
    ]
}
