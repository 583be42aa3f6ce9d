//! What a call pays before its code does anything, and that nothing of it depends on a machine.

use crate::chain::common::World;
use crate::chain::setup::{int, list, text, world};
use remuda_protocol::actors::price;
use remuda_protocol::codec::Bytes;
use remuda_protocol::event::Receipt;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::transaction::Instruction;
use remuda_vm::chain::Machine;
use remuda_vm::{HostValue, cbor};

const CODE: &str = "def nothing():\n    return None\n";

fn instruction(actor: Address, method: &str, argument: &HostValue) -> Instruction {
    let payload = match argument {
        HostValue::None => Bytes::default(),
        argument => Bytes(cbor::encode(argument).unwrap()),
    };
    Instruction::CallActor { actor, method: method.to_owned(), payload, value: Amount::ZERO }
}

/// Calls in one block, by the same sender.
fn together(world: &mut World, calls: &[(Address, &str, HostValue)]) -> Vec<Receipt> {
    let key = world.customer();
    let hashes: Vec<_> = calls
        .iter()
        .map(|(actor, method, argument)| {
            world.chain.send(&key, instruction(*actor, method, argument))
        })
        .collect();
    world.chain.step();
    hashes.iter().map(|hash| world.chain.receipt(*hash).expect("in the block").clone()).collect()
}

fn cycles(receipts: &[Receipt]) -> Vec<u64> {
    receipts.iter().map(|receipt| receipt.used.cycles.get()).collect()
}

#[test]
fn the_first_call_of_a_block_pays_for_compiling_and_the_others_do_not() {
    let mut world = world(0);
    let (one, other) =
        (world.deploy(CODE), world.deploy(&format!("{CODE}# {}\n", "x".repeat(4000))));
    let call = |actor| (actor, "nothing", HostValue::None);
    for _ in 0..2 {
        let paid = cycles(&together(&mut world, &[call(one), call(one), call(other), call(one)]));
        let compile = CODE.len() as u64 * price::COMPILE_BYTE_CYCLES;
        assert_eq!(paid[0], paid[1] + compile);
        assert_eq!(paid[1], paid[3]);
        assert!(paid[2] > 4_000 * price::COMPILE_BYTE_CYCLES);
    }
}

#[test]
fn code_stays_cold_if_its_compilation_is_unpaid() {
    let mut world = world(0);
    let long = format!("{CODE}# {}\n", "x".repeat(20_000));
    let actor = world.deploy(&long);
    let caller = "import cowboy\ndef poor(m):\n    try:\n        cowboy.call(m[0], 'nothing', cycles=5000)\n    \
         except cowboy.Failed:\n        return 'poor'\n";
    let caller = world.deploy(caller);
    let to = list([HostValue::Bytes(actor.to_vec())]);
    let receipts =
        together(&mut world, &[(caller, "poor", to.clone()), (actor, "nothing", HostValue::None)]);
    assert_eq!(crate::chain::setup::returned(&receipts[0]), text("poor"));
    assert!(cycles(&receipts)[1] > long.len() as u64 * price::COMPILE_BYTE_CYCLES);
    // Now that it is paid for, little is enough.
    let receipts =
        together(&mut world, &[(actor, "nothing", HostValue::None), (caller, "poor", to)]);
    assert_eq!(crate::chain::setup::returned(&receipts[1]), HostValue::None);
}

/// Blocks of calls among several actors; what all of them took.
fn story(world: &mut World) -> Vec<u64> {
    let source = |number: usize| {
        format!(
            "import cowboy\nNUMBER = {number}\ndef add(n):\n    cowboy.storage_set('k', bytes(n))\n    \
             return NUMBER + n\nasync def later(n):\n    await cowboy.sleep(n)\n    return NUMBER\n\
             def through(m):\n    return cowboy.call(m[0], 'add', m[1])\n"
        )
    };
    let actors: Vec<Address> = (0..5).map(|number| world.deploy(&source(number))).collect();
    let mut paid = Vec::new();
    for round in 0..4_usize {
        let mut calls = Vec::new();
        for (place, actor) in actors.iter().enumerate() {
            calls.push((*actor, "add", int((round * 10 + place) as i64)));
            let to = HostValue::Bytes(actors[(place + 1) % 5].to_vec());
            calls.push((*actor, "through", list([to, int(3)])));
            calls.push((*actor, "later", int(2)));
        }
        paid.extend(cycles(&together(world, &calls)));
        for _ in 0..3 {
            let events = world.step();
            paid.extend(events.iter().filter_map(|event| match event {
                remuda_protocol::event::Event::CallRan { cycles, .. } => Some(*cycles),
                _ => None,
            }));
        }
    }
    paid
}

#[test]
fn what_a_machine_keeps_of_compiled_code_changes_no_cycle() {
    static NOTHING_KEPT: Machine = Machine::with_room(0);
    static TWO_KEPT: Machine = Machine::with_room(2_048);
    let usual = story(&mut world(0));
    assert!(usual.len() > 60, "{}", usual.len());
    for machine in [&NOTHING_KEPT, &TWO_KEPT] {
        let mut other = world(0);
        other.chain.actors = machine;
        assert_eq!(story(&mut other), usual);
    }
}

#[test]
fn a_value_is_read_only_by_who_could_pay_for_the_longest() {
    let mut world = world(0);
    let store = "import cowboy\ndef put(n):\n    cowboy.storage_set('k', bytes(n))\ndef get():\n    \
                 return len(cowboy.storage_get('k'))\ndef left():\n    \
                 cowboy.storage_get('k')\n    a = cowboy.cycles_left()\n    \
                 cowboy.storage_get('k')\n    return a - cowboy.cycles_left()\n\
                 def again(n):\n    a = cowboy.cycles_left()\n    \
                 cowboy.storage_set('k', bytes(n))\n    return a - cowboy.cycles_left()\n";
    let store = world.deploy(store);
    let caller = "import cowboy\ndef with_cycles(m):\n    try:\n        \
                  return cowboy.call(m[0], 'get', cycles=m[1])\n    except cowboy.Failed:\n        \
                  return 'no'\n";
    let caller = world.deploy(caller);
    assert_eq!(world.call(store, "put", int(32)).code, 0);
    let mut ask = |cycles: u64| {
        // Both codes are warm when it is asked for.
        let to = HostValue::Bytes(store.to_vec());
        let warm = (store, "get", HostValue::None);
        let call = (caller, "with_cycles", list([to, int(cycles as i64)]));
        crate::chain::setup::returned(&together(&mut world, &[warm, call])[1])
    };
    let enough = (3_000..20_000).step_by(100).find(|cycles| ask(*cycles) == int(32)).unwrap();
    // The price of a short value would have been there long before.
    let longest = price::read(remuda_protocol::actors::storage::VALUE_BYTES_MAX);
    assert!(enough > price::CALL_CYCLES + longest, "{enough}");
    assert_eq!(ask(enough), int(32));
    // What is taken is the price of what was found, also of what is replaced.
    let HostValue::Int(short) = world.asked(store, "left", HostValue::None) else { panic!() };
    assert_eq!(world.call(store, "put", int(65_536)).code, 0);
    let HostValue::Int(long) = world.asked(store, "left", HostValue::None) else { panic!() };
    let more = (65_536 - 32) / price::READ_BYTES_PER_CYCLE as i64;
    assert!((more..more + more / 2 + 2_000).contains(&(long - short)), "{short} {long}");
    let HostValue::Int(replaced) = world.asked(store, "again", int(1)) else { panic!() };
    let HostValue::Int(again) = world.asked(store, "again", int(1)) else { panic!() };
    assert!(replaced - again >= more, "{replaced} {again}");
}

#[test]
fn a_job_is_paid_for_before_its_document_is_read() {
    let mut world = world(0);
    let code = "import cowboy\ndef order(n):\n    a = cowboy.cycles_left()\n    try:\n        \
                cowboy.submit_job({'x': [0] * n})\n    except cowboy.Refused:\n        \
                return a - cowboy.cycles_left()\n";
    let actor = world.deploy(code);
    let HostValue::Int(few) = world.asked(actor, "order", int(10)) else { panic!() };
    let HostValue::Int(many) = world.asked(actor, "order", int(10_010)) else { panic!() };
    assert!(many - few >= 10_000 * price::DOCUMENT_VALUE_CYCLES as i64, "{few} {many}");
}
