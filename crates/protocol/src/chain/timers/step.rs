//! The end-of-block step of timers (CIP-1 §3, SPEC §8).
//!
//! ```text
//! bucket of this height → due        expired before this height → out of the lane
//! cleaning lane: expired timers, first expired first, at most half of it
//! agents: at most 256, greatest stored max_fee first
//! timer lane: in order, until nothing that waits fits
//!     payer cannot pay → cleaned away, or passed over if the cleaning lane is used up
//!     otherwise        → take max_cost, call the handler, refund the rest
//! fairness counters, the next basefee, the median tip
//! ```
//! What is not reached stays where it is: deferring costs nothing.

use super::calendar::Ends;
use crate::base::account::Account;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256, Cells, Cycles, Height};
use crate::chain::execute::deposit::Purse;
use crate::chain::execute::{Exec, Meter};
use crate::rules::event::Event;
use crate::rules::fees::cost;
use crate::rules::key::{AccountKey, FiresKey, TimerKey, TimerLaneKey, TimerPayloadKey};
use crate::rules::timers::agents::{GBA_CALLS_PER_BLOCK, TimerCall};
use crate::rules::timers::fairness::{FAIRNESS_WINDOW_BLOCKS, weight};
use crate::rules::timers::lane::next_basefee_of;
use crate::rules::timers::order::{GAS_LIMIT_MIN, Lane};
use crate::rules::timers::record::TimerLane;
use crate::rules::timers::search::{Candidate, Room};
use crate::rules::timers::tree::Entry;
use std::collections::BTreeMap;

/// What a fire consumes at least: finding the timer, moving the money, calling. It also bounds the
/// fires of a block.
const FIRE_CYCLES: u64 = GAS_LIMIT_MIN;
/// Price of removing a timer in the cleaning lane.
const GC_REMOVAL_CYCLES: u64 = 500;
/// Timers of payers who cannot pay that a block passes over once the cleaning lane is used up.
const PASSES_PER_BLOCK: u32 = 1_024;

/// Candidates that are found at a time, so that their payers are read together.
const AHEAD: usize = 64;

/// A payer's account while timers are fired.
struct Payer {
    account: Account,
    /// Whether it has to be written.
    changed: bool,
}

/// A block's step while it runs.
struct Step {
    was: TimerLane,
    lane: Lane,
    cells: u64,
    /// What all fires may use together.
    cells_max: u64,
    gas_cap: u64,
    cleaning_left: u64,
    passed: u32,
    /// Whose timers fired: one for each fire.
    fires: Vec<Address>,
    priorities: Vec<u64>,
    tips: Amount,
    /// Payers whose balances are not written yet.
    payers: BTreeMap<Address, Payer>,
    ends: Ends,
    /// What fired or was cleaned away from the lane; the index follows at the end.
    ended: Vec<Entry>,
    /// By index in the block's new timers: whether it ended.
    new_ended: Vec<bool>,
    /// Whether a handler ran: timers may no longer be what they were when the block's step began.
    code_ran: bool,
}

impl Step {
    /// Cycles of the cleaning lane for one removal, if there are any left.
    fn clean(&mut self) -> bool {
        let left = self.cleaning_left.checked_sub(GC_REMOVAL_CYCLES);
        self.cleaning_left = left.unwrap_or(self.cleaning_left);
        left.is_some()
    }

    fn room(&self) -> Room {
        // The first always fits: no limit of a timer keeps it from firing for ever.
        let cells =
            if self.cells == 0 { u64::MAX } else { self.cells_max.saturating_sub(self.cells) };
        Room { cycles: self.lane.room().min(self.gas_cap), cells }
    }

    /// How full the lane is, in cycles, or by cells if these are scarcer: otherwise timers with few cycles and
    /// many cells could fill the lane at a price that never rises.
    fn fullness(&self) -> u64 {
        let by_cells = u128::from(self.cells.min(self.cells_max)) * u128::from(self.lane.limit());
        // A part of the limit.
        self.lane.used().max((by_cells / u128::from(self.cells_max.max(1))) as u64)
    }

    fn count(&mut self, actor: Address, priority: u64, used: (u64, u64), tip: Amount) {
        self.lane.consume(used.0);
        self.cells += used.1;
        self.fires.push(actor);
        self.priorities.push(priority);
        self.tips = Amount(self.tips.get() + tip.get());
    }

    /// A payer's account, marked as changed.
    fn payer(&mut self, address: Address, exec: &Exec<'_>) -> &mut Account {
        let payer = self
            .payers
            .entry(address)
            .or_insert_with(|| Payer { account: exec.account(address), changed: false });
        payer.changed = true;
        &mut payer.account
    }

    fn pay(&mut self, address: Address, amount: Amount, exec: &Exec<'_>) {
        if !amount.is_zero() {
            let account = self.payer(address, exec);
            account.balance = Amount(account.balance.get() + amount.get());
        }
    }

    /// A timer that was due has ended; its actor gets the deposit back.
    fn end(&mut self, entry: &Entry, exec: &Exec<'_>) {
        self.ends.note_entry(entry);
        self.pay(entry.actor, Amount(entry.deposit.into()), exec);
    }

    /// The end of a timer that was offered the lane.
    fn mark_ended(&mut self, entry: Entry, new: Option<usize>) {
        match new {
            Some(at) => self.new_ended[at] = true,
            None => self.ended.push(entry),
        }
    }
}

/// What a fire pays for.
pub(super) struct Price {
    /// Both basefees of a cycle.
    pub(super) base: u128,
    pub(super) tip: u128,
    /// Basefee of a cell. Cells are not tipped: the seed's `max_priority_fee_per_cell` is 0.
    pub(super) cell: u128,
}

impl Price {
    /// What a fire costs at most.
    pub(super) fn max_cost(&self, gas_limit: u64, max_cells: u64) -> Option<Amount> {
        let cycle = self.base.saturating_add(self.tip);
        cost(gas_limit, cycle)?.plus(cost(max_cells, self.cell)?)
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
        // Agents are asked in an order of their own, which the index keeps.
        let (with_agent, new): (Vec<Entry>, Vec<Entry>) =
            self.take_due().into_iter().partition(|entry| entry.has_agent);
        self.timers.add_due(with_agent, self.env.height);
        let waiting = self.timers.waiting() + new.len();
        let fires_max = waiting.min((self.params.lane_timer / FIRE_CYCLES) as usize);
        let mut step = Step {
            was: self.timer_lane(),
            lane: Lane::with_limit(self.params.lane_timer),
            cells: 0,
            cells_max: self.params.cells_target,
            gas_cap: config.gas_limit_max,
            cleaning_left: config.gc_cycles_per_block,
            passed: 0,
            fires: Vec::with_capacity(fires_max),
            priorities: Vec::with_capacity(fires_max),
            tips: Amount::ZERO,
            payers: BTreeMap::new(),
            ends: Ends::default(),
            ended: Vec::with_capacity(fires_max),
            new_ended: vec![false; new.len()],
            code_ran: false,
        };
        self.timers.expire(self.env.height);
        self.collect_expired(&mut step);
        self.fill_timer_lane(&mut step, &new);
        self.close_timer_lane(step, new);
    }

    /// Half the budget is reserved for unpayable timers: they are re-examined in every block until
    /// removed; expired ones are not.
    fn collect_expired(&mut self, step: &mut Step) {
        let half = step.cleaning_left / 2;
        while let Some(id) = self.timers.first_expired() {
            if step.cleaning_left < half + GC_REMOVAL_CYCLES || !step.clean() {
                return;
            }
            let timer =
                self.state.get(&TimerKey { timer: id }).expect("the index follows the state");
            self.timers.forget_expired(id, timer.expires_at);
            step.ends.note(id, &timer);
            step.pay(timer.actor, timer.deposit, self);
            self.emit(Event::TimerExpired { timer: id, actor: timer.actor });
        }
    }

    fn fill_timer_lane(&mut self, step: &mut Step, new: &[Entry]) {
        // Handlers may change what waits; the order is that of the moment when filling began.
        let index = self.timers.clone();
        let basefee = u64::try_from(step.was.basefee).unwrap_or(u64::MAX);
        let mut search = index.search(basefee);
        let (recent, median) = (index.recent(), index.recent().median());
        search.add_new(new, |entry| weight(recent.of(&entry.actor), median));
        let asked: Vec<Entry> = index.with_agent().take(GBA_CALLS_PER_BLOCK).copied().collect();
        if !asked.is_empty() {
            self.flush(step);
        }
        let asked = self.ask_agents(&asked, &step.was, &mut search);
        let mut ahead = Vec::with_capacity(AHEAD);
        loop {
            let room = step.room();
            ahead.extend(core::iter::from_fn(|| search.next(room)).take(AHEAD));
            if ahead.is_empty() {
                return;
            }
            self.read_payers(&ahead, step);
            for candidate in ahead.drain(..) {
                if step.room().cycles < GAS_LIMIT_MIN || step.passed >= PASSES_PER_BLOCK {
                    return;
                }
                // Since it was found there has become less room.
                let fits = step.room().fits(candidate.entry);
                if fits && (candidate.priced || !asked.contains(&candidate.entry.id)) {
                    self.try_fire(&candidate, step);
                }
            }
        }
    }

    /// Reads the accounts of those who may have to pay next. Where code runs that is in vain: it may
    /// move any money.
    fn read_payers(&self, ahead: &[Candidate<'_>], step: &mut Step) {
        if step.code_ran {
            return;
        }
        let payers = ahead.iter().map(|candidate| candidate.entry.fee_payer);
        let mut keys: Vec<AccountKey> = payers
            .filter(|address| !step.payers.contains_key(address))
            .map(|address| AccountKey { address })
            .collect();
        keys.sort_unstable_by_key(|key| key.address);
        keys.dedup_by_key(|key| key.address);
        self.state.read_many(&keys, |key, account| {
            let account = account.unwrap_or_default();
            step.payers.insert(key.address, Payer { account, changed: false });
        });
    }

    /// The timer as it is after the handlers of this block, which may have extended or cancelled it;
    /// `None` if it was cancelled. Without a write the index's entry holds.
    fn current_entry(&self, entry: &Entry, step: &Step) -> Option<Entry> {
        if !step.code_ran {
            return Some(*entry);
        }
        match self.state.written(&TimerKey { timer: entry.id }) {
            None => Some(*entry),
            Some(timer) => timer.map(|timer| timer.entry(entry.id, entry.lot)),
        }
    }

    /// Fires a timer, or finds that its payer cannot pay.
    fn try_fire(&mut self, candidate: &Candidate<'_>, step: &mut Step) {
        let Candidate { priority, new, .. } = *candidate;
        let Some(entry) = self.current_entry(candidate.entry, step) else { return };
        let price = Price {
            base: self.basefees.cycle.saturating_add(step.was.basefee),
            tip: u128::from(priority),
            cell: self.basefees.cell,
        };
        let (timer, actor, payer) = (entry.id, entry.actor, entry.fee_payer);
        let balance = step.payers.get(&payer).map(|payer| payer.account.balance);
        let balance = balance.unwrap_or_else(|| self.account(payer).balance);
        let deposit = price.max_cost(entry.gas_limit, entry.max_cells);
        let Some((deposit, left)) = deposit.and_then(|d| Some((d, balance.minus(d)?))) else {
            if !step.clean() {
                step.passed += 1;
                return;
            }
            step.end(&entry, self);
            step.mark_ended(entry, new);
            self.emit(Event::TimerCancelledInsufficientFunds { timer, actor, payer });
            return;
        };
        step.payer(payer, self).balance = left;
        let (code, cycles, cells) = if self.actors.has_code(&self.state, actor) {
            self.run_handler(&entry, step, &price, deposit)
        } else {
            step.end(&entry, self);
            (Refusal::NoCode.code(), FIRE_CYCLES, 0)
        };
        let (burned, tip) = price.parts(cycles, cells);
        let fee = Amount(burned.get() + tip.get());
        // A handler that succeeded has paid for what it left in the state out of this.
        if code != 0 {
            step.pay(payer, Amount(deposit.get() - fee.get()), self);
        }
        self.burn(burned);
        step.count(actor, priority, (cycles, cells), tip);
        step.mark_ended(entry, new);
        self.emit(Event::TimerFired { timer, actor, code, cycles, cells, fee });
    }

    /// Writes what handlers may read: payers' balances, and the removal of ended timers.
    fn flush(&mut self, step: &mut Step) {
        let payers = core::mem::take(&mut step.payers).into_iter();
        let changed = payers.filter(|(_, payer)| payer.changed);
        self.state.put_sorted(changed.map(|(address, p)| (AccountKey { address }, p.account)));
        self.settle_ends(&mut step.ends);
    }

    /// Ends a timer and calls its actor.
    fn run_handler(
        &mut self,
        entry: &Entry,
        step: &mut Step,
        price: &Price,
        deposit: Amount,
    ) -> (u16, u64, u64) {
        let Entry { id: timer, actor, due, fee_payer, gas_limit, max_cells, .. } = *entry;
        let payload = self.payload_of(timer);
        step.end(entry, self);
        self.flush(step);
        step.code_ran = true;
        let due = Height(due);
        let call = TimerCall { timer, actor, due, payload, gas_limit, max_cells };
        self.call_handler(&call, fee_payer, |cycles, cells| {
            let (burned, tip) = price.parts(cycles, cells);
            Amount(deposit.get() - burned.get() - tip.get())
        })
    }

    fn payload_of(&self, timer: B256) -> Vec<u8> {
        let record = self.state.get(&TimerKey { timer });
        match record.as_ref().map(|timer| timer.payload.here()) {
            Some(Some(here)) => here.to_vec(),
            _ => self.state.get(&TimerPayloadKey { timer }).unwrap_or_default().0,
        }
    }

    /// Runs a handler within its limits; how it ended and what it consumed. If it succeeds, its payer
    /// has the rest of the prepayment, less deposits.
    fn call_handler(
        &mut self,
        call: &TimerCall,
        payer: Address,
        rest: impl Fn(u64, u64) -> Amount,
    ) -> (u16, u64, u64) {
        let (gas_limit, max_cells) = (call.gas_limit, call.max_cells);
        let meter = Meter { cycles: gas_limit, cells: max_cells, cell_cycles: 0 };
        let (result, left) = self.metered(meter, |exec| {
            exec.charge(FIRE_CYCLES, 0)?;
            exec.call_timer(payer, call)?;
            let limit = rest(gas_limit - exec.meter.cycles, max_cells - exec.meter.cells);
            exec.credit(payer, limit);
            exec.settle_dues(Purse { payer, limit, own_counts: payer != call.actor })
        });
        let mut cells = max_cells - left.1;
        if result.is_err() {
            // Its words are in the receipts: cells like any other event's.
            cells += self.emit_fault_bounded(left.1);
        }
        let code = result.map_or_else(|refusal| refusal.code(), |()| 0);
        (code, gas_limit - left.0, cells)
    }

    /// Counts what fired, pays the proposer, prices the next block's lane.
    fn close_timer_lane(&mut self, mut step: Step, new: Vec<Entry>) {
        self.flush(&mut step);
        let mut waiting = new;
        let mut has_ended = step.new_ended.iter();
        waiting.retain(|_| has_ended.next() == Some(&false));
        if step.code_ran {
            waiting = waiting.iter().filter_map(|entry| self.current_entry(entry, &step)).collect();
        }
        let fullness = step.fullness();
        let Step { was, lane, cells, mut fires, mut priorities, tips, ended, .. } = step;
        self.credit(self.env.fee_recipient, tips);

        let height = self.env.height;
        fires.sort_unstable();
        let fired = fires.chunk_by(|a, b| a == b);
        let fired: Vec<(Address, u32)> =
            fired.map(|fires| (fires[0], fires.len() as u32)).collect();
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
        self.timers.close(&waiting, &ended, &fired, &left);

        self.used.cycles = Cycles(self.used.cycles.get() + lane.used());
        self.used.cells = Cells(self.used.cells.get() + cells);
        priorities.sort_unstable();
        let median_tip =
            priorities.get(priorities.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let quotient = self.params.lane_adjustment_quotient;
        let next = TimerLane {
            // A basefee that does not fit any more stays as it is.
            basefee: next_basefee_of(lane.limit(), was.basefee, fullness, quotient)
                .unwrap_or(was.basefee),
            median_tip: u128::from(median_tip),
            block_cycles: self.used.cycles.get(),
        };
        if next != was {
            self.state.put(&TimerLaneKey {}, &next);
        }
    }
}
