//! Operators of builtin types as methods: what `int.__add__` or `super().__lt__` finds. The operators
//! themselves do not come here.

use crate::code::{BinOp, CmpOp};
use crate::heap::object::Obj;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::Outcome;
use crate::run::native::{Args, Table};

#[rustfmt::skip]
pub(crate) const TABLE: Table = &[
    ("int", "__add__", add, ""),
    ("int", "__sub__", sub, ""),
    ("int", "__mul__", mul, ""),
    ("int", "__truediv__", truediv, ""),
    ("int", "__floordiv__", floordiv, ""),
    ("int", "__mod__", modulo, ""),
    ("int", "__pow__", pow, ""),
    ("int", "__lshift__", lshift, ""),
    ("int", "__rshift__", rshift, ""),
    ("int", "__and__", bit_and, ""),
    ("int", "__or__", bit_or, ""),
    ("int", "__xor__", xor, ""),
    ("float", "__add__", add, ""),
    ("float", "__sub__", sub, ""),
    ("float", "__mul__", mul, ""),
    ("float", "__truediv__", truediv, ""),
    ("float", "__floordiv__", floordiv, ""),
    ("float", "__mod__", modulo, ""),
    ("float", "__pow__", pow, ""),
    ("str", "__mod__", modulo, ""),
    ("str", "__mul__", mul, ""),
    ("bytes", "__add__", add, ""),
    ("bytes", "__mul__", mul, ""),
    ("bytearray", "__add__", add, ""),
    ("bytearray", "__mul__", mul, ""),
    ("dict", "__or__", bit_or, ""),
    ("set", "__and__", bit_and, ""),
    ("set", "__or__", bit_or, ""),
    ("set", "__sub__", sub, ""),
    ("set", "__xor__", xor, ""),
    ("frozenset", "__and__", bit_and, ""),
    ("frozenset", "__or__", bit_or, ""),
    ("frozenset", "__sub__", sub, ""),
    ("frozenset", "__xor__", xor, ""),
    ("int", "__radd__", r_add, ""),
    ("int", "__rsub__", r_sub, ""),
    ("int", "__rmul__", r_mul, ""),
    ("int", "__rtruediv__", r_truediv, ""),
    ("int", "__rfloordiv__", r_floordiv, ""),
    ("int", "__rmod__", r_mod, ""),
    ("int", "__rpow__", r_pow, ""),
    ("int", "__rlshift__", r_lshift, ""),
    ("int", "__rrshift__", r_rshift, ""),
    ("int", "__rand__", r_and, ""),
    ("int", "__ror__", r_or, ""),
    ("int", "__rxor__", r_xor, ""),
    ("float", "__radd__", r_add, ""),
    ("float", "__rsub__", r_sub, ""),
    ("float", "__rmul__", r_mul, ""),
    ("float", "__rtruediv__", r_truediv, ""),
    ("float", "__rfloordiv__", r_floordiv, ""),
    ("float", "__rmod__", r_mod, ""),
    ("float", "__rpow__", r_pow, ""),
    ("str", "__rmul__", r_mul, ""),
    ("bytes", "__rmul__", r_mul, ""),
    ("bytearray", "__rmul__", r_mul, ""),
    ("list", "__rmul__", r_mul, ""),
    ("tuple", "__rmul__", r_mul, ""),
    ("dict", "__ror__", r_or, ""),
    ("set", "__rand__", r_and, ""),
    ("set", "__ror__", r_or, ""),
    ("set", "__rsub__", r_sub, ""),
    ("set", "__rxor__", r_xor, ""),
    ("frozenset", "__rand__", r_and, ""),
    ("frozenset", "__ror__", r_or, ""),
    ("frozenset", "__rsub__", r_sub, ""),
    ("frozenset", "__rxor__", r_xor, ""),
    ("int", "__lt__", lt, ""),
    ("int", "__le__", le, ""),
    ("int", "__gt__", gt, ""),
    ("int", "__ge__", ge, ""),
    ("float", "__lt__", lt, ""),
    ("float", "__le__", le, ""),
    ("float", "__gt__", gt, ""),
    ("float", "__ge__", ge, ""),
    ("str", "__lt__", lt, ""),
    ("str", "__le__", le, ""),
    ("str", "__gt__", gt, ""),
    ("str", "__ge__", ge, ""),
    ("bytes", "__lt__", lt, ""),
    ("bytes", "__le__", le, ""),
    ("bytes", "__gt__", gt, ""),
    ("bytes", "__ge__", ge, ""),
    ("bytearray", "__lt__", lt, ""),
    ("bytearray", "__le__", le, ""),
    ("bytearray", "__gt__", gt, ""),
    ("bytearray", "__ge__", ge, ""),
    ("list", "__lt__", lt, ""),
    ("list", "__le__", le, ""),
    ("list", "__gt__", gt, ""),
    ("list", "__ge__", ge, ""),
    ("tuple", "__lt__", lt, ""),
    ("tuple", "__le__", le, ""),
    ("tuple", "__gt__", gt, ""),
    ("tuple", "__ge__", ge, ""),
    ("set", "__lt__", lt, ""),
    ("set", "__le__", le, ""),
    ("set", "__gt__", gt, ""),
    ("set", "__ge__", ge, ""),
    ("frozenset", "__lt__", lt, ""),
    ("frozenset", "__le__", le, ""),
    ("frozenset", "__gt__", gt, ""),
    ("frozenset", "__ge__", ge, ""),
    ("int", "__neg__", negative, ""),
    ("int", "__pos__", positive, ""),
    ("int", "__abs__", absolute, ""),
    ("int", "__bool__", truth, ""),
    ("float", "__neg__", negative, ""),
    ("float", "__pos__", positive, ""),
    ("float", "__abs__", absolute, ""),
    ("float", "__bool__", truth, ""),
    ("int", "__invert__", invert, ""),
    ("int", "__hash__", hash, ""),
    ("float", "__hash__", hash, ""),
    ("str", "__hash__", hash, ""),
    ("bytes", "__hash__", hash, ""),
    ("tuple", "__hash__", hash, ""),
    ("frozenset", "__hash__", hash, ""),
];

/// What kind of operand a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Int,
    Float,
    Str,
    Bytes,
    List,
    Tuple,
    Dict,
    Set,
    Other,
}

fn family(vm: &Vm, value: Value) -> Family {
    match value {
        Value::Int(_) | Value::Bool(_) => Family::Int,
        Value::Float(_) => Family::Float,
        _ => match vm.obj(value) {
            Some(Obj::Big(_)) => Family::Int,
            Some(Obj::Str(_)) => Family::Str,
            Some(Obj::Bytes(_) | Obj::ByteArray(_)) => Family::Bytes,
            Some(Obj::List(_)) => Family::List,
            Some(Obj::Tuple(_)) => Family::Tuple,
            Some(Obj::Dict(_)) => Family::Dict,
            Some(Obj::Set(_) | Obj::FrozenSet(_)) => Family::Set,
            _ => Family::Other,
        },
    }
}

/// Whether the first one's method takes the second one; otherwise it says NotImplemented.
fn takes(op: Option<BinOp>, own: Family, other: Family) -> bool {
    match (op, own, other) {
        (Some(BinOp::Mod), Family::Str, _) => true,
        (
            Some(BinOp::Mul),
            Family::Str | Family::Bytes | Family::List | Family::Tuple,
            Family::Int,
        ) => true,
        (_, Family::Float, Family::Int) => true,
        (Some(BinOp::Mul), Family::Str | Family::Bytes | Family::List | Family::Tuple, _) => false,
        _ => own == other && own != Family::Other,
    }
}

/// Whether a builtin value's own operator takes the other one. Sequences let others go first.
pub(crate) fn operates(vm: &Vm, op: BinOp, own: Value, other: Value) -> bool {
    use BinOp::{Add, And, Div, FloorDiv, Mod, Mul, Or, Pow, Sub, Xor};
    match (family(vm, own), family(vm, other)) {
        (Family::Int, Family::Int) => op != BinOp::MatMul,
        (Family::Float, Family::Int | Family::Float) => {
            matches!(op, Add | Sub | Mul | Div | FloorDiv | Mod | Pow)
        }
        (Family::Set, Family::Set) => matches!(op, And | Or | Sub | Xor),
        (Family::Dict, Family::Dict) => op == Or,
        (Family::Str | Family::Bytes, _) => op == Mod,
        _ => false,
    }
}

pub(crate) fn compares(vm: &Vm, op: CmpOp, own: Value, other: Value) -> bool {
    match (family(vm, own), family(vm, other)) {
        (Family::Float, Family::Int) => true,
        (Family::Dict, Family::Dict) => matches!(op, CmpOp::Eq | CmpOp::Ne),
        (own, other) => own == other && own != Family::Other,
    }
}

fn operands(vm: &mut Vm, args: Args) -> Result<(Value, Value), crate::run::fault::Fault> {
    let [own, other] = vm.take(args, "operator", ["self", "value"], 2)?;
    Ok((vm.inner(own), vm.inner(other)))
}

fn operate(vm: &mut Vm, args: Args, op: BinOp, reflected: bool) -> Outcome {
    let (own, other) = operands(vm, args)?;
    if !takes(Some(op), family(vm, own), family(vm, other)) {
        return Ok(Value::NotImplemented);
    }
    if reflected { vm.binary(op, other, own) } else { vm.binary(op, own, other) }
}

macro_rules! operators {
    ($($name:ident $op:ident $reflected:literal)*) => {
        $(fn $name(vm: &mut Vm, args: Args) -> Outcome {
            operate(vm, args, BinOp::$op, $reflected)
        })*
    };
}

operators! {
    add Add false
    sub Sub false
    mul Mul false
    truediv Div false
    floordiv FloorDiv false
    modulo Mod false
    pow Pow false
    lshift LShift false
    rshift RShift false
    bit_and And false
    bit_or Or false
    xor Xor false
    r_add Add true
    r_and And true
    r_floordiv FloorDiv true
    r_lshift LShift true
    r_mod Mod true
    r_mul Mul true
    r_or Or true
    r_pow Pow true
    r_rshift RShift true
    r_sub Sub true
    r_truediv Div true
    r_xor Xor true
}

fn order(vm: &mut Vm, args: Args, op: CmpOp) -> Outcome {
    let (own, other) = operands(vm, args)?;
    if !takes(None, family(vm, own), family(vm, other)) {
        return Ok(Value::NotImplemented);
    }
    vm.compare(op, own, other)
}

macro_rules! comparisons {
    ($($name:ident $op:ident)*) => {
        $(fn $name(vm: &mut Vm, args: Args) -> Outcome {
            order(vm, args, CmpOp::$op)
        })*
    };
}

comparisons! {
    lt Lt
    le Le
    gt Gt
    ge Ge
}

fn own(vm: &mut Vm, args: Args) -> Outcome {
    let [own] = vm.take(args, "operator", ["self"], 1)?;
    Ok(vm.inner(own))
}

fn negative(vm: &mut Vm, args: Args) -> Outcome {
    let value = own(vm, args)?;
    vm.negative(value)
}

fn positive(vm: &mut Vm, args: Args) -> Outcome {
    let value = own(vm, args)?;
    vm.positive(value)
}

fn invert(vm: &mut Vm, args: Args) -> Outcome {
    let value = own(vm, args)?;
    vm.invert(value)
}

fn absolute(vm: &mut Vm, args: Args) -> Outcome {
    let value = own(vm, args)?;
    let below = vm.compare(CmpOp::Lt, value, Value::Int(0))?;
    match (value, below) {
        (Value::Float(value), _) => Ok(crate::heap::value::float(value.abs())),
        (_, Value::Bool(true)) => vm.negative(value),
        _ => vm.positive(value),
    }
}

fn truth(vm: &mut Vm, args: Args) -> Outcome {
    let value = own(vm, args)?;
    Ok(Value::Bool(vm.truth(value)?))
}

/// Of the value itself, whatever class an instance has around it.
fn hash(vm: &mut Vm, args: Args) -> Outcome {
    let value = own(vm, args)?;
    Ok(Value::Int(vm.hash(value, 0)? as i64))
}
