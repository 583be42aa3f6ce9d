//! Every native with extreme arguments: whatever comes of a call, it is an answer, an exception or a
//! limit. Overflow checks are on in every build, so one sum that is not looked at ends a validator.
//!
//! Local: a change here needs no agreement among validators. A test.

use std::panic::{AssertUnwindSafe, catch_unwind};

use num_bigint::BigInt;

use crate::heap::dict::Dict;
use crate::heap::object::{Iter, Obj, View};
use crate::heap::set::Set;
use crate::heap::value::{Handle, Value};
use crate::limits::Limits;
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault};
use crate::run::native::{Args, NATIVES};

const CYCLES: u64 = 2_000;

fn alloc(vm: &mut Vm, obj: Obj) -> Value {
    vm.heap.alloc(obj).unwrap().into()
}

fn range(vm: &mut Vm, start: i64, stop: i64, step: i64) -> Value {
    alloc(vm, Obj::Range { start, stop, step })
}

/// Integers at the ends of what their types hold, and what else is taken where an integer is.
fn numbers(vm: &mut Vm) -> Vec<Value> {
    let mut all =
        [i64::MIN, i64::MIN + 1, -(1 << 62), -1, 0, 1, 1 << 32, i64::MAX].map(Value::Int).to_vec();
    all.push(alloc(vm, Obj::Big(BigInt::from(1) << 4_095u32)));
    all.push(Value::Float(f64::NEG_INFINITY));
    all
}

/// One of each kind of value, and ranges that reach from end to end.
fn receivers(vm: &mut Vm) -> Vec<Value> {
    let mut all = numbers(vm);
    let text = vm.heap.str("a\u{e9}c").unwrap().into();
    let items = vec![Value::Int(1), Value::Int(2), text];
    let mut table = Dict::default();
    table.push(1, Value::Int(1), text);
    let mut set = Set::default();
    set.push(1, Value::Int(1));
    let dict = vm.heap.alloc(Obj::Dict(table)).unwrap();
    let ends = Value::Int(i64::MIN);
    all.extend([Value::None, Value::Bool(true), Value::Float(1e308), text]);
    all.push(range(vm, i64::MIN, i64::MAX, 1));
    all.push(range(vm, i64::MIN, i64::MAX, i64::MAX));
    all.push(range(vm, i64::MAX, i64::MIN, i64::MIN));
    all.push(range(vm, i64::MIN, i64::MIN, i64::MIN));
    for obj in [
        Obj::Big(-(BigInt::from(1) << 4_095u32)),
        Obj::Bytes(vec![1, 2, 3].into()),
        Obj::ByteArray(vec![1, 2, 3]),
        Obj::List(items.clone()),
        Obj::Tuple(items.into()),
        Obj::Set(set.clone()),
        Obj::FrozenSet(set),
        Obj::Slice([ends, ends, ends]),
        Obj::Slice([Value::None, Value::None, ends]),
        Obj::DictView { dict, view: View::Items },
        Obj::Iter(Box::new(Iter::Range { next: i64::MIN, left: u64::MAX, step: i64::MAX })),
    ] {
        all.push(alloc(vm, obj));
    }
    all.push(dict.into());
    all.push(crate::heap::types::Type::Int.handle().into());
    all
}

/// Why a call panicked or broke a rule of the machine's own, if it did. Natives of the prelude rely on
/// what it hands them.
fn panics(vm: &mut Vm, id: usize, values: &[Value]) -> Option<String> {
    vm.cycles.set(CYCLES);
    vm.stack.clear();
    vm.stack.extend(values);
    let args = Args { base: 0, count: values.len(), keywords: None };
    let call = catch_unwind(AssertUnwindSafe(|| (NATIVES[id].run)(vm, args)));
    match call {
        Ok(Err(Fault::Fatal(Fatal::Internal))) if NATIVES[id].owner != "_" => {
            Some("a rule of its own".to_owned())
        }
        Ok(_) => None,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Some(text.unwrap_or_else(|| "a panic".to_owned()))
        }
    }
}

fn try_all(rest: usize) {
    let mut failures = Vec::new();
    for (id, native) in NATIVES.iter().enumerate() {
        // Of a machine of its own each, as calls leave objects behind.
        let mut vm = Vm::new(Limits::default());
        let (firsts, numbers) = (receivers(&mut vm), numbers(&mut vm));
        let kept = vm.heap.places();
        for first in &firsts {
            for combination in 0..numbers.len().pow(rest as u32) {
                let mut values = vec![*first];
                let mut left = combination;
                for _ in 0..rest {
                    values.push(numbers[left % numbers.len()]);
                    left /= numbers.len();
                }
                // `__new__` has its class before what it is given.
                if native.name == "__new__" {
                    values.insert(0, crate::heap::types::Type::Int.handle().into());
                }
                if let Some(panic) = panics(&mut vm, id, &values) {
                    failures.push(format!("{}.{}{values:?}: {panic}", native.owner, native.name));
                    vm = Vm::new(Limits::default());
                    receivers(&mut vm);
                    break;
                }
                if vm.heap.places() > kept + 50_000 {
                    vm = Vm::new(Limits::default());
                    receivers(&mut vm);
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} natives panic:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn no_native_panics_without_arguments() {
    let mut failures = Vec::new();
    for (id, native) in NATIVES.iter().enumerate() {
        let mut vm = Vm::new(Limits::default());
        if let Some(panic) = panics(&mut vm, id, &[]) {
            failures.push(format!("{}.{}(): {panic}", native.owner, native.name));
        }
    }
    assert!(failures.is_empty(), "{} natives panic:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn no_native_panics_on_one_extreme_argument() {
    try_all(0);
}

#[test]
fn no_native_panics_on_two_extreme_arguments() {
    try_all(1);
}

#[test]
fn no_native_panics_on_three_extreme_arguments() {
    try_all(2);
}

#[test]
fn no_native_panics_on_four_extreme_arguments() {
    try_all(3);
}

#[test]
fn handles_of_two_machines_agree() {
    // `try_all` reuses handles after it replaces the machine.
    let places = |vm: &mut Vm| -> Vec<Option<Handle>> {
        receivers(vm).into_iter().map(Value::handle).collect()
    };
    let (mut a, mut b) = (Vm::new(Limits::default()), Vm::new(Limits::default()));
    assert_eq!(places(&mut a), places(&mut b));
}
