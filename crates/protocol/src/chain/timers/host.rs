//! The host calls for timers (CIP-1 §6) and the system instructions 48–50 (§12).
//!
//! When a timer is scheduled, the price of the call itself and the deposit for its records are taken;
//! the cost of a fire is taken when it fires. The deposit goes back to the timer's actor when it ends,
//! before its handler runs. A call that is refused changes nothing.

use super::calendar::Ends;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256, Height};
use crate::chain::execute::Exec;
use crate::rules::deposit::RECORD_BYTES;
use crate::rules::event::Event;
use crate::rules::key::{
    ActorKey, SystemDeployersKey, TimerConfigKey, TimerCounterKey, TimerKey, TimerLaneKey,
    TimerPayloadKey,
};
use crate::rules::timers::agents::default_bid;
use crate::rules::timers::config::TimerConfig;
use crate::rules::timers::host::{GAS_LIMIT_DEFAULT, MAX_CELLS_DEFAULT, ScheduleTimer};
use crate::rules::timers::order::GAS_LIMIT_MIN;
use crate::rules::timers::record::{FEE_MAX, Payload, Timer, TimerLane, timer_id};

impl Exec<'_> {
    pub(crate) fn timer_config(&self) -> TimerConfig {
        self.state.get(&TimerConfigKey {}).unwrap_or_default()
    }

    pub(crate) fn timer_lane(&self) -> TimerLane {
        self.state.get(&TimerLaneKey {}).unwrap_or_default()
    }

    /// Schedules a timer of `actor`, which `sender` had it do.
    pub(crate) fn schedule_timer(
        &mut self,
        actor: Address,
        sender: Address,
        call: &ScheduleTimer,
    ) -> Result<B256, Refusal> {
        let config = self.timer_config();
        let (mut timer, stated) = self.checked(actor, sender, call, &config)?;
        if self.timers.live_of(actor) >= config.live_per_actor_max {
            return Err(Refusal::TooManyTimers);
        }
        self.check_height(timer.due)?;
        self.check_expiry(timer.expires_at)?;
        let key = TimerCounterKey { actor };
        let counter = self.state.get(&key).unwrap_or_default();
        let id = timer_id(actor, timer.due, &call.payload, counter);
        timer.deposit = self.deposit_for(RECORD_BYTES + call.payload.len() as u64);
        self.hold(actor, timer.deposit);
        self.file(id, &timer);
        self.state.put(&key, &(counter + 1));
        self.state.put(&TimerKey { timer: id }, &timer);
        if timer.payload.is_apart() {
            self.state.put(&TimerPayloadKey { timer: id }, &call.payload);
        }
        let Timer { due, expires_at, max_priority_fee: clamped, .. } = timer;
        self.emit(Event::TimerScheduled { timer: id, actor, due, expires_at });
        if stated > clamped {
            self.emit(Event::TimerPriorityClampedAtSchedule { timer: id, stated, clamped });
        }
        Ok(id)
    }

    /// The timer that a call asks for, and the tip that it stated. In the order of the codes.
    fn checked(
        &self,
        actor: Address,
        sender: Address,
        call: &ScheduleTimer,
        config: &TimerConfig,
    ) -> Result<(Timer, u128), Refusal> {
        if call.bid.is_some() {
            return Err(Refusal::TimerArgDeprecated);
        }
        // Same-block prohibition (CIP-1 §4): this block's timers run after its transactions.
        if call.height <= self.env.height {
            return Err(Refusal::TimerInPast);
        }
        let latest = self.env.height.plus(config.ttl_blocks_max);
        let expires_at = call.expires_at.unwrap_or(latest);
        if call.height > latest || expires_at > latest {
            return Err(Refusal::TimerBeyondTtl);
        }
        if expires_at < call.height {
            return Err(Refusal::TimerExpiresBeforeDue);
        }
        if call.payload.len() > config.payload_bytes_max as usize {
            return Err(Refusal::PayloadTooLarge);
        }
        // What does not fit into the whole lane would wait until it expires.
        let gas_cap = config.gas_limit_max.min(self.params.lane_timer);
        let gas_limit = call.gas_limit.unwrap_or(GAS_LIMIT_DEFAULT.min(gas_cap));
        if !(GAS_LIMIT_MIN..=gas_cap).contains(&gas_limit) {
            return Err(Refusal::TimerGasOutOfRange);
        }
        let max_cells = call.max_cells.unwrap_or(MAX_CELLS_DEFAULT.min(config.cells_max));
        if max_cells > config.cells_max {
            return Err(Refusal::TimerCellsTooMany);
        }
        let fee_payer = call.fee_payer.unwrap_or(actor);
        if fee_payer != actor && fee_payer != sender {
            return Err(Refusal::ForeignFeePayer);
        }
        if call.agent.is_some_and(|agent| !self.may_bid_for(agent, actor)) {
            return Err(Refusal::ForeignAgent);
        }
        let lane = self.timer_lane();
        let usual = default_bid(lane.basefee, lane.median_tip);
        let max_fee = call.max_fee_per_cycle.unwrap_or(usual.max_fee_per_cycle.min(FEE_MAX));
        let stated = call
            .max_priority_fee_per_cycle
            .unwrap_or(usual.max_priority_fee_per_cycle.min(FEE_MAX));
        if max_fee > FEE_MAX || stated > FEE_MAX {
            return Err(Refusal::TimerFeeTooHigh);
        }
        let room = max_fee.checked_sub(lane.basefee).ok_or(Refusal::TimerRejectedBelowBasefee)?;
        let timer = Timer {
            actor,
            due: call.height,
            expires_at,
            fee_payer,
            gas_limit,
            max_cells,
            max_fee,
            max_priority_fee: stated.min(room),
            agent: call.agent,
            deposit: Amount::ZERO,
            payload: Payload::new(&call.payload),
        };
        Ok((timer, stated))
    }

    /// Agents name the fees that another's money pays: they belong to whom the actor belongs to (CIP-1 §7).
    fn may_bid_for(&self, agent: Address, actor: Address) -> bool {
        let owner = |actor| self.state.get(&ActorKey { actor }).map(|record| record.owner);
        agent == actor || owner(agent).is_some_and(|whose| whose == owner(actor).unwrap_or(actor))
    }

    fn own_timer(&self, actor: Address, id: B256) -> Result<Timer, Refusal> {
        let timer = self.state.get(&TimerKey { timer: id }).ok_or(Refusal::UnknownTimer)?;
        if timer.actor == actor { Ok(timer) } else { Err(Refusal::NotYourTimer) }
    }

    pub(crate) fn cancel_timer(&mut self, actor: Address, id: B256) -> Result<(), Refusal> {
        let timer = self.own_timer(actor, id)?;
        self.cancel(id, &timer, actor);
        Ok(())
    }

    fn cancel(&mut self, id: B256, timer: &Timer, by: Address) {
        if let Some(entry) = self.due_entry(id, timer) {
            self.timers.remove(&entry);
        }
        let mut ends = Ends::default();
        ends.note(id, timer);
        self.settle_ends(&mut ends);
        self.give_back(timer.actor, timer.deposit);
        self.emit(Event::TimerCancelled { timer: id, actor: timer.actor, by });
    }

    pub(crate) fn extend_timer(
        &mut self,
        actor: Address,
        id: B256,
        expires_at: Height,
    ) -> Result<(), Refusal> {
        let timer = self.own_timer(actor, id)?;
        self.extend(id, timer, expires_at)
    }

    fn extend(&mut self, id: B256, timer: Timer, expires_at: Height) -> Result<(), Refusal> {
        if timer.expires_at < self.env.height {
            return Err(Refusal::TimerHasExpired);
        }
        if expires_at > self.env.height.plus(self.timer_config().ttl_blocks_max) {
            return Err(Refusal::TimerBeyondTtl);
        }
        if expires_at <= timer.expires_at {
            return Err(Refusal::NotAnExtension);
        }
        self.check_expiry(expires_at)?;
        self.timers.note_expiry(timer.expires_at, expires_at);
        if let Some(entry) = self.due_entry(id, &timer) {
            self.timers.extend(&entry, expires_at);
        }
        self.state.put(&TimerKey { timer: id }, &Timer { expires_at, ..timer });
        self.emit(Event::TimerExtended { timer: id, expires_at });
        Ok(())
    }

    fn only_system_deployers(&self, who: Address) -> Result<(), Refusal> {
        if self.is_system_deployer(who) { Ok(()) } else { Err(Refusal::NotSystemDeployer) }
    }

    pub(crate) fn is_system_deployer(&self, who: Address) -> bool {
        let deployers = self.state.get(&SystemDeployersKey {}).unwrap_or_default();
        deployers.contains(&who)
    }

    pub(crate) fn system_cancel_timer(&mut self, who: Address, id: B256) -> Result<(), Refusal> {
        self.only_system_deployers(who)?;
        let timer = self.state.get(&TimerKey { timer: id }).ok_or(Refusal::UnknownTimer)?;
        self.cancel(id, &timer, who);
        Ok(())
    }

    pub(crate) fn system_extend_timer(
        &mut self,
        who: Address,
        id: B256,
        expires_at: Height,
    ) -> Result<(), Refusal> {
        self.only_system_deployers(who)?;
        let timer = self.state.get(&TimerKey { timer: id }).ok_or(Refusal::UnknownTimer)?;
        self.extend(id, timer, expires_at)
    }

    pub(crate) fn update_timer_config(
        &mut self,
        who: Address,
        config: &TimerConfig,
    ) -> Result<(), Refusal> {
        self.only_system_deployers(who)?;
        config.validate()?;
        self.timers.set_gas_cap(config.gas_limit_max);
        self.state.put(&TimerConfigKey {}, config);
        self.emit(Event::TimerConfigUpdated { config: *config });
        Ok(())
    }
}
