//! range, slice, enumerate, zip, reversed, and the iterator type itself.

use crate::heap::object::{Iter, Obj};
use crate::heap::types::{Type, name};
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome, tail};
use crate::run::iter::range_len;
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("range", "__new__", range_new, ""),
    ("range", "count", range_count, ""),
    ("range", "index", range_index, ""),
    ("slice", "__new__", slice_new, ""),
    ("slice", "indices", slice_indices, ""),
    ("enumerate", "__new__", enumerate_new, "_enumerate"),
    ("zip", "__new__", zip_new, "_zip"),
    ("reversed", "__new__", reversed_new, ""),
    ("iterator", "__next__", iterator_next, ""),
    ("iterator", "__iter__", iterator_iter, ""),
    ("enumerate", "__next__", iterator_next, ""),
    ("enumerate", "__iter__", iterator_iter, ""),
    ("zip", "__next__", iterator_next, ""),
    ("zip", "__iter__", iterator_iter, ""),
    ("reversed", "__next__", iterator_next, ""),
    ("reversed", "__iter__", iterator_iter, ""),
    ("range", "__iter__", iterator_iter, ""),
    ("range", "__len__", super::tuple::len, ""),
    ("range", "__getitem__", super::tuple::getitem, ""),
    ("range", "__reversed__", reversed, ""),
    ("list", "__reversed__", reversed, ""),
    ("dict", "__reversed__", reversed, ""),
];

/// `__reversed__`, called by name.
fn reversed(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__reversed__", ["self"], 1)?;
    vm.reversed(vm.inner(value))
}

fn range_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, a, b, c] = vm.take(args, "range", ["cls", "start", "stop", "step"], 2)?;
    let int = |vm: &mut Vm, value: Value| {
        if matches!(vm.inner(value), Value::Float(_)) {
            return Err(vm.type_error("'float' object cannot be interpreted as an integer"));
        }
        vm.want_int(value)
    };
    let (start, stop) = if b.is_unbound() { (0, int(vm, a)?) } else { (int(vm, a)?, int(vm, b)?) };
    let step = if c.is_unbound() { 1 } else { int(vm, c)? };
    if step == 0 {
        return Err(vm.value_error("range() arg 3 must not be zero"));
    }
    vm.alloc(Obj::Range { start, stop, step })
}

fn range_place(vm: &mut Vm, range: Value, item: Value) -> Result<Option<i128>, Fault> {
    let Some(Obj::Range { start, stop, step }) = vm.obj(range) else { return Ok(None) };
    let (start, stop, step) = (*start, *stop, *step);
    Ok(vm.as_index(item).and_then(|int| {
        let offset = i128::from(int) - i128::from(start);
        let place = offset / i128::from(step);
        let inside = offset % i128::from(step) == 0 && place >= 0;
        let found = inside && place < i128::from(range_len(start, stop, step));
        found.then_some(place)
    }))
}

fn range_count(vm: &mut Vm, args: Args) -> Outcome {
    let [range, item] = vm.take(args, "count", ["self", "value"], 2)?;
    Ok(Value::Int(i64::from(range_place(vm, range, item)?.is_some())))
}

fn range_index(vm: &mut Vm, args: Args) -> Outcome {
    let [range, item] = vm.take(args, "index", ["self", "value"], 2)?;
    match range_place(vm, range, item)? {
        Some(place) => vm.int(place.into()),
        None => {
            let text = vm.repr(item)?;
            Err(vm.value_error(format!("{text} is not in range")))
        }
    }
}

fn slice_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, a, b, c] = vm.take(args, "slice", ["cls", "start", "stop", "step"], 2)?;
    let none = |value: Value| if value.is_unbound() { Value::None } else { value };
    let parts = if b.is_unbound() { [Value::None, a, Value::None] } else { [a, b, none(c)] };
    vm.alloc(Obj::Slice(parts))
}

fn slice_indices(vm: &mut Vm, args: Args) -> Outcome {
    let [slice, length] = vm.take(args, "indices", ["self", "length"], 2)?;
    let length = vm.want_int(length)?.max(0) as usize;
    let Some(Obj::Slice(parts)) = vm.obj(slice) else {
        return Err(vm.type_error("a slice is needed"));
    };
    let parts = *parts;
    let (start, step, count) = vm.slice_range(parts, length)?;
    let stop = match parts[1] {
        Value::None if step > 0 => length as i64,
        Value::None => -1,
        _ => {
            let (low, high) = if step > 0 { (0, length as i64) } else { (-1, length as i64 - 1) };
            let stop = vm.want_place(parts[1])?;
            if stop < 0 { stop.saturating_add(length as i64).max(low) } else { stop.min(high) }
        }
    };
    let _ = count;
    vm.tuple(vec![Value::Int(start), Value::Int(stop), Value::Int(step)])
}

/// Iterators over iterators nest only once in Rust; deeper ones are generators of the prelude.
fn simple_iter(vm: &mut Vm, value: Value) -> Outcome {
    if !vm.iterates_natively(value) {
        // Says what cannot be iterated at all.
        if !matches!(vm.obj(value), Some(Obj::Generator(_) | Obj::Instance(_) | Obj::Class(_))) {
            return vm.iter(value);
        }
        return Err(Fault::Fallback);
    }
    let iterator = vm.iter(vm.inner(value))?;
    if let Some(Obj::Iter(iter)) = vm.obj(iterator)
        && matches!(&**iter, Iter::Enumerate { .. } | Iter::Zip { .. })
    {
        return Err(Fault::Fallback);
    }
    Ok(iterator)
}

fn enumerate_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, items, start] = vm.take(args, "enumerate", ["cls", "iterable", "start"], 2)?;
    let count = match vm.inner(start) {
        Value::Unbound => 0,
        // Integers of any size, in the prelude.
        start => match vm.as_index(start) {
            Some(count) if count < i64::MAX / 2 => count,
            _ => return Err(Fault::Fallback),
        },
    };
    let inner = simple_iter(vm, items)?;
    vm.alloc(Obj::Iter(Box::new(Iter::Enumerate { inner, count })))
}

fn zip_new(vm: &mut Vm, args: Args) -> Outcome {
    if args.keywords.is_some() {
        return Err(Fault::Fallback);
    }
    vm.receiver(args, "zip.__new__")?;
    let values = vm.positional(args, "zip")?;
    let mut inner = Vec::new();
    for value in &values[1..] {
        inner.push(simple_iter(vm, *value)?);
    }
    vm.alloc(Obj::Iter(Box::new(Iter::Zip { inner, strict: false })))
}

fn reversed_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, value] = vm.take(args, "reversed", ["cls", "sequence"], 2)?;
    if let Some(method) = vm.user_method(value, name::REVERSED) {
        return Err(tail(method, vec![value]));
    }
    vm.reversed(value)
}

impl Vm {
    /// What walks backwards over a value that needs no Python code for it.
    fn reversed(&mut self, value: Value) -> Outcome {
        let source = self.inner(value);
        let iter = match self.obj(source) {
            Some(Obj::Range { start, stop, step }) => {
                let (start, step, left) = (*start, *step, range_len(*start, *stop, *step));
                // Every item is within 64 bits; what is in between need not be.
                let last = start.wrapping_add(step.wrapping_mul(left.wrapping_sub(1) as i64));
                Iter::Range { next: last, left, step: step.wrapping_neg() }
            }
            Some(Obj::Dict(table)) => {
                let length = table.len();
                let Value::Ref(source) = source else {
                    return Err(self.type_error("a dict is needed"));
                };
                let view = crate::heap::object::View::Keys;
                Iter::Dict { source, view, next: 0, length, reversed: true }
            }
            Some(Obj::DictView { dict, view }) => {
                let (source, view) = (*dict, *view);
                let length = self.table(source).map_or(0, |table| table.len());
                Iter::Dict { source, view, next: 0, length, reversed: true }
            }
            Some(
                Obj::List(_) | Obj::Tuple(_) | Obj::Str(_) | Obj::Bytes(_) | Obj::ByteArray(_),
            ) => Iter::Reversed { source, left: self.length(source)? },
            Some(Obj::Instance(_)) => {
                return Err(self.prelude_tail("_reversed_by_index", vec![value]));
            }
            _ => {
                let kind = self.type_name(value);
                return Err(self.type_error(format!("'{kind}' object is not reversible")));
            }
        };
        self.alloc(Obj::Iter(Box::new(iter)))
    }
}

fn iterator_next(vm: &mut Vm, args: Args) -> Outcome {
    let [iterator] = vm.take(args, "__next__", ["self"], 1)?;
    match vm.native_next(iterator)? {
        Some(Value::Unbound) | None => {
            let args = vm.tuple(Vec::new())?;
            let stop = vm.new_exception(Type::StopIteration.handle(), args)?;
            Err(Fault::Raise(stop))
        }
        Some(value) => Ok(value),
    }
}

fn iterator_iter(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__iter__", ["self"], 1)?;
    vm.iter(vm.inner(value))
}
