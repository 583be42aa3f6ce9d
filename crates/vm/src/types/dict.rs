//! dict and its views.

use crate::cost;
use crate::heap::object::{Obj, View};
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("dict", "__new__", new, "_dict_new"),
    ("dict", "__init__", init, "_dict_init"),
    ("dict", "get", get, "_dict_get"),
    ("dict", "setdefault", setdefault, "_dict_setdefault"),
    ("dict", "pop", pop, "_dict_pop"),
    ("dict", "popitem", popitem, "_dict_popitem"),
    ("dict", "clear", clear, ""),
    ("dict", "copy", copy, ""),
    ("dict", "keys", keys, ""),
    ("dict", "values", values, ""),
    ("dict", "items", items, ""),
    ("dict", "update", update, "_dict_init"),
    ("dict", "__len__", super::tuple::len, ""),
    ("dict", "__iter__", super::tuple::iter, ""),
    ("dict", "__getitem__", getitem, ""),
    ("dict", "__setitem__", setitem, "_dict_setitem"),
    ("dict", "__delitem__", delitem, "_dict_delitem"),
    ("dict", "__contains__", super::tuple::contains, "_contains"),
    ("dict_keys", "__iter__", super::tuple::iter, ""),
    ("dict_values", "__iter__", super::tuple::iter, ""),
    ("dict_items", "__iter__", super::tuple::iter, ""),
    ("_", "_move_to_end", move_to_end, ""),
];

impl Vm {
    pub(crate) fn dict_handle(&mut self, value: Value) -> Result<Handle, Fault> {
        match (self.inner(value), self.obj(self.inner(value))) {
            (Value::Ref(handle), Some(Obj::Dict(_))) => Ok(handle),
            _ => {
                let kind = self.type_name(value);
                Err(self.type_error(format!(
                    "descriptor requires a 'dict' object but received '{kind}'"
                )))
            }
        }
    }

    /// Copies entries whose hashes are known.
    fn merge_table(&mut self, target: Handle, source: Handle) -> Result<(), Fault> {
        let Some(table) = self.table(source) else { return Err(Fatal::Internal.into()) };
        let entries: Vec<_> = table.iter().copied().collect();
        self.charge(cost::entries(entries.len()))?;
        self.heap.check(entries.len() * 48)?;
        for entry in entries {
            let place = self.find(target, entry.key, entry.hash)?;
            self.dict_put(target, place, entry.hash, entry.key, entry.value)?;
        }
        Ok(())
    }
}

/// Plain cases only: nothing, or another dict, or keywords.
fn fill(vm: &mut Vm, target: Handle, source: Value, args: Args) -> Result<(), Fault> {
    if !source.is_unbound() {
        match (source, vm.obj(source)) {
            (Value::Ref(handle), Some(Obj::Dict(_))) => vm.merge_table(target, handle)?,
            _ => return Err(Fault::Fallback),
        }
    }
    if let Some(names) = args.keywords {
        let names = match vm.heap.get(names) {
            Obj::Tuple(names) => names.to_vec(),
            _ => Vec::new(),
        };
        let first = args.base + args.count - names.len();
        for (index, name) in names.into_iter().enumerate() {
            let value = vm.stack[first + index];
            vm.dict_insert(target, name, value)?;
        }
    }
    Ok(())
}

fn source_of(vm: &Vm, args: Args) -> Value {
    let keywords = match args.keywords.map(|names| vm.heap.get(names)) {
        Some(Obj::Tuple(names)) => names.len(),
        _ => 0,
    };
    if args.count - keywords > 1 { vm.stack[args.base + 1] } else { Value::Unbound }
}

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let source = source_of(vm, args);
    let dict = vm.new_dict()?;
    let Value::Ref(target) = dict else { return Err(Fatal::Internal.into()) };
    fill(vm, target, source, args)?;
    Ok(dict)
}

fn init(vm: &mut Vm, args: Args) -> Outcome {
    let source = source_of(vm, args);
    let dict = vm.receiver(args, "dict.update")?;
    let target = vm.dict_handle(dict)?;
    fill(vm, target, source, args)?;
    Ok(Value::None)
}

fn update(vm: &mut Vm, args: Args) -> Outcome {
    init(vm, args)
}

fn get(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, key, default] = vm.take(args, "get", ["self", "key", "default"], 2)?;
    let handle = vm.dict_handle(dict)?;
    let default = if default.is_unbound() { Value::None } else { default };
    Ok(vm.dict_get(handle, key)?.unwrap_or(default))
}

fn setdefault(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, key, default] = vm.take(args, "setdefault", ["self", "key", "default"], 2)?;
    let handle = vm.dict_handle(dict)?;
    if let Some(found) = vm.dict_get(handle, key)? {
        return Ok(found);
    }
    let default = if default.is_unbound() { Value::None } else { default };
    vm.dict_insert(handle, key, default)?;
    Ok(default)
}

fn pop(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, key, default] = vm.take(args, "pop", ["self", "key", "default"], 2)?;
    let handle = vm.dict_handle(dict)?;
    match vm.dict_take(handle, key)? {
        Some(value) => Ok(value),
        None if default.is_unbound() => Err(vm.raise_with(Type::KeyError, key)),
        None => Ok(default),
    }
}

fn popitem(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, last] = vm.take(args, "popitem", ["self", "last"], 1)?;
    let handle = vm.dict_handle(dict)?;
    let last = last.is_unbound() || vm.plain_truth(last)?;
    let Some(table) = vm.table(handle) else { return Err(Fatal::Internal.into()) };
    let place = if last { table.last() } else { table.first() };
    let Some(place) = place else {
        return Err(vm.raise(Type::KeyError, "popitem(): dictionary is empty"));
    };
    vm.charge(cost::values(if last { 0 } else { place }))?;
    let key = vm.table(handle).and_then(|table| table.entry(place)).map_or(Value::None, |e| e.key);
    let removed = vm.table_mut(handle).map(|table| table.remove_at(place));
    let (value, steps) = removed.unwrap_or((Value::None, 0));
    vm.heap.resized(handle)?;
    vm.charge(steps as u64)?;
    vm.tuple(vec![key, value])
}

/// `OrderedDict.move_to_end` towards the end.
fn move_to_end(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, key] = vm.take(args, "move_to_end", ["self", "key"], 2)?;
    let handle = vm.dict_handle(dict)?;
    match vm.dict_take(handle, key)? {
        Some(value) => {
            vm.dict_insert(handle, key, value)?;
            Ok(Value::None)
        }
        None => Err(vm.raise_with(Type::KeyError, key)),
    }
}

fn clear(vm: &mut Vm, args: Args) -> Outcome {
    let [dict] = vm.take(args, "clear", ["self"], 1)?;
    let handle = vm.dict_handle(dict)?;
    if let Some(table) = vm.table_mut(handle) {
        table.clear();
    }
    vm.heap.resized(handle)?;
    Ok(Value::None)
}

fn copy(vm: &mut Vm, args: Args) -> Outcome {
    let [dict] = vm.take(args, "copy", ["self"], 1)?;
    let handle = vm.dict_handle(dict)?;
    vm.copy_dict(handle)
}

fn view(vm: &mut Vm, args: Args, view: View) -> Outcome {
    let [dict] = vm.take(args, "view", ["self"], 1)?;
    let dict = vm.dict_handle(dict)?;
    vm.alloc(Obj::DictView { dict, view })
}

fn keys(vm: &mut Vm, args: Args) -> Outcome {
    view(vm, args, View::Keys)
}

fn values(vm: &mut Vm, args: Args) -> Outcome {
    view(vm, args, View::Values)
}

fn items(vm: &mut Vm, args: Args) -> Outcome {
    view(vm, args, View::Items)
}

fn getitem(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, key] = vm.take(args, "__getitem__", ["self", "key"], 2)?;
    let handle = vm.dict_handle(dict)?;
    match vm.dict_get(handle, key) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => match vm.user_method(dict, name::MISSING) {
            Some(missing) => Err(crate::run::fault::tail(missing, vec![dict, key])),
            None => Err(vm.raise_with(Type::KeyError, key)),
        },
        Err(Fault::Fallback) => Err(vm.prelude_tail("_dict_getitem", vec![dict, key])),
        Err(fault) => Err(fault),
    }
}

fn setitem(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, key, value] = vm.take(args, "__setitem__", ["self", "key", "value"], 3)?;
    let handle = vm.dict_handle(dict)?;
    vm.dict_insert(handle, key, value)?;
    Ok(Value::None)
}

fn delitem(vm: &mut Vm, args: Args) -> Outcome {
    let [dict, key] = vm.take(args, "__delitem__", ["self", "key"], 2)?;
    let handle = vm.dict_handle(dict)?;
    if vm.dict_remove(handle, key)? {
        return Ok(Value::None);
    }
    Err(vm.raise_with(Type::KeyError, key))
}
