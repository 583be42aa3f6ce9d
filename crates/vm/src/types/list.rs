//! list.

use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::Type;
use crate::heap::value::{Handle, Value};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("list", "__new__", new, ""),
    ("list", "__init__", init, ""),
    ("list", "append", append, ""),
    ("list", "extend", extend, ""),
    ("list", "insert", insert, ""),
    ("list", "pop", pop, ""),
    ("list", "remove", remove, "_list_remove"),
    ("list", "clear", clear, ""),
    ("list", "index", index, "_seq_index"),
    ("list", "count", count, "_seq_count"),
    ("list", "reverse", reverse, ""),
    ("list", "copy", copy, ""),
    ("list", "__len__", super::tuple::len, ""),
    ("list", "__iter__", super::tuple::iter, ""),
    ("list", "__getitem__", super::tuple::getitem, ""),
    ("list", "__setitem__", setitem, ""),
    ("list", "__delitem__", delitem, ""),
    ("list", "__contains__", super::tuple::contains, "_contains"),
    ("list", "__add__", super::tuple::add, ""),
    ("list", "__mul__", super::tuple::mul, ""),
    ("_", "_list_fill", fill, ""),
];

impl Vm {
    fn list_handle(&mut self, value: Value) -> Result<Handle, Fault> {
        match (self.inner(value), self.obj(self.inner(value))) {
            (Value::Ref(handle), Some(Obj::List(_))) => Ok(handle),
            _ => {
                let kind = self.type_name(value);
                Err(self.type_error(format!(
                    "descriptor requires a 'list' object but received '{kind}'"
                )))
            }
        }
    }

    /// Changes a list and accounts for it.
    fn change<T>(
        &mut self,
        handle: Handle,
        change: impl FnOnce(&mut Vec<Value>) -> T,
    ) -> Result<T, Fault> {
        let Obj::List(items) = self.heap.get_mut(handle) else {
            return Err(crate::run::fault::Fatal::Internal.into());
        };
        let result = change(items);
        self.heap.resized(handle)?;
        Ok(result)
    }
}

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, source] = vm.take(args, "list", ["cls", "iterable"], 1)?;
    let items = if source.is_unbound() { Vec::new() } else { vm.items(source)? };
    vm.list(items)
}

fn init(vm: &mut Vm, args: Args) -> Outcome {
    let [list, source] = vm.take(args, "list", ["self", "iterable"], 1)?;
    let handle = vm.list_handle(list)?;
    let items = if source.is_unbound() { Vec::new() } else { vm.items(source)? };
    vm.change(handle, |list| *list = items)?;
    Ok(Value::None)
}

fn fill(vm: &mut Vm, args: Args) -> Outcome {
    init(vm, args)
}

fn append(vm: &mut Vm, args: Args) -> Outcome {
    if args.count != 2 || args.keywords.is_some() {
        let count = args.count.saturating_sub(1);
        return Err(
            vm.type_error(format!("list.append() takes exactly one argument ({count} given)"))
        );
    }
    let (list, item) = (vm.stack[args.base], vm.stack[args.base + 1]);
    let handle = vm.list_handle(list)?;
    vm.list_push(handle.into(), item)?;
    Ok(Value::None)
}

fn extend(vm: &mut Vm, args: Args) -> Outcome {
    let [list, source] = vm.take(args, "extend", ["self", "iterable"], 2)?;
    let handle = vm.list_handle(list)?;
    let items = vm.items(source)?;
    vm.change(handle, |list| list.extend(items))?;
    Ok(Value::None)
}

fn insert(vm: &mut Vm, args: Args) -> Outcome {
    let [list, place, item] = vm.take(args, "insert", ["self", "index", "object"], 3)?;
    let handle = vm.list_handle(list)?;
    let length = vm.length(list)? as i64;
    let place = vm.want_int(place)?;
    let place = if place < 0 { (place + length).max(0) } else { place.min(length) };
    vm.charge(cost::values((length - place) as usize))?;
    vm.change(handle, |list| list.insert(place as usize, item))?;
    Ok(Value::None)
}

fn pop(vm: &mut Vm, args: Args) -> Outcome {
    let [list, place] = vm.take(args, "pop", ["self", "index"], 1)?;
    let handle = vm.list_handle(list)?;
    let length = vm.length(list)? as i64;
    if length == 0 {
        return Err(vm.raise(Type::IndexError, "pop from empty list"));
    }
    let place = if place.is_unbound() { -1 } else { vm.want_int(place)? };
    let place = if place < 0 { place + length } else { place };
    if place < 0 || place >= length {
        return Err(vm.raise(Type::IndexError, "pop index out of range"));
    }
    vm.charge(cost::values((length - place) as usize))?;
    vm.change(handle, |list| list.remove(place as usize))
}

fn remove(vm: &mut Vm, args: Args) -> Outcome {
    let [list, item] = vm.take(args, "remove", ["self", "value"], 2)?;
    let handle = vm.list_handle(list)?;
    let length = vm.length(list)?;
    match vm.position(handle, item, 0, length)? {
        Some(place) => {
            vm.charge(cost::values(length - place))?;
            vm.change(handle, |list| list.remove(place))?;
            Ok(Value::None)
        }
        None => Err(vm.value_error("list.remove(x): x not in list")),
    }
}

fn clear(vm: &mut Vm, args: Args) -> Outcome {
    let [list] = vm.take(args, "clear", ["self"], 1)?;
    let handle = vm.list_handle(list)?;
    vm.change(handle, Vec::clear)?;
    Ok(Value::None)
}

impl Vm {
    /// The first place of an equal item.
    pub(crate) fn position(
        &mut self,
        handle: Handle,
        item: Value,
        start: usize,
        stop: usize,
    ) -> Result<Option<usize>, Fault> {
        for place in start..stop {
            let Some(found) = self.item_at(handle, place) else { break };
            self.charge(cost::comparison(found, item))?;
            if found.is(item) || self.equal(found, item, 0)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }
}

pub(super) fn index(vm: &mut Vm, args: Args) -> Outcome {
    let [list, item, start, stop] =
        vm.take(args, "index", ["self", "value", "start", "stop"], 2)?;
    let length = i64::try_from(vm.length(list)?).unwrap_or(i64::MAX);
    let bound = |vm: &mut Vm, value: Value, default: i64| -> Result<usize, Fault> {
        if value.is_unbound() {
            return Ok(default as usize);
        }
        let value = vm.want_place(value)?;
        let from_end = value.saturating_add(length).max(0);
        Ok((if value < 0 { from_end } else { value.min(length) }) as usize)
    };
    let (start, stop) = (bound(vm, start, 0)?, bound(vm, stop, length)?);
    let Value::Ref(handle) = vm.inner(list) else {
        return Err(vm.type_error("a sequence is needed"));
    };
    match vm.position(handle, item, start, stop)? {
        Some(place) => Ok(Value::Int(place as i64)),
        None => {
            let text = vm.repr(item)?;
            let word = vm.type_name(handle.into());
            if word == "tuple" {
                return Err(vm.value_error("tuple.index(x): x not in tuple"));
            }
            Err(vm.value_error(format!("{text} is not in {word}")))
        }
    }
}

pub(super) fn count(vm: &mut Vm, args: Args) -> Outcome {
    let [list, item] = vm.take(args, "count", ["self", "value"], 2)?;
    let length = vm.length(list)?;
    let Value::Ref(handle) = vm.inner(list) else {
        return Err(vm.type_error("a sequence is needed"));
    };
    let mut count = 0;
    for place in 0..length {
        let Some(found) = vm.item_at(handle, place) else { break };
        vm.charge(cost::comparison(found, item))?;
        if found.is(item) || vm.equal(found, item, 0)? {
            count += 1;
        }
    }
    Ok(Value::Int(count))
}

fn reverse(vm: &mut Vm, args: Args) -> Outcome {
    let [list] = vm.take(args, "reverse", ["self"], 1)?;
    let handle = vm.list_handle(list)?;
    let length = vm.length(list)?;
    vm.charge(cost::values(length))?;
    vm.change(handle, |list| list.reverse())?;
    Ok(Value::None)
}

fn copy(vm: &mut Vm, args: Args) -> Outcome {
    let [list] = vm.take(args, "copy", ["self"], 1)?;
    let items = vm.items(list)?;
    vm.list(items)
}

pub(super) fn setitem(vm: &mut Vm, args: Args) -> Outcome {
    let [list, key, value] = vm.take(args, "__setitem__", ["self", "key", "value"], 3)?;
    super::builtins::done(vm.set_item(vm.inner(list), key, value))
}

pub(super) fn delitem(vm: &mut Vm, args: Args) -> Outcome {
    let [list, key] = vm.take(args, "__delitem__", ["self", "key"], 2)?;
    super::builtins::done(vm.delete_item(vm.inner(list), key))
}
