//! Deployment, calls, what a failed call takes back, who may call whom, upgrades.

use crate::chain::common::World;
use crate::chain::setup::{addr, error, int, list, returned, said, text, world};
use remuda_protocol::actors::actor_address;
use remuda_protocol::codec::Bytes;
use remuda_protocol::error::Refusal;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::transaction::Instruction;
use remuda_vm::HostValue;

const COUNTER: &str = "\
from cowboy import storage, emit, caller, origin, address, value, height

def init(start):
    storage['n'] = start

def add(by):
    storage['n'] = storage['n'] + by
    emit('added', by)
    return storage['n']

def who():
    return [caller(), origin(), address(), value(), height()]

def add_then_fail(by):
    add(by)
    raise ValueError('no')
";

#[test]
fn call_persists_storage_and_emits_events() {
    let mut world = world(0);
    let payload = remuda_vm::cbor::encode(&int(40)).unwrap();
    let receipt = world.deploy_with(COUNTER, &payload, Amount::ZERO);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let actor = actor_address(world.customer().address(), B256::ZERO, COUNTER);
    let receipt = world.call(actor, "add", int(2));
    assert_eq!(returned(&receipt), int(42));
    assert_eq!(said(&receipt.events), [("added".to_owned(), int(2))]);
    assert_eq!(world.asked(actor, "add", int(8)), int(50));
}

#[test]
fn a_failed_call_leaves_nothing_but_its_fee_and_says_why() {
    let mut world = world(0);
    let payload = remuda_vm::cbor::encode(&int(1)).unwrap();
    world.deploy_with(COUNTER, &payload, Amount::ZERO);
    let actor = actor_address(world.customer().address(), B256::ZERO, COUNTER);
    let receipt = world.call_with(actor, "add_then_fail", int(5), Amount::cby(3));
    assert_eq!(receipt.code, Refusal::ExceptionRaised.code());
    assert_eq!(error(&receipt), "ValueError: no (line 16, in add_then_fail)");
    assert_eq!(receipt.events.len(), 1, "{:?}", receipt.events);
    assert_eq!(world.chain.balance(actor), Amount::ZERO);
    assert_eq!(world.asked(actor, "add", int(0)), int(1));
}

#[test]
fn a_call_knows_who_where_and_with_what() {
    let mut world = world(0);
    let payload = remuda_vm::cbor::encode(&int(1)).unwrap();
    world.deploy_with(COUNTER, &payload, Amount::ZERO);
    let me = world.customer().address();
    let actor = actor_address(me, B256::ZERO, COUNTER);
    let receipt = world.call_with(actor, "who", HostValue::None, Amount(7));
    let height = int(world.chain.height().get() as i64);
    assert_eq!(returned(&receipt), list([addr(me), addr(me), addr(actor), int(7), height]));
    assert_eq!(world.chain.balance(actor), Amount(7));
}

#[test]
fn what_cannot_be_called_is_refused_by_name() {
    let mut world = world(0);
    let actor = world.deploy("def _hidden():\n    pass\nx = 5\n");
    for method in ["_hidden", "x", "absent", "init"] {
        let receipt = world.call(actor, method, HostValue::None);
        assert_eq!(receipt.code, Refusal::UnknownMethod.code(), "{method}");
    }
    let nobody = Address::repeat_byte(9);
    assert_eq!(world.call(nobody, "m", HostValue::None).code, Refusal::NoCode.code());
    let again = world.deploy_with("def _hidden():\n    pass\nx = 5\n", &[], Amount::ZERO);
    assert_eq!(again.code, Refusal::ActorExists.code());
    for code in ["def", "import os\n", "while\n"] {
        let receipt = world.deploy_with(code, &[], Amount::ZERO);
        assert_eq!(receipt.code, Refusal::NotAProgram.code(), "{code}");
    }
    assert_eq!(world.deploy_with("", &[], Amount::ZERO).code, Refusal::CodeTooLarge.code());
    let failing = world.deploy_with("def init(p):\n    1 / 0\n", &[], Amount::cby(1));
    assert_eq!(failing.code, Refusal::ExceptionRaised.code());
    let gone = actor_address(world.customer().address(), B256::ZERO, "def init(p):\n    1 / 0\n");
    assert_eq!(world.chain.balance(gone), Amount::ZERO);
}

const CALLER: &str = "\
import cowboy
from cowboy import storage

def pass_on(m):
    storage['before'] = 1
    out = cowboy.call(m[0], m[1], m[2], value=m[3])
    storage['after'] = 1
    return out

def try_it(m):
    try:
        cowboy.call(m[0], m[1], m[2], value=m[3])
    except cowboy.HostError as error:
        return [error.kind, str(error)]
    return None

def with_cycles(m):
    before = cowboy.cycles_left()
    try:
        cowboy.call(m[0], m[1], None, cycles=m[2])
    except cowboy.HostError as error:
        return [error.kind, before - cowboy.cycles_left()]
";

const CALLEE: &str = "\
import cowboy
from cowboy import storage

def keep(x):
    storage['x'] = x
    cowboy.emit('kept', x)
    return [x, cowboy.caller(), cowboy.origin(), cowboy.value()]

def keep_then_fail(x):
    keep(x)
    raise KeyError(x)

def back(m):
    return cowboy.call(m[0], m[1], m[2])

def spin():
    while True:
        pass

async def later():
    await cowboy.sleep(3)
";

#[test]
fn an_actor_calls_another_within_the_transaction() {
    let mut world = world(0);
    let (caller, callee) = (world.deploy(CALLER), world.deploy(CALLEE));
    let before = world.chain.balance(callee);
    let argument = list([addr(callee), text("keep"), int(5), int(9)]);
    let got = world.asked(caller, "pass_on", argument);
    let me = world.customer().address();
    assert_eq!(got, list([int(5), addr(caller), addr(me), int(9)]));
    assert_eq!(world.chain.balance(callee), Amount(before.get() + 9));
    assert!(world.stored(callee, b"x").is_some());
}

#[test]
fn a_failed_inner_call_takes_back_its_own_effects_and_raises_in_the_caller() {
    let mut world = world(0);
    let (caller, callee) = (world.deploy(CALLER), world.deploy(CALLEE));
    let before = world.chain.balance(callee);
    let argument = list([addr(callee), text("keep_then_fail"), int(5), int(9)]);
    let receipt = world.call(caller, "try_it", argument.clone());
    let message = text("KeyError: 5 (line 11, in keep_then_fail)");
    assert_eq!(returned(&receipt), list([text("failed"), message]));
    assert_eq!(said(&receipt.events), []);
    assert_eq!(world.chain.balance(callee), before);
    assert_eq!(world.stored(callee, b"x"), None);
    // Not caught: everything is taken back, the caller's own, too.
    let receipt = world.call(caller, "pass_on", argument);
    assert_eq!(receipt.code, Refusal::ExceptionRaised.code());
    assert!(error(&receipt).contains("KeyError: 5"), "{}", error(&receipt));
    assert_eq!(world.stored(caller, b"before"), None);
}

#[test]
fn an_actor_is_not_entered_twice() {
    let mut world = world(0);
    let (caller, callee) = (world.deploy(CALLER), world.deploy(CALLEE));
    let inner = list([addr(caller), text("try_it"), HostValue::None]);
    let argument = list([addr(callee), text("back"), inner, int(0)]);
    let HostValue::List(got) = world.asked(caller, "try_it", argument) else { panic!() };
    assert_eq!(got[0], text("failed"));
    let HostValue::Str(message) = &got[1] else { panic!() };
    assert!(message.contains("being called already"), "{message}");
    let itself = list([addr(caller), text("try_it"), HostValue::None, int(0)]);
    let HostValue::List(got) = world.asked(caller, "try_it", itself) else { panic!() };
    assert_eq!(got[0], text("reentrant"));
}

#[test]
fn calls_go_thirty_two_deep_and_no_deeper() {
    let mut world = world(0);
    let code = |n: usize| {
        format!(
            "import cowboy\n# {n}\ndef down(path):\n    if not path:\n        return 1\n    return 1 + cowboy.call(path[0], 'down', path[1:])\n"
        )
    };
    let actors: Vec<Address> = (0..33).map(|n| world.deploy(&code(n))).collect();
    let path = |n: usize| HostValue::List(actors[1..n].iter().map(|a| addr(*a)).collect());
    assert_eq!(world.asked(actors[0], "down", path(32)), int(32));
    let receipt = world.call(actors[0], "down", path(33));
    assert_eq!(receipt.code, Refusal::ExceptionRaised.code());
    assert!(error(&receipt).contains("32 deep"), "{}", error(&receipt));
}

#[test]
fn an_inner_call_that_uses_up_its_cycles_costs_those_and_no_more() {
    let mut world = world(0);
    let (caller, callee) = (world.deploy(CALLER), world.deploy(CALLEE));
    let argument = list([addr(callee), text("spin"), int(50_000)]);
    let HostValue::List(got) = world.asked(caller, "with_cycles", argument) else { panic!() };
    assert_eq!(got[0], text("failed"));
    let HostValue::Int(used) = got[1] else { panic!() };
    assert!((50_000..51_000).contains(&used), "{used}");
}

#[test]
fn a_method_that_waits_cannot_be_called_only_asked() {
    let mut world = world(0);
    let (caller, callee) = (world.deploy(CALLER), world.deploy(CALLEE));
    let argument = list([addr(callee), text("later"), HostValue::None, int(0)]);
    let HostValue::List(got) = world.asked(caller, "try_it", argument) else { panic!() };
    let HostValue::Str(message) = &got[1] else { panic!() };
    assert!(message.contains("ask for it"), "{message}");
    assert_eq!(world.actor(callee).suspended, 0);
}

#[test]
fn a_call_without_cycles_costs_exactly_its_limit() {
    let mut world = world(0);
    let actor = world.deploy(CALLEE);
    let key = world.customer();
    let (method, payload) = ("spin".to_owned(), Bytes::default());
    let call = Instruction::CallActor { actor, method, payload, value: Amount::ZERO };
    let mut body = world.chain.transaction(key.address(), call);
    body.cycles_limit = 123_456;
    let hash = {
        use remuda_protocol::codec::Encode;
        world.chain.queue(body.sign(&key).to_bytes())
    };
    world.step();
    let receipt = world.chain.receipt(hash).unwrap();
    assert_eq!(receipt.code, Refusal::OutOfCycles.code());
    assert_eq!(receipt.used.cycles.get(), 123_456);
}

#[test]
fn a_sent_message_runs_in_a_later_block_and_its_deposit_is_settled() {
    let mut world = world(0);
    let sender = world.deploy(
        "import cowboy\ndef tell(m):\n    cowboy.send(m[0], m[1], m[2], cycles=100000, value=5)\n",
    );
    let callee = world.deploy(CALLEE);
    let before = world.chain.balance(callee);
    let receipt = world.call(sender, "tell", list([addr(callee), text("keep"), int(3)]));
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    assert_eq!(world.stored(callee, b"x"), None);
    let paid = world.chain.balance(sender);
    let events = world.step();
    assert_eq!(said(&events), [("kept".to_owned(), int(3))]);
    assert_eq!(world.chain.balance(callee), Amount(before.get() + 5));
    // What the call did not use has come back.
    assert!(world.chain.balance(sender) > paid);
    // A message that fails gives its money back, and changes nothing.
    let money = world.chain.balance(callee);
    world.call(sender, "tell", list([addr(callee), text("keep_then_fail"), int(4)]));
    let events = world.step();
    assert!(events.iter().any(|event| event.name() == "CallFailed"), "{events:?}");
    assert_eq!(world.chain.balance(callee), money);
}

fn upgrade(world: &mut World, actor: Address, code: &str, owner: bool) -> u16 {
    let key = if owner { world.customer() } else { world.stranger() };
    world.run(&key, Instruction::UpgradeActor { actor, code: code.to_owned() }).code
}

#[test]
fn only_its_owner_changes_an_actors_code_and_not_while_calls_wait() {
    let mut world = world(0);
    let actor = world.deploy(CALLEE);
    let new = "def keep(x):\n    return 'new'\n";
    assert_eq!(upgrade(&mut world, actor, new, false), Refusal::NotOwner.code());
    assert_eq!(world.call(actor, "later", HostValue::None).code, 0);
    assert_eq!(world.actor(actor).suspended, 1);
    assert_eq!(upgrade(&mut world, actor, new, true), Refusal::CallsWaiting.code());
    world.chain.steps(6);
    assert_eq!(world.actor(actor).suspended, 0);
    assert_eq!(upgrade(&mut world, actor, "def", true), Refusal::NotAProgram.code());
    assert_eq!(upgrade(&mut world, actor, new, true), 0);
    assert_eq!(world.asked(actor, "keep", int(1)), text("new"));
}

#[test]
fn an_actor_upgrades_itself_when_its_owner_asks() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\ndef change(code):\n    cowboy.upgrade(code)\n    return version()\ndef version():\n    return 1\n",
    );
    let new = "def version():\n    return 2\n";
    // The running call goes on in the code that it began in.
    assert_eq!(world.asked(actor, "change", text(new)), int(1));
    assert_eq!(world.asked(actor, "version", HostValue::None), int(2));
}

#[test]
fn money_chance_and_what_is_not_there() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\n\
         def pay(m):\n    cowboy.transfer(m[0], m[1])\n    return cowboy.balance(m[0])\n\
         def overpay(m):\n    try:\n        cowboy.transfer(m[0], 10 ** 30)\n    except cowboy.InsufficientFunds as error:\n        return error.kind\n\
         def chance(label):\n    return [cowboy.randomness(label), cowboy.randomness(label), cowboy.randomness('other')]\n\
         def odd():\n    try:\n        cowboy.host('storage_get', 5)\n    except cowboy.Refused as error:\n        return str(error)\n",
    );
    let friend = Address::repeat_byte(0x77);
    assert_eq!(world.asked(actor, "pay", list([addr(friend), int(12)])), int(12));
    assert_eq!(world.asked(actor, "overpay", list([addr(friend)])), text("funds"));
    let HostValue::List(drawn) = world.asked(actor, "chance", text("a")) else { panic!() };
    assert_eq!(drawn[0], drawn[1]);
    assert_ne!(drawn[0], drawn[2]);
    let HostValue::List(later) = world.asked(actor, "chance", text("a")) else { panic!() };
    assert_ne!(drawn[0], later[0]);
    let odd = world.asked(actor, "odd", HostValue::None);
    assert_eq!(odd, text("the host has no call 'storage_get' with such arguments"));
}

#[test]
fn code_whose_body_fails_does_not_take_the_place_of_code_that_works() {
    let mut world = world(0);
    let actor = world.deploy("def f():\n    return 1\n");
    for code in ["x = 1 / 0\n", "while True:\n    pass\n", "from cowboy import storrage\n"] {
        assert_ne!(upgrade(&mut world, actor, code, true), 0, "{code}");
        assert_eq!(world.asked(actor, "f", HostValue::None), int(1));
    }
    assert_eq!(upgrade(&mut world, actor, "def f():\n    return 2\n", true), 0);
    assert_eq!(world.asked(actor, "f", HostValue::None), int(2));
}
