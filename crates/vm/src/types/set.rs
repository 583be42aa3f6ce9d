//! set and frozenset.

use crate::cost;
use crate::front::code::{BinOp, CmpOp};
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::types::Type;
use crate::heap::value::{Handle, Value};
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("set", "__new__", new, "_set_new"),
    ("set", "__init__", init, "_set_fill"),
    ("frozenset", "__new__", frozen_new, "_frozenset_new"),
    ("set", "add", add, "_set_add"),
    ("set", "discard", discard, "_set_discard"),
    ("set", "remove", remove, "_set_remove"),
    ("set", "pop", pop, ""),
    ("set", "clear", clear, ""),
    ("set", "copy", copy, ""),
    ("frozenset", "copy", copy, ""),
    ("set", "update", update, "_set_update_all"),
    ("set", "union", union, "_set_union"),
    ("frozenset", "union", union, "_set_union"),
    ("set", "intersection", intersection, "_set_intersection"),
    ("frozenset", "intersection", intersection, "_set_intersection"),
    ("set", "difference", difference, "_set_difference"),
    ("frozenset", "difference", difference, "_set_difference"),
    ("set", "symmetric_difference", symmetric, "_set_symmetric"),
    ("frozenset", "symmetric_difference", symmetric, "_set_symmetric"),
    ("set", "intersection_update", intersection_update, "_set_intersection_update"),
    ("set", "difference_update", difference_update, "_set_difference_update"),
    ("set", "symmetric_difference_update", symmetric_update, ""),
    ("set", "issubset", issubset, "_issubset"),
    ("frozenset", "issubset", issubset, "_issubset"),
    ("set", "issuperset", issuperset, "_issuperset"),
    ("frozenset", "issuperset", issuperset, "_issuperset"),
    ("set", "isdisjoint", isdisjoint, "_isdisjoint"),
    ("frozenset", "isdisjoint", isdisjoint, "_isdisjoint"),
    ("set", "__len__", super::tuple::len, ""),
    ("frozenset", "__len__", super::tuple::len, ""),
    ("set", "__iter__", super::tuple::iter, ""),
    ("frozenset", "__iter__", super::tuple::iter, ""),
    ("set", "__contains__", super::tuple::contains, "_contains"),
    ("frozenset", "__contains__", super::tuple::contains, "_contains"),
    ("_", "_freeze", freeze, ""),
    ("_", "_set_replace", set_replace, ""),
];

impl Vm {
    fn set_handle(&mut self, value: Value) -> Result<Handle, Fault> {
        match (self.inner(value), self.obj(self.inner(value))) {
            (Value::Ref(handle), Some(Obj::Set(_) | Obj::FrozenSet(_))) => Ok(handle),
            _ => {
                let kind = self.type_name(value);
                Err(self.type_error(format!(
                    "descriptor requires a 'set' object but received '{kind}'"
                )))
            }
        }
    }

    /// A set that can be changed.
    fn own_set(&mut self, value: Value) -> Result<Handle, Fault> {
        let handle = self.set_handle(value)?;
        if matches!(self.heap.get(handle), Obj::Set(_)) {
            return Ok(handle);
        }
        let kind = self.type_name(value);
        Err(self.type_error(format!("descriptor requires a 'set' object but received '{kind}'")))
    }

    /// A new set of an iterable's items.
    fn set_of(&mut self, source: Value) -> Result<Handle, Fault> {
        let items = if source.is_unbound() { Vec::new() } else { self.items(source)? };
        self.charge(cost::entries(items.len()))?;
        let set = self.alloc(Obj::Set(Dict::default()))?;
        for item in &items {
            match self.set_add(set, *item) {
                Err(Fault::Fallback) => {
                    self.put_back(source, items)?;
                    return Err(Fault::Fallback);
                }
                other => other?,
            };
        }
        set.handle().ok_or(Fatal::Internal.into())
    }
}

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, source] = vm.take(args, "set", ["cls", "iterable"], 1)?;
    vm.set_of(source).map(Value::Ref)
}

fn init(vm: &mut Vm, args: Args) -> Outcome {
    let [set, source] = vm.take(args, "set", ["self", "iterable"], 1)?;
    let made = vm.set_of(source)?;
    let handle = vm.own_set(set)?;
    replace(vm, handle, made)
}

fn replace(vm: &mut Vm, target: Handle, made: Handle) -> Outcome {
    let table = vm.table_mut(made).map(std::mem::take).unwrap_or_default();
    vm.heap.resized(made)?;
    if let Some(set) = vm.table_mut(target) {
        *set = table;
    }
    vm.heap.resized(target)?;
    Ok(Value::None)
}

fn set_replace(vm: &mut Vm, args: Args) -> Outcome {
    let [target, made] = vm.take(args, "_set_replace", ["target", "made"], 2)?;
    let (target, made) = (vm.own_set(target)?, vm.set_handle(made)?);
    replace(vm, target, made)
}

fn frozen_new(vm: &mut Vm, args: Args) -> Outcome {
    let made = frozen_made(vm, args)?;
    vm.of_class(args, made)
}

fn frozen_made(vm: &mut Vm, args: Args) -> Outcome {
    let [_, source] = vm.take(args, "frozenset", ["cls", "iterable"], 1)?;
    if matches!(vm.obj(source), Some(Obj::FrozenSet(_))) {
        return Ok(source);
    }
    let made = vm.set_of(source)?;
    frozen(vm, made)
}

fn frozen(vm: &mut Vm, made: Handle) -> Outcome {
    let table = vm.table_mut(made).map(std::mem::take).unwrap_or_default();
    vm.heap.resized(made)?;
    vm.alloc(Obj::FrozenSet(table))
}

fn freeze(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "_freeze", ["set"], 1)?;
    let handle = vm.set_handle(set)?;
    frozen(vm, handle)
}

fn add(vm: &mut Vm, args: Args) -> Outcome {
    let [set, item] = vm.take(args, "add", ["self", "item"], 2)?;
    vm.own_set(set)?;
    vm.set_add(set, item)?;
    Ok(Value::None)
}

fn discard(vm: &mut Vm, args: Args) -> Outcome {
    let [set, item] = vm.take(args, "discard", ["self", "item"], 2)?;
    let handle = vm.own_set(set)?;
    vm.dict_remove(handle, item)?;
    Ok(Value::None)
}

fn remove(vm: &mut Vm, args: Args) -> Outcome {
    let [set, item] = vm.take(args, "remove", ["self", "item"], 2)?;
    let handle = vm.own_set(set)?;
    if vm.dict_remove(handle, item)? {
        return Ok(Value::None);
    }
    Err(vm.raise_with(Type::KeyError, item))
}

fn pop(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "pop", ["self"], 1)?;
    let handle = vm.own_set(set)?;
    vm.settle_set(handle)?;
    let first = vm.table(handle).and_then(|table| table.first());
    let Some(place) = first else {
        return Err(vm.raise(Type::KeyError, "pop from an empty set"));
    };
    vm.charge(cost::values(place))?;
    let key = vm.table(handle).and_then(|table| table.entry(place)).map_or(Value::None, |e| e.key);
    let removed = vm.table_mut(handle).map(|table| table.remove_at(place));
    vm.heap.resized(handle)?;
    vm.charge(removed.map_or(0, |(_, steps)| steps as u64))?;
    Ok(key)
}

fn clear(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "clear", ["self"], 1)?;
    let handle = vm.own_set(set)?;
    if let Some(table) = vm.table_mut(handle) {
        table.clear();
    }
    vm.heap.resized(handle)?;
    Ok(Value::None)
}

fn copy(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "copy", ["self"], 1)?;
    let handle = vm.set_handle(set)?;
    let frozen = matches!(vm.heap.get(handle), Obj::FrozenSet(_));
    let table = vm.table(handle).cloned().unwrap_or_default();
    vm.charge(cost::entries(table.places()))?;
    vm.heap.check(table.size())?;
    vm.alloc(if frozen { Obj::FrozenSet(table) } else { Obj::Set(table) })
}

/// The set and, one by one, its partners as sets.
fn combine(vm: &mut Vm, args: Args, op: BinOp) -> Outcome {
    let receiver = vm.receiver(args, "set method")?;
    let values = vm.positional(args, "set")?;
    let mut result = vm.inner(receiver);
    if values.len() == 1 {
        return copy(vm, args);
    }
    // Of several iterators the first ones would be walked through before another one needs Python code.
    if values.len() > 2 && values.iter().any(|value| matches!(vm.obj(*value), Some(Obj::Iter(_)))) {
        return Err(Fault::Fallback);
    }
    for value in &values[1..] {
        let other = match vm.obj(vm.inner(*value)) {
            Some(Obj::Set(_) | Obj::FrozenSet(_)) => vm.inner(*value),
            _ => vm.set_of(*value)?.into(),
        };
        result = vm.binary(op, result, other)?;
    }
    Ok(result)
}

fn union(vm: &mut Vm, args: Args) -> Outcome {
    combine(vm, args, BinOp::Or)
}

fn intersection(vm: &mut Vm, args: Args) -> Outcome {
    combine(vm, args, BinOp::And)
}

fn difference(vm: &mut Vm, args: Args) -> Outcome {
    combine(vm, args, BinOp::Sub)
}

fn symmetric(vm: &mut Vm, args: Args) -> Outcome {
    combine(vm, args, BinOp::Xor)
}

fn in_place(vm: &mut Vm, args: Args, op: BinOp) -> Outcome {
    let set = vm.receiver(args, "set method")?;
    let handle = vm.own_set(set)?;
    if args.count == 1 {
        return Ok(Value::None);
    }
    let Value::Ref(made) = combine(vm, args, op)? else { return Err(Fatal::Internal.into()) };
    replace(vm, handle, made)
}

fn update(vm: &mut Vm, args: Args) -> Outcome {
    in_place(vm, args, BinOp::Or)
}

fn intersection_update(vm: &mut Vm, args: Args) -> Outcome {
    in_place(vm, args, BinOp::And)
}

fn difference_update(vm: &mut Vm, args: Args) -> Outcome {
    in_place(vm, args, BinOp::Sub)
}

fn symmetric_update(vm: &mut Vm, args: Args) -> Outcome {
    in_place(vm, args, BinOp::Xor)
}

fn pair(vm: &mut Vm, args: Args) -> Result<(Value, Value), Fault> {
    let [set, other] = vm.take(args, "set", ["self", "other"], 2)?;
    let set = vm.set_handle(set)?;
    let other = match vm.obj(vm.inner(other)) {
        Some(Obj::Set(_) | Obj::FrozenSet(_)) => vm.inner(other),
        _ => vm.set_of(other)?.into(),
    };
    Ok((set.into(), other))
}

fn issubset(vm: &mut Vm, args: Args) -> Outcome {
    let (set, other) = pair(vm, args)?;
    vm.order(CmpOp::Le, set, other, 0).map(Value::Bool)
}

fn issuperset(vm: &mut Vm, args: Args) -> Outcome {
    let (set, other) = pair(vm, args)?;
    vm.order(CmpOp::Ge, set, other, 0).map(Value::Bool)
}

fn isdisjoint(vm: &mut Vm, args: Args) -> Outcome {
    let (set, other) = pair(vm, args)?;
    let shared = vm.binary(BinOp::And, set, other)?;
    Ok(Value::Bool(vm.length(shared)? == 0))
}
