//! What actors can do to others by what they queue, schedule, say and ask others to pay for.

use crate::chain::common::World;
use crate::chain::setup::{addr, int, list, returned, said, text, world};
use remuda_protocol::codec::Bytes;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::key::AccountKey;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use remuda_vm::{HostValue, cbor};

/// Somebody who sends a message to itself, and somebody who waits.
const VICTIM: &str = "\
import cowboy

def go():
    cowboy.send(cowboy.address(), 'ping', None)

def ping(m):
    cowboy.emit('ping', 'x' * 200)

async def flow():
    await cowboy.sleep(1)
    cowboy.storage_set('done', b'x' * 100)
    cowboy.emit('flowed', 1)
";

fn balance(world: &World, of: Address) -> Amount {
    read(&world.chain.state, &AccountKey { address: of }).unwrap_or_default().balance
}

fn as_stranger(world: &mut World, actor: Address, method: &str) -> HostValue {
    let (method, payload) = (method.to_owned(), Bytes::default());
    let call = Instruction::CallActor { actor, method, payload, value: Amount::ZERO };
    let stranger = world.stranger();
    returned(&world.run(&stranger, call))
}

#[test]
fn a_refused_message_takes_no_money() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\n\
         def try_all():\n    tries = []\n    me = cowboy.address()\n\
        \x20   def attempt(what):\n        before = cowboy.balance()\n        try:\n            what()\n        except cowboy.InsufficientFunds:\n            tries.append(cowboy.balance() == before)\n\
        \x20   for _ in range(20):\n        attempt(lambda: cowboy.send(me, 'x', None, cycles=500000, value=10 ** 30))\n        attempt(lambda: cowboy.transfer(me, 10 ** 30))\n\
        \x20   return tries\n",
    );
    let before = balance(&world, actor);
    assert_eq!(
        world.asked(actor, "try_all", HostValue::None),
        HostValue::List(vec![HostValue::Bool(true); 40])
    );
    assert_eq!(balance(&world, actor), before);
}

#[test]
fn limits_that_nobody_uses_hold_nobody_up() {
    let mut world = world(0);
    let (victim, staller) = (
        world.deploy(VICTIM),
        world.deploy(
            "import cowboy\n\
             def stall(n):\n    for _ in range(n):\n        cowboy.send(cowboy.address(), 'nothing', None, cycles=1250000)\n\
             def nothing(m):\n    pass\n",
        ),
    );
    let receipt = world.call(staller, "stall", int(30));
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    assert_eq!(world.call(victim, "go", HostValue::None).code, 0);
    let events: Vec<Event> = (0..3).flat_map(|_| world.step()).collect();
    assert_eq!(said(&events), [("ping".to_owned(), text(&"x".repeat(200)))]);
}

#[test]
fn a_queued_call_has_its_cells_whatever_others_use() {
    let mut world = world(0);
    let victim = world.deploy(VICTIM);
    let eater = world.deploy(
        "import cowboy\n\
         def start():\n    cowboy.send(cowboy.address(), 'eat', None, cycles=900000)\n\
         def eat(m):\n    cowboy.send(cowboy.address(), 'eat', None, cycles=900000)\n    for _ in range(15):\n        cowboy.emit('e', b'x' * 16000)\n",
    );
    assert_eq!(world.call(eater, "start", HostValue::None).code, 0);
    for method in ["flow", "go"] {
        assert_eq!(world.call(victim, method, HostValue::None).code, 0);
    }
    let events: Vec<Event> = (0..12).flat_map(|_| world.step()).collect();
    let mut heard: Vec<String> =
        said(&events).into_iter().map(|(topic, _)| topic).filter(|topic| topic != "e").collect();
    heard.sort_unstable();
    assert_eq!(heard, ["flowed", "ping"]);
    let failed = events.iter().any(|event| matches!(event, Event::CallFailed { .. }));
    assert!(!failed, "{events:?}");
}

const BILLING: &str = "\
import cowboy

def bill():
    try:
        cowboy.schedule_timer(cowboy.height() + 2, None, fee_payer=cowboy.caller(), gas_limit=100000)
    except cowboy.HostError as error:
        return error.kind
    return 'billed'

def on_timer(m):
    try:
        cowboy.schedule_timer(cowboy.height() + 2, None, fee_payer=cowboy.origin(), gas_limit=100000)
    except cowboy.HostError as error:
        cowboy.emit('again', error.kind)
";

#[test]
fn only_the_owner_can_be_made_to_pay_for_timers_and_not_by_a_timer() {
    let mut world = world(0);
    let actor = world.deploy(BILLING);
    assert_eq!(as_stranger(&mut world, actor, "bill"), text("refused"));
    assert_eq!(world.asked(actor, "bill", HostValue::None), text("billed"));
    let events: Vec<Event> = (0..4).flat_map(|_| world.step()).collect();
    assert_eq!(said(&events), [("again".to_owned(), text("refused"))]);
}

#[test]
fn fires_of_a_block_stay_within_its_cells_and_the_rest_comes_later() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\n\
         def arm(m):\n    for _ in range(m[0]):\n        cowboy.schedule_timer(m[1], None, gas_limit=30000, max_cells=65536, max_fee_per_cycle=10 ** 9, expires_at=m[1] + 50)\n\
         def on_timer(m):\n    for _ in range(4):\n        cowboy.emit('e', b'x' * 16000)\n",
    );
    let due = world.chain.height().get() as i64 + 3;
    assert_eq!(world.call(actor, "arm", list([int(40), int(due)])).code, 0);
    let (mut fires, mut blocks) = (0, 0);
    for _ in 0..40 {
        let cells: Vec<u64> = world
            .step()
            .into_iter()
            .filter_map(|event| match event {
                Event::TimerFired { code, cells, .. } => {
                    assert_eq!(code, 0);
                    Some(cells)
                }
                _ => None,
            })
            .collect();
        assert!(cells.iter().sum::<u64>() <= world.chain.params.cells_target);
        fires += cells.len();
        blocks += usize::from(!cells.is_empty());
    }
    assert_eq!(fires, 40);
    assert!(blocks > 4, "{blocks}");
}

#[test]
fn a_call_that_changed_the_code_does_not_wait_and_one_that_may_wait_does_not_change_it() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\n\
         async def change_and_wait(code):\n    cowboy.upgrade(code)\n    await cowboy.sleep(1)\n\
         async def order_and_change(code):\n    cowboy.host('sleep_until', cowboy.height() + 2)\n    try:\n        cowboy.upgrade(code)\n    except cowboy.HostError as error:\n        return error.kind\n",
    );
    let code = text("def fresh():\n    return 1\n");
    let receipt = world.call(actor, "change_and_wait", code.clone());
    assert_eq!(receipt.code, Refusal::ExceptionRaised.code());
    assert_eq!(world.call(actor, "order_and_change", code).code, 0);
    assert_eq!(world.call(actor, "fresh", HostValue::None).code, Refusal::UnknownMethod.code());
}

#[test]
fn a_victim_named_as_payer_by_payload_is_refused() {
    let mut world = world(0);
    let victim = world.customer().address();
    let actor = world.deploy(
        "import cowboy\ndef bill(m):\n    cowboy.schedule_timer(cowboy.height() + 2, b'', fee_payer=m)\n",
    );
    let payload = Bytes(cbor::encode(&addr(victim)).unwrap());
    let call =
        Instruction::CallActor { actor, method: "bill".into(), payload, value: Amount::ZERO };
    let stranger = world.stranger();
    assert_eq!(world.run(&stranger, call).code, Refusal::ExceptionRaised.code());
}

#[test]
fn timers_that_may_need_many_cells_close_the_lane_for_nobody_who_needs_few() {
    let mut world = world(0);
    let code = |n: usize| {
        format!(
            "import cowboy\n# {n}\n\
             def block(m):\n    for _ in range(m[0]):\n        cowboy.schedule_timer(m[1], None, gas_limit=30000, max_cells=65536, max_fee_per_cycle=10 ** 9, max_priority_fee_per_cycle=10 ** 6)\n\
             def write(h):\n    for _ in range(7):\n        cowboy.schedule_timer(h, b'write', gas_limit=60000, max_cells=65536, max_fee_per_cycle=10 ** 9, max_priority_fee_per_cycle=10 ** 7)\n\
             def modest(h):\n    cowboy.schedule_timer(h, b'modest', gas_limit=60000, max_cells=2000, max_fee_per_cycle=10 ** 9)\n\
             def on_timer(m):\n    if m['payload'] == b'write':\n        for _ in range(4):\n            cowboy.emit('e', b'x' * 16000)\n    if m['payload'] == b'modest':\n        cowboy.emit('modest', cowboy.height())\n"
        )
    };
    let actors: Vec<Address> = (0..2).map(|n| world.deploy(&code(n))).collect();
    let honest = world.deploy(&code(2));
    let due = world.chain.height().get() as i64 + 30;
    for actor in &actors {
        for _ in 0..6 {
            assert_eq!(world.call(*actor, "block", list([int(100), int(due)])).code, 0);
        }
    }
    assert_eq!(world.call(actors[0], "write", int(due)).code, 0);
    assert_eq!(world.call(honest, "modest", int(due)).code, 0);
    let events = world.step_to(remuda_protocol::primitives::Height(due as u64));
    let heard: Vec<(String, HostValue)> =
        said(&events).into_iter().filter(|(topic, _)| topic == "modest").collect();
    assert_eq!(heard, [("modest".to_owned(), int(due))]);
}
