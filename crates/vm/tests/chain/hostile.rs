//! Actors that want to harm.

use crate::chain::setup::{addr, error, int, list, world};
use remuda_protocol::codec::Bytes;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::Amount;
use remuda_protocol::transaction::Instruction;
use remuda_vm::HostValue;

#[test]
fn an_endless_handler_ends_at_its_timers_limit() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\ndef start(h):\n    cowboy.schedule_timer(h, b'', gas_limit=60000)\ndef on_timer(m):\n    while True:\n        pass\n",
    );
    let due = world.chain.height().get() as i64 + 2;
    world.asked(actor, "start", int(due));
    let events: Vec<Event> = (0..4).flat_map(|_| world.step()).collect();
    let fired = events.iter().find_map(|event| match event {
        Event::TimerFired { code, cycles, .. } => Some((*code, *cycles)),
        _ => None,
    });
    assert_eq!(fired, Some((Refusal::OutOfCycles.code(), 60_000)));
}

#[test]
fn memory_is_bounded_for_all_machines_that_call_each_other() {
    let mut world = world(0);
    let code = |n: usize| {
        format!(
            "import cowboy\n# {n}\ndef down(path):\n    held = bytes(2_500_000)\n    if not path:\n        return 1\n    return 1 + cowboy.call(path[0], 'down', path[1:])\n"
        )
    };
    let actors: Vec<_> = (0..9).map(|n| world.deploy(&code(n))).collect();
    let path = |n: usize| HostValue::List(actors[1..n].iter().map(|a| addr(*a)).collect());
    assert_eq!(world.asked(actors[0], "down", path(3)), int(3));
    let receipt = world.call(actors[0], "down", path(9));
    assert_eq!(receipt.code, Refusal::ExceptionRaised.code());
    assert!(error(&receipt).contains("memory"), "{}", error(&receipt));
}

#[test]
fn limits_cannot_be_caught() {
    let mut world = world(0);
    let actor = world.deploy(
        "import cowboy\n\
         def eat():\n    try:\n        x = 'a' * 50_000_000\n    except BaseException:\n        return 1\n\
         def spin():\n    try:\n        while True:\n            cowboy.storage_get('k')\n    except BaseException:\n        return 1\n",
    );
    assert_eq!(world.call(actor, "eat", HostValue::None).code, Refusal::OutOfMemory.code());
    assert_eq!(world.call(actor, "spin", HostValue::None).code, Refusal::OutOfCycles.code());
}

#[test]
fn payloads_of_any_bytes_are_taken_or_refused_and_never_more() {
    let mut world = world(0);
    let actor = world.deploy("def size(x):\n    return len(x)\n");
    // Nested lists, a list that claims to be long, text that is none, half an integer, nothing.
    let deep = vec![0x81; 60_000];
    let payloads: [&[u8]; 6] = [
        &deep,
        &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0x62, 0xc3],
        &[0x1b, 1],
        &[],
        &[0xff; 1_000],
    ];
    for payload in payloads {
        let call = Instruction::CallActor {
            actor,
            method: "size".into(),
            payload: Bytes::from(payload),
            value: Amount::ZERO,
        };
        let receipt = world.run(&world.customer(), call);
        assert_eq!(crate::chain::setup::returned(&receipt), int(payload.len() as i64));
    }
    let call = Instruction::CallActor {
        actor,
        method: "size".into(),
        payload: Bytes(vec![0; 65_537]),
        value: Amount::ZERO,
    };
    let receipt = world.run(&world.customer(), call);
    assert_eq!(receipt.code, Refusal::PayloadTooLong.code());
}

#[test]
fn messages_that_breed_end_with_the_money() {
    let mut world = world(0);
    let code = "import cowboy\ndef breed(m):\n    for _ in range(2):\n        cowboy.send(cowboy.address(), 'breed', None, cycles=100000)\n";
    let actor = world.deploy(code);
    assert_eq!(world.call(actor, "breed", HostValue::None).code, 0);
    for _ in 0..40 {
        let cycles = world.step().into_iter().filter_map(|event| match event {
            Event::CallRan { cycles, .. } => Some(cycles),
            _ => None,
        });
        let cycles: u64 = cycles.sum();
        assert!(cycles < 2_500_000 + 100_000, "half of the runner lane is for calls: {cycles}");
    }
}

#[test]
fn an_actor_cannot_spend_its_callers_money() {
    let mut world = world(0);
    let victim = world.stranger().address();
    let actor = world.deploy(
        "import cowboy\n\
         def bill(m):\n    try:\n        cowboy.schedule_timer(cowboy.height() + 2, b'', fee_payer=m[0])\n    except cowboy.HostError as error:\n        return error.kind\n",
    );
    let got = world.asked(actor, "bill", list([addr(victim)]));
    assert_eq!(got, crate::chain::setup::text("refused"));
}
