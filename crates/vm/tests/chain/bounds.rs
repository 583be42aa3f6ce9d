//! Bounds of the host's calls, and that programs are told of them.

use crate::chain::common::World;
use crate::chain::setup::{error, int, list, said, spec, text, world};
use remuda_protocol::actors::wait::OPEN_MAX;
use remuda_protocol::callback::call_limit;
use remuda_protocol::event::Event;
use remuda_vm::HostValue;

const CODE: &str = concat!(
    "import cowboy\n\n",
    spec!(),
    "
def ask_for(n):
    for i in range(n):
        cowboy.host('sleep_until', cowboy.height() + 5)

def emit(m):
    cowboy.emit('t' * m[0], bytes(m[1]))

def send(cycles):
    cowboy.send(cowboy.address(), 'emit', [1, 1], cycles=cycles)

def want(cycles):
    cowboy.resume_cycles(cycles)

async def two_wait():
    job = cowboy.submit_job(SPEC)
    first = cowboy.host('await_job', job)
    try:
        cowboy.host('await_job', job)
    except cowboy.Refused as error:
        cowboy.emit('refused', str(error))
    cowboy.storage['job'] = job
    await first

async def third_waits():
    try:
        await cowboy.await_job(cowboy.storage['job'])
    except cowboy.Refused as error:
        return str(error)
"
);

fn deployed() -> (World, remuda_protocol::primitives::Address) {
    let mut world = world(5);
    let actor = world.deploy(CODE);
    (world, actor)
}

#[test]
fn a_call_asks_for_as_many_things_as_it_may_and_not_for_one_more() {
    let (mut world, actor) = deployed();
    assert_eq!(OPEN_MAX, 64);
    assert_eq!(world.call(actor, "ask_for", int(64)).code, 0);
    let before = world.chain.balance(actor);
    let receipt = world.call(actor, "ask_for", int(65));
    assert!(error(&receipt).starts_with("LimitReached: "), "{}", error(&receipt));
    // Nothing of the failed call is paid for or kept.
    assert_eq!(world.chain.balance(actor), before);
    assert_eq!(world.actor(actor).suspended, 0);
}

#[test]
fn one_call_waits_for_a_job() {
    let (mut world, actor) = deployed();
    let receipt = world.call(actor, "two_wait", HostValue::None);
    assert_eq!(receipt.code, 0, "{:?}", receipt.events);
    let said = said(&receipt.events);
    let words = text("another call waits for this job already");
    assert_eq!(said, [("refused".to_owned(), words.clone())]);
    assert_eq!(world.asked(actor, "third_waits", HostValue::None), words);
    assert_eq!(world.actor(actor).suspended, 1);
}

#[test]
fn events_have_their_bounds() {
    let (mut world, actor) = deployed();
    assert_eq!(world.call(actor, "emit", list([int(64), int(16_384)])).code, 0);
    for (topic, data) in [(65, 1), (1, 16_385)] {
        let receipt = world.call(actor, "emit", list([int(topic), int(data)]));
        assert!(error(&receipt).starts_with("LimitReached: "), "{}", error(&receipt));
        let spoke = |event: &Event| matches!(event, Event::ActorEvent { .. });
        assert!(!receipt.events.iter().any(spoke));
    }
}

#[test]
fn queued_calls_have_cycles_within_their_bounds() {
    let (mut world, actor) = deployed();
    let most = call_limit(&world.chain.params) as i64;
    for method in ["send", "want"] {
        for cycles in [1_000, most] {
            assert_eq!(world.call(actor, method, int(cycles)).code, 0, "{method} {cycles}");
        }
        for cycles in [0, 999, most + 1] {
            let receipt = world.call(actor, method, int(cycles));
            assert!(error(&receipt).starts_with("Refused: "), "{method}: {}", error(&receipt));
        }
    }
}
