//! What gas bidding agents say (CIP-1 §7): fees of timers for one block.

use super::step::Price;
use crate::base::primitives::{Address, B256, Cycles};
use crate::chain::execute::Exec;
use crate::rules::event::Event;
use crate::rules::fees::cost;
use crate::rules::key::TimerKey;
use crate::rules::timers::agents::{AgentFault, GBA_CYCLES, GbaContext};
use crate::rules::timers::record::{FEE_MAX, Timer, TimerLane};
use crate::rules::timers::search::Search;
use crate::rules::timers::tree::Entry;
use std::collections::BTreeSet;

impl Exec<'_> {
    /// Asks the agents of some timers for this block's fees. Returns the timers whose own fees no
    /// longer count; they are in the search at their new priority, unless that is none.
    pub(super) fn ask_agents<'e>(
        &mut self,
        asked: &'e [Entry],
        was: &TimerLane,
        search: &mut Search<'e>,
    ) -> BTreeSet<B256> {
        let mut priced = BTreeSet::new();
        for entry in asked {
            let Some(timer) = self.state.get(&TimerKey { timer: entry.id }) else { continue };
            let Some(agent) = timer.agent else { continue };
            match self.ask_agent(agent, &timer, was) {
                Ok(bid) => {
                    priced.insert(entry.id);
                    let spare = bid.0.checked_sub(was.basefee);
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
        was: &TimerLane,
    ) -> Result<(u128, u128), AgentFault> {
        let affordable = cost(GBA_CYCLES, self.basefees.cycle)
            .is_some_and(|most| most <= self.account(timer.fee_payer).balance);
        if !affordable {
            return Err(AgentFault::OutOfCycles);
        }
        let context = GbaContext {
            chain_id: self.params.chain_id,
            trigger_block_height: timer.due.get(),
            current_block_height: self.env.height.get(),
            basefee_cycle: self.basefees.cycle,
            basefee_cell: self.basefees.cell,
            basefee_lane_timer: was.basefee,
            last_block_cycle_usage: was.block_cycles,
            previous_block_p50_priority_tip_per_cycle: was.median_tip,
            owner_actor_balance: self.account(timer.actor).balance.get(),
        };
        let answer = self.actors.gas_bid(&self.state, agent, &context);
        let cycles = answer.cycles.min(GBA_CYCLES);
        self.used.cycles = Cycles(self.used.cycles.get() + cycles);
        let fee = cost(cycles, self.basefees.cycle).unwrap_or_default();
        if self.debit(timer.fee_payer, fee).is_ok() {
            self.burn(fee);
        }
        if answer.cycles > GBA_CYCLES {
            return Err(AgentFault::OutOfCycles);
        }
        let bid = answer.bid?;
        let bid = (bid.max_fee_per_cycle, bid.max_priority_fee_per_cycle);
        let sane = bid.0 <= FEE_MAX && bid.1 <= FEE_MAX && self.can_pay(bid, timer, was);
        if sane { Ok(bid) } else { Err(AgentFault::BadBid) }
    }

    /// Whether a timer's payer has what a fire would cost at most with these fees. A timer is not cleaned
    /// away because its agent asks for more than there is. Who stands back asks for nothing.
    fn can_pay(&self, bid: (u128, u128), timer: &Timer, was: &TimerLane) -> bool {
        let Some(spare) = bid.0.checked_sub(was.basefee) else { return true };
        let tip = spare.min(bid.1);
        let base = self.basefees.cycle.saturating_add(was.basefee);
        let price = Price { base, tip, cell: self.basefees.cell };
        let most = price.max_cost(timer.gas_limit, timer.max_cells);
        most.is_some_and(|most| most <= self.account(timer.fee_payer).balance)
    }
}
