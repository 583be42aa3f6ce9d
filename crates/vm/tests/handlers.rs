//! Handlers called from outside: values cross, host calls are paid before they act, and an `await` on
//! the host suspends the call until its answer comes.

use remuda_vm::{
    Ending, Fatal, Host, HostError, HostErrorKind, HostReply, HostValue, Limits, Vm, compile,
};

/// Remembers storage, answers jobs later.
struct World {
    stored: Vec<(HostValue, HostValue)>,
    next: u64,
}

impl Host for World {
    fn price(&self, name: &str, _: &[HostValue]) -> u64 {
        if name == "dear" { 1_000_000_000 } else { 100 }
    }

    fn call(&mut self, name: &str, args: &[HostValue]) -> Result<HostReply, HostError> {
        match (name, args) {
            ("storage_set", [key, value]) => {
                self.stored.retain(|(known, _)| known != key);
                self.stored.push((key.clone(), value.clone()));
                Ok(HostReply::Value(HostValue::None))
            }
            ("storage_get", [key]) => {
                let found = self.stored.iter().find(|(known, _)| known == key);
                Ok(HostReply::Value(found.map_or(HostValue::None, |(_, value)| value.clone())))
            }
            ("submit_job", _) => {
                self.next += 1;
                Ok(HostReply::Pending(self.next))
            }
            ("dear", _) => Ok(HostReply::Value(HostValue::None)),
            _ => Err(HostError::new(HostErrorKind::Refused, format!("there is no call '{name}'"))),
        }
    }
}

fn machine(source: &str) -> Vm {
    let mut vm = Vm::new(Limits::with_cycles(10_000_000));
    vm.set_host(Box::new(World { stored: Vec::new(), next: 0 }));
    vm.run_module(&compile(source, "actor.py").unwrap()).unwrap();
    vm
}

fn text(text: &str) -> HostValue {
    HostValue::Str(text.to_owned())
}

#[test]
fn values_cross_and_storage_answers() {
    let mut vm = machine(
        "import cowboy\ndef put(k, v):\n    cowboy.storage_set(k, v)\n    return cowboy.storage_get(k)\n",
    );
    let value = HostValue::Dict(vec![(
        text("a"),
        HostValue::List(vec![HostValue::Int(1), HostValue::Bool(true), HostValue::Float(2.5)]),
    )]);
    assert_eq!(vm.call_handler("put", &[text("k"), value.clone()]), Ok(value));
}

#[test]
fn awaits_suspend_and_go_on_with_the_answer_or_its_error() {
    let mut vm = machine(
        "import cowboy\n\
         async def ask(n):\n    return await cowboy.submit_job({'n': n})\n\
         async def main(n):\n\
         \x20   seen = []\n\
         \x20   for i in range(n):\n\
         \x20       try:\n\
         \x20           seen.append(await ask(i))\n\
         \x20       except RuntimeError as error:\n\
         \x20           seen.append('failed: ' + str(error))\n\
         \x20   return seen\n",
    );
    assert_eq!(vm.call_handler("main", &[HostValue::Int(3)]), Err(Ending::Suspended(vec![1])));
    assert_eq!(vm.resume(1, Ok(text("first"))), Err(Ending::Suspended(vec![2])));
    let failure = HostError::new(HostErrorKind::Timeout, "timeout");
    assert_eq!(vm.resume(2, Err(failure)), Err(Ending::Suspended(vec![3])));
    let expected = HostValue::List(vec![text("first"), text("failed: timeout"), HostValue::None]);
    assert_eq!(vm.resume(3, Ok(HostValue::None)), Ok(expected));
    assert_eq!(vm.resume(3, Ok(HostValue::None)), Err(Ending::Stopped(Fatal::Internal)));
}

#[test]
fn two_handlers_wait_at_the_same_time() {
    let mut vm =
        machine("import cowboy\nasync def main(x):\n    return [x, await cowboy.submit_job(x)]\n");
    assert_eq!(vm.call_handler("main", &[text("a")]), Err(Ending::Suspended(vec![1])));
    assert_eq!(vm.call_handler("main", &[text("b")]), Err(Ending::Suspended(vec![2])));
    let pair = |a: &str, b: i64| Ok(HostValue::List(vec![text(a), HostValue::Int(b)]));
    assert_eq!(vm.resume(2, Ok(HostValue::Int(20))), pair("b", 20));
    assert_eq!(vm.resume(1, Ok(HostValue::Int(10))), pair("a", 10));
}

#[test]
fn a_host_call_that_cannot_be_paid_is_not_made() {
    let mut vm = machine("import cowboy\ndef spend():\n    cowboy.host('dear')\n");
    assert_eq!(vm.call_handler("spend", &[]), Err(Ending::Stopped(Fatal::Cycles)));
    assert_eq!(vm.cycles_left(), 0);
}

#[test]
fn the_host_refuses_by_an_exception() {
    let mut vm = machine("import cowboy\ndef odd():\n    cowboy.host('odd')\n");
    match vm.call_handler("odd", &[]) {
        Err(Ending::Raised(raised)) => assert_eq!(raised.kind, "Refused"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn waiting_for_something_else_than_the_host_is_an_exception() {
    let mut vm = machine(
        "class Odd:\n    def __await__(self):\n        yield 5\nasync def main():\n    await Odd()\n",
    );
    match vm.call_handler("main", &[]) {
        Err(Ending::Raised(raised)) => assert_eq!(raised.kind, "RuntimeError"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn gathered_jobs_are_asked_at_once_and_answered_in_any_order() {
    let source = "import cowboy\n\
         async def ask(n):\n    return n, await cowboy.submit_job(n)\n\
         async def main():\n    return await cowboy.gather(ask(1), ask(2), ask(3))\n";
    let orders: [[u64; 3]; 3] = [[1, 2, 3], [3, 1, 2], [2, 3, 1]];
    for order in orders {
        let mut vm = machine(source);
        let mut result = vm.call_handler("main", &[]);
        let mut left = vec![1, 2, 3];
        for token in order {
            assert_eq!(result, Err(Ending::Suspended(left.clone())));
            left.retain(|other| *other != token);
            result = vm.resume(token, Ok(HostValue::Int(token as i64 * 100)));
        }
        let pair = |n: i64| HostValue::List(vec![HostValue::Int(n), HostValue::Int(n * 100)]);
        assert_eq!(result, Ok(HostValue::List(vec![pair(1), pair(2), pair(3)])));
    }
}

#[test]
fn the_first_failure_of_gathered_jobs_ends_the_others() {
    let mut vm = machine(
        "import cowboy\nlog = []\n\
         async def ask(n):\n    try:\n        return await cowboy.submit_job(n)\n    finally:\n        log.append(n)\n\
         async def main():\n    try:\n        await cowboy.gather(ask(1), ask(2))\n    except RuntimeError as error:\n        return [str(error), log]\n",
    );
    assert_eq!(vm.call_handler("main", &[]), Err(Ending::Suspended(vec![1, 2])));
    let failure = HostError::new(HostErrorKind::Failed, "gone");
    let log = HostValue::List(vec![HostValue::Int(2), HostValue::Int(1)]);
    assert_eq!(vm.resume(2, Err(failure)), Ok(HostValue::List(vec![text("gone"), log])));
    assert_eq!(vm.resume(1, Ok(HostValue::None)), Err(Ending::Stopped(Fatal::Internal)));
}

#[test]
fn what_one_program_changes_of_the_library_no_other_machine_sees() {
    let changes = "import json\nimport collections\njson.mine = 1\n\
         collections.Counter.most_common = lambda self, n=None: 'changed'\n\
         def look():\n    return [json.mine, collections.Counter('aa').most_common()]\n";
    let mut changed = machine(changes);
    let looks = "import json\nimport collections\n\
         def look():\n    return [hasattr(json, 'mine'), len(collections.Counter('aab').most_common())]\n";
    let mut other = machine(looks);
    let pair = |a: HostValue, b: HostValue| Ok(HostValue::List(vec![a, b]));
    let expected = pair(HostValue::Int(1), text("changed"));
    assert_eq!(changed.call_handler("look", &[]), expected);
    assert_eq!(other.call_handler("look", &[]), pair(HostValue::Bool(false), HostValue::Int(2)));
    assert_eq!(changed.call_handler("look", &[]), expected);
}
