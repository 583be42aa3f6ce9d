//! tuple, and what all sequences share.

use crate::code::BinOp;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::Outcome;
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("tuple", "__new__", new, ""),
    ("tuple", "index", super::list::index, "_seq_index"),
    ("tuple", "count", super::list::count, "_seq_count"),
    ("tuple", "__len__", len, ""),
    ("tuple", "__iter__", iter, ""),
    ("tuple", "__getitem__", getitem, ""),
    ("tuple", "__contains__", contains, "_contains"),
    ("tuple", "__add__", add, ""),
    ("tuple", "__mul__", mul, ""),
];

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let made = made(vm, args)?;
    vm.of_class(args, made)
}

fn made(vm: &mut Vm, args: Args) -> Outcome {
    let [_, source] = vm.take(args, "tuple", ["cls", "iterable"], 1)?;
    let items = if source.is_unbound() { Vec::new() } else { vm.items(source)? };
    vm.tuple(items)
}

pub(super) fn len(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__len__", ["self"], 1)?;
    vm.length_value(value)
}

pub(super) fn iter(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__iter__", ["self"], 1)?;
    vm.iter(vm.inner(value))
}

pub(super) fn getitem(vm: &mut Vm, args: Args) -> Outcome {
    let [value, key] = vm.take(args, "__getitem__", ["self", "key"], 2)?;
    vm.get_item(vm.inner(value), key)
}

pub(super) fn contains(vm: &mut Vm, args: Args) -> Outcome {
    let [value, item] = vm.take(args, "__contains__", ["self", "key"], 2)?;
    vm.contains_plain(vm.inner(value), item).map(Value::Bool)
}

pub(super) fn add(vm: &mut Vm, args: Args) -> Outcome {
    let [a, b] = vm.take(args, "__add__", ["self", "other"], 2)?;
    vm.binary(BinOp::Add, vm.inner(a), vm.inner(b))
}

pub(super) fn mul(vm: &mut Vm, args: Args) -> Outcome {
    let [a, b] = vm.take(args, "__mul__", ["self", "other"], 2)?;
    vm.binary(BinOp::Mul, vm.inner(a), vm.inner(b))
}
