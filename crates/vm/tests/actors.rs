//! How actors are called (`HOST.md`), and what the module `cowboy` asks of the host.

use crate::world;

use remuda_vm::HostErrorKind as Kind;
use remuda_vm::{Ending, HostError, HostValue};
use world::{ACTOR, USER, Wait, World, cbor, dict, raised, text, waits};

fn deployed(source: &str) -> World {
    let world = World::new();
    world.deploy(&ACTOR, source, b"").unwrap();
    world
}

#[test]
fn a_method_gets_the_value_of_canonical_cbor_and_bytes_otherwise() {
    let world = deployed(
        "def shape(argument):\n    return type(argument).__name__ + ' ' + repr(argument)\n\
         def bare():\n    return 'bare'\n",
    );
    let shape = |payload: &[u8]| {
        let answer = world.call(&ACTOR, "shape", payload).unwrap();
        match remuda_vm::cbor::decode(&answer) {
            Ok(HostValue::Str(text)) => text,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(shape(&cbor(&dict(&[("a", HostValue::Int(1))]))), "dict {'a': 1}");
    assert_eq!(shape(&cbor(&world::numbers(2))), "list [0, 1]");
    assert_eq!(shape(&cbor(&text("hi"))), "str 'hi'");
    assert_eq!(shape(&cbor(&HostValue::Int(-7))), "int -7");
    assert_eq!(shape(&cbor(&HostValue::Float(0.5))), "float 0.5");
    let big = HostValue::Big(vec![1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(shape(&cbor(&big)), "int 18446744073709551616");
    // Truth values, None and bytes could be anything; so could what is not canonical.
    assert_eq!(shape(&[0xf5]), "bytes b'\\xf5'");
    assert_eq!(shape(&[0xf6]), "bytes b'\\xf6'");
    assert_eq!(shape(&cbor(&HostValue::Bytes(vec![1]))), "bytes b'A\\x01'");
    assert_eq!(shape(&[0x18, 0x01]), "bytes b'\\x18\\x01'");
    assert_eq!(shape(b""), "bytes b''");
    assert_eq!(shape(b"hello"), "bytes b'hello'");
    assert_eq!(world.call(&ACTOR, "bare", b"ignored"), Ok(cbor(&text("bare"))));
}

#[test]
fn what_a_method_returns_becomes_bytes() {
    let world = deployed(
        "def raw(): return b'raw'\ndef array(): return bytearray(b'array')\ndef nothing(): pass\n\
         def truth(): return True\ndef table(): return {'bb': 1, 'a': [2.5]}\n\
         def odd(): return object()\n",
    );
    assert_eq!(world.call(&ACTOR, "raw", b""), Ok(b"raw".to_vec()));
    assert_eq!(world.call(&ACTOR, "array", b""), Ok(b"array".to_vec()));
    assert_eq!(world.call(&ACTOR, "nothing", b""), Ok(vec![]));
    assert_eq!(world.call(&ACTOR, "truth", b""), Ok(vec![0xf5]));
    let table =
        dict(&[("a", HostValue::List(vec![HostValue::Float(2.5)])), ("bb", HostValue::Int(1))]);
    assert_eq!(world.call(&ACTOR, "table", b""), Ok(cbor(&table)));
    assert_eq!(raised(world.call(&ACTOR, "odd", b"")).0, "ValueError");
}

#[test]
fn only_what_the_program_wrote_for_others_can_be_called() {
    let world = deployed(
        "import functools\nfrom cowboy import storage_set, transfer as pay\nfrom json import dumps\n\
         class Helper:\n    pass\nanswer = 42\ndef _private(): return 1\n\
         def around(f):\n    @functools.wraps(f)\n    def wrapper(*args):\n        return f(*args)\n    return wrapper\n\
         @around\ndef public(): return 'seen'\n@functools.lru_cache\ndef cached(x): return x\n",
    );
    for name in
        ["_private", "storage_set", "pay", "dumps", "Helper", "answer", "nowhere", "print", "init"]
    {
        assert_eq!(world.call(&ACTOR, name, b""), Err(Ending::NoMethod(name.to_owned())), "{name}");
    }
    assert_eq!(world.call(&ACTOR, "public", b"no argument"), Ok(cbor(&text("seen"))));
}

#[test]
fn the_methods_of_the_one_actor_class_are_the_actors() {
    let source = "import cowboy\n@cowboy.actor\nclass Counter:\n\
         \x20   def __init__(self):\n        self.mine = 0\n\
         \x20   def init(self, payload):\n        self.storage['n'] = payload\n\
         \x20   def add(self, by):\n        self.mine += 1\n        self.storage['n'] = self.storage['n'] + by\n        return [self.storage['n'], self.mine]\n\
         \x20   def where(self):\n        return self.address\n\
         \x20   def _hidden(self):\n        return 1\n";
    let world = World::new();
    world.deploy(&ACTOR, source, &cbor(&HostValue::Int(40))).unwrap();
    let pair = |n| cbor(&HostValue::List(vec![HostValue::Int(n), HostValue::Int(1)]));
    assert_eq!(world.call(&ACTOR, "add", &cbor(&HostValue::Int(1))), Ok(pair(41)));
    assert_eq!(
        world.call(&ACTOR, "add", &cbor(&HostValue::Int(1))),
        Ok(pair(42)),
        "a new instance"
    );
    assert_eq!(world.call(&ACTOR, "where", b""), Ok(ACTOR.to_vec()));
    for name in ["_hidden", "init", "storage", "address", "__init__"] {
        assert_eq!(world.call(&ACTOR, name, b""), Err(Ending::NoMethod(name.to_owned())), "{name}");
    }
    // With two of them, nobody knows which one is meant.
    let two =
        format!("{source}@cowboy.actor\nclass Other:\n    def add(self, by):\n        return 0\n");
    world.deploy(&ACTOR, &two, &cbor(&HostValue::Int(0))).unwrap();
    assert_eq!(world.call(&ACTOR, "add", b""), Err(Ending::NoMethod("add".to_owned())));
}

#[test]
fn the_body_runs_before_every_call_and_init_once() {
    let world = deployed(
        "import cowboy\nbodies = (cowboy.storage_get('bodies') or b'') + b'.'\ncowboy.storage_set('bodies', bodies)\n\
         def init(payload):\n    cowboy.storage_set('begun', bodies)\n    return b'ok'\n\
         def look(): return [cowboy.storage_get('begun'), bodies]\n",
    );
    world.call(&ACTOR, "look", b"").unwrap();
    let bytes = |text: &[u8]| HostValue::Bytes(text.to_vec());
    let seen = cbor(&HostValue::List(vec![bytes(b"."), bytes(b"...")]));
    assert_eq!(world.call(&ACTOR, "look", b""), Ok(seen));
    assert_eq!(
        World::new().deploy(&ACTOR, "def init(p): return p\n", b"\x00ab"),
        Ok(b"\x00ab".to_vec())
    );
}

#[test]
fn the_kind_of_the_hosts_refusal_is_the_class_of_the_exception() {
    let source = "import cowboy\n\
         async def wait(job):\n    try:\n        await cowboy.await_job(job)\n    except cowboy.HostError as error:\n\
         \x20       return [type(error).__name__, error.kind, str(error), isinstance(error, RuntimeError)]\n";
    let world = deployed(source);
    let names = [
        "Refused",
        "ReadOnly",
        "NotFound",
        "InsufficientFunds",
        "CallDepth",
        "Reentrant",
        "LimitReached",
        "Timeout",
        "Failed",
        "Unsupported",
    ];
    for (kind, name) in Kind::ALL.into_iter().zip(names) {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
        let token = waits(world.call(&ACTOR, "wait", b"\xffjob"))[0];
        let answer = world.answer(token, Err(HostError::new(kind, "because")));
        let expected = vec![text(name), text(kind.name()), text("because"), HostValue::Bool(true)];
        assert_eq!(answer, Ok(cbor(&HostValue::List(expected))));
    }
    assert_eq!(Kind::from_name("other"), None);
}

#[test]
fn every_call_of_the_host_is_reached_by_its_name() {
    let source = r#"
import cowboy

def everything(argument):
    seen = []
    note = seen.append
    note(cowboy.context()['chain_id'])
    note([cowboy.caller(), cowboy.origin(), cowboy.address(), cowboy.tx_hash()[:1]])
    note([cowboy.height(), cowboy.timestamp(), cowboy.chain_id(), cowboy.value(), cowboy.cycles_left() > 0])
    cowboy.storage_set('k1', b'one')
    cowboy.storage_set(b'k2', b'two')
    note([cowboy.storage_get('k1'), cowboy.storage_get('k0'), cowboy.storage_get('k0', b'-')])
    note(cowboy.storage_scan('k'))
    note(cowboy.storage_scan('k', after='k1', limit=5))
    note([cowboy.storage_delete('k1'), cowboy.storage_delete('k1')])
    cowboy.storage['list'] = [1, {'a': None}]
    note([cowboy.storage['list'], cowboy.storage['none'], 'list' in cowboy.storage, cowboy.storage.get('none', 5)])
    note([list(pair) for pair in cowboy.storage.scan('list')])
    del cowboy.storage['list']
    note('list' in cowboy.storage)
    note([cowboy.balance(), cowboy.balance(cowboy.caller())])
    cowboy.transfer(cowboy.caller(), 30)
    note(cowboy.balance())
    try:
        cowboy.transfer(cowboy.caller(), 300)
    except cowboy.InsufficientFunds as error:
        note(str(error))
    cowboy.emit('moved', {'amount': 30})
    cowboy.emit('raw', b'raw')
    note(cowboy.randomness('x') == cowboy.randomness(b'x'))
    note(cowboy.call(cowboy.address(), 'echo', {'x': [1]}))
    note(cowboy.call(cowboy.address(), 'echo'))
    note(cowboy.call(cowboy.address(), 'truth'))
    try:
        cowboy.call(cowboy.address(), 'nowhere')
    except cowboy.NotFound as error:
        note('not found: ' + str(error))
    cowboy.send(cowboy.address(), 'echo', 'later')
    timer = cowboy.schedule_timer(1010, {'a': 1}, gas_limit=5)
    cowboy.extend_timer(timer, 1020)
    cowboy.cancel_timer(cowboy.schedule_timer(1011))
    note(len(timer))
    note([cowboy.entitled('read'), cowboy.entitled('write', 'all')])
    note(len(cowboy.submit_job({'job_type': {}}, 'done')))
    try:
        cowboy.host('nothing', 1)
    except cowboy.Refused as error:
        note('refused')
    note(cowboy.decode(cowboy.encode({'b': 1, 'a': (2, 3.5)})))
    return seen

def echo(argument):
    return argument

def truth():
    return True

def change():
    cowboy.upgrade('def echo(argument):\n    return "new"\n')
"#;
    let world = deployed(source);
    world.state().balances.insert(ACTOR.to_vec(), 100);
    let answer = world.call(&ACTOR, "everything", b"").unwrap();
    let shown = show(&remuda_vm::cbor::decode(&answer).unwrap());
    let expected = "[1, [b1111111111111111111111111111111111111111, b1111111111111111111111111111111111111111, b2222222222222222222222222222222222222222, bab], [1000, 1700000000000, 1, 0, true], [b6f6e65, none, b2d], [[b6b31, b6f6e65], [b6b32, b74776f]], [[b6b32, b74776f]], [true, false], [[1, {a: none}], none, true, 5], [[b6c697374, [1, {a: none}]]], false, [100, 0], 70, '70 is less than 300', true, {x: [1]}, none, true, 'not found: nowhere', 32, [true, false], 32, 'refused', {a: [2, 3.5], b: 1}]";
    assert_eq!(shown, expected);
    let state = world.state();
    let amount = dict(&[("amount", HostValue::Int(30))]);
    assert_eq!(
        state.events,
        [("moved".to_owned(), cbor(&amount)), ("raw".to_owned(), b"raw".to_vec())]
    );
    assert_eq!(state.sent, [(ACTOR.to_vec(), "echo".to_owned(), cbor(&text("later")))]);
    let timers: Vec<_> = state.timers.values().cloned().collect();
    let options = dict(&[("gas_limit", HostValue::Int(5))]);
    assert_eq!(timers, [(1020, cbor(&dict(&[("a", HostValue::Int(1))])), options)]);
    assert_eq!(state.balances.get(USER.as_slice()), Some(&30));
    drop(state);
    world.call(&ACTOR, "change", b"").unwrap();
    assert_eq!(world.call(&ACTOR, "echo", b""), Ok(cbor(&text("new"))));
}

/// A value in a line.
fn show(value: &HostValue) -> String {
    let list = |items: &[String], open, close| format!("{open}{}{close}", items.join(", "));
    match value {
        HostValue::None => "none".to_owned(),
        HostValue::Bool(truth) => truth.to_string(),
        HostValue::Int(int) => int.to_string(),
        HostValue::Float(float) => float.to_string(),
        HostValue::Str(text) => format!("'{text}'"),
        HostValue::Bytes(bytes) => {
            format!("b{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        HostValue::List(items) => list(&items.iter().map(show).collect::<Vec<_>>(), "[", "]"),
        HostValue::Dict(pairs) => {
            let pair = |(key, value): &(HostValue, HostValue)| match key {
                HostValue::Str(key) => format!("{key}: {}", show(value)),
                key => format!("{}: {}", show(key), show(value)),
            };
            list(&pairs.iter().map(pair).collect::<Vec<_>>(), "{", "}")
        }
        HostValue::Big(_) => "big".to_owned(),
    }
}

#[test]
fn calls_that_only_read_cannot_write() {
    let world = deployed(
        "import cowboy\ndef write():\n    cowboy.storage['a'] = 1\n\
         def read():\n    return cowboy.storage.get('a', 7)\n",
    );
    world.state().read_only = true;
    assert_eq!(raised(world.call(&ACTOR, "write", b"")).0, "ReadOnly");
    assert_eq!(world.call(&ACTOR, "read", b""), Ok(cbor(&HostValue::Int(7))));
}

#[test]
fn asking_sleeping_and_working_go_on_from_bytes() {
    let source = r#"
import cowboy
from cowboy import runner, verify

async def long(name):
    seen = [await cowboy.ask(cowboy.address(), 'price', {'of': name})]
    await cowboy.sleep(5)
    seen.append(cowboy.height())
    seen.append(await runner.http('https://example.org', extract='price', verify=verify.majority('value')))
    seen.append(await runner.llm('hi', system='be short', model='m', temperature=0.7, seed=3))
    async with cowboy.TaskGroup() as group:
        one = group.create_task(runner.mcp('s', 't', {'city': 'Lisbon'}))
        two = group.create_task(runner.wasm(bytes(32), b'{}'))
    seen.append([one.result(), two.result()])
    return seen
"#;
    let world = deployed(source);
    let token = waits(world.call(&ACTOR, "long", &cbor(&text("eth"))))[0];
    let asked =
        Wait::Answer(ACTOR.to_vec(), "price".to_owned(), cbor(&dict(&[("of", text("eth"))])));
    assert_eq!(world.state().waits.get(&token), Some(&asked));
    let token = waits(world.answer(token, Ok(HostValue::Bytes(cbor(&HostValue::Int(5))))))[0];
    assert_eq!(world.state().waits.get(&token), Some(&Wait::Height(1005)));
    world.state().height = 1006;
    let token = waits(world.answer(token, Ok(HostValue::None)))[0];
    let token = waits(world.job_done(token, br#"{"status": 200, "value": 12.5}"#))[0];
    let answer = br#"{"content": "hello", "finish_reason": "stop", "model": "m"}"#;
    let tokens = waits(world.job_done(token, answer));
    assert_eq!(waits(world.job_done(tokens[1], b"\x00\x01")), [tokens[0]]);
    let answer = world.job_done(tokens[0], br#"{"value": {"temp": 20}}"#).unwrap();
    let shown = show(&remuda_vm::cbor::decode(&answer).unwrap());
    assert_eq!(shown, "[5, 1006, {value: 12.5, status: 200}, 'hello', [{temp: 20}, b0001]]");
    let jobs: Vec<String> = world.state().jobs.iter().map(|(spec, _)| show(spec)).collect();
    assert_eq!(
        jobs[0],
        "{job_type: {Http: {method: 'GET', url: 'https://example.org', headers: [], body: '0x', extract: 'price'}}, verification: {mode: 'majority_vote', runners: 3, threshold: 2, checks: [{MajorityVote: {field: 'value'}}]}, bounds: {}, result_schema: {max_return_bytes: 16384, expected_execution_ms: 1000, data_format: 'json'}, max_price: 10000000000}"
    );
    assert_eq!(
        jobs[1],
        "{job_type: {Llm: {model: 'm', messages: [{role: 'system', content: 'be short'}, {role: 'user', content: 'hi'}], temperature_milli: 700, seed: 3}}, verification: {mode: 'none', runners: 1, threshold: 1, checks: []}, bounds: {}, result_schema: {max_return_bytes: 16384, expected_execution_ms: 5000, data_format: 'json'}, max_price: 10000000000}"
    );
    assert!(jobs[2].starts_with(
        "{job_type: {Mcp: {server: 's', tool: 't', arguments: '{\"city\": \"Lisbon\"}'}}"
    ));
    assert!(jobs[3].contains("params: '0x7b7d'") && jobs[3].contains("data_format: 'bytes'"));
}

#[test]
fn a_job_with_a_callback_calls_it() {
    let world = deployed(
        "import cowboy\nfrom cowboy import runner\n\
         def order():\n    return runner.eth(1, b'\\x02\\xf8', tip=5, timeout_blocks=9).submit('sent')\n\
         def sent(message):\n    cowboy.storage['hash'] = message['result']\n",
    );
    let id = world.call(&ACTOR, "order", b"").unwrap();
    let (spec, callback) = world.state().jobs[0].clone();
    assert_eq!(callback, text("sent"));
    assert!(show(&spec).contains("raw_transaction: '0x02f8'"), "{}", show(&spec));
    assert!(show(&spec).contains("tip: 5, timeout_blocks: 9"), "{}", show(&spec));
    let message = dict(&[
        ("job_id", HostValue::Bytes(id)),
        ("status", text("completed")),
        ("result", HostValue::Bytes(b"0xab".to_vec())),
    ]);
    world.call(&ACTOR, "sent", &cbor(&message)).unwrap();
    assert_eq!(world.stored(&ACTOR, "hash"), Some(HostValue::Bytes(b"0xab".to_vec())));
}

#[test]
fn an_error_that_a_single_runner_reports_is_raised() {
    let world = deployed(
        "from cowboy import runner\nasync def get():\n    return await runner.http('https://nowhere')\n",
    );
    let token = waits(world.call(&ACTOR, "get", b""))[0];
    let (kind, message) =
        raised(world.job_done(token, br#"{"error": "dns", "detail": "no such name"}"#));
    assert_eq!((kind.as_str(), message.as_str()), ("Failed", "dns: no such name"));
}

#[test]
fn codes_that_are_damaged_are_value_errors_and_paid_for_first() {
    let source = r#"
import cowboy

def bad():
    seen = []
    for data in [b'', b'\x18', b'\x9f', b'\x9b' + b'\xff' * 8, b'a\xff', b'\x00\x00', b'\x81' * 100 + b'\x00', b'\xa1\x80\x00']:
        try:
            cowboy.decode(data)
        except ValueError as error:
            seen.append(str(error))
    for value in [{1, 2}, object(), {(1, 2): 3}, len]:
        try:
            cowboy.encode(value)
        except ValueError as error:
            seen.append(str(error))
    deep = []
    for _ in range(100):
        deep = [deep]
    try:
        cowboy.encode(deep)
    except ValueError as error:
        seen.append(str(error))
    return len(seen)

def large():
    text = 'x' * 1000000
    return len(cowboy.encode([text, text, text, text, text, text, text, text, text, text]))
"#;
    let world = deployed(source);
    assert_eq!(world.call(&ACTOR, "bad", b""), Ok(cbor(&HostValue::Int(13))));
    assert_eq!(world.call(&ACTOR, "large", b""), Err(Ending::Stopped(remuda_vm::Fatal::Memory)));
}

#[test]
fn what_crosses_to_the_host_is_bounded_however_often_it_is_mentioned() {
    let world = deployed(
        "import cowboy\ntext = 'x' * 500000\n\
         def twice(): cowboy.host('emit', 'topic', [text, text])\n\
         def thrice(): cowboy.host('emit', 'topic', [text, text, text])\n\
         def many(): cowboy.host('emit', *[1] * 9)\n\
         def nested():\n    value = []\n    for _ in range(30):\n        value = [value, value]\n    cowboy.host('emit', value)\n",
    );
    assert_eq!(raised(world.call(&ACTOR, "twice", b"")).0, "Refused", "the host saw it");
    assert_eq!(raised(world.call(&ACTOR, "thrice", b"")).0, "ValueError");
    assert_eq!(raised(world.call(&ACTOR, "many", b"")).0, "TypeError");
    assert_eq!(raised(world.call(&ACTOR, "nested", b"")).0, "ValueError");
}
