//! Timers that call code, agents that name fees.

use crate::chain::setup::{int, said, text, world};
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::Address;
use remuda_vm::HostValue;

const CLOCK: &str = "\
import cowboy
from cowboy import storage

def start(m):
    return cowboy.schedule_timer(m[0], m[1], gas_limit=100000)

def on_timer(message):
    storage['n'] = (storage['n'] or 0) + 1
    cowboy.emit('tick', [message['height'], message['payload']])
    if message['payload'] != b'bid' and storage['n'] < 3:
        cowboy.schedule_timer(cowboy.height() + 2, b'again', gas_limit=100000)

def named(message):
    cowboy.emit('named', 1)

def start_named(height):
    cowboy.schedule_timer(height, {'method': 'named'}, gas_limit=100000)

def start_and_stop(height):
    timer = cowboy.schedule_timer(height, b'', expires_at=height + 10)
    cowboy.extend_timer(timer, height + 1000)
    cowboy.cancel_timer(timer)

def start_with_agent(m):
    cowboy.schedule_timer(m[0], b'bid', gas_limit=100000, agent=m[1], expires_at=m[0] + 50)
";

fn tick_bytes(payload: &[u8]) -> HostValue {
    HostValue::Bytes(payload.to_vec())
}

#[test]
fn a_timer_calls_its_actor_which_sets_the_next_one() {
    let mut world = world(0);
    let actor = world.deploy(CLOCK);
    let due = world.chain.height().get() as i64 + 3;
    let argument = crate::chain::setup::list([int(due), HostValue::Bytes(b"hello".to_vec())]);
    assert!(
        matches!(world.asked(actor, "start", argument), HostValue::Bytes(id) if id.len() == 32)
    );
    let mut ticks = Vec::new();
    for _ in 0..12 {
        ticks.extend(said(&world.step()));
    }
    let tick = |height: i64, payload: &[u8]| {
        ("tick".to_owned(), crate::chain::setup::list([int(height), tick_bytes(payload)]))
    };
    assert_eq!(ticks, [tick(due, b"hello"), tick(due + 2, b"again"), tick(due + 4, b"again")]);
}

#[test]
fn a_timer_may_name_its_method_and_be_called_off() {
    let mut world = world(0);
    let actor = world.deploy(CLOCK);
    let due = world.chain.height().get() as i64 + 3;
    world.asked(actor, "start_named", int(due));
    world.asked(actor, "start_and_stop", int(due + 5));
    let mut events = Vec::new();
    for _ in 0..10 {
        events.extend(world.step());
    }
    assert_eq!(said(&events), [("named".to_owned(), int(1))]);
    let fired = |event: &&Event| matches!(event, Event::TimerFired { .. });
    assert_eq!(events.iter().filter(fired).count(), 1);
}

#[test]
fn what_a_timer_carries_is_paid_for_before_it_is_looked_at() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\ndef start(m):\n    return cowboy.schedule_timer(m[0], m[1], gas_limit=m[2])\n\
         def on_timer(message):\n    pass\n",
    );
    let due = world.chain.height().get() as i64 + 4;
    // 30,000 lists of one number each: 7,500 cycles to walk over, and no call of it can have begun.
    let lists = [&[0xa1, 0x00, 0x99, 0x75, 0x30][..], &[0x81, 0x00].repeat(30_000)].concat();
    for gas_limit in [8_000, 100_000] {
        let argument = crate::chain::setup::list([int(due), tick_bytes(&lists), int(gas_limit)]);
        world.asked(actor, "start", argument);
    }
    let events: Vec<Event> = (0..5).flat_map(|_| world.step()).collect();
    let mut fires: Vec<(u16, u64)> = events
        .iter()
        .filter_map(|event| match event {
            Event::TimerFired { code, cycles, .. } => Some((*code, *cycles)),
            _ => None,
        })
        .collect();
    fires.sort_unstable();
    assert_eq!(fires.len(), 2, "{fires:?}");
    assert!(fires[0].0 == 0 && fires[0].1 > 7_500, "{fires:?}");
    assert_eq!(fires[1], (Refusal::OutOfCycles.code(), 8_000));
}

/// Schedules a timer with an agent and steps past it; the agent's faults and how the fire ended.
fn with_agent(agent: &str) -> (Vec<u16>, Vec<u16>) {
    let mut world = world(0);
    let clock = world.deploy(CLOCK);
    let agent: Address = world.deploy(agent);
    let due = world.chain.height().get() as i64 + 3;
    let argument = crate::chain::setup::list([int(due), crate::chain::setup::addr(agent)]);
    world.asked(clock, "start_with_agent", argument);
    let mut events = Vec::new();
    for _ in 0..5 {
        events.extend(world.step());
    }
    let faults = events.iter().filter_map(|event| match event {
        Event::GasBidFailed { code, .. } => Some(*code),
        _ => None,
    });
    let fires = events.iter().filter_map(|event| match event {
        Event::TimerFired { code, .. } => Some(*code),
        _ => None,
    });
    (faults.collect(), fires.collect())
}

#[test]
fn an_agent_names_the_fees_of_a_fire() {
    let good = "def getGasBid(context):\n    return {'max_fee_per_cycle': context['basefee_lane_timer'] * 3, 'max_priority_fee_per_cycle': 5}\n";
    assert_eq!(with_agent(good), (vec![], vec![0]));
    // An agent that offers too little lets its timer wait.
    let poor = "def getGasBid(context):\n    return {'max_fee_per_cycle': 1, 'max_priority_fee_per_cycle': 0}\n";
    assert_eq!(with_agent(poor), (vec![], vec![]));
}

#[test]
fn stored_fees_apply_if_an_agent_fails_writes_or_spins() {
    use remuda_protocol::timers::agents::AgentFault;
    let cases = [
        ("def getGasBid(c):\n    while True:\n        pass\n", AgentFault::OutOfCycles),
        ("def getGasBid(c):\n    1 / 0\n", AgentFault::Failed),
        (
            "import cowboy\ndef getGasBid(c):\n    cowboy.storage_set('k', b'v')\n",
            AgentFault::Wrote,
        ),
        (
            "import cowboy\ndef getGasBid(c):\n    try:\n        cowboy.emit('e', 1)\n    except Exception:\n        pass\n    return {'max_fee_per_cycle': 10 ** 9, 'max_priority_fee_per_cycle': 1}\n",
            AgentFault::Wrote,
        ),
        ("def getGasBid(c):\n    return 5\n", AgentFault::BadBid),
        (
            "def getGasBid(c):\n    return {'max_fee_per_cycle': 10 ** 40, 'max_priority_fee_per_cycle': 1}\n",
            AgentFault::BadBid,
        ),
        ("import cowboy\nasync def getGasBid(c):\n    await cowboy.sleep(1)\n", AgentFault::Wrote),
        ("x = 1\n", AgentFault::NoCode),
    ];
    for (agent, fault) in cases {
        assert_eq!(with_agent(agent), (vec![fault.code()], vec![0]), "{agent}");
    }
}

#[test]
fn an_agent_sees_the_chains_number() {
    let id = world(0).chain.params.chain_id;
    let agent = format!(
        "import cowboy\ndef getGasBid(c):\n    assert cowboy.chain_id() == {id}\n    return {{'max_fee_per_cycle': 10 ** 9, 'max_priority_fee_per_cycle': 1}}\n"
    );
    assert_eq!(with_agent(&agent), (vec![], vec![0]));
}

#[test]
fn an_agent_that_is_too_long_to_be_asked_is_not_paid_for() {
    use remuda_protocol::actors::Actors as _;
    use remuda_protocol::timers::agents::{AgentFault, BidAnswer, GbaContext};
    let mut world = world(0);
    let agent = |padding: usize| {
        let bid = "def getGasBid(c):\n    return {'max_fee_per_cycle': 9, 'max_priority_fee_per_cycle': 1}\n";
        format!("{bid}# {}\n", "x".repeat(padding))
    };
    let context = GbaContext {
        chain_id: world.chain.params.chain_id,
        trigger_block_height: 1,
        current_block_height: 1,
        basefee_cycle: 1,
        basefee_cell: 1,
        basefee_lane_timer: 1,
        last_block_cycle_usage: 1,
        previous_block_p50_priority_tip_per_cycle: 1,
        owner_actor_balance: 1,
    };
    let mut ask = |padding| {
        let actor = world.deploy(&agent(padding));
        remuda_vm::chain::machine().gas_bid(&world.chain.state, actor, &context)
    };
    assert!(ask(0).bid.is_ok());
    let faulty = BidAnswer { cycles: 0, bid: Err(AgentFault::OutOfCycles) };
    assert_eq!(ask(4_000), faulty);
    // And in a block: the timer fires at its stored fees.
    assert_eq!(with_agent(&agent(4_000)), (vec![AgentFault::OutOfCycles.code()], vec![0]));
}

#[test]
fn an_agent_may_read_its_own_data() {
    let agent = "import cowboy\ndef init(p):\n    cowboy.storage_set('fee', b'9')\ndef getGasBid(c):\n    fee = int(cowboy.storage_get('fee')) * 10000\n    cowboy.balance()\n    return {'max_fee_per_cycle': fee, 'max_priority_fee_per_cycle': 1}\n";
    assert_eq!(with_agent(agent), (vec![], vec![0]));
}

#[test]
fn text_is_taken_where_a_topic_is_wanted() {
    let mut world = world(0);
    let actor = world.deploy("import cowboy\ndef say():\n    cowboy.emit('topic', 'words')\n");
    let receipt = world.call(actor, "say", HostValue::None);
    assert_eq!(said(&receipt.events), [("topic".to_owned(), text("words"))]);
}
