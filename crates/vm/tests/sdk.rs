//! Actors written for PyPI's `cowboy-sdk` 0.1.1. What needs no waiting does here what it does in the real
//! package under CPython; what waits goes through the tests' world. Where the package cannot be
//! installed, the tests that need it say that they were skipped.

mod world;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use remuda_vm::HostErrorKind as Kind;
use remuda_vm::{Ending, HostError, HostValue};
use world::{ACTOR, Wait, World, cbor, dict, raised, text, waits};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Where the package is, if it can be had.
static PACKAGE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cowboy-sdk-0.1.1");
    if !target.join("cowboy_sdk/__init__.py").exists() {
        let done = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
            .arg(&target)
            .arg("cowboy-sdk==0.1.1")
            .output();
        if !done.is_ok_and(|done| done.status.success()) {
            return None;
        }
    }
    Some(target)
});

fn package() -> Option<&'static Path> {
    if PACKAGE.is_none() {
        eprintln!("SKIPPED: cowboy-sdk 0.1.1 cannot be installed here, nothing was compared");
    }
    PACKAGE.as_deref()
}

fn deployed(source: &str) -> World {
    let world = World::new();
    world.deploy(&ACTOR, source, b"").unwrap();
    world
}

/// What a script prints in an actor's body.
fn ours(source: &str) -> String {
    match World::new().run(&ACTOR, source) {
        (printed, Ok(())) => printed,
        (printed, Err(ending)) => format!("{printed}{ending:?}"),
    }
}

#[test]
fn scripts_print_what_they_print_with_the_real_package() {
    let Some(package) = package() else { return };
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder().join("sdk"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    scripts.sort();
    let output = Command::new("python3")
        .arg(folder().join("sdk_cpython.py"))
        .arg(package)
        .args(&scripts)
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONIOENCODING", "utf-8")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut rest = &output.stdout[..];
    let mut different = Vec::new();
    for script in &scripts {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or_else(|| panic!("{errors}"));
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let (kind, length) = head.split_once(' ').unwrap();
        assert_eq!(kind, "-", "{}: {errors}", script.display());
        let (theirs, after) = rest[end + 1..].split_at(length.parse().unwrap());
        rest = after;
        let theirs = String::from_utf8_lossy(theirs);
        let ours = ours(&std::fs::read_to_string(script).unwrap());
        let mut lines = ours.lines().zip(theirs.lines()).enumerate();
        if let Some((at, (ours, theirs))) = lines.find(|(_, (ours, theirs))| ours != theirs) {
            let name = script.file_name().unwrap().to_string_lossy().into_owned();
            different.push(format!("{name}:{}\n  ours   {ours}\n  theirs {theirs}", at + 1));
        } else {
            assert_eq!(ours.lines().count(), theirs.lines().count(), "{}", script.display());
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The actor of the package's page, as it stands there.
fn quick_start(package: &Path) -> String {
    let page = package.join("cowboy_sdk-0.1.1.dist-info/METADATA");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, after) = page.split_once("```python\n").unwrap();
    after.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_quick_start_of_the_packages_page_chats() {
    let Some(package) = package() else { return };
    let world = World::new();
    assert_eq!(world.deploy(&ACTOR, &quick_start(package), b""), Ok(b"ok".to_vec()));
    assert_eq!(world.stored(&ACTOR, "calls"), Some(HostValue::Int(0)));
    for (turn, message) in ["How are you?", "And now?"].into_iter().enumerate() {
        let token =
            waits(world.call(&ACTOR, "chat", &cbor(&dict(&[("message", text(message))]))))[0];
        let (spec, callback) = world.state().jobs[turn].clone();
        assert_eq!(callback, HostValue::None);
        let HostValue::Dict(parts) = &spec else { panic!("{spec:?}") };
        let messages = HostValue::List(vec![
            dict(&[("role", text("system")), ("content", text("You are a helpful assistant"))]),
            dict(&[("role", text("user")), ("content", text(message))]),
        ]);
        let work = dict(&[
            ("model", text("default")),
            ("messages", messages),
            ("temperature_milli", HostValue::Int(0)),
            ("seed", HostValue::Int(0)),
        ]);
        assert_eq!(parts[0], (text("job_type"), dict(&[("Llm", work)])));
        world.state().height += 3;
        let answer =
            format!(r#"{{"content": "answer {turn}", "finish_reason": "stop", "model": "m"}}"#);
        assert_eq!(world.job_done(token, answer.as_bytes()), Ok(b"ok".to_vec()));
        let reply = world.stored(&ACTOR, &format!("reply:{turn}"));
        assert_eq!(reply, Some(text(&format!("answer {turn}"))));
    }
    assert_eq!(world.stored(&ACTOR, "calls"), Some(HostValue::Int(2)));
    // The shims are there; a message alone lets nobody go on.
    let forged = cbor(&dict(&[("cid", HostValue::Bytes(vec![1; 32])), ("result", text("x"))]));
    let (kind, _) = raised(world.call(&ACTOR, "chat__resume", &forged));
    assert_eq!(kind, "ContinuationNotFoundError");
    assert_eq!(world.call(&ACTOR, "on_runner_result", &forged), Ok(vec![]));
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
