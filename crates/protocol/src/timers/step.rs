//! The end-of-block step of timers (CIP-1 §3, SPEC §8).
//!
//! ```text
//! bucket of this height → due        expired before this height → out of the lane
//! cleaning lane: expired timers, first expired first
//! agents: at most 256, greatest stored max_fee first
//! timer lane: in order, until nothing that waits fits
//!     payer cannot pay → cleaned away, or passed over if the cleaning lane is used up
//!     otherwise        → take max_cost, call the handler, give back what it did not use
//! fairness counters, the next basefee, the median tip
//! ```
//! What is not reached stays where it is: deferring costs nothing.

use super::agents::{AgentFault, GBA_CALLS_PER_BLOCK, GBA_CYCLES, GbaContext, TimerCall};
use super::calendar::Ends;
use super::fairness::FAIRNESS_WINDOW_BLOCKS;
use super::lane::next_basefee_of;
use super::order::{GAS_LIMIT_MIN, Lane};
use super::record::{FEE_MAX, Timer, TimerLane};
use super::search::Search;
use super::tree::Entry;
use crate::account::Account;
use crate::error::Refusal;
use crate::event::Event;
use crate::execute::Exec;
use crate::fees::cost;
use crate::key::{AccountKey, FiresKey, TimerKey, TimerLaneKey, TimerPayloadKey};
use crate::primitives::{Address, Amount, B256, Cells, Cycles, Height};
use std::collections::{BTreeMap, BTreeSet};

/// What a fire consumes at least: finding the timer, moving the money, calling. It also bounds the
/// fires of a block.
pub const FIRE_CYCLES: u64 = GAS_LIMIT_MIN;
/// Price of removing a timer in the cleaning lane.
pub const GC_REMOVAL_CYCLES: u64 = 500;
/// Timers of payers who cannot pay that a block passes over once the cleaning lane is used up.
pub const PASSES_PER_BLOCK: u32 = 1_024;

/// A block's step while it runs.
struct Step {
    was: TimerLane,
    lane: Lane,
    cells: u64,
    gas_cap: u64,
    cleaning_left: u64,
    passed: u32,
    fires: BTreeMap<Address, u32>,
    /// Priority of each fire.
    priorities: Vec<u64>,
    tips: Amount,
    /// Payers whose balances are not written yet.
    payers: BTreeMap<Address, Account>,
    ends: Ends,
    /// What fired or was cleaned away from the lane; the index follows at the end.
    ended: Vec<Entry>,
}

impl Step {
    /// Cycles of the cleaning lane for one removal, if there are any left.
    fn clean(&mut self) -> bool {
        let left = self.cleaning_left.checked_sub(GC_REMOVAL_CYCLES);
        self.cleaning_left = left.unwrap_or(self.cleaning_left);
        left.is_some()
    }

    /// Counts a fire.
    fn count(&mut self, actor: Address, priority: u64, used: (u64, u64), tip: Amount) {
        self.lane.consume(used.0);
        self.cells += used.1;
        *self.fires.entry(actor).or_default() += 1;
        self.priorities.push(priority);
        self.tips = Amount(self.tips.get() + tip.get());
    }
}

/// What a fire pays for.
struct Price {
    /// Both basefees of a cycle.
    base: u128,
    /// Per cycle.
    tip: u128,
    cell: u128,
}

impl Price {
    /// What a fire costs at most.
    fn max_cost(&self, entry: &Entry) -> Option<Amount> {
        let cycle = self.base.saturating_add(self.tip);
        cost(entry.gas_limit, cycle)?.plus(cost(entry.max_cells, self.cell)?)
    }

    /// What is burned and what is tipped; not more than the maximum in sum.
    fn parts(&self, cycles: u64, cells: u64) -> (Amount, Amount) {
        let base = [cost(cycles, self.base), cost(cells, self.cell)].into_iter().flatten().sum();
        (base, cost(cycles, self.tip).unwrap_or_default())
    }
}

impl Exec<'_> {
    /// Everything that timers do in a block.
    pub(crate) fn run_timers(&mut self) {
        let config = self.timer_config();
        let fires_max = self.timers.waiting().min((self.params.lane_timer / FIRE_CYCLES) as usize);
        let mut step = Step {
            was: self.timer_lane(),
            lane: Lane::with_limit(self.params.lane_timer),
            cells: 0,
            gas_cap: config.gas_limit_max,
            cleaning_left: config.gc_cycles_per_block,
            passed: 0,
            fires: BTreeMap::new(),
            priorities: Vec::with_capacity(fires_max),
            tips: Amount::ZERO,
            payers: BTreeMap::new(),
            ends: Ends::default(),
            ended: Vec::with_capacity(fires_max),
        };
        self.take_in_due();
        self.timers.expire(self.env.height);
        self.collect_expired(&mut step);
        self.fill_timer_lane(&mut step);
        self.close_timer_lane(step);
    }

    fn collect_expired(&mut self, step: &mut Step) {
        while let Some(id) = self.timers.first_expired() {
            if !step.clean() {
                return;
            }
            let timer =
                self.state.get(&TimerKey { timer: id }).expect("the index follows the state");
            self.timers.forget_expired(id, timer.expires_at);
            step.ends.note(id, &timer);
            self.emit(Event::TimerExpired { timer: id, actor: timer.actor });
        }
    }

    fn fill_timer_lane(&mut self, step: &mut Step) {
        // Handlers may change what waits; the order is that of the moment when filling began.
        let index = self.timers.clone();
        let basefee = u64::try_from(step.was.basefee).unwrap_or(u64::MAX);
        let mut search = index.search(basefee);
        let asked: Vec<Entry> = index.with_agent().take(GBA_CALLS_PER_BLOCK).copied().collect();
        if !asked.is_empty() {
            self.write_down(step);
        }
        let asked = self.ask_agents(&asked, step, &mut search);
        loop {
            let room = step.lane.room().min(step.gas_cap);
            if room < GAS_LIMIT_MIN {
                return;
            }
            let Some(candidate) = search.next(room) else { return };
            if !candidate.priced && asked.contains(&candidate.entry.id) {
                continue;
            }
            let Some(entry) = self.as_it_is_now(candidate.entry) else { continue };
            if self.offer_lane(&entry, candidate.priority, step) {
                step.ended.push(entry);
            }
            if step.passed >= PASSES_PER_BLOCK {
                return;
            }
        }
    }

    /// A due timer after what was done in this block: a handler before it may have extended or
    /// cancelled it. What was not written is as the index has it.
    fn as_it_is_now(&self, entry: &Entry) -> Option<Entry> {
        match self.state.written(&TimerKey { timer: entry.id }) {
            None => Some(*entry),
            Some(timer) => timer.map(|timer| timer.entry(entry.id, entry.lot)),
        }
    }

    /// Fires a timer, or finds that its payer cannot pay. Whether the timer has ended.
    fn offer_lane(&mut self, entry: &Entry, priority: u64, step: &mut Step) -> bool {
        let price = Price {
            base: self.basefees.cycle.saturating_add(step.was.basefee),
            tip: u128::from(priority),
            cell: self.basefees.cell,
        };
        let payer = step.payers.get(&entry.fee_payer).cloned();
        let mut payer = payer.unwrap_or_else(|| self.account(entry.fee_payer));
        let deposit = price.max_cost(entry);
        let Some((deposit, left)) = deposit.and_then(|d| Some((d, payer.balance.minus(d)?))) else {
            if !step.clean() {
                step.passed += 1;
                return false;
            }
            step.ends.note_entry(entry);
            let (timer, actor, payer) = (entry.id, entry.actor, entry.fee_payer);
            self.emit(Event::TimerCancelledInsufficientFunds { timer, actor, payer });
            return true;
        };
        payer.balance = left;
        let (code, cycles, cells) = if self.actors.has_code(&self.state, entry.actor) {
            step.payers.insert(entry.fee_payer, payer);
            let used = self.run_handler(entry, step);
            payer = self.account(entry.fee_payer);
            used
        } else {
            step.ends.note_entry(entry);
            (Refusal::NoCode.code(), FIRE_CYCLES, 0)
        };
        let (burned, tip) = price.parts(cycles, cells);
        let fee = Amount(burned.get() + tip.get());
        payer.balance = Amount(payer.balance.get() + (deposit.get() - fee.get()));
        step.payers.insert(entry.fee_payer, payer);
        self.burn(burned);
        step.count(entry.actor, priority, (cycles, cells), tip);
        let (timer, actor) = (entry.id, entry.actor);
        self.emit(Event::TimerFired { timer, actor, code, cycles, cells, fee });
        true
    }

    /// Writes what code may look at: the payers' money, and that what ended is gone.
    fn write_down(&mut self, step: &mut Step) {
        for (address, account) in core::mem::take(&mut step.payers) {
            self.state.put(&AccountKey { address }, &account);
        }
        self.remove_ended(&mut step.ends);
    }

    /// Ends a timer and calls its actor.
    fn run_handler(&mut self, entry: &Entry, step: &mut Step) -> (u16, u64, u64) {
        let Entry { id: timer, actor, due, fee_payer, gas_limit, max_cells, .. } = *entry;
        let payload = match entry.payload_bytes {
            0 => Vec::new(),
            _ => self.state.get(&TimerPayloadKey { timer }).unwrap_or_default().0,
        };
        step.ends.note_entry(entry);
        self.write_down(step);
        let due = Height(due);
        let call = TimerCall { timer, actor, due, payload, gas_limit, max_cells };
        self.call_handler(&call, fee_payer)
    }

    /// Runs a handler within its limits; how it ended and what it consumed.
    fn call_handler(&mut self, call: &TimerCall, payer: Address) -> (u16, u64, u64) {
        let (gas_limit, max_cells) = (call.gas_limit, call.max_cells);
        let (result, left) = self.metered(gas_limit, max_cells, |exec| {
            exec.charge(FIRE_CYCLES, 0)?;
            exec.call_timer(payer, call)
        });
        if result.is_err() {
            self.tell_fault();
        }
        let code = result.map_or_else(|refusal| refusal.code(), |()| 0);
        (code, gas_limit - left.0, max_cells - left.1)
    }

    /// Asks the agents of some timers for this block's fees. Returns the timers whose own fees no
    /// longer count; they are in the search at their new priority, unless that is none.
    fn ask_agents<'e>(
        &mut self,
        asked: &'e [Entry],
        step: &Step,
        search: &mut Search<'e>,
    ) -> BTreeSet<B256> {
        let mut priced = BTreeSet::new();
        for entry in asked {
            let Some(timer) = self.state.get(&TimerKey { timer: entry.id }) else { continue };
            let Some(agent) = timer.agent else { continue };
            match self.ask_agent(agent, &timer, step) {
                Ok(bid) => {
                    priced.insert(entry.id);
                    let spare = bid.0.checked_sub(step.was.basefee);
                    if let Some(priority) = spare.map(|spare| spare.min(bid.1)) {
                        let weight = self.timers.recent().weight(&entry.actor);
                        // Not above FEE_MAX, which fits.
                        search.add_priced(entry, priority as u64, weight);
                    }
                }
                Err(fault) => {
                    let (timer, code) = (entry.id, fault.code());
                    self.emit(Event::GasBidFailed { timer, agent, code });
                }
            }
        }
        priced
    }

    /// One call of an agent, paid by the timer's payer at the cycle basefee.
    fn ask_agent(
        &mut self,
        agent: Address,
        timer: &Timer,
        step: &Step,
    ) -> Result<(u128, u128), AgentFault> {
        let affordable = cost(GBA_CYCLES, self.basefees.cycle)
            .is_some_and(|most| most <= self.account(timer.fee_payer).balance);
        if !affordable {
            return Err(AgentFault::OutOfCycles);
        }
        let context = GbaContext {
            trigger_block_height: timer.due.get(),
            current_block_height: self.env.height.get(),
            basefee_cycle: self.basefees.cycle,
            basefee_cell: self.basefees.cell,
            basefee_lane_timer: step.was.basefee,
            last_block_cycle_usage: step.was.block_cycles,
            previous_block_p50_priority_tip_per_cycle: step.was.median_tip,
            owner_actor_balance: self.account(timer.actor).balance.get(),
        };
        let answer = self.actors.gas_bid(&self.state, agent, &context);
        let fee = cost(answer.cycles.min(GBA_CYCLES), self.basefees.cycle).unwrap_or_default();
        if self.debit(timer.fee_payer, fee).is_ok() {
            self.burn(fee);
        }
        if answer.cycles > GBA_CYCLES {
            return Err(AgentFault::OutOfCycles);
        }
        let bid = answer.bid?;
        let bid = (bid.max_fee_per_cycle, bid.max_priority_fee_per_cycle);
        if bid.0 > FEE_MAX || bid.1 > FEE_MAX { Err(AgentFault::BadBid) } else { Ok(bid) }
    }

    /// Counts what fired, pays the proposer, prices the next block's lane.
    fn close_timer_lane(&mut self, mut step: Step) {
        self.write_down(&mut step);
        let Step { was, lane, cells, fires, mut priorities, tips, ends, ended, .. } = step;
        self.settle_ends(ends);
        self.credit(self.env.fee_recipient, tips);

        let height = self.env.height;
        let fired: Vec<(Address, u32)> = fires.into_iter().collect();
        if !fired.is_empty() {
            self.state.put(&FiresKey { height }, &fired);
        }
        // The next block's window is the 1,000 blocks up to this one.
        let oldest = height.get().checked_sub(FAIRNESS_WINDOW_BLOCKS);
        let key = oldest.map(|height| FiresKey { height: height.into() });
        let left = key.as_ref().and_then(|key| self.state.get(key)).unwrap_or_default();
        if let Some(key) = key.filter(|_| !left.is_empty()) {
            self.state.remove(&key);
        }
        self.timers.close(&ended, &fired, &left);

        self.used.cycles = Cycles(self.used.cycles.get() + lane.used());
        self.used.cells = Cells(self.used.cells.get() + cells);
        priorities.sort_unstable();
        let median_tip =
            priorities.get(priorities.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let quotient = self.params.lane_adjustment_quotient;
        let next = TimerLane {
            // A basefee that does not fit any more stays as it is.
            basefee: next_basefee_of(lane.limit(), was.basefee, lane.used(), quotient)
                .unwrap_or(was.basefee),
            median_tip: u128::from(median_tip),
            block_cycles: self.used.cycles.get(),
        };
        if next != was {
            self.state.put(&TimerLaneKey {}, &next);
        }
    }
}
