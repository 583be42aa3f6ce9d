//! Gas bidding agents: asked in order, paid for, and never believed when something is wrong.

use crate::timers::scripts::{Scripted, at, end_of, fired, world};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::deposit::{RECORD_BYTES, price};
use remuda_protocol::event::Event;
use remuda_protocol::primitives::Amount;
use remuda_protocol::timers::agents::{AgentFault, BidAnswer, GbaContext, TxFeeParams};
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::record::FEE_MAX;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeSet;

fn answer(cycles: u64, max_fee: u128, tip: u128) -> BidAnswer {
    let bid = TxFeeParams { max_fee_per_cycle: max_fee, max_priority_fee_per_cycle: tip };
    BidAnswer { cycles, bid: Ok(bid) }
}

/// Two timers, of which the one with an agent tips less: whether it is first, what its payer paid
/// for being priced, and which fault was told.
fn race(agent: fn(&GbaContext) -> BidAnswer) -> (bool, u128, u16) {
    let mut w = world(Scripted { agent, handler: |_, _| Ok(()) });
    let due = w.next().plus(3);
    let timer = ScheduleTimer {
        max_fee_per_cycle: Some(9_000),
        max_priority_fee_per_cycle: Some(10),
        max_cells: Some(0),
        ..at(due)
    };
    let plain = ScheduleTimer { max_priority_fee_per_cycle: Some(11), ..timer.clone() };
    // Code of its own account.
    let with_agent = ScheduleTimer { agent: Some(w.stranger().address()), ..timer };
    let ids = w.schedule_all([(w.customer(), plain), (w.stranger(), with_agent)]);
    w.step_to(due.minus(1));
    let before = w.balance(&w.stranger());
    let events = w.step();
    let order = fired(&events);
    let fee = events.iter().find_map(|event| match event {
        Event::TimerFired { timer, fee, .. } if *timer == ids[1] => Some(*fee),
        _ => None,
    });
    // One that has fired gives its deposit back.
    let returned = fee.map_or(Amount::ZERO, |_| price(&w.chain.params, RECORD_BYTES));
    let paid = (before.get() + returned.get())
        - w.balance(&w.stranger()).get()
        - fee.unwrap_or(Amount::ZERO).get();
    let fault = events.iter().find_map(|event| match event {
        Event::GasBidFailed { code, .. } => Some(*code),
        _ => None,
    });
    (order[0] == ids[1], paid, fault.unwrap_or(0))
}

#[test]
fn an_agent_outbids_with_what_it_knows() {
    let (first, paid, fault) = race(|context| {
        assert_eq!(context.trigger_block_height, context.current_block_height);
        assert!(context.owner_actor_balance > 0);
        answer(4_000, context.basefee_lane_timer + 500, 500)
    });
    assert!(first && fault == 0);
    assert!(paid > 0 && paid.is_multiple_of(4_000), "the payer pays for the call: {paid}");
}

// spec §10.10
#[test]
fn an_agent_may_stand_back() {
    assert!(!race(|context| answer(1, context.basefee_lane_timer, 0)).0);
}

/// Who has not even the basefees of a fire, and does not ask for one, waits for better times.
#[test]
fn an_agent_may_stand_back_for_a_payer_who_is_short_of_money() {
    let mut w = world(Scripted { agent: |_| answer(1, 0, 0), handler: |_, _| Ok(()) });
    let poor = SecretKey::from_label("poor");
    let to = poor.address();
    // Enough for the agent's call, which may take 10,000 cycles, and not for a fire of 250,000.
    w.ok(&w.customer(), Instruction::Transfer { to, amount: Amount::cby(1) });
    let due = w.next().plus(2);
    let timer = ScheduleTimer { agent: Some(to), gas_limit: Some(250_000), ..at(due) };
    let id = w.schedule(&poor, timer);
    w.step_to(due.minus(1));
    let before = w.balance(&poor);
    let events = w.step();
    let fault = events.iter().find(|event| matches!(event, Event::GasBidFailed { .. }));
    assert_eq!(fault, None, "it asked for nothing");
    assert_eq!(events.iter().find_map(end_of), None, "it waits");
    assert!(w.balance(&poor) < before, "the agent was asked");
    assert!(w.timer(id).is_some());
}

// spec §10.10
#[test]
fn what_a_faulty_agent_says_does_not_count() {
    type Case = (fn(&GbaContext) -> BidAnswer, AgentFault);
    let cases: [Case; 7] = [
        // Loops: the machine stops it at its limit.
        (
            |_| BidAnswer { cycles: 10_000, bid: Err(AgentFault::OutOfCycles) },
            AgentFault::OutOfCycles,
        ),
        // A machine that did not stop it is not believed either.
        (|_| answer(10_001, 1_000_000, 500_000), AgentFault::OutOfCycles),
        (|_| BidAnswer { cycles: 77, bid: Err(AgentFault::Failed) }, AgentFault::Failed),
        (|_| BidAnswer { cycles: 77, bid: Err(AgentFault::Wrote) }, AgentFault::Wrote),
        // Lies: fees that no timer may have.
        (|_| answer(77, u128::MAX, 1), AgentFault::BadBid),
        (|_| answer(77, 5_000, u128::MAX), AgentFault::BadBid),
        // More than its payer has: the timer is not cleaned away for that.
        (|_| answer(77, FEE_MAX, FEE_MAX), AgentFault::BadBid),
    ];
    for (agent, fault) in cases {
        let (first, paid, told) = race(agent);
        assert!(!first, "{fault:?}: the stored fees count");
        assert_eq!(told, fault.code(), "{fault:?}");
        assert!(paid > 0, "{fault:?}: the call is paid for");
    }
}

#[test]
fn where_there_is_no_agent_nothing_is_paid() {
    let (first, paid, fault) = race(|_| BidAnswer { cycles: 0, bid: Err(AgentFault::NoCode) });
    assert_eq!((first, paid, fault), (false, 0, AgentFault::NoCode.code()));
}

// spec §10.10
#[test]
fn no_more_than_256_agents_are_asked_in_a_block_greatest_stored_fee_first() {
    let mut w = world(Scripted {
        agent: |context| answer(1, context.basefee_lane_timer + 5_000_000, 5_000_000),
        handler: |_, _| Ok(()),
    });
    w.chain.paranoid = false;
    let due = w.next().plus(4);
    let timer = |n: u128| ScheduleTimer {
        agent: Some(w_customer().address()),
        gas_limit: Some(1_000),
        max_cells: Some(0),
        max_fee_per_cycle: Some(2_000 + n),
        max_priority_fee_per_cycle: Some(1),
        ..at(due)
    };
    let ids = w.schedule_all((0..300).map(|n| (w_customer(), timer(n))));
    let order = fired(&w.step_to(due));
    assert_eq!(order.len(), 300);
    let asked: BTreeSet<_> = order[..256].iter().collect();
    assert!(ids[44..].iter().all(|id| asked.contains(id)), "the 256 greatest came first");
}

fn w_customer() -> SecretKey {
    SecretKey::from_label("customer 0")
}
