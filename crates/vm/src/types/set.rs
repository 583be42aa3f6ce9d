//! set and frozenset.

use crate::code::CmpOp;
use crate::cost;
use crate::heap::object::{Obj, View};
use crate::heap::set::Set;
use crate::heap::types::Type;
use crate::heap::value::{Handle, Value};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
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
    ("set", "symmetric_difference_update", symmetric_update, "_set_symmetric_update"),
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
    ("_", "_set_reserve", set_reserve, ""),
    ("_", "_set_tidy", set_tidy, ""),
    ("_", "_view_set", view_set, "_set_of"),
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
}

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, source] = vm.take(args, "set", ["cls", "iterable"], 1)?;
    made_of(vm, source).map(Value::Ref)
}

fn made_of(vm: &mut Vm, source: Value) -> Result<Handle, Fault> {
    if source.is_unbound() { vm.new_set() } else { vm.set_from(source) }
}

fn init(vm: &mut Vm, args: Args) -> Outcome {
    let [set, source] = vm.take(args, "set", ["self", "iterable"], 1)?;
    let made = made_of(vm, source)?;
    let handle = vm.own_set(set)?;
    vm.replace_set(handle, made)?;
    Ok(Value::None)
}

fn set_replace(vm: &mut Vm, args: Args) -> Outcome {
    let [target, made] = vm.take(args, "_set_replace", ["target", "made"], 2)?;
    let (target, made) = (vm.own_set(target)?, vm.set_handle(made)?);
    vm.replace_set(target, made)?;
    Ok(Value::None)
}

/// Makes room in a set for as many as another table has, before they come one by one.
fn set_reserve(vm: &mut Vm, args: Args) -> Outcome {
    let [target, source] = vm.take(args, "_set_reserve", ["target", "source"], 2)?;
    let (target, more) = (vm.set_handle(target)?, vm.length(source)?);
    vm.charge_walk(target)?;
    vm.heap.check(more.saturating_mul(16))?;
    vm.change_set(target, |set| set.reserve(more))?;
    Ok(Value::None)
}

fn set_tidy(vm: &mut Vm, args: Args) -> Outcome {
    let [target] = vm.take(args, "_set_tidy", ["target"], 1)?;
    let target = vm.set_handle(target)?;
    vm.change_set(target, Set::tidy)?;
    Ok(Value::None)
}

/// What operators make of a view of keys: room for all of them at once.
fn view_set(vm: &mut Vm, args: Args) -> Outcome {
    let [view] = vm.take(args, "_view_set", ["view"], 1)?;
    let source = match vm.obj(view) {
        Some(Obj::DictView { dict, view: View::Keys }) => (*dict).into(),
        _ => view,
    };
    vm.set_from(source).map(Value::Ref)
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
    let made = made_of(vm, source)?;
    vm.freeze_set(made)
}

fn freeze(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "_freeze", ["set"], 1)?;
    let handle = vm.set_handle(set)?;
    vm.freeze_set(handle)
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
    vm.set_discard(handle, item)?;
    Ok(Value::None)
}

fn remove(vm: &mut Vm, args: Args) -> Outcome {
    let [set, item] = vm.take(args, "remove", ["self", "item"], 2)?;
    let handle = vm.own_set(set)?;
    if vm.set_discard(handle, item)? {
        return Ok(Value::None);
    }
    Err(vm.raise_with(Type::KeyError, item))
}

fn pop(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "pop", ["self"], 1)?;
    let handle = vm.own_set(set)?;
    let Some((place, slot, walked)) = vm.set(handle).and_then(Set::next_out) else {
        return Err(vm.raise(Type::KeyError, "pop from an empty set"));
    };
    vm.charge(cost::slots(walked))?;
    let key = vm.set(handle).and_then(|set| set.key(place)).unwrap_or(Value::None);
    vm.change_set(handle, |set| {
        set.set_finger(slot + 1);
        set.remove(place)
    })?;
    Ok(key)
}

fn clear(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "clear", ["self"], 1)?;
    let handle = vm.own_set(set)?;
    vm.clear_set(handle)?;
    Ok(Value::None)
}

fn copy(vm: &mut Vm, args: Args) -> Outcome {
    let [set] = vm.take(args, "copy", ["self"], 1)?;
    let handle = vm.set_handle(set)?;
    if matches!(vm.obj(set), Some(Obj::FrozenSet(_))) {
        return Ok(set);
    }
    let made = vm.set_from(handle.into())?;
    vm.like(handle, made)
}

impl Vm {
    /// Frozen if the first one is.
    fn like(&mut self, model: Handle, made: Handle) -> Outcome {
        match self.heap.get(model) {
            Obj::FrozenSet(_) => self.freeze_set(made),
            _ => Ok(made.into()),
        }
    }
}

/// What makes a new set of a set and one partner.
type Combination = fn(&mut Vm, Handle, Value) -> Result<Handle, Fault>;

/// Several partners are the prelude's, which takes them one by one.
fn combine(vm: &mut Vm, args: Args, combination: Combination) -> Outcome {
    let receiver = vm.receiver(args, "set method")?;
    let handle = vm.set_handle(receiver)?;
    let values = vm.positional(args, "set")?;
    match values[..] {
        [_] => copy(vm, args),
        [_, other] => {
            let made = combination(vm, handle, other)?;
            vm.like(handle, made)
        }
        _ => Err(Fault::Fallback),
    }
}

fn union(vm: &mut Vm, args: Args) -> Outcome {
    combine(vm, args, |vm, set, other| {
        let made = vm.set_from(set.into())?;
        if vm.inner(other).handle() != Some(set) {
            vm.set_update(made, other)?;
        }
        Ok(made)
    })
}

fn intersection(vm: &mut Vm, args: Args) -> Outcome {
    combine(vm, args, Vm::intersection)
}

fn difference(vm: &mut Vm, args: Args) -> Outcome {
    combine(vm, args, Vm::difference)
}

fn symmetric(vm: &mut Vm, args: Args) -> Outcome {
    let [set, other] = vm.take(args, "symmetric_difference", ["self", "other"], 2)?;
    let set = vm.set_handle(set)?;
    let made = vm.set_from(other)?;
    match vm.symmetric_update(made, set.into()) {
        Err(Fault::Fallback) => {
            Err(vm.prelude_tail("_set_symmetric", vec![set.into(), made.into()]))
        }
        done => done.and_then(|()| vm.like(set, made)),
    }
}

/// What changes a set by one partner.
type Update = fn(&mut Vm, Handle, Value) -> Result<(), Fault>;

fn in_place(vm: &mut Vm, args: Args, update: Update) -> Outcome {
    let set = vm.receiver(args, "set method")?;
    let handle = vm.own_set(set)?;
    match vm.positional(args, "set")?[..] {
        [_] => {}
        [_, other] => update(vm, handle, other)?,
        _ => return Err(Fault::Fallback),
    }
    Ok(Value::None)
}

fn update(vm: &mut Vm, args: Args) -> Outcome {
    in_place(vm, args, Vm::set_update)
}

fn intersection_update(vm: &mut Vm, args: Args) -> Outcome {
    let set = vm.receiver(args, "set method")?;
    let handle = vm.own_set(set)?;
    let made = match vm.positional(args, "set")?[..] {
        [_] => vm.set_from(handle.into())?,
        [_, other] => vm.intersection(handle, other)?,
        _ => return Err(Fault::Fallback),
    };
    vm.replace_set(handle, made)?;
    Ok(Value::None)
}

fn difference_update(vm: &mut Vm, args: Args) -> Outcome {
    in_place(vm, args, Vm::difference_update)
}

fn symmetric_update(vm: &mut Vm, args: Args) -> Outcome {
    let [set, other] = vm.take(args, "symmetric_difference_update", ["self", "other"], 2)?;
    let set = vm.own_set(set)?;
    // A dict is walked over as it is.
    let other = if vm.hashed_source(other).is_some() { other } else { as_set(vm, other)? };
    match vm.symmetric_update(set, other) {
        Err(Fault::Fallback) => {
            Err(vm.prelude_tail("_set_symmetric_update", vec![set.into(), other]))
        }
        done => done.map(|()| Value::None),
    }
}

/// A set, or one of what comes from something else: an iterator can be walked over once.
fn as_set(vm: &mut Vm, value: Value) -> Outcome {
    match vm.obj(vm.inner(value)) {
        Some(Obj::Set(_) | Obj::FrozenSet(_)) => Ok(vm.inner(value)),
        _ => vm.set_from(value).map(Value::Ref),
    }
}

/// What is asked of a set and another one; in Python where a program's own methods are needed, of the
/// set that was made, not of the iterator that it came from.
fn asked(
    vm: &mut Vm,
    args: Args,
    in_python: &str,
    ask: impl FnOnce(&mut Vm, Handle, Value) -> Result<bool, Fault>,
) -> Outcome {
    let [set, other] = vm.take(args, "set", ["self", "other"], 2)?;
    let set = vm.set_handle(set)?;
    let other = as_set(vm, other)?;
    match ask(vm, set, other) {
        Err(Fault::Fallback) => Err(vm.prelude_tail(in_python, vec![set.into(), other])),
        answer => answer.map(Value::Bool),
    }
}

fn issubset(vm: &mut Vm, args: Args) -> Outcome {
    asked(vm, args, "_issubset", |vm, set, other| vm.order(CmpOp::Le, set.into(), other, 0))
}

fn issuperset(vm: &mut Vm, args: Args) -> Outcome {
    asked(vm, args, "_issuperset", |vm, set, other| vm.order(CmpOp::Ge, set.into(), other, 0))
}

fn isdisjoint(vm: &mut Vm, args: Args) -> Outcome {
    asked(vm, args, "_isdisjoint", |vm, set, other| {
        let shared = vm.intersection(set, other)?;
        Ok(vm.extent(shared).0 == 0)
    })
}
