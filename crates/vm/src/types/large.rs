//! Every native with large arguments: what it leaves in the heap and what it says in a message
//! is paid for. An unpaid copy turns a few cycles into minutes.
//!
//! Local: a change here needs no agreement among validators. A test.

use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::set::Set;
use crate::heap::types::Type;
use crate::heap::value::Value;
use crate::limits::Limits;
use crate::run::Vm;
use crate::run::fault::Fault;
use crate::run::native::{Args, NATIVES};

/// Bytes of a large argument.
const LARGE: usize = 1 << 15;
const CYCLES: u64 = 500_000;
/// Bytes for which a cycle may pay, at most.
const BYTES_PER_CYCLE: u64 = 64;
/// What is left and said without regard to sizes: an exception, a short message.
const SMALL: u64 = 4_096;

fn alloc(vm: &mut Vm, obj: Obj) -> Value {
    vm.heap.alloc(obj).unwrap().into()
}

fn text(vm: &mut Vm, text: String) -> Value {
    vm.heap.str(text).unwrap().into()
}

fn larges(vm: &mut Vm) -> Vec<Value> {
    let long = text(vm, "x".repeat(LARGE));
    let (mut table, mut set) = (Dict::default(), Set::default());
    for key in 0..LARGE as i64 / 48 {
        let hash = crate::run::hash::hash_int(key);
        table.push(hash, Value::Int(key), long);
        set.push(hash, Value::Int(key));
    }
    let ints = vec![Value::Int(7); LARGE / 16];
    let texts = vec![long; LARGE / 16];
    let classes = vec![Value::Ref(Type::Str.handle()); LARGE / 16];
    let mut all = vec![long];
    all.push(text(vm, " ".repeat(LARGE) + "1"));
    all.push(text(vm, "1".repeat(LARGE)));
    all.push(text(vm, "\u{e9}".repeat(LARGE / 2)));
    for obj in [
        Obj::Bytes(vec![b'x'; LARGE].into()),
        Obj::ByteArray(vec![b'1'; LARGE]),
        Obj::List(ints.clone()),
        Obj::Tuple(ints.into()),
        Obj::Tuple(texts.into()),
        Obj::Tuple(classes.into()),
        Obj::Dict(table),
        Obj::Set(set.clone()),
        Obj::FrozenSet(set),
    ] {
        all.push(alloc(vm, obj));
    }
    all
}

fn smalls(vm: &mut Vm) -> Vec<Value> {
    let letter = text(vm, "a".to_owned());
    let list = alloc(vm, Obj::List(vec![Value::Int(1)]));
    let dict = alloc(vm, Obj::Dict(Dict::default()));
    let byte = alloc(vm, Obj::Bytes(vec![b'a'].into()));
    vec![Value::Int(1), letter, list, dict, byte, Type::Str.handle().into()]
}

/// Bytes of an exception's message.
fn said(vm: &Vm, exception: Value) -> u64 {
    let Some(Obj::Exception(exception)) = vm.obj(exception) else { return 0 };
    let Some(Obj::Tuple(args)) = vm.obj(exception.args) else { return 0 };
    // What was given may be an argument again; it is not copied.
    args.iter()
        .filter_map(|arg| vm.text(*arg))
        .map(str::len)
        .filter(|len| *len < LARGE)
        .sum::<usize>() as u64
}

/// What a call left unpaid, if anything.
fn unpaid(vm: &mut Vm, id: usize, values: &[Value]) -> Option<String> {
    vm.cycles.set(CYCLES);
    vm.stack.clear();
    vm.stack.extend(values);
    let before = vm.heap.bytes() as u64;
    let outcome = (NATIVES[id].run)(vm, Args { base: 0, count: values.len(), keywords: None });
    let paid = (CYCLES - vm.cycles.get()) * BYTES_PER_CYCLE + SMALL;
    let left = (vm.heap.bytes() as u64).saturating_sub(before);
    let message = match outcome {
        Err(Fault::Raise(exception)) => said(vm, exception),
        _ => 0,
    };
    (left > paid || message > paid).then(|| {
        let native = &NATIVES[id];
        let cycles = CYCLES - vm.cycles.get();
        format!(
            "{}.{}: {left} bytes left, {message} said, {cycles} cycles",
            native.owner, native.name
        )
    })
}

#[test]
fn natives_pay_for_what_they_leave_and_say() {
    let mut failures = Vec::new();
    let limits = Limits { heap_bytes: 512 << 20, ..Limits::default() };
    for id in 0..NATIVES.len() {
        let mut vm = Vm::new(limits);
        let (larges, smalls) = (larges(&mut vm), smalls(&mut vm));
        let mut tried = |vm: &mut Vm, values: &[Value]| {
            if let Some(failure) = unpaid(vm, id, values) {
                failures.push(failure);
            }
        };
        for large in &larges {
            tried(&mut vm, &[*large]);
            tried(&mut vm, &[*large, *large]);
            tried(&mut vm, &[*large, *large, *large]);
            for small in &smalls {
                tried(&mut vm, &[*large, *small]);
                tried(&mut vm, &[*small, *large]);
                tried(&mut vm, &[*small, *large, *small]);
                tried(&mut vm, &[*small, *small, *large]);
            }
        }
    }
    failures.dedup();
    assert!(failures.is_empty(), "{} unpaid:\n{}", failures.len(), failures.join("\n"));
}
