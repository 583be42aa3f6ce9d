//! An actor's data: order, bounds, prices, and a model to compare with.

use crate::chain::common::{Choices, calm, with_seeds};
use crate::chain::setup::{error, int, list, text, world, world_of};
use remuda_protocol::error::Refusal;
use remuda_vm::HostValue;
use std::collections::BTreeMap;

const STORE: &str = "\
import cowboy

def put(m):
    cowboy.storage_set(m[0], m[1])

def get(key):
    return cowboy.storage_get(key)

def drop(key):
    return cowboy.storage_delete(key)

def scan(m):
    return cowboy.storage_scan(m[0], m[1], m[2])

def many(steps):
    out = []
    for op, key, value in steps:
        if op == 0:
            cowboy.storage_set(key, value)
        elif op == 1:
            out.append(cowboy.storage_delete(key))
        else:
            out.append([key for key, _ in cowboy.storage_scan(key, None, value)])
    return out

def big(n):
    cowboy.storage_set('big', bytes(n))

def fill(n):
    for i in range(n):
        cowboy.storage_set('k' + str(i), bytes(1000))
";

fn bytes(text: &str) -> HostValue {
    HostValue::Bytes(text.as_bytes().to_vec())
}

#[test]
fn keys_are_read_back_in_order_by_prefix_and_from_a_key_on() {
    let mut world = world(0);
    let actor = world.deploy(STORE);
    for key in ["b", "a/2", "a/1", "a/3", "a", "c"] {
        let receipt = world.call(actor, "put", list([text(key), bytes(key)]));
        assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    }
    let pair = |key: &str| list([bytes(key), bytes(key)]);
    let all = world.asked(actor, "scan", list([text("a/"), HostValue::None, int(10)]));
    assert_eq!(all, list([pair("a/1"), pair("a/2"), pair("a/3")]));
    let rest = world.asked(actor, "scan", list([text("a/"), text("a/1"), int(1)]));
    assert_eq!(rest, list([pair("a/2")]));
    assert_eq!(world.asked(actor, "drop", text("a/2")), HostValue::Bool(true));
    assert_eq!(world.asked(actor, "drop", text("a/2")), HostValue::Bool(false));
    let left = world.asked(actor, "scan", list([text(""), HostValue::None, int(10)]));
    assert_eq!(left, list([pair("a"), pair("a/1"), pair("a/3"), pair("b"), pair("c")]));
}

#[test]
fn storage_does_what_a_sorted_map_does() {
    with_seeds(3, |seed| {
        let mut choices = Choices::new(seed);
        let mut world = world(0);
        let actor = world.deploy(STORE);
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for _ in 0..6 {
            let (mut steps, mut expected) = (Vec::new(), Vec::new());
            for _ in 0..25 {
                let key: Vec<u8> =
                    (0..1 + choices.below(3)).map(|_| b'a' + choices.below(4) as u8).collect();
                let step = |op, value| list([int(op), HostValue::Bytes(key.clone()), value]);
                match choices.below(10) {
                    0..5 => {
                        let value = vec![7; choices.below(50) as usize];
                        steps.push(step(0, HostValue::Bytes(value.clone())));
                        model.insert(key, value);
                    }
                    5..8 => {
                        steps.push(step(1, int(0)));
                        expected.push(HostValue::Bool(model.remove(&key).is_some()));
                    }
                    _ => {
                        let limit = 1 + choices.below(8) as usize;
                        steps.push(step(2, int(limit as i64)));
                        let found = model.keys().filter(|known| known.starts_with(&key));
                        let found = found.take(limit).cloned().map(HostValue::Bytes);
                        expected.push(HostValue::List(found.collect()));
                    }
                }
            }
            let got = world.asked(actor, "many", HostValue::List(steps));
            assert_eq!(got, HostValue::List(expected));
            let weight =
                |(key, value): (&Vec<u8>, &Vec<u8>)| (3 * key.len() + value.len() + 64) as u64;
            assert_eq!(world.actor(actor).storage_bytes, model.iter().map(weight).sum::<u64>());
        }
    });
}

#[test]
fn storage_has_its_bounds_and_programs_are_told() {
    let mut params = calm();
    params.actor_storage_bytes_max = 5_000;
    let mut world = world_of(params, 0);
    let actor = world.deploy(STORE);
    let long = "k".repeat(257);
    let receipt = world.call(actor, "put", list([text(&long), bytes("v")]));
    assert_eq!(receipt.code, Refusal::ExceptionRaised.code());
    assert!(error(&receipt).contains("1 to 256 bytes"), "{}", error(&receipt));
    let receipt = world.call(actor, "big", int(65_537));
    assert!(error(&receipt).contains("at most 65536"), "{}", error(&receipt));
    assert_eq!(world.call(actor, "fill", int(4)).code, 0);
    let receipt = world.call(actor, "fill", int(5));
    assert!(error(&receipt).contains("storage is full"), "{}", error(&receipt));
    // What is written again does not count twice; what is deleted makes room.
    assert_eq!(world.call(actor, "fill", int(4)).code, 0);
    assert_eq!(world.asked(actor, "drop", text("k0")), HostValue::Bool(true));
    assert_eq!(world.call(actor, "put", list([text("new"), bytes("v")])).code, 0);
}

#[test]
fn cells_pay_for_what_is_kept() {
    let mut world = world(0);
    let actor = world.deploy(STORE);
    let none = world.call(actor, "get", text("k")).used.cells.get();
    let receipt = world.call(actor, "big", int(10_000));
    let cells = receipt.used.cells.get();
    assert!(cells > none + 10_000, "{cells} against {none}");
    // More than the limit of the transaction: the call ends there, and no program can go on.
    let receipt = world.call(actor, "fill", int(200));
    assert_eq!(receipt.code, Refusal::OutOfCells.code(), "{:?}", receipt.events);
}
