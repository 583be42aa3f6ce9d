//! Actors written for `cowboy-sdk` that wait: each goes on from bytes, in a machine that has read them.

use crate::world;

use remuda_vm::HostErrorKind as Kind;
use remuda_vm::{Ending, HostError, HostValue};
use world::{ACTOR, Wait, World, cbor, dict, raised, text, waits};

fn deployed(source: &str) -> World {
    let world = World::new();
    world.deploy(&ACTOR, source, b"").unwrap();
    world
}

const GUARDED: &str = r#"
from cowboy_sdk import actor, runner, storage_guard, StateConflictError, RunnerTimeoutError, RunnerValidationError, CowboyError

@actor
class Till:
    def init(self, payload):
        self.storage['money'] = 10
        self.storage.set_raw('other', b'x')

    @runner.continuation(guard_keys=['money'])
    async def by_key(self, msg):
        self.storage['money'] = 11
        try:
            await runner.http('https://example.org')
        except StateConflictError as error:
            return 'conflict'
        return self.storage['money']

    @actor.continuation
    async def by_value(self, msg):
        other = storage_guard('other')
        before = other.value
        await runner.http('https://example.org')
        return [before, other.value]

    @runner.continuation(timeout_blocks=5)
    async def in_time(self, msg):
        await runner.http('https://example.org')
        return 'in time'

    @runner.continuation
    async def errors(self, msg):
        try:
            return await runner.llm(prompt='x')
        except RunnerTimeoutError as error:
            return 'late: ' + str(error)
        except RunnerValidationError as error:
            return 'invalid: ' + str(error)
        except CowboyError as error:
            return 'error: ' + str(error)

    def spend(self, by):
        self.storage['money'] = self.storage['money'] - by
        self.storage.set_raw('other', b'y')
"#;

#[test]
fn what_is_guarded_and_changes_while_a_call_waits_is_a_conflict_at_its_await() {
    let world = deployed(GUARDED);
    let result = br#"{"status": 200, "content_type": "text/plain", "body": ""}"#;
    let spend = || world.call(&ACTOR, "spend", &cbor(&HostValue::Int(1))).unwrap();
    let token = waits(world.call(&ACTOR, "by_key", b""))[0];
    assert_eq!(
        world.job_done(token, result),
        Ok(cbor(&HostValue::Int(11))),
        "its own change counts"
    );
    let token = waits(world.call(&ACTOR, "by_key", b""))[0];
    spend();
    assert_eq!(world.job_done(token, result), Ok(cbor(&text("conflict"))));
    let token = waits(world.call(&ACTOR, "by_value", b""))[0];
    let same = HostValue::List(vec![HostValue::Bytes(b"y".to_vec()); 2]);
    assert_eq!(world.job_done(token, result), Ok(cbor(&same)));
    world.call(&ACTOR, "by_value", b"").unwrap_err();
    let token = *world.state().frozen.keys().last().unwrap();
    world
        .state()
        .actors
        .get_mut(ACTOR.as_slice())
        .unwrap()
        .storage
        .insert(b"other".to_vec(), vec![]);
    assert_eq!(raised(world.job_done(token, result)).0, "StateConflictError");
}

#[test]
fn jobs_that_fail_or_are_late_raise_the_packages_errors() {
    let world = deployed(GUARDED);
    let cases =
        [(Kind::Timeout, "late: why"), (Kind::Failed, "invalid: why"), (Kind::Funds, "error: why")];
    for (kind, expected) in cases {
        let token = waits(world.call(&ACTOR, "errors", b""))[0];
        assert_eq!(
            world.answer(token, Err(HostError::new(kind, "why"))),
            Ok(cbor(&text(expected)))
        );
    }
    let result = br#"{"status": 200}"#;
    let token = waits(world.call(&ACTOR, "in_time", b""))[0];
    world.state().height += 5;
    assert_eq!(world.job_done(token, result), Ok(cbor(&text("in time"))));
    let token = waits(world.call(&ACTOR, "in_time", b""))[0];
    world.state().height += 6;
    assert_eq!(raised(world.job_done(token, result)).0, "RunnerTimeoutError");
}

#[test]
fn tasks_loops_and_nested_awaits_go_on_wherever_they_wait() {
    let source = r#"
from cowboy_sdk import actor, runner, capture, TaskGroup, Retry, bounded_loop, BoundedRange, Verify, LoopBoundExceeded, pvm_random

async def ask(question):
    return (await runner.llm(question)).upper()

@actor
class Agent:
    @runner.continuation
    async def parallel(self, msg):
        ctx = capture()
        ctx.first = await ask('first')
        async with TaskGroup(timeout_blocks=9) as tg:
            one = tg.create_task(runner.llm('one'))
            two = tg.create_task(runner.http('https://example.org', method='post', json={'a': 1}))
            three = tg.create_task(runner.mcp('git', 'issues', repo='r'))
        ctx.one = one.result()
        ctx.status = two.result()['status']
        try:
            ctx.three = three.result()
        except Exception as error:
            ctx.three = type(error).__name__
        return ctx.to_dict()

    @runner.continuation
    @bounded_loop(max_iterations=3)
    async def again(self, msg):
        seen = []
        retry = Retry(max_attempts=4)
        for attempt in BoundedRange(10):
            seen.append(await runner.llm(f'try {attempt}'))
            if seen[-1] == 'good':
                return [seen, retry.current_attempt, pvm_random.randint(1, 1000)]
            retry.next_delay()

    @runner.continuation
    async def checked(self, msg):
        spec = (Verify.builder().mode('consensus').runners(5).threshold(3)
                .check(Verify.json_schema_valid({'type': 'object'}))
                .check(Verify.numeric_range('price', 0.01))
                .check(Verify.contains_none(['secret']))
                .check(Verify.supermajority_vote('price', 0.75)))
        return await runner.llm('price?', verify=spec.build(), max_price=5, model='m', max_tokens=7)
"#;
    let world = deployed(source);
    let say = |text: &str| format!(r#"{{"content": "{text}"}}"#).into_bytes();
    let token = waits(world.call(&ACTOR, "parallel", b""))[0];
    let tokens = waits(world.job_done(token, &say("yes")));
    assert_eq!(tokens.len(), 3);
    waits(world.answer(tokens[2], Err(HostError::new(Kind::Failed, "no consensus"))));
    waits(world.job_done(tokens[0], &say("1")));
    let answer = world.job_done(tokens[1], br#"{"status": 201, "content_type": "", "body": ""}"#);
    let expected = dict(&[
        ("first", text("YES")),
        ("one", text("1")),
        ("status", HostValue::Int(201)),
        ("three", text("RunnerValidationError")),
    ]);
    assert_eq!(answer, Ok(cbor(&expected)));
    let jobs = world.state().jobs.clone();
    let shown = format!("{:?}", jobs[2].0);
    assert!(shown.contains("POST") && shown.contains("0x7b2261223a20317d"), "{shown}");
    assert!(format!("{:?}", jobs[3].0).contains(r#"Str("{\"repo\": \"r\"}")"#), "{:?}", jobs[3].0);
    assert!(jobs[1..4].iter().all(|job| format!("{job:?}").contains("timeout_blocks")));

    let mut token = waits(world.call(&ACTOR, "again", b""))[0];
    for _ in 0..2 {
        token = waits(world.job_done(token, &say("bad")))[0];
    }
    let done = world.job_done(token, &say("good")).unwrap();
    assert!(format!("{:?}", remuda_vm::cbor::decode(&done)).contains("Str(\"good\")]), Int(2)"));
    let mut token = waits(world.call(&ACTOR, "again", b""))[0];
    for _ in 0..2 {
        token = waits(world.job_done(token, &say("bad")))[0];
    }
    assert_eq!(raised(world.job_done(token, &say("bad"))).0, "LoopBoundExceeded");

    let token = waits(world.call(&ACTOR, "checked", b""))[0];
    let (spec, _) = world.state().jobs.last().unwrap().clone();
    let HostValue::Dict(parts) = &spec else { panic!("{spec:?}") };
    let checks = HostValue::List(vec![
        dict(&[("JsonSchemaValid", dict(&[("schema", text("{\"type\": \"object\"}"))]))]),
        dict(&[(
            "NumericRange",
            dict(&[
                ("field", text("price")),
                ("min", text("0.01")),
                ("max", text("100000000000000000000")),
            ]),
        )]),
        dict(&[("MajorityVote", dict(&[("field", text("price"))]))]),
    ]);
    let verification = dict(&[
        ("mode", text("structured_match")),
        ("runners", HostValue::Int(5)),
        ("threshold", HostValue::Int(4)),
        ("checks", checks),
    ]);
    assert_eq!(parts[1], (text("verification"), verification));
    assert_eq!(parts[4], (text("max_price"), HostValue::Int(5)));
    assert_eq!(raised(world.job_done(token, &say("a secret"))).0, "RunnerValidationError");
}

#[test]
fn actors_call_and_send_each_other() {
    let source = r#"
from cowboy_sdk import (actor, call, send, ActorRef, Address, ActorNotFoundError, ActorCallError,
                        CallDepthExceeded, CowboyError, reentrancy_guard, runtime)
import pvm_host

@actor
class Node:
    def price(self, args):
        return {'of': args[0], 'is': 5}

    def down(self, left):
        return call(self.address, 'down', left + 1)

    def fails(self, argument):
        raise KeyError('inside')

    @reentrancy_guard
    def locked(self, depth):
        return 'open' if depth == 0 else ActorRef(self.address).locked(depth - 1)

    def all(self):
        me = ActorRef(self.address)
        seen = [me.price('eth'), me.call('price', ['btc']), call(self.address.to_hex(), 'price', ['x'])['of']]
        for wrong in (lambda: call(bytes(20), 'price'), lambda: me.nowhere(), lambda: me.fails(1),
                      lambda: me.call('down', 0), lambda: runtime.token_mint(b'', b'', 1)):
            try:
                wrong()
            except CowboyError as error:
                seen.append(type(error).__name__)
        me.send({'hello': 1})
        send(Address.ZERO, b'raw', raw=True)
        runtime.emit_event('done', {'n': 1})
        pvm_host.emit_event('raw', b'x')
        return seen
"#;
    let world = deployed(source);
    let answer = world.call(&ACTOR, "all", b"").unwrap();
    let price = |of: &str| dict(&[("is", HostValue::Int(5)), ("of", text(of))]);
    let names = [
        "ActorNotFoundError",
        "ActorNotFoundError",
        "ActorCallError",
        "ActorCallError",
        "CowboyError",
    ];
    let mut expected = vec![price("eth"), price("btc"), text("x")];
    expected.extend(names.map(text));
    assert_eq!(remuda_vm::cbor::decode(&answer), Ok(HostValue::List(expected)));
    let state = world.state();
    let message = |to: &[u8], data: Vec<u8>| (to.to_vec(), "handle_message".to_owned(), data);
    let hello = cbor(&dict(&[("hello", HostValue::Int(1))]));
    assert_eq!(state.sent, [message(&ACTOR, hello), message(&[0; 20], b"raw".to_vec())]);
    assert_eq!(state.events[0], ("done".to_owned(), br#"{"n": 1}"#.to_vec()));
}

#[test]
fn continuations_may_await_each_other_and_stand_in_the_module() {
    let source = r#"
from cowboy_sdk import *

@runner.continuation(timeout_blocks=50)
async def price(coin):
    return (await runner.http('https://example.org/' + coin, extract='price'))['value']

@runner.continuation(guard_keys=['sum'])
async def both(coins):
    total = 0
    for coin in coins:
        total += await price(coin)
    try:
        await price('none')
    except RunnerValidationError:
        return {'total': total, 'height': BlockHeight(7), 'version': __version__}
"#;
    let world = deployed(source);
    let coins = HostValue::List(vec![text("eth"), text("btc")]);
    let token = waits(world.call(&ACTOR, "both", &cbor(&coins)))[0];
    let token = waits(world.job_done(token, br#"{"status": 200, "value": 5}"#))[0];
    let token = waits(world.job_done(token, br#"{"status": 200, "value": 37}"#))[0];
    let answer = world.job_done(token, br#"{"error": "refused", "detail": "no such coin"}"#);
    let expected = dict(&[
        ("total", HostValue::Int(42)),
        ("height", HostValue::Int(7)),
        ("version", text("0.1.1")),
    ]);
    assert_eq!(answer, Ok(cbor(&expected)));
}

#[test]
fn what_the_packages_modules_remember_survives_a_wait() {
    let source = r#"
from cowboy_sdk import actor, runner, capture, CowboyModel, pvm_random, ordered_set, Address, RunnerValidationError

class Item(CowboyModel):
    name: str
    tags: list = None

class Order(CowboyModel):
    item: Item
    count: int = 1

@actor
class Shop:
    @runner.continuation
    async def buy(self, msg):
        ctx = capture()
        order = Order.from_dict({'item': {'name': msg}, 'count': 3})
        seen = ordered_set(['a', 'b'])
        first = pvm_random.getrandbits(64)
        ctx.state = list(pvm_random.getstate())
        try:
            await runner.llm('anything')
        except RunnerValidationError:
            ctx.failed = True
        again = Order.from_cbor(order.to_cbor())
        same = pvm_random.getstate() == tuple(ctx.state)
        return [again == order, type(again.item).__name__, list(seen), same, first != pvm_random.getrandbits(64),
                ctx.failed, self.address == Address(self.address.to_bytes()), Order.schema()['required']]
"#;
    let world = deployed(source);
    let token = waits(world.call(&ACTOR, "buy", &cbor(&text("hat"))))[0];
    let answer = world.job_done(token, b"this is no JSON").unwrap();
    let yes = HostValue::Bool(true);
    let expected = HostValue::List(vec![
        yes.clone(),
        text("Item"),
        HostValue::List(vec![text("a"), text("b")]),
        yes.clone(),
        yes.clone(),
        yes.clone(),
        yes,
        HostValue::List(vec![text("item")]),
    ]);
    assert_eq!(remuda_vm::cbor::decode(&answer), Ok(expected));
}

#[test]
fn a_call_that_waits_is_small() {
    let world = deployed(GUARDED);
    let token = waits(world.call(&ACTOR, "errors", b""))[0];
    let size = world.state().frozen[&token].1.len();
    assert!(size < 8 * 1024, "{size} bytes");
    assert!(matches!(world.state().waits[&token], Wait::Job(_)));
    assert_eq!(world.call(&ACTOR, "nowhere", b""), Err(Ending::NoMethod("nowhere".to_owned())));
}
